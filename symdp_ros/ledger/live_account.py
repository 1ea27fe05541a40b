# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Where live words are charged."""
import json
from pathlib import Path
from typing import Any

from symdp_ros.errors import printable
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.subjects import look_alike_text
from symdp_ros.ledger.units import Loss
from symdp_ros.words.live_word import LiveWord


class LiveAccount:
    """
    A subject in a ledger, as a `words.live_word.WordAccount`.

    :param path: of the ledger; made where it is absent.
    :param subject: whose regions the words are.
    :param subject_budget: what the subject may ever spend; 0.0: what the ledger stores.
    :param sampling, period: what a symbol of a word is.
    :param protect: the seconds that ε is for; 0: k symbols.
    :param accounting, delta: as in `Ledger.keep_budget`.
    :raises LedgerError: the ledger cannot be used.
    :raises BudgetError: the ledger stores another budget.
    """

    def __init__(self, path: Path, subject: str, subject_budget: float, sampling: str = 'message',
                 period: float = 0.0, protect: float = 0.0, accounting: str = '',
                 delta: float = 0.0):
        self.ledger = Ledger(path)
        self.ledger_id, self.subject, self._budget = self.ledger.id, subject, subject_budget
        self._sampling, self._period, self._protect = sampling, period, protect
        try:
            self.ledger.keep_budget(subject, subject_budget, accounting, delta)
        except BaseException:
            self.ledger.close()
            raise

    def charge(self, word: LiveWord, *, perhaps_charged: bool) -> bool:
        """
        Charge a word once, and return whether that was now.

        :param perhaps_charged: whether the word may have been charged already.
        :raises BudgetError, LedgerError: it is not charged.
        """
        if perhaps_charged and any(
                (charge.subject, charge.log_id, charge.content) == (self.subject, None, word.name)
                for charge in self.ledger.charges()):
            return False
        mechanism, privacy = word.mechanism, word.mechanism.privacy
        period = {'period': self._period} if self._sampling == 'period' else {}
        self.ledger.charge(
            self.subject,
            Loss.of(privacy, self._sampling, self._period, self._protect or None,
                    bound='symbols'),
            settings=word.settings.hex(), content=word.name, subject_budget=self._budget,
            description=json.dumps({
                'chain': mechanism.chain.digest(), 'epsilon': privacy.epsilon,
                'adjacency': privacy.adjacency, 'mechanism': 'live', **word.policy,
                'sampling': self._sampling, **period}))
        return True

    def close(self) -> None:
        """Close the ledger."""
        self.ledger.close()


def log_account(ledger: Ledger, subject: str, logger: Any) -> None:
    """Log where a subject's ε is counted, its budget, and subjects that look like it."""
    logger.info(f'ledger: {ledger.account(subject).budget_text}; in {printable(ledger.path)}')
    if note := look_alike_text(subject, ledger.subjects()):
        logger.warning(f'ledger: {note}')
