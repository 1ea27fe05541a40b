# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Work in processes: results, errors, and that nothing of it stays (see cli/test_interrupted)."""
from itertools import count, islice
from math import sqrt
from multiprocessing import active_children
import os
from pathlib import Path
import subprocess
import sys
import time

import pytest
from symdp_ros import errors
from symdp_ros.files.processes import in_processes


@pytest.mark.parametrize('processes', [1, 3])
def test_results_come_in_the_order_of_the_values(processes):
    numbers = range(40)
    assert [*in_processes(sqrt, numbers, processes)] == [*map(sqrt, numbers)]
    assert [*in_processes(sqrt, [], processes)] == [] and not active_children()


def test_a_few_values_are_taken_ahead_and_no_more():
    taken = []
    results = in_processes(sqrt, (taken.append(i) or i for i in count()), 2)
    assert [*islice(results, 9)] == [*map(sqrt, range(9))] and len(taken) <= 9 + 2 * 2
    results.close()
    assert not active_children()


@pytest.mark.parametrize('processes', [1, 2])
def test_an_error_of_the_work_is_raised_in_its_turn(processes):
    results = in_processes(sqrt, [4.0, -1.0, 9.0], processes)
    assert next(results) == 2.0
    with pytest.raises(ValueError, match='math domain error'):
        next(results)
    assert not active_children()


def test_a_process_that_ends_is_an_error_of_ours():
    with pytest.raises(errors.SymdpError, match='was ended, perhaps for want of memory'):
        next(in_processes(os._exit, [3], 2))
    assert not active_children()


def test_work_and_results_may_be_larger_than_a_pipe():
    large = bytes(1 << 20)
    assert [*in_processes(large.count, [b'\0', b'1'] * 4, 2)] == [1 << 20, 0] * 4
    assert [*in_processes(bytes, [1 << 20] * 5, 2)] == [large] * 5


# It says when the first value is done; then one of the two works for five minutes, or both do.
SLEEPING = """
import time
from symdp_ros.files.processes import in_processes
for _ in in_processes(time.sleep, [0, 300, 300], 2):
    print('begun', flush=True)
"""


def test_they_end_with_a_process_that_is_killed():
    """Whatever they do: long before their work is done."""
    with subprocess.Popen([sys.executable, '-c', SLEEPING], stdout=subprocess.PIPE,
                          cwd=Path(__file__).parents[2]) as process:
        assert process.stdout.readline() == b'begun\n'
        files = f'/proc/{process.pid}/task/{process.pid}/children'
        workers = [child for child in Path(files).read_text().split()
                   if b'spawn_main' in Path(f'/proc/{child}/cmdline').read_bytes()]
        assert len(workers) == 2
        process.kill()
    until = time.monotonic() + 90
    while any(map(is_running, workers)):
        assert time.monotonic() < until
        time.sleep(0.01)


def is_running(process):
    """Return whether a process runs: what the system keeps of one that ended has no command."""
    try:
        return Path(f'/proc/{process}/cmdline').read_bytes()
    except FileNotFoundError:
        return False
