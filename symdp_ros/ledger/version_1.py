# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Converting ledgers of version 1, which added ε of any k.

Each charge keeps its ε, and gets k and sampling from its description. The unit of a subject
becomes the largest k of its charges, and what it has spent is counted in that. For live words the
sampling was not stored: it is taken to be that of the other charges. A subject that was charged at
several samplings keeps its sum, and gets no further charge: nothing could be added to it.
"""
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
import hmac
import json
from pathlib import Path
import sqlite3
from typing import Any

from symdp_ros.errors import LedgerError, printable
from symdp_ros.ledger.accounts import Entry, written
from symdp_ros.ledger.mark import Mark
from symdp_ros.ledger.units import as_fraction, sampling_text

COLUMNS = ('number', 'subject', 'log_id', 'settings', 'description', 'epsilon', 'made', 'lengths',
           'content', 'words')


def problems(db: sqlite3.Connection, identity: str, key: bytes, mark: Path) -> list[str]:
    """Verify seals and mark; return one sentence for each problem."""
    found, before = [], b''
    if db.execute('PRAGMA integrity_check(1)').fetchone() != ('ok',):
        found.append('the file is damaged')
    seals: dict[int, bytes] = {}
    for *row, seal in db.execute(f'SELECT {", ".join(COLUMNS)}, seal FROM charges '
                                 'ORDER BY number'):
        parts = [part if isinstance(part, bytes) else str(part).encode()
                 for part in (before, *row)]
        expected = hmac.digest(key, b''.join(len(part).to_bytes(8, 'big') + part
                                             for part in parts), 'sha256')
        if not isinstance(seal, bytes) or not hmac.compare_digest(expected, seal) \
                or row[0] != len(seals) + 1:
            found.append(f'charge {row[0]}, or the one before it, was changed or removed')
        seals[row[0]] = before = seal if isinstance(seal, bytes) else b''
    try:
        last = Mark.read(mark)
        if last is not None and (last.ledger != identity or last.number not in seals
                                 or seals[last.number].hex() != last.seal):
            found.append('the ledger looks rolled back or replaced: '
                         f'{printable(mark.name)} lists a charge that it does not hold')
    except LedgerError as error:
        found.append(str(error))
    return found


def read(db: sqlite3.Connection) -> tuple[list[Entry], list[tuple[Any, ...]]]:
    """
    Return the entries of version 2, and the rows of files, which stay as they are.

    The charges keep their numbers; an entry for the unit of each subject is added.
    """
    counts = dict(db.execute('SELECT number, count(*) FROM files GROUP BY number'))
    charges = [entry_of(row, counts.get(row[0], 0)) for row in db.execute(
        f'SELECT {", ".join(COLUMNS)} FROM charges ORDER BY number')]
    files = db.execute('SELECT number, path, staged, digest, visible FROM files').fetchall()
    return charges + units(charges), files


def entry_of(row: Sequence[Any], files: int) -> Entry:
    """
    Return a charge of version 1 as an entry.

    :param row: `COLUMNS`.
    :raises LedgerError: it is damaged.
    """
    try:
        (number, subject, log_id, settings, description, epsilon, made, lengths, content,
         packed) = row
        described = json.loads(description)
        sampling = 'archive' if 'archive' in described else described.get('sampling', '')
        entry = Entry(number, 'charge', subject, log_id, settings, description,
                      written(as_fraction(epsilon)), described.get('adjacency', 1), sampling,
                      written(as_fraction(described['period'])) if sampling == 'period' else None,
                      None, made, lengths, content, packed, files)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        entry = None
    if entry is None or not entry.is_sound():
        raise LedgerError(f'charge {row[0]} is damaged', damaged=True)
    return entry


def units(charges: list[Entry]) -> list[Entry]:
    """Return an entry for each subject that sets its unit, to be appended to its charges."""
    number, made = max((charge.number for charge in charges), default=0), []
    for subject in sorted({charge.subject for charge in charges}):
        own = [charge for charge in charges if charge.subject == subject]
        adjacencies = sorted({charge.adjacency for charge in own})
        samplings = sorted({(charge.sampling, charge.period) for charge in own if charge.sampling},
                           key=str)
        texts = [sampling_text(sampling, None if period is None else Fraction(period))
                 for sampling, period in samplings]
        one = samplings[0] if len(samplings) == 1 else (' and '.join(texts), None)
        reason = (f'converted from version 1: its charges have k = '
                  f'{", ".join(map(str, adjacencies))}')
        if len(samplings) > 1:
            reason += (f' and symbols of several samplings ({", ".join(texts)}), which cannot be '
                       'added: it gets no further charge')
        number += 1
        made.append(replace(
            own[-1], number=number, kind='unit', log_id=None, settings='', epsilon='0',
            description=json.dumps({'reason': reason}), adjacency=adjacencies[-1],
            sampling=one[0], period=one[1], lengths='[]', content=b'', packed=b'', files=0))
    return made
