# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Recovering a ledger that is damaged, lost, or an older copy.

What a lost charge was for cannot be restored; the ε that it spent can. So every charge that can be
read is kept, and each subject has then spent at least what the mark of the ledger, or the
operator, says. Without either, nothing is recovered. Logs whose charges are lost count as never
released: released again, they are charged again, though their former releases are still known to
others.

A new ledger is written to the same path, with the old id and key where they can be read; the old
file is kept in the same folder. What was done is an entry of the ledger.
"""
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
import errno
import fcntl
from fractions import Fraction
from hashlib import sha256
from itertools import islice
import json
import os
from pathlib import Path
import shutil
import sqlite3
import stat
from typing import Any
import uuid

from symdp_ros.errors import LedgerError, printable, raising
from symdp_ros.files.durable import flush
from symdp_ros.ledger.accounts import accounting_text
from symdp_ros.ledger.budgets import budget_entry
from symdp_ros.ledger.entry import (as_rounded_text, as_text, Entry, Loss,
                                    loss_columns)
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.storage.database import (check_version, COLUMNS, FAILURES,
                                               FILE_COLUMNS, LedgerDatabase, LedgerFile,
                                               refuse_other_paths)
from symdp_ros.ledger.storage.mark import Mark

_SQLITE_LOCKS = 0x40000000, 512  # first byte, and number of bytes, of SQLite's locks in a file
_MOST_MISSING = 100_000  # rows that are looked for one by one
_PART_BYTES = 1 << 20


@dataclass
class _Salvaged:
    """What can be read of a ledger; `problems`: what is wrong, except with the mark."""

    identity: str | None = None
    key: bytes | None = None
    entries: list[Entry] = field(default_factory=list)
    files: list[LedgerFile] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def recover(path: str | Path, least: dict[str, Fraction]) -> list[str]:
    """
    Make a ledger usable again; return one sentence for each thing that was found or done.

    :param least: for some subjects, what they have spent at least, in their unit.
    :raises LedgerError: it is not known what was spent; another program has the ledger open;
        another path leads to it, too; it is of a newer version, or cannot be read or written. Then
        it is left as it is.
    """
    with raising(LedgerError, f'ledger {printable(path)} cannot be recovered',
                 (OSError, ValueError)):
        path = Path(os.path.realpath(path))
        mark_path = path.with_name(f'{path.name}.mark')
        if not path.exists() and not mark_path.exists():
            raise LedgerError(f'there is no ledger {printable(path)}')
        refuse_other_paths(path)
        with _locked(path) as file, _folder(path) as place:
            _copy(file, path, place / 'old')
            salvaged = _read(place, printable(path))
            mark, mark_problem = _read_mark(place, mark_path, salvaged)
            problems = salvaged.problems + [mark_problem] * bool(mark_problem)
            if not problems:
                return ['nothing is wrong with the ledger']
            if not least and mark is None and (salvaged.problems or not mark_path.exists()):
                raise LedgerError(
                    f'ledger {printable(path)}: {problems[0]}, and no mark shows what was spent. '
                    'Name for each subject what it may have spent in all (0: no more than the '
                    'ledger holds): --spent-at-least SUBJECT EPSILON')
            report = [f'found: {problem}' for problem in problems]
            with _new_ledger(place / 'new', salvaged, mark) as ledger:
                old_file = _archive_damaged(place, path)
                report += [f'charges kept: {len(ledger.charges())}; the old file is {old_file}']
                report += _restore_spent(ledger, mark, least)
                ledger.note(Entry(0, 'recovery', '', description=json.dumps({'said': report})))
            new_mark = Mark.read(place / 'new.mark')
            if new_mark is None or new_mark.number == 0:  # it could not be written
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            for suffix in ('-wal', '-shm', '-journal'):
                Path(f'{path}{suffix}').unlink(missing_ok=True)
            _overwrite(file, place / 'new')  # before its mark, which is never ahead of it
            os.replace(place / 'new.mark', mark_path)
            return report


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Open a ledger that no other process has open, and lock it meanwhile."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise LedgerError(f'ledger {printable(path)} is not a file')
        try:
            first, count = _SQLITE_LOCKS
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, count, first)
        except OSError:
            raise LedgerError(f'another program has the ledger {printable(path)} open: stop it '
                              'first') from None
        yield file
    finally:
        os.close(file)


@contextmanager
def _folder(path: Path) -> Iterator[Path]:
    """Give a new folder in the folder of a ledger that this process alone has open."""
    place = path.with_name(f'.recovery-{sha256(os.fsencode(path.name)).hexdigest()[:16]}')
    if place.exists():  # of a recovery that was killed
        shutil.rmtree(place)
    os.mkdir(place, 0o700)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _copy(file: int, path: Path, target: Path) -> None:
    """Copy a ledger and its -wal; open no other descriptor of it than `file`, as SQLite does."""
    with open(target, 'wb') as copy:
        offset = 0
        while part := os.pread(file, _PART_BYTES, offset):
            offset += copy.write(part)
    with suppress(FileNotFoundError):
        shutil.copyfile(f'{path}-wal', f'{target}-wal')


def _copy_of_old(place: Path, copy: str) -> Path:
    for suffix in ('', '-wal'):
        with suppress(FileNotFoundError):
            shutil.copyfile(place / f'old{suffix}', place / f'{copy}{suffix}')
    return place / copy


def _archive_damaged(place: Path, path: Path) -> str:
    """Keep the old file in the folder of the ledger; return how it is kept."""
    if (place / 'old').stat().st_size == 0:
        return 'empty'
    now = datetime.now(timezone.utc).strftime('%Y%m%dT%H%M%SZ')
    copy = path.with_name(f'{path.name}.damaged-{now}')
    while copy.exists():
        copy = copy.with_name(f'{copy.name}+')
    for suffix in ('-wal', ''):
        with suppress(FileNotFoundError):
            shutil.copyfile(place / f'old{suffix}', f'{copy}{suffix}')
            os.chmod(f'{copy}{suffix}', 0o600)
            flush(f'{copy}{suffix}')
    flush(path.parent)
    return f'kept as {printable(copy.name)}'


def _read(place: Path, shown: str) -> _Salvaged:
    """Return what can be read of a ledger, and verify it; `shown`: its name in messages."""
    if (place / 'old').stat().st_size == 0:
        return _Salvaged(problems=['the ledger is gone or empty'])
    salvaged = _Salvaged()
    with suppress(*FAILURES), closing(sqlite3.connect(_copy_of_old(place, 'salvaged'))) as db:
        with suppress(*FAILURES):
            check_version(db, shown)
        _salvage(db, salvaged)
    try:
        with Ledger(_copy_of_old(place, 'verified'), create=False) as ledger:
            salvaged.problems += ledger.problems(use_mark=False)
    except LedgerError:
        salvaged.problems.append('the file is damaged, or of another kind')
    return salvaged


def _salvage(db: sqlite3.Connection, salvaged: _Salvaged) -> None:
    """Read all rows that can be read."""
    db.text_factory = lambda text: text.decode(errors='replace')
    head = _rows(db, 'SELECT 0, id, key FROM ledger')
    for _, salvaged.identity, salvaged.key in head.values():
        if not isinstance(salvaged.identity, str) or not isinstance(salvaged.key, bytes):
            salvaged.identity = salvaged.key = None
    files: dict[str, LedgerFile] = {}
    select = f'SELECT rowid, {", ".join(FILE_COLUMNS)} FROM files'
    for row in _rows(db, select, 'rowid').values():
        if (file := LedgerFile.of_row(row[1:])) is not None:
            files[str(file.path)] = file
    counts = Counter(file.number for file in files.values() if not file.is_copy)
    for row in _rows(db, f'SELECT {", ".join(COLUMNS)} FROM charges', 'number').values():
        entry = Entry._make(row)
        entry = entry._replace(files=counts[entry.number] if entry.kind == 'charge' else 0)
        if entry.is_sound():
            salvaged.entries.append(entry)
    # New numbers: some may be missing.
    numbers = {entry.number: i + 1 for i, entry in enumerate(salvaged.entries)
               if entry.kind == 'charge'}
    salvaged.entries = [entry._replace(number=i + 1) for i, entry in enumerate(salvaged.entries)]
    salvaged.files = [replace(file, number=numbers[file.number]) for file in files.values()
                      if file.number in numbers]


def _rows(db: sqlite3.Connection, select: str,
          key: str | None = None) -> dict[int, tuple[Any, ...]]:
    """Return the rows by number: those before, after and between damaged ones."""
    rows: dict[int, tuple[Any, ...]] = {}
    for order in ([''] if key is None else [f'ORDER BY {key}', f'ORDER BY {key} DESC']):
        with suppress(*FAILURES):
            for row in db.execute(f'{select} {order}'):
                if type(row[0]) is int:
                    rows.setdefault(row[0], row)
    if key is not None and rows:
        missing = (number for number in range(min(rows), max(rows)) if number not in rows)
        for number in islice(missing, _MOST_MISSING):
            with suppress(*FAILURES):
                row = db.execute(f'{select} WHERE {key} = ?', (number,)).fetchone()
                if row is not None and row[0] == number:
                    rows[number] = row
    return dict(sorted(rows.items()))


def _read_mark(place: Path, path: Path, salvaged: _Salvaged) -> tuple[Mark | None, str | None]:
    """Return the mark, or None, and what is wrong with it, or None."""
    try:
        mark = Mark.read(path)
    except LedgerError as error:
        return None, str(error)
    if mark is None and salvaged.entries and not salvaged.problems:
        return None, f'{printable(path.name)} is missing: charges may be missing from the ledger'
    if mark is None or salvaged.problems:
        return mark, None
    marked = _copy_of_old(place, 'marked')
    shutil.copyfile(path, f'{marked}.mark')
    with Ledger(marked, create=False) as ledger:
        agrees = not ledger.problems()
    return mark, None if agrees else (
        f'{printable(path.name)} lists a charge that the ledger does not hold: it looks rolled '
        'back or replaced')


def _new_ledger(path: Path, salvaged: _Salvaged, mark: Mark | None) -> Ledger:
    """Return a new ledger that holds what can be read."""
    identity = salvaged.identity if mark is None or not salvaged.problems else mark.ledger
    with closing(LedgerDatabase(path)) as database:
        database.rewrite(identity or uuid.uuid4().hex, salvaged.key or os.urandom(32),
                         salvaged.entries, salvaged.files)
        Mark(database.id, 0, '').write(database.mark)
    return Ledger(path)


def _restore_spent(ledger: Ledger, mark: Mark | None, least: dict[str, Fraction]) -> list[str]:
    """Count as spent what the mark and the operator say; return sentences."""
    report = []
    for subject, marked in (mark.accounts() if mark is not None else {}).items():
        account, unit, name = ledger.account(subject), marked.unit, printable(subject)
        if unit is not None and unit != account.unit:
            loss = Loss(Fraction(0), unit.symbols or 0, unit.sampling, unit.period, unit.seconds)
            zones = {} if unit.zones is None else {'zones': unit.zones}
            ledger.note(Entry(0, 'unit', subject, **loss_columns(loss), description=json.dumps(
                {'reason': 'recovered from the mark', **zones})))
        budgets = [budget for budget in (account.budget, marked.budget) if budget is not None]
        # Where the two differ, the stricter one: pure, or the smaller δ.
        deltas = [each.delta for each in (account, marked) if each.has_accounting]
        delta = None if None in deltas else min(filter(None, deltas), default=None)
        budget = min(budgets, default=None)
        if (account.budget, account.delta) != (budget, delta):
            ledger.note(budget_entry(subject, budget, delta))
            report.append(f'{name}: the budget is {as_text(budget or Fraction(0))} '
                          f'({accounting_text(delta)}), as the mark says')
        rho = account.rho
        more = ledger.set_spent(subject, marked.spent(), 'recovered from the mark',
                                marked.added_rho)
        if more:
            report.append(f'{name}: the mark says that {as_text(marked.spent())} was spent; '
                          f'{as_text(more)} more is counted')
        elif ledger.account(subject).rho > rho:
            report.append(f'{name}: the mark says ρ = {as_rounded_text(marked.rho)}, and the '
                          f'charges that were kept have {as_rounded_text(rho)}: the rest is '
                          'counted')
    for subject, amount in least.items():
        more = ledger.set_spent(subject, amount, 'set by the operator')
        if more:
            report.append(f'{printable(subject)}: the operator says that {as_text(amount)} was '
                          f'spent; {as_text(more)} more is counted')
    return report


def _overwrite(file: int, source: Path) -> None:
    """Replace the content of a file, not the file: waiting programs have this one open."""
    os.ftruncate(file, 0)
    with open(source, 'rb') as new:
        offset = 0
        while part := new.read(_PART_BYTES):
            offset += os.pwrite(file, part, offset)
    os.fsync(file)
