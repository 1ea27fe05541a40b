# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp warm-up`: after it nothing has to be compiled any more."""
import os
import signal
import subprocess
import sys

import pytest

# In a process of its own: what other tests have compiled does not count.
SCRIPT = """
import gc
from random import choice
from numba.core.dispatcher import Dispatcher
from symdp_ros import Chain, OfflineMechanism, OnlineMechanism, Privacy
from symdp_ros.cli.main import main

assert main(['warm-up']) == 0


def compiled():
    return {(loop.py_func.__qualname__, str(kinds)) for loop in gc.get_objects()
            if issubclass(type(loop), Dispatcher)
            and loop.py_func.__module__.startswith('symdp_ros')
            for kinds in loop.signatures}


before = compiled()
ring = {f's{i}': [*{f's{j % 60}' for j in (i, i + 1, i * 7)}] for i in range(60)}
for chain in (Chain({name: {other: 1 / len(row) for other in row} for name, row in ring.items()},
                    's0'), Chain(ring, 's0'),
              Chain.complete([f's{i}' for i in range(40)], 's0')):
    word = [choice(chain.states) for _ in range(60)]
    for policy in ('paper', 'guided', 'planned', 'adaptive')[:4 if chain.stores_edges else 1]:
        mechanism = OnlineMechanism(chain, Privacy(2.0), policy=policy)
        mechanism.privatize(word)
        mechanism.privatize_many([0, 1, -1] * 20, range(0, 61, 3))
    for selection, base in (('exponential', 'chain'), ('exponential', 'counting'),
                            ('permute_and_flip', 'chain'), ('causal', 'chain')):
        mechanism = OfflineMechanism(chain, Privacy(2.0), selection=selection, base=base)
        mechanism.privatize(word)
        mechanism.privatize_many([0, 1, -1] * 20, range(0, 61, 3))
print('more:', compiled() - before)
"""


def test_nothing_is_left_to_compile():
    pytest.importorskip('numba', reason='numba is not installed: nothing is compiled')
    done = subprocess.run([sys.executable, '-c', SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == 'all inner loops are compiled\nmore: set()\n'


def test_without_numba_it_says_so():
    done = subprocess.run([sys.executable, '-m', 'symdp_ros.cli.main', 'warm-up'],
                          env={**os.environ, 'NUMBA_DISABLE_JIT': '1'}, capture_output=True,
                          text=True)
    assert done.returncode == 1 and not done.stdout
    assert 'symdp warm-up: nothing can be compiled: numba is not installed' in done.stderr


def test_an_interrupt_ends_it_quietly(tmp_path):
    pytest.importorskip('numba', reason='numba is not installed: nothing is compiled')
    process = subprocess.Popen(
        [sys.executable, '-m', 'symdp_ros.cli.main', 'warm-up'], start_new_session=True, text=True,
        env={**os.environ, 'NUMBA_CACHE_DIR': str(tmp_path)}, stderr=subprocess.PIPE)
    said = process.stderr.readline()
    assert 'compiling the inner loops' in said
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: both processes
    assert process.communicate()[1] == '' and process.returncode == 130
