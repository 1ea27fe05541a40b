# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Recovering a ledger that is damaged, lost, or an older copy.

What a charge was for cannot be made up again; that ε was spent can. So every charge that can be
read is kept, and then each subject has spent at least what the mark beside the ledger tells, or
the operator. Where nothing tells it, nothing is recovered without the operator's word. Logs whose
charges are lost count as never released: released again, they are charged again, and their former
releases are out all the same.

The ledger is written anew in its place, under its id and key where they can be read; the file as
it was is kept beside it. What was done is an entry of the ledger.
"""
from collections import Counter
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
import errno
import fcntl
from fractions import Fraction
from hashlib import sha256
import json
import os
from pathlib import Path
import shutil
import sqlite3
import stat
import uuid

from symdp_ros.core.errors import LedgerError
from symdp_ros.core.printable import printable
from symdp_ros.release import ledger_version_1
from symdp_ros.release.accounts import Entry
from symdp_ros.release.ledger import Ledger
from symdp_ros.release.ledger_database import (
    check_version,
    COLUMNS,
    FAILURES,
    FILE_COLUMNS,
    LedgerFile,
)
from symdp_ros.release.mark import Mark
from symdp_ros.release.units import as_text

_SQLITE_LOCKS = 0x40000000, 512  # first byte, and number of bytes, of SQLite's locks in a file
_MOST_MISSING = 100_000  # rows that are looked for one by one
_PART_BYTES = 1 << 20


@dataclass
class _Found:
    """What can be read of a ledger; `problems`: what is wrong, besides the mark."""

    id: str | None = None
    key: bytes | None = None
    entries: list[Entry] = field(default_factory=list)
    files: list[LedgerFile] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def recover(path, least: dict[str, Fraction]) -> list[str]:
    """
    Make a ledger usable again; return one sentence for each thing that was found or done.

    :param least: for some subjects, what they have spent at least, in their unit.
    :raises LedgerError: nothing tells what was spent; another program has the ledger open; it
        is of a newer version, or cannot be read or written. Then it is left as it is.
    """
    try:
        path = Path(os.path.realpath(path))
        mark_path = path.with_name(f'{path.name}.mark')
        if not path.exists() and not mark_path.exists():
            raise LedgerError(f'there is no ledger {printable(path)}')
        with _alone(path) as file, _folder(path) as place:
            _copy(file, path, place / 'old')
            found = _read(place, 'old', printable(path))
            mark, mark_problem = _read_mark(place, mark_path, found)
            problems = found.problems + [mark_problem] * bool(mark_problem)
            if not problems:
                return ['nothing is wrong with the ledger']
            tells = mark is not None and mark.subjects is not None
            if not least and not tells and (found.problems or mark is not None):
                raise LedgerError(
                    f'ledger {printable(path)}: {problems[0]}, and no mark tells what was spent. '
                    'Say for each subject what it may have spent in all: --spent-at-least SUBJECT '
                    'EPSILON')
            said = [f'found: {problem}' for problem in problems]
            with _made_anew(place / 'new', found, mark) as ledger:
                kept = _keep(place, 'old', path)
                said += [f'charges kept: {len(ledger.charges())}; the file as it was is {kept}']
                said += _count(ledger, mark, least)
                ledger.note('recovery', '', description=json.dumps({'said': said}))
            if not (place / 'new.mark').exists():
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            for suffix in ('-wal', '-shm', '-journal'):
                Path(f'{path}{suffix}').unlink(missing_ok=True)
            _overwrite(file, place / 'new')
            os.replace(place / 'new.mark', mark_path)
    except (OSError, ValueError) as error:
        problem = getattr(error, 'strerror', None) or error
        raise LedgerError(f'ledger {printable(path)} cannot be recovered: {problem}') from None
    return said


@contextmanager
def _alone(path):
    """Open a ledger where no other process has it open, and keep them out meanwhile."""
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
def _folder(path):
    """Give a new folder beside a ledger that this process alone has open."""
    place = path.with_name(f'.recovery-{sha256(os.fsencode(path.name)).hexdigest()[:16]}')
    if place.exists():  # of a recovery that was killed
        shutil.rmtree(place)
    os.mkdir(place, 0o700)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _copy(file, path, target):
    """Copy a ledger, and what SQLite has put beside it; only `file` may be closed."""
    with open(target, 'wb') as copy:
        offset = 0
        while part := os.pread(file, _PART_BYTES, offset):
            offset += copy.write(part)
    with suppress(FileNotFoundError):
        shutil.copyfile(f'{path}-wal', f'{target}-wal')


def _copy_of(place, name, copy):
    for suffix in ('', '-wal'):
        with suppress(FileNotFoundError):
            shutil.copyfile(place / f'{name}{suffix}', place / f'{copy}{suffix}')
    return place / copy


def _keep(place, name, path):
    """Keep the file as it was beside the ledger; return what it is called."""
    if (place / name).stat().st_size == 0:
        return 'empty'
    now = datetime.now(timezone.utc).strftime('%Y%m%dT%H%M%SZ')
    kept = path.with_name(f'{path.name}.damaged-{now}')
    while kept.exists():
        kept = kept.with_name(f'{kept.name}+')
    for suffix in ('-wal', ''):
        with suppress(FileNotFoundError):
            shutil.copyfile(place / f'{name}{suffix}', f'{kept}{suffix}')
            os.chmod(f'{kept}{suffix}', 0o600)
            _flush(f'{kept}{suffix}')
    _flush(path.parent)
    return f'kept as {printable(kept.name)}'


def _read(place, name, shown):
    """Return what can be read of a ledger, after verifying it; `shown` is its name in messages."""
    if (place / name).stat().st_size == 0:
        return _Found(problems=['the ledger is gone or empty'])
    found = _Found()
    with suppress(*FAILURES), closing(sqlite3.connect(
            _copy_of(place, name, 'salvaged'))) as db:
        with suppress(*FAILURES):
            check_version(db, shown)
        _salvage(db, found)
    try:
        with Ledger(_copy_of(place, name, 'verified'), create=False) as ledger:
            found.problems += ledger.problems()
    except LedgerError:
        found.problems.append('the file is damaged, or of another kind')
    return found


def _salvage(db, found):
    """Read rows one by one, whatever cannot be read."""
    db.text_factory = lambda text: text.decode(errors='replace')
    head = _rows(db, 'SELECT 0, id, key FROM ledger')
    for _, found.id, found.key in head.values():
        if not isinstance(found.id, str) or not isinstance(found.key, bytes):
            found.id = found.key = None
    files = {}
    select = f'SELECT rowid, {", ".join(FILE_COLUMNS)} FROM files'
    for _, number, *texts, visible in _rows(db, select, 'rowid').values():
        if type(number) is int and all(isinstance(text, str) for text in texts):
            files[texts[0]] = LedgerFile(number, *texts, bool(visible))
    counts = Counter(file.number for file in files.values())
    for row in _rows(db, f'SELECT {", ".join(COLUMNS)} FROM charges', 'number').values():
        entry = Entry(*row)
        entry = replace(entry, files=counts[entry.number] if entry.kind == 'charge' else 0)
        if entry.is_sound():
            found.entries.append(entry)
    if not found.entries:
        select = f'SELECT {", ".join(ledger_version_1.COLUMNS)} FROM charges'
        for row in _rows(db, select, 'number').values():
            with suppress(LedgerError):
                found.entries.append(ledger_version_1.entry_of(row, counts[row[0]]))
        found.entries += ledger_version_1.units(found.entries)
    # Numbered anew: some may be missing.
    numbers = {entry.number: i + 1 for i, entry in enumerate(found.entries)
               if entry.kind == 'charge'}
    found.entries = [replace(entry, number=i + 1) for i, entry in enumerate(found.entries)]
    found.files = [replace(file, number=numbers[file.number]) for file in files.values()
                   if file.number in numbers]


def _rows(db, select, key=None):
    """Return the rows by number: those before, behind and between what cannot be read."""
    rows = {}
    for order in ([''] if key is None else [f'ORDER BY {key}', f'ORDER BY {key} DESC']):
        with suppress(*FAILURES):
            for row in db.execute(f'{select} {order}'):
                if type(row[0]) is int:
                    rows.setdefault(row[0], row)
    if key is not None and rows:
        missing = (number for number in range(min(rows), max(rows)) if number not in rows)
        for number, _ in zip(missing, range(_MOST_MISSING)):
            with suppress(*FAILURES):
                row = db.execute(f'{select} WHERE {key} = ?', (number,)).fetchone()
                if row is not None and row[0] == number:
                    rows[number] = row
    return dict(sorted(rows.items()))


def _read_mark(place, path, found):
    """Return the mark, or None, and what is wrong with it, or None."""
    try:
        mark = Mark.read(path)
    except LedgerError as error:
        return None, str(error)
    if mark is None or found.problems:
        return mark, None
    marked = _copy_of(place, 'old', 'marked')
    shutil.copyfile(path, f'{marked}.mark')
    try:
        with Ledger(marked, create=False) as ledger:
            agrees = not ledger.problems()
    except LedgerError:
        agrees = False
    return mark, None if agrees else (
        f'{printable(path.name)} tells of a charge that the ledger does not hold: it looks rolled '
        'back or replaced')


def _made_anew(path, found, mark):
    """Return a new ledger that holds what can be read."""
    told = [mark.ledger] if mark is not None else []
    identity = ([found.id] + told if not found.problems else told + [found.id])[0]
    return Ledger.made_of(path, identity or uuid.uuid4().hex, found.key or os.urandom(32),
                          found.entries, found.files)


def _count(ledger, mark, least):
    """Count as spent what the mark and the operator tell; return sentences."""
    said = []
    for subject, told in (mark.accounts() if mark is not None else {}).items():
        account, unit, name = ledger.account(subject), told.unit, printable(subject)
        if unit not in (None, account.unit) and (unit.sampling or unit.seconds is not None):
            ledger.set_unit(subject, unit, 'recovered from the mark')
        budgets = [budget for budget in (account.budget, told.budget) if budget is not None]
        if budgets and account.budget != min(budgets):
            ledger.set_budget(subject, min(budgets))
            said.append(f'{name}: the budget is {as_text(min(budgets))}, as the mark tells')
        more = ledger.set_spent(subject, told.spent(), 'recovered from the mark')
        if more:
            said.append(f'{name}: the mark tells that {as_text(told.spent())} was spent; '
                        f'{as_text(more)} more is counted')
    for subject, amount in least.items():
        more = ledger.set_spent(subject, amount, 'said by the operator')
        if more:
            said.append(f'{printable(subject)}: the operator says that {as_text(amount)} was '
                        f'spent; {as_text(more)} more is counted')
    return said


def _overwrite(file, source):
    """Write a file anew in its place: programs that wait for it have this one open."""
    os.ftruncate(file, 0)
    with open(source, 'rb') as new:
        offset = 0
        while part := new.read(_PART_BYTES):
            offset += os.pwrite(file, part, offset)
    os.fsync(file)


def _flush(path):
    """Make a file or folder durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
