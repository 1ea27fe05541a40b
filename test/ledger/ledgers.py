# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Ledgers for tests, and ways to damage them."""
from contextlib import closing, contextmanager
from fractions import Fraction
import os
from pathlib import Path
import shutil
import sqlite3

from symdp_ros.ledger.entry import Loss
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.storage.database import LedgerFile


def loss(epsilon=1, adjacency=1, sampling='message', period=None, seconds=None, **more):
    """Return what a release may give away; numbers are read as decimals."""
    def exact(number):
        return None if number is None else Fraction(str(number))

    return Loss(exact(epsilon), adjacency, sampling, exact(period), exact(seconds), **more)


def make_ledger(path, charges=3, copy=None):
    """
    Make a ledger in which r1 has spent ε = 1 for each charge, with a budget of 3.

    :param copy: where its folder is copied to as a process leaves it that is killed.
    """
    with Ledger(path) as ledger:
        for i in range(charges):
            ledger.charge('r1', loss(), log_id=f'{i}.csv', settings='s', description='{}',
                          content=os.urandom(32), words=[['dock'] * 20], subject_budget=3.0,
                          files=[LedgerFile(0, Path(f'/out/{i + 2}'), Path(f'/staged/{i + 2}'),
                                            'd', False)])
        for file in ledger.files.all():
            ledger.files.set_visible(file.path)
        if copy is not None:
            shutil.copytree(path.parent, copy)
            copy.joinpath(f'{path.name}-shm').unlink()


@contextmanager
def held(path):
    """Let every charge of other processes wait until the end of the block."""
    with closing(sqlite3.connect(path, isolation_level=None)) as ledger:
        ledger.execute('BEGIN IMMEDIATE')
        yield


def change(path, *statements):
    """Run statements of SQL on a database."""
    with sqlite3.connect(path) as db:
        for statement in statements:
            db.execute(statement)
    db.close()


def put_back_older_copy(path):
    """Spend the third ε, and put the copy from before it back."""
    copy = path.read_bytes()
    with Ledger(path) as ledger:
        ledger.charge('r1', loss(), log_id='third.csv', settings='s', description='{}')
    path.write_bytes(copy)


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
