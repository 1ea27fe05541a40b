# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Where live words are charged."""
from dataclasses import replace
import json
from pathlib import Path
from typing import Any

from symdp_ros.errors import printable
from symdp_ros.ledger.charging import Charging, loss_of
from symdp_ros.ledger.entry import Loss
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.subjects import look_alike_text
from symdp_ros.words.live_word import LiveWord
from symdp_ros.words.sampling_settings import SamplingSettings


class LiveAccount:
    """
    A subject in a ledger, as a `words.live_word.WordAccount`.

    :param path: of the ledger; made where it is absent.
    :param charging: whose regions the words are, and what may be spent.
    :param sampling: what a symbol of a word is.
    :raises LedgerError: the ledger cannot be used.
    :raises BudgetError: the ledger stores another budget.
    """

    def __init__(self, path: Path, charging: Charging,
                 sampling: SamplingSettings = SamplingSettings()):
        self.ledger = Ledger(path)
        self.ledger_id, self.subject = self.ledger.id, charging.subject
        self._charging, self._sampling = charging, sampling
        try:
            charging.keep_in(self.ledger)
        except BaseException:
            self.ledger.close()
            raise

    def charge(self, word: LiveWord, *, perhaps_charged: bool) -> bool:
        """
        Charge a word once, and return whether that was now.

        :param perhaps_charged: whether the word may have been charged already.
        :raises BudgetError, LedgerError: it is not charged.
        """
        if perhaps_charged and self.ledger.charges(
                subject=self.subject, log_id=None, content=word.name):
            return False
        self.ledger.charge(
            self.subject, self._loss(word),
            settings=word.settings.hex(), content=word.name,
            subject_budget=self._charging.subject_budget, description=json.dumps(word.described))
        return True

    def bounds(self, word: LiveWord) -> str:
        """Return what the ε of a word is for, such as 'any one visit of 30 s'."""
        return self._loss(word).bounds

    def _loss(self, word: LiveWord) -> Loss:
        mechanism = word.mechanism
        return replace(loss_of(mechanism.privacy, self._sampling, mechanism.loss_bound),
                       values=mechanism.response_values)

    def close(self) -> None:
        """Close the ledger."""
        self.ledger.close()


def log_account(ledger: Ledger, subject: str, logger: Any) -> None:
    """Log where a subject's ε is counted, its budget, and subjects that look like it."""
    logger.info(f'ledger: {ledger.account(subject).budget_text}; in {printable(ledger.path)}')
    if note := look_alike_text(subject, ledger.subjects()):
        logger.warning(f'ledger: {note}')
