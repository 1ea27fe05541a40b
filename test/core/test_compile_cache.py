# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Processes that need the same loop at the same time: one of them compiles it."""
import os
import subprocess
import sys

import pytest

MODULE = """
from symdp_ros.core.compiled.compiling import compiled

@compiled
def plus(x, y):
    return x + y
"""
# With an argument it waits for a line before the compiler's first step.
PROCESS = """
import sys
from symdp_ros.core.compiled.notice import interrupted_if, on_slow_loops
from loop import plus
steps = []

def step():
    if sys.argv[1:] and not steps:
        steps.append(print('compiles', flush=True))
        sys.stdin.readline()

with on_slow_loops(lambda sentence: print('waits', flush=True)), interrupted_if(step):
    assert plus(1, 2) == 3
print(sum(plus.stats.cache_misses.values()), plus._cache._locked)
"""
INTERRUPTED = """
from symdp_ros.core.compiled.notice import interrupted_if
from loop import plus
asked = []
try:
    with interrupted_if(lambda: len(asked) == 5 or asked.append(1)):
        plus(1, 2)
except KeyboardInterrupt:
    print(plus._cache._locked, plus.signatures)
"""


@pytest.fixture
def start(tmp_path):
    pytest.importorskip('numba')
    (tmp_path / 'loop.py').write_text(MODULE)
    environment = {**os.environ, 'NUMBA_CACHE_DIR': str(tmp_path / 'cache'),
                   'PYTHONPATH': os.pathsep.join([str(tmp_path), *sys.path])}
    started = []

    def start(text, *arguments):
        started.append(subprocess.Popen(
            [sys.executable, '-c', text, *arguments], text=True, env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_one_compiles_and_the_others_wait(start):
    first = start(PROCESS, 'hold')
    assert first.stdout.readline() == 'compiles\n'
    others = [start(PROCESS) for _ in range(2)]
    for other in others:
        assert other.stdout.readline() == 'waits\n'
    assert first.communicate('\n')[0] == '1 None\n'
    assert [other.communicate()[0] for other in others] == ['0 None\n'] * 2


def test_a_compilation_that_is_killed_or_interrupted_holds_up_nobody(start):
    assert start(INTERRUPTED).communicate()[0] == 'None []\n'
    killed = start(PROCESS, 'hold')
    assert killed.stdout.readline() == 'compiles\n'
    killed.kill()
    assert start(PROCESS).communicate()[0] == '1 None\n'


def test_what_cannot_be_kept_is_compiled_all_the_same():
    """As where no directory can be written: what stands in no file has no place on the disk."""
    compiling = pytest.importorskip('symdp_ros.core.compiled.compiling')
    made = {'__name__': 'made'}
    exec('def plus(x, y):\n    return x + y', made)
    plus = compiling.compiled(made['plus'])
    assert plus(1, 2) == 3 and plus._cache.cache_path is None


def test_a_change_in_another_file_is_compiled(start, tmp_path):
    """It is compiled into the loops that call it, whose own file stays as it is."""
    (tmp_path / 'loops').mkdir()
    called, calls = tmp_path / 'loops' / 'called.py', tmp_path / 'loops' / 'calls.py'
    called.write_text(MODULE)
    calls.write_text('from loops.called import plus\n'
                     'from symdp_ros.core.compiled.compiling import compiled\n\n\n'
                     '@compiled\ndef twice(x):\n    return plus(x, x)\n')
    process = ('from loops.calls import twice\n'
               'print(twice(3), sum(twice.stats.cache_misses.values()))')
    assert start(process).communicate()[0] == '6 1\n'
    called.write_text(MODULE.replace('x + y', 'x * y'))
    assert start(process).communicate()[0] == '9 1\n'
    os.utime(called, (0, 0))  # as in another clone or installation
    assert start(process).communicate()[0] == '9 0\n'
