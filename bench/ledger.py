# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of a ledger with many subjects: its summary with verification, and one more charge."""
from contextlib import redirect_stdout
from fractions import Fraction
import os
from statistics import median
from time import perf_counter

from bench.measure import Figure, Row
from symdp_ros.cli.main import main
from symdp_ros.ledger.entry import Loss, new_charge
from symdp_ros.ledger.ledger import Ledger

_ROUNDS = 3


def _loss(length):
    return Loss(Fraction(1), 4, 'archive', length=length)


def write_ledger(path, subjects):
    """Write a ledger in which an archive charged so many subjects, of routes of seven lengths."""
    with Ledger(path) as ledger, ledger.charging('') as charge:
        charge(*(new_charge(
            _loss(20 + i % 7), 's' * 32, '{"mechanism": "causal"}', log_id='day 1',
            content=b'x' * 32, lengths=[20 + i % 7])._replace(subject=f'robot_{i}')
            for i in range(subjects)))


def _measure(effort):
    subjects, path = effort.either(10_000, 100_000), effort.directory / 'many.ledger'
    write_ledger(path, subjects)
    times = {'summary': [], 'charge': []}
    for i in range(_ROUNDS):
        begun = perf_counter()
        with open(os.devnull, 'w') as nowhere, redirect_stdout(nowhere):
            assert main(['ledger', str(path)]) == 0
        shown = perf_counter()
        with Ledger(path) as ledger:
            assert ledger.charge('robot_7', _loss(30), settings='s', description='{}',
                                 log_id=f'{i}')[1]
        charged = perf_counter()
        times['summary'].append(shown - begun)
        times['charge'].append(charged - shown)
    estimate = effort.either(f'of {subjects:,} subjects', '')
    for name, values in times.items():
        yield Figure(values, {name: median(values)}, estimate=estimate, goal=f'ledger-{name}')


ROWS = (
    Row('ledger', _measure,
        'A ledger in which an archive charged each subject once. `symdp ledger` in this process '
        '(it verifies every entry and prints the summary), and then: open the ledger, charge one '
        'subject once more, write the mark, close it.', ('ledger-summary', 'ledger-charge')),
)
