# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Without a compiler, NumPy does what the loops in C do: the same bits, the same words."""
from importlib import import_module
import json
from pathlib import Path
import subprocess
import sys

import pytest
from symdp_ros.core.loops import loops
from symdp_ros.core.offline import passes

ROOT = Path(__file__).resolve().parents[2]

#: Prints, for each way of drawing words, those that fixed bits give. It forces what else would
#: take long words on large chains: weights that are computed again.
DRAW = """
import json
from random import Random

import numpy as np
from strategies import grid

from symdp_ros import Chain, OfflineMechanism, OnlineMechanism, Privacy
from symdp_ros.core.offline.exponential import Exponential
from symdp_ros.core.offline.reachable import LoopSizes
from symdp_ros.core.online import online_batch, targets
from symdp_ros.core.online.counts import SignalNumbers, SIGNALS

CHAINS = {'grid': grid(3), 'period 2': grid(4, staying=False)}
# After the first move, one way or the other for ever: one exponent for each state.
CHAINS['wide'] = Chain({'0': ['a', 'b'], 'a': ['a'], 'b': ['b', 'c'], 'c': ['b', 'c']}, '0')


def word(chain, n, seed):
    random = Random(seed)
    return [random.choice([*chain.states, None]) for _ in range(n)]


found = {}
for name, chain in CHAINS.items():
    for stored in (10**9, 0):
        for trust in (None, 0.8):
            law = Exponential(chain, Privacy(3.0), trust, Random(5),
                              sizes=LoopSizes(stored_bytes=stored))
            found[f'{name}, {stored}, {trust}'] = law.draw(word(chain, 40, 1))
    for kind in (OfflineMechanism, OnlineMechanism):
        words = [np.array([chain.states.index(s) if s else -1 for s in word(chain, n, n)])
                 for n in (1, 30, 12, 5)]
        offsets = np.cumsum([0] + [len(w) for w in words])
        many = kind(chain, Privacy(1.5), random=Random(7)).privatize_many(
            np.concatenate(words), offsets)
        found[f'{name}, {kind.__name__}'] = many.tolist()
    for delay, length in ((0, 30), (3, 30), (None, 70)):
        adaptive = OnlineMechanism(chain, Privacy(2.0), policy='adaptive', delay=delay,
                                   random=Random(8))
        symbols = np.array([chain.states.index(s) if s else -1 for s in word(chain, length, 3)])
        drawn = adaptive.draw_signals(symbols, np.array([0, length - 20, length]))
        found[f'{name}, adaptive, {delay}'] = [row.tolist() for row in drawn]
        names = [*chain.states, *SIGNALS]
        adaptive.replay(names[i] for i in drawn[1][:length - 20])
        found[f'{name}, adaptive, {delay}, state'] = [
            adaptive.state.hex(), *([] if delay is None else adaptive.posterior.tolist())]
    clocked = OnlineMechanism(chain.every(3, 3), Privacy(2.0), policy='adaptive', reports=2,
                              delay=length % 3, random=Random(9))
    found[f'{name}, two clocks'] = [
        row.tolist() for row in clocked.draw_signals(symbols[:9], np.array([0, 4, 4, 9]))]
    clocked.replay(names[i] for i in found[f'{name}, two clocks'][1][:4])
    clocked.tick()
    found[f'{name}, two clocks, state'] = [clocked.state.hex(), *clocked.posterior.tolist()]
    found[f'{name}, two clocks, whole'] = clocked.another(random=Random(9)).decode(
        names[i] for i in found[f'{name}, two clocks'][1][:4])
    zones = {'A': chain.states[::2], 'B': chain.states[1::2]}
    for delay in (0, 3, None):
        zoned = OnlineMechanism(chain, Privacy(2.0, 1, zones), policy='adaptive', delay=delay,
                                random=Random(8))
        found[f'{name}, zones, {delay}'] = [row.tolist() for row in zoned.draw_signals(
            symbols[:48], offsets)]
        stays = OnlineMechanism(chain, Privacy(0.7, 1, zones), policy='adaptive', delay=delay,
                                random=Random(8))
        drawn = stays.draw_signals(np.repeat(symbols[:8], 6), offsets)
        found[f'{name}, blocks in zones, {delay}'] = [row.tolist() for row in drawn]
        signals = SignalNumbers(chain.states, zones)
        stays.replay(map(signals.name, drawn[1][offsets[1]:offsets[2]].tolist()))
        found[f'{name}, blocks in zones, {delay}, state'] = stays.state.hex()
        clocked = OnlineMechanism(chain, Privacy(1.0, 1, zones), policy='adaptive', delay=delay,
                                  reports=2, random=Random(8))
        found[f'{name}, blocks in zones on two clocks, {delay}'] = [
            row.tolist() for row in clocked.draw_signals(np.repeat(symbols[:8], 6), offsets)]
    for states in (2_000, 0):  # up to which all pairs have a target
        targets.DENSE_STATES = online_batch.DENSE_STATES = states
        guided = OnlineMechanism(chain, Privacy(2.0), policy='guided', random=Random(8))
        found[f'{name}, guided, {states}'] = guided.privatize_many(symbols[:48], offsets).tolist()
        near = OnlineMechanism(chain, Privacy(2.0), policy='adaptive', random=Random(8))
        found[f'{name}, adaptive, {states}'] = near.privatize_many(symbols[:48], offsets).tolist()
        paper = OnlineMechanism(chain, Privacy(2.0), policy='paper', random=Random(9))
        found[f'{name}, paper, {states}'] = paper.privatize_many(symbols[:48], offsets).tolist()
    targets.DENSE_STATES = online_batch.DENSE_STATES = 2_000
complete = Chain.complete([f'{i}' for i in range(200)], '3')
found['complete'] = OnlineMechanism(complete, Privacy(4.0), random=Random(1)).privatize_many(
    symbols[:48], offsets).tolist()
modes = Chain.complete([f'{i}' for i in range(8)], '3')
for delay in (2, None):
    found[f'modes, {delay}'] = [row.tolist() for row in OnlineMechanism(
        modes, Privacy(2.0), policy='adaptive', delay=delay, random=Random(2)).draw_signals(
            np.arange(120) // 15, np.array([0, 40, 120]))]
# Places so far apart that an expected match is less than floats of X can hold.
corridor = Chain({f'{i}': [f'{j}' for j in (i - 1, i, i + 1) if 0 <= j < 300]
                  for i in range(300)}, '0')
found['corridor'] = [row.tolist() for row in OnlineMechanism(
    corridor, Privacy(2.0), policy='adaptive', delay=2, random=Random(2)).draw_signals(
        np.arange(120) // 2, np.array([0, 40, 120]))]
print(json.dumps(found))
"""


def drawn(directory, without_compiler):
    """Return what DRAW prints in a process of its own."""
    modules = ['.'.join(file.relative_to(ROOT).with_suffix('').parts)
               for file in (ROOT / 'symdp_ros').rglob('_*.c')]
    assert len(modules) > 1
    block = f'import sys; sys.modules |= dict.fromkeys({modules})\n' if without_compiler else (
        f'import importlib; [importlib.import_module(name) for name in {modules}]\n')
    run = subprocess.run(
        [sys.executable, '-W', 'error::RuntimeWarning', '-c',
         f'import sys; sys.path[:0] = {[str(ROOT), str(ROOT / "test" / "core")]!r}\n'
         + block + DRAW], capture_output=True, text=True,
        env={'XDG_CACHE_HOME': str(directory), 'HOME': str(directory), 'PATH': '/usr/bin:/bin'})
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.skipif(passes.compiled is None, reason='installed without a compiler')
def test_the_same_words(tmp_path):
    compiled, in_numpy = drawn(tmp_path / 'a', False), drawn(tmp_path / 'b', True)
    assert len(compiled) == 82 + 18
    for name, words in compiled.items():
        assert in_numpy[name] == words, name


@pytest.mark.skipif(loops is None, reason='installed without a compiler')
def test_c_has_the_constants_of_its_twins():
    for name, value in loops.CONSTANTS.items():
        module, constant = name.split('.')
        assert vars(import_module(f'symdp_ros.core.online.adaptive.{module}'))[constant] == value
