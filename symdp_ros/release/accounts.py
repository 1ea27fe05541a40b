# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What each subject has spent: the sums of a ledger's entries.

An entry is one row of the ledger. Most are charges; others set the budget or the unit of a
subject, or add to what it has spent.
"""
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
import json
import re
from typing import Any
import zlib

from symdp_ros.core.errors import BudgetError, LedgerError
from symdp_ros.core.printable import printable
from symdp_ros.release.units import as_decimal, as_text, Loss, Unit

KINDS = ('charge', 'unit', 'budget', 'spent', 'recovery')
_AMOUNT = re.compile(r'\d{1,2000}(\.\d{1,2000}|/0*[1-9]\d{0,2000})?')


_Sums = dict[Fraction | None, Fraction]  # period → sum of ε/k'


@dataclass(frozen=True)
class Entry:
    """
    One row of the ledger, as it is stored.

    :param kind: 'charge'; or 'budget' (`epsilon` is the new subject_budget, 0: none), 'unit' (of
        the subject from now on, and for what it has spent), 'spent' (`epsilon` was spent in
        addition to the charges, in the subject's unit), 'recovery' (see `description`).
    :param log_id: None: a word that a live node began.
    :param settings: a digest of all settings that the distribution depends on.
    :param description: these settings as JSON, for people to read.
    :param epsilon, period, seconds: as decimals, or as p/q where there is none.
    :param adjacency: k; 0 in entries that have none.
    :param made: UTC.
    :param lengths: JSON: of each word, or of all of an archive.
    :param content: HMAC of the words that were released, or of the archive.
    :param packed: zlib, JSON: the released words (of an archive, none).
    :param files: the number of files of the release.
    """

    number: int
    kind: str
    subject: str
    log_id: str | None
    settings: str
    description: str
    epsilon: str
    adjacency: int
    sampling: str
    period: str | None
    seconds: str | None
    made: str
    lengths: str
    content: bytes = field(repr=False)
    packed: bytes = field(repr=False)
    files: int

    @property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """Return the released words; raise LedgerError if they are damaged."""
        try:
            return tuple(map(tuple, json.loads(zlib.decompress(self.packed))))
        except (zlib.error, ValueError, TypeError):
            pass
        raise LedgerError(f'charge {self.number} of the ledger is damaged')

    @property
    def length(self) -> int:
        """Return how many symbols were released; 0 for a word that a live node began."""
        try:
            return int(sum(json.loads(self.lengths)))
        except (ValueError, TypeError):
            return 0

    @property
    def described(self) -> dict[str, Any]:
        """Return `description`, decoded; empty where it is damaged."""
        try:
            described = json.loads(self.description)
        except ValueError:
            described = {}
        return described if isinstance(described, dict) else {}

    @property
    def amount(self) -> Fraction:
        """Return `epsilon` as a number."""
        return amount(self.epsilon)

    @property
    def loss(self) -> Loss:
        """Return the privacy loss of the release."""
        return Loss(self.amount, self.adjacency, self.sampling, amount_or_none(self.period),
                    amount_or_none(self.seconds))

    def is_sound(self) -> bool:
        """Return whether every column holds a valid value."""
        texts = (self.subject, self.settings, self.description, self.sampling, self.made,
                 self.lengths)
        try:
            return (all(isinstance(text, str) for text in texts) and self.kind in KINDS
                    and (self.log_id is None or isinstance(self.log_id, str))
                    and type(self.number) is type(self.adjacency) is type(self.files) is int
                    and 0 <= self.files
                    and (1 <= self.adjacency or self.kind not in ('charge', 'unit')
                         or self.kind == 'unit' and self.seconds is not None)
                    and isinstance(self.content, bytes) and isinstance(self.packed, bytes)
                    and amount(self.epsilon) >= 0
                    and (self.period is None or amount(self.period) > 0)
                    and (self.seconds is None or amount(self.seconds) > 0
                         and (self.period is not None or self.kind != 'charge')))
        except LedgerError:
            return False


@dataclass
class Account:
    """What one subject, and each of its logs, has spent."""

    subject: str
    unit: Unit | None = None
    budget: Fraction | None = None
    raised: Fraction = Fraction(0)  # what was spent in addition to the charges
    live_words: int = 0
    _sums: _Sums = field(default_factory=dict, repr=False)
    _logs: dict[str, _Sums] = field(default_factory=dict, repr=False)  # of each log id
    _live: _Sums = field(default_factory=dict, repr=False)  # the largest ε/k' of one live word

    def add(self, entry: Entry) -> None:
        """Count one more entry of this subject."""
        if entry.kind == 'budget':
            self.budget = entry.amount or None
        elif entry.kind == 'spent':
            self.raised += entry.amount
        elif entry.kind == 'unit':
            self.unit = Unit(entry.adjacency or None, entry.sampling,
                             amount_or_none(entry.period), amount_or_none(entry.seconds))
        elif entry.kind == 'charge':
            loss = entry.loss
            if self.unit is None:
                self.unit = loss.unit
            elif self.unit.seconds is None and self.unit.sampling == '' and loss.seconds is None:
                self.unit = Unit(self.unit.symbols, loss.sampling, loss.period)
            per_symbol, every = loss.per_symbol, [self._sums]
            if entry.log_id is not None:
                every.append(self._logs.setdefault(entry.log_id, {}))
            else:
                self.live_words += 1
                self._live[loss.period] = max(per_symbol, self._live.get(loss.period, per_symbol))
            for sums in every:
                sums[loss.period] = sums.get(loss.period, Fraction(0)) + per_symbol

    def spent(self, log_id: str | None = None) -> Fraction:
        """
        Return what the subject, or one of its logs, has spent, in the unit of the subject.

        What was spent in addition to the charges may be of any log, and is counted for each.
        """
        return self.raised + sum(self._costs(
            self._sums if log_id is None else self._logs.get(log_id, {})), Fraction(0))

    def _costs(self, sums: _Sums) -> list[Fraction]:
        unit = self.unit or Unit()  # without one there are no sums
        return [total * unit.factor(period) for period, total in sums.items()]

    @property
    def spent_by_one(self) -> Fraction:
        """Return the most that one log, in all its releases, or one live word has spent."""
        return self.raised + max([*(sum(self._costs(sums), Fraction(0))
                                    for sums in self._logs.values()),
                                  *self._costs(self._live)], default=Fraction(0))

    @property
    def left(self) -> Fraction | None:
        """Return what is left of the budget; None: there is no limit."""
        return None if self.budget is None else max(self.budget - self.spent(), Fraction(0))

    @property
    def logs(self) -> int:
        """Return how many logs of the subject were released."""
        return len(self._logs)

    def cost(self, loss: Loss) -> Fraction:
        """
        Return what a release would cost.

        :raises BudgetError: it is counted in another unit than the subject.
        """
        unit = loss.unit if self.unit is None else self.unit
        if not unit.accepts(loss):
            raise BudgetError(
                f'the ledger counts what {self.subject!r} spends for {unit}, and this release '
                f'would be counted for {loss.unit}: the two cannot be added. Release with the '
                'settings of before, or under another subject: anyone who reads both releases '
                'gets the sum of their ε')
        return unit.cost(loss)

    @property
    def budget_text(self) -> str:
        """Return the budget, as nodes log it."""
        return 'subject_budget: ' + ('none stored, no limit' if self.budget is None else
                                     as_text(self.budget))

    @property
    def repeated_text(self) -> str:
        """Return what the same visit in every released word adds up to; '': there is one word."""
        words = [f'{count} {name}{"" if count == 1 else "s"}'
                 for count, name in ((self.logs, 'log'), (self.live_words, 'live word')) if count]
        return '' if self.logs + self.live_words < 2 else (
            f'such a change in one of its {" and ".join(words)} costs at most ε = '
            f'{as_text(self.spent_by_one)}; in every one of them (the same visit every day), '
            f'ε = {as_text(self.spent())}')

    def __str__(self) -> str:
        return (f'{printable(self.subject)} has spent ε = {as_text(self.spent())}'
                + (f' of {as_text(self.budget)}' if self.budget is not None else '')
                + (f', for {self.unit}' if self.unit is not None else ''))


@lru_cache(maxsize=1000)
def amount(text: object) -> Fraction:
    """
    Return an amount that is stored in a ledger as text.

    :raises LedgerError: it is no amount.
    """
    if not isinstance(text, str) or not _AMOUNT.fullmatch(text):
        raise LedgerError('an amount in the ledger is damaged')
    return Fraction(text)


def written(number: Fraction) -> str:
    """Return an amount as the text that a ledger stores."""
    return as_decimal(number) or str(number)


def amount_or_none(text: object) -> Fraction | None:
    """Return the same, or None for None."""
    return None if text is None else amount(text)
