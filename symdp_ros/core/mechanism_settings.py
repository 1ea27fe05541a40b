# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The settings of what draws: live nodes, logs, archives and the belief in their outputs.

What computes is imported when a mechanism is made: nodes make it after others can discover them.
"""
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TYPE_CHECKING

from symdp_ros.core.registry import (BY_MODELS, check_delay, check_reports, DEFAULT_BASE, DEFAULT_POLICY,
                                     DEFAULT_TRUST, SELECTIONS)
from symdp_ros.settings import settings_of

if TYPE_CHECKING:
    from symdp_ros.core.annotations import RandomBits
    from symdp_ros.core.chain import Chain
    from symdp_ros.core.offline import OfflineMechanism
    from symdp_ros.core.online import OnlineMechanism
    from symdp_ros.core.privacy import Privacy

LIVE = 'live'


@dataclass(frozen=True)
class MechanismSettings:
    """
    Which mechanism draws, and how: all but chain, ε and k.

    :param selection: of `OfflineMechanism`; 'auto': for each log the one that is expected to err
        least, chosen from chain, ε, k and length alone (with the base 'counting', of those without
        the chain's base measure); 'live': the online mechanism, symbol by symbol.

    :param reports: of `OnlineMechanism`; with several, 'auto' is 'causal' with 'adaptive', which
        alone can.

    The others are those of `OnlineMechanism` and `OfflineMechanism`.
    """

    selection: str = 'auto'
    base: str = DEFAULT_BASE
    trust: float = DEFAULT_TRUST
    policy: str = DEFAULT_POLICY
    delay: int = 0
    reports: int = 1

    def __post_init__(self) -> None:
        if self.reports > 1 and self.selection == 'auto':
            object.__setattr__(self, 'selection', 'causal')
            object.__setattr__(self, 'policy', 'adaptive')

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> 'MechanismSettings':
        """Return those among the values of options; without the option `mechanism`, it is live."""
        return settings_of(cls, {'mechanism': LIVE, **values, 'reports': None},
                           selection='mechanism')

    def check(self) -> None:
        """
        Check what can be checked without a chain.

        :raises ConfigurationError: a setting is not valid.
        """
        from symdp_ros.core.models import check_base

        check_base(self.base, self.trust)
        check_delay(self.policy, self.delay)
        check_reports(self.policy if self.selection in ('causal', LIVE) else self.selection,
                      self.reports)

    def online(self, chain: 'Chain', privacy: 'Privacy',
               random: 'RandomBits | None' = None) -> 'OnlineMechanism':
        """Return what draws live; parameters and errors as of `OnlineMechanism`."""
        from symdp_ros.core.online import OnlineMechanism

        return OnlineMechanism(chain, privacy, delay=self.delay, reports=self.reports,
                               random=random,
                               **self._fields(SELECTIONS['causal']))

    def offline(self, chain: 'Chain', privacy: 'Privacy',
                random: 'RandomBits | None' = None) -> 'OfflineMechanism':
        """Return what draws whole words; parameters and errors as of `OfflineMechanism`."""
        from symdp_ros.core.offline import OfflineMechanism

        settings = asdict(self)
        del settings['delay']
        return OfflineMechanism(chain, privacy, random=random, **settings)

    def _fields(self, names: Iterable[str]) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}

    def _used(self) -> Iterable[str]:
        """Return the names of the settings that the selection uses, of base, trust and policy."""
        if self.selection == 'auto':
            return dict.fromkeys(name for names in SELECTIONS.values() for name in names)
        return SELECTIONS['causal' if self.selection == LIVE else self.selection]

    def described(self, chain: 'Chain', privacy: 'Privacy') -> dict[str, Any]:
        """
        Return all that the distribution of a private word depends on, for people to read.

        It stands in ledgers; its digest says which releases, and which live words, are the same.
        """
        used = self._fields(self._used())
        if used.get('base') == 'counting':  # as published: there is nothing to say
            del used['base']
        if 'base' in used or used.get('policy') in BY_MODELS:
            used['models'] = str(chain.models(self.trust))
        else:
            used.pop('trust', None)  # nothing that is used trusts the chain
        single = {'tick_of': [chain.single.digest(), chain.ticks]} if (
            used.get('policy') == 'adaptive' and chain.ticks > 1) else {}
        return {'chain': chain.digest(), 'epsilon': privacy.epsilon,
                'adjacency': privacy.adjacency, 'mechanism': self.selection, **used,
                **({'delay': self.delay} if self.delay else {}),
                **({'reports': self.reports} if self.reports > 1 else {}), **single}

    def text(self, chain: 'Chain') -> str:
        """Return which mechanism draws, and how it takes the robot to move, for people to read."""
        uses = self._used()
        named = [] if self.selection == LIVE else [f'mechanism {self.selection}']
        named += [f'{name} {getattr(self, name)}' for name in ('base', 'policy') if name in uses]
        moving = ('base' in uses and self.base == 'chain') or (
            'policy' in uses and self.policy in BY_MODELS)
        return ', '.join(named) + (
            f'; how it moves: {chain.how_it_moves(self.trust)}' if moving else '')
