# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One transaction of a ledger, in which releases of a subject are charged."""
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
import json
from typing import Any
import zlib

from symdp_ros.errors import LedgerError, printable
from symdp_ros.ledger.accounts import Entry, written
from symdp_ros.ledger.overlap import Span
from symdp_ros.ledger.storage.database import LedgerFile
from symdp_ros.ledger.storage.entries import LedgerEntries
from symdp_ros.ledger.storage.released_files import ReleasedFiles
from symdp_ros.ledger.units import Loss


def new_charge(loss: Loss, settings: str, description: str, log_id: str | None = None, *,
               content: bytes = b'', words: Sequence[Sequence[str]] = (),
               lengths: Sequence[int] | None = None, logs: Mapping[str, Span] | None = None,
               taken: str = '') -> Entry:
    """
    Return a charge that is to be made, of nobody yet, and of no file.

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
    more = _more_described(loss) | ({'taken': taken} if taken else {}) | (
        {} if logs is None else {'logs': {log: list(span) for log, span in logs.items()}})
    if more:
        description = json.dumps(json.loads(description or '{}') | more)
    return Entry(
        0, 'charge', '', log_id, settings, description, **loss_columns(loss),
        lengths=json.dumps(list(map(len, words)) if lengths is None else list(lengths)),
        content=content, packed=zlib.compress(json.dumps(list(map(list, words))).encode()))


def _more_described(loss: Loss) -> dict[str, Any]:
    """Return what the description of a charge says of its loss."""
    more = dict[str, Any]()
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
    return more


class ChargeTransaction:
    """
    Charges of one subject that become durable together: see `Ledger.charging`.

    :param budget: what one log may spend; None: no limit.
    """

    def __init__(self, entries: LedgerEntries, files: ReleasedFiles, subject: str,
                 budget: Fraction | None):
        self._entries, self._files = entries, files
        self._subject, self._budget, self._is_read = subject, budget, False

    def charge(self, new: Entry, files: Sequence[LedgerFile] = (),
               subject: str = '') -> tuple[Entry, bool]:
        """
        Spend ε, or return the charge that the log already has under these settings.

        :param new: of `new_charge`.
        :param files: of the release, which get the number of the charge.
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
            earlier = entries.charge_of(subject, new.log_id, new.settings)
            if earlier is not None:
                return earlier, False
        if not self._is_read:
            entries.check_sound()
            self._is_read = True  # nobody else can write before the end of the transaction
        for file in files:
            if self._files.has_path(file.path):
                raise LedgerError(f'{printable(file.path)} was promised to another release '
                                  'meanwhile: release it again')
        entries.check_budgets(subject, new.loss, new.log_id, self._budget,
                              new.settings_described)
        entry = entries.append(new, subject=subject, files=len(files))
        for file in files:
            self._files.add(replace(file, number=entry.number))
        return entry, True

    def charge_all(self, new: Mapping[str, Entry],
                   files: Sequence[LedgerFile] = ()) -> tuple[Entry, bool]:
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
