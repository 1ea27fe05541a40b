# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What the fuzzers, the kill tests and the soak share: how long, from which seed, what is reported.

They run in small in `make test`, and for as long as one likes by `make fuzz MINUTES=10`,
`make kill ROUNDS=100` and `make soak MINUTES=10`, which set these variables:

- SYMDP_FUZZ_SECONDS: how long each fuzzer goes on (default 0.5);
- SYMDP_KILL_ROUNDS: how often each kill test kills (default 2);
- SYMDP_SOAK_SECONDS: how long a soak takes (default 1);
- SYMDP_TEST_SEED: the seed of the first case (default: another one each time);
- SYMDP_FIGURES: a file that each test appends its row of a Markdown table to. `make figures`,
  which runs this module, puts these rows into the table of docs/evidence/long-runs.md.

A fuzzer stands in a file named test_fuzz_*.py, and is a test that calls `fuzz`.
"""
from collections.abc import Callable
import os
from pathlib import Path
import random
import secrets
import sys
import time

FUZZ_SECONDS = float(os.environ.get('SYMDP_FUZZ_SECONDS') or 0.5)
KILL_ROUNDS = int(os.environ.get('SYMDP_KILL_ROUNDS') or 2)
SOAK_SECONDS = float(os.environ.get('SYMDP_SOAK_SECONDS') or 1)


def first_seed() -> int:
    """Return the seed of the first case: SYMDP_TEST_SEED, or a new one."""
    return int(os.environ.get('SYMDP_TEST_SEED') or secrets.randbits(32))


def fuzz(case: Callable[[random.Random], None], seconds: float = FUZZ_SECONDS) -> None:
    """
    Try one case after another until the time is over; at least one.

    :param case: makes a case from the generator, tries it, and raises where something is wrong.
        It must draw everything from the generator: then its seed replays it.
    :raises AssertionError: from the first exception of a case, with how to replay that case.
    """
    first, begin = first_seed(), time.monotonic()
    seed, passed = first, 0.0
    while seed == first or passed < seconds:
        try:
            case(random.Random(seed))
        except Exception as error:
            replay = f'SYMDP_TEST_SEED={seed} SYMDP_FUZZ_SECONDS=0.001 python -m pytest ' \
                     f'"{_test()}"'
            report(f'{seed - first + 1:,} cases', f'failed: {replay}')
            raise AssertionError(f'case {seed - first + 1} failed: {type(error).__name__}: '
                                 f'{error}\nreplay it with {replay}') from error
        seed += 1
        passed = time.monotonic() - begin
    report(f'{seed - first:,} cases in {passed:.0f} s, from seed {first}', 'no failure')


def report(tried: str, result: str) -> None:
    """Append a row for the test that runs to the table of SYMDP_FIGURES, and print it."""
    row = f'| {_test()} | {tried} | {result} |'
    print(row)
    if file := os.environ.get('SYMDP_FIGURES'):
        with open(file, 'a', encoding='utf-8') as rows:  # appended in one write by each process
            rows.write(f'{row}\n')


def _test():
    return os.environ.get('PYTEST_CURRENT_TEST', 'no test').rpartition(' (')[0]


def merged(page: str, figures: str) -> str:
    """Return a page with the rows of a table put into its own, in the place of older ones."""
    def rows_of(lines):
        return {line.split('|')[1]: line for line in lines if line.startswith('| test/')}

    lines = page.split('\n')
    rows = rows_of(lines) | rows_of(figures.split('\n'))
    kept = [line for line in lines if not line.startswith('| test/')]
    place = kept.index('|---|---|---|') + 1
    return '\n'.join(kept[:place] + [rows[name] for name in sorted(rows)] + kept[place:])


if __name__ == '__main__':
    target, source = map(Path, sys.argv[1:])
    target.write_text(merged(target.read_text('utf-8'), source.read_text('utf-8')), 'utf-8')
