# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One transaction of a ledger, in which releases of a subject are charged."""
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
import json
from pathlib import Path
from typing import Any, TypeAlias
import zlib

from symdp_ros.errors import LedgerError, printable
from symdp_ros.ledger.accounts import Entry, written
from symdp_ros.ledger.overlap import Span
from symdp_ros.ledger.storage.database import LedgerFile
from symdp_ros.ledger.storage.entries import LedgerEntries
from symdp_ros.ledger.storage.files import ReleasedFiles
from symdp_ros.ledger.units import Loss

#: A file to be released: its future path, where it is staged, and its digest.
Placed: TypeAlias = tuple[Path, Path, str]


@dataclass(frozen=True)
class NewCharge:
    """
    A charge that is to be made.

    :param settings: a digest of the settings.
    :param description: the settings as JSON, for people to read.
    :param log_id: None for a word that a live node begins.
    :param content: `Ledger.fingerprint` of the sensitive words, or `Ledger.file_fingerprint`.
    :param words: the released words.
    :param lengths: of released words that are not stored; None: those of `words`.
    :param logs: the log ids in which it is owed, with the stamps of their first and last entries
        (nanoseconds); None: `log_id` alone.
    :param taken: the name of the mechanism that auto took; '': the settings name it.
    """

    loss: Loss
    settings: str
    description: str
    log_id: str | None = None
    content: bytes = b''
    words: Sequence[Sequence[str]] = field(default=(), repr=False)
    lengths: Sequence[int] | None = None
    logs: Mapping[str, Span] | None = None
    taken: str = ''
    packed: bytes = field(init=False, repr=False)  # the words, as they are stored

    def __post_init__(self) -> None:
        # Not within the transaction, for which other processes wait.
        object.__setattr__(self, 'packed', zlib.compress(
            json.dumps([list(word) for word in self.words]).encode()))

    @cached_property
    def entry(self) -> Entry:
        """Return the entry that the ledger stores, of nobody yet, and of no file."""
        loss, description = self.loss, self.description
        if more := self._more_described():
            description = json.dumps(json.loads(description or '{}') | more)
        lengths = list(map(len, self.words)) if self.lengths is None else list(self.lengths)
        return Entry(
            0, 'charge', '', self.log_id, self.settings, description,
            **loss_columns(loss), lengths=json.dumps(lengths), content=self.content,
            packed=self.packed)

    def _more_described(self) -> dict[str, Any]:
        """Return what the description of a charge says of it besides the settings."""
        loss, logs, more = self.loss, self.logs, dict[str, Any]()
        if (loss.bound, loss.routes) != ('pure', 1):
            more |= {'bound': loss.bound, 'routes': loss.routes}
        if loss.whole:
            more['whole'] = True
        if loss.repeats != 1 or loss.sampling == 'archive':
            more['repeats'] = loss.repeats
        if loss.of_log is not None:
            more['of_log'] = written(loss.of_log)
        if loss.length is not None:
            more['length'] = loss.length
        if loss.zones is not None:
            more['zones'] = loss.zones
        if loss.values != 2:
            more['values'] = loss.values
        if loss.rule != 1:
            more['zcdp_rule'] = loss.rule
        if self.taken:
            more['taken'] = self.taken
        return more if logs is None else more | {'logs': {log: list(logs[log]) for log in logs}}


class ChargeTransaction:
    """
    Charges of one subject that become durable together: see `Ledger.charging`.

    :param budget: what one log may spend; None: no limit.
    """

    def __init__(self, entries: LedgerEntries, files: ReleasedFiles, subject: str,
                 budget: Fraction | None):
        self._entries, self._files = entries, files
        self._subject, self._budget, self._is_read = subject, budget, False

    def charge(self, new: NewCharge, files: Sequence[Placed] = (),
               subject: str = '') -> tuple[Entry, bool]:
        """
        Spend ε, or return the charge that the log already has under these settings.

        :param subject: whose it is; '': the subject of the transaction.
        :return: the charge, and whether it is a new one.
        :raises BudgetError: it would pass a budget, or is counted in another unit than its
            subject. It is not made; others of this transaction may be.
        :raises LedgerError: the ledger has a problem; as for BudgetError.
        """
        entries, subject = self._entries, subject or self._subject
        _check_log_id(new.log_id)
        if not self._is_read:
            entries.catch_up()
        if new.log_id is not None:
            found = entries.charge_of(subject, new.log_id, new.settings)
            if found is not None:
                return found, False
        if not self._is_read:
            entries.check_sound()
            self._is_read = True  # nobody else can write before the end of the transaction
        for path, *_ in files:
            if self._files.has_path(path):
                raise LedgerError(f'{printable(path)} was promised to another release meanwhile: '
                                  'release it again')
        entries.check_budgets(subject, new.loss, new.log_id, self._budget, new.description)
        entry = entries.append(new.entry, subject=subject, files=len(files))
        for path, staged, digest in files:
            self._files.add(LedgerFile(entry.number, path, staged, digest, False))
        return entry, True

    def charge_all(self, new: Mapping[str, NewCharge],
                   files: Sequence[Placed] = ()) -> tuple[Entry, bool]:
        """
        Charge several subjects for one release; return the first charge, which has the files.

        :param new: by subject.
        :raises BudgetError, LedgerError: as `charge`, for one of them; or one has a charge
            already. Let it end the transaction: no charge is made then.
        """
        first = None
        for subject, each in new.items():
            entry, is_new = self.charge(each, files if first is None else (), subject)
            if not is_new:
                raise LedgerError(f'{printable(subject)} was charged for it by another process '
                                  'meanwhile: release it again')
            first = first or entry
        assert first is not None
        return first, True


def loss_columns(loss: Loss) -> dict[str, Any]:
    """Return the columns of an entry that describe a loss."""
    return {'epsilon': written(loss.epsilon), 'adjacency': loss.adjacency,
            'sampling': loss.sampling,
            'period': None if loss.period is None else written(loss.period),
            'seconds': None if loss.seconds is None else written(loss.seconds)}


def _check_log_id(log_id: str | None) -> None:
    try:
        (log_id or '').encode()
    except UnicodeEncodeError:
        raise LedgerError(f'the name of the log {log_id!a} is not UTF-8: rename it') from None
