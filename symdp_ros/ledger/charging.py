# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The settings of charging: whose ε is spent, and how much of it may be."""
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TYPE_CHECKING

from symdp_ros.core.privacy import Privacy
from symdp_ros.errors import ConfigurationError
from symdp_ros.ledger.entry import Loss
from symdp_ros.settings import settings_of
from symdp_ros.words.sampling_settings import SamplingSettings

if TYPE_CHECKING:
    from symdp_ros.ledger.ledger import Ledger

_SHORTEST = 1e-4  # hours, of a live word


@dataclass(frozen=True)
class Charging:
    """
    Who is charged, and what may be spent.

    :param subject: whose regions are released, as the ledger names it; '': nobody is charged.
    :param budget: the total ε that one log may ever spend; 0.0: no limit.
    :param subject_budget: the same for the subject; the ledger stores it. 0.0: the stored one.
    :param accounting: 'pure' or 'zcdp': how releases add up; '': as is stored.
    :param delta: δ of 'zcdp'; else 0.0.
    :param renew: hours after which a live word is over; 0.0: never.
    :raises ConfigurationError: that is too short.
    """

    subject: str = ''
    budget: float = 0.0
    subject_budget: float = 0.0
    accounting: str = ''
    delta: float = 0.0
    renew: float = 0.0

    def __post_init__(self) -> None:
        if not (self.renew == 0 or _SHORTEST <= self.renew):
            raise ConfigurationError(f'renew is {self.renew:g} hours: it must be 0, or at least '
                                     f'{_SHORTEST:g}', setting='renew')

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> 'Charging':
        """Return those among the values of options."""
        return settings_of(cls, values)

    @property
    def is_limited(self) -> bool:
        """Return whether a budget, an accounting or `renew` is given, which needs a ledger."""
        return bool(self.budget or self.subject_budget or self.delta or self.renew
                    or self.accounting not in ('', 'pure'))

    def keep_in(self, ledger: 'Ledger') -> None:
        """
        Store the budget and the accounting in a ledger, where it has none of the subject.

        :raises BudgetError, LedgerError: as `Ledger.keep_budget`.
        """
        ledger.keep_budget(self.subject, self.subject_budget, self.accounting, self.delta)

    def limits(self) -> dict[str, Any]:
        """Return what a release takes: all but the accounting, which the ledger has by then."""
        return {'subject': self.subject, 'budget': self.budget,
                'subject_budget': self.subject_budget}


def loss_of(privacy: Privacy, sampling: SamplingSettings, bound: str = 'pure') -> Loss:
    """Return the privacy loss of a word; `bound`: of `core.accounting.BOUNDS`."""
    return Loss.of(privacy, sampling.rule, sampling.period, sampling.protect or None, bound)
