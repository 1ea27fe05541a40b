# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Ledgers for tests: of this version and of version 1, and ways to damage them."""
from fractions import Fraction
import hmac
import json
import os
import shutil
import sqlite3
import zlib

from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.units import Loss

_VERSION_1 = """
    CREATE TABLE ledger (version INTEGER NOT NULL, id TEXT NOT NULL, key BLOB NOT NULL);
    CREATE TABLE charges (
        number INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL, log_id TEXT,
        settings TEXT NOT NULL, description TEXT NOT NULL, epsilon TEXT NOT NULL,
        made TEXT NOT NULL, lengths TEXT NOT NULL, content BLOB NOT NULL, words BLOB NOT NULL,
        seal BLOB NOT NULL, UNIQUE (subject, log_id, settings)
    );
    CREATE TABLE files (
        number INTEGER NOT NULL REFERENCES charges, path TEXT NOT NULL UNIQUE,
        staged TEXT NOT NULL, digest TEXT NOT NULL, visible INTEGER NOT NULL
    );
"""


def loss(epsilon=1, adjacency=1, sampling='message', period=None, seconds=None):
    """Return what a release may give away; numbers are read as decimals."""
    def exact(number):
        return None if number is None else Fraction(str(number))

    return Loss(exact(epsilon), adjacency, sampling, exact(period), exact(seconds))


def make_ledger(path, charges=3, copy=None):
    """
    Make a ledger in which r1 has spent ε = 1 for each charge, with a budget of 3.

    :param copy: where its folder is copied to as a process leaves it that is killed.
    """
    with Ledger(path) as ledger:
        for i in range(charges):
            ledger.charge('r1', loss(), log_id=f'{i}.csv', settings='s', description='{}',
                          content=os.urandom(32), words=[['dock'] * 20], subject_budget=3.0,
                          files=lambda number: [(f'/out/{number}', f'/staged/{number}', 'd')])
        for file in ledger.files():
            ledger.set_visible(file.path)
        if copy is not None:
            shutil.copytree(path.parent, copy)
            copy.joinpath(f'{path.name}-shm').unlink()


def put_back_older_copy(path):
    """Spend the third ε, and put the copy from before it back."""
    copy = path.read_bytes()
    with Ledger(path) as ledger:
        ledger.charge('r1', loss(), log_id='third.csv', settings='s', description='{}')
    path.write_bytes(copy)


def make_version_1(path, charges, *, number=None, seal=None):
    """
    Make a ledger of version 1, and its mark.

    :param charges: (subject, log id, ε, description) of each.
    :param number, seal: what the mark tells, where it is not the last charge.
    """
    identity, key, before = os.urandom(16).hex(), os.urandom(32), b''
    with sqlite3.connect(path) as db:
        db.executescript(_VERSION_1)
        db.execute('INSERT INTO ledger VALUES (1, ?, ?)', (identity, key))
        for i, (subject, log_id, epsilon, description) in enumerate(charges):
            words = [] if log_id is None else [['dock'] * 20]
            row = (i + 1, subject, log_id, 's', json.dumps(description), repr(float(epsilon)),
                   '2026-01-01T00:00:00+00:00', '[20]', b'content',
                   zlib.compress(json.dumps(words).encode()))
            parts = [part if isinstance(part, bytes) else str(part).encode()
                     for part in (before, *row)]
            before = hmac.digest(key, b''.join(len(part).to_bytes(8, 'big') + part
                                               for part in parts), 'sha256')
            db.execute(f'INSERT INTO charges VALUES ({"?, " * 10}?)', (*row, before))
            if log_id is not None:
                db.execute('INSERT INTO files VALUES (?, ?, ?, ?, 1)',
                           (i + 1, f'/out/{i + 1}', f'/staged/{i + 1}', 'd'))
    db.close()
    path.with_name(f'{path.name}.mark').write_text(
        f'{identity} {number or len(charges)} {seal or before.hex()}\n')


def damage(content: bytes, chance) -> bytes:
    """Return a file's content with some damage, drawn by a `random.Random`."""
    content, kind = bytearray(content), chance.randrange(7)
    if not content or kind == 0:
        return bytes(content) + chance.randbytes(chance.randrange(1, 5000))
    at = chance.randrange(len(content))
    size = chance.randrange(1, 1 + min(8192, len(content) - at))
    if kind <= 3:
        for _ in range(chance.choice([1, 1, 1, 2, 8, 64])):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    elif kind == 4:
        del content[at:]
    elif kind == 5:
        content[at:at + size] = chance.choice([bytes(size), chance.randbytes(size)])
    else:  # pages that change places
        page = 4096
        first, second = (page * chance.randrange(1 + len(content) // page) for _ in range(2))
        one, other = content[first:first + page], content[second:second + page]
        if len(one) == len(other):
            content[first:first + page], content[second:second + page] = other, one
    return bytes(content)
