# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One offline mechanism serves several threads at once; an online one has another for each."""
from concurrent.futures import ThreadPoolExecutor
import sys
from threading import Barrier

import pytest
from strategies import FOUR, grid
from symdp_ros import Chain, OfflineMechanism, OnlineMechanism, Privacy

ALPHABET = Chain.complete([f'symbol {i}' for i in range(50)], 'symbol 0')
THREADS = 4


@pytest.fixture
def eager():
    """Have threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(*tasks):
    """Run tasks side by side, from the same moment on; return what they return."""
    begin = Barrier(len(tasks))

    def run(task):
        begin.wait()
        return task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        return [future.result() for future in [pool.submit(run, task) for task in tasks]]


@pytest.mark.parametrize('chain, selection', [
    (ALPHABET, 'exponential'), (ALPHABET, 'causal'),
    (grid(4), 'causal'), (grid(4), 'exponential'), (FOUR, 'exponential')])
def test_words_of_several_threads_do_not_mix(chain, selection, eager):
    """At ε = 700 a feasible word comes out as it is; each thread has one of its own."""
    mechanism = OfflineMechanism(chain, Privacy(700.0), selection=selection)
    walks = OnlineMechanism(chain, Privacy(0.0))
    words = [walks.privatize([None] * 40) for _ in range(THREADS)]

    def task(word):
        return [mechanism.privatize(word) == word for _ in range(50)]

    assert all(map(all, at_once(*(lambda word=word: task(word) for word in words))))


@pytest.mark.parametrize('policy', ['paper', 'guided'])
@pytest.mark.parametrize('chain', [ALPHABET, grid(4)], ids=['alphabet', 'grid'])
def test_another_carries_a_word_of_its_own(chain, policy, eager):
    mechanism = OnlineMechanism(chain, Privacy(700.0), policy=policy)
    before = mechanism.step(None)
    others = [mechanism.another() for _ in range(THREADS)]
    assert all(other.previous == chain.initial_state for other in others)
    assert all(other.targets is mechanism.targets for other in others)
    words = [OnlineMechanism(chain, Privacy(0.0)).privatize([None] * 500) for _ in others]

    def task(mechanism, word):
        return [mechanism.step(symbol) for symbol in word]

    assert at_once(*(lambda pair=pair: task(*pair) for pair in zip(others, words))) == words
    assert mechanism.previous == before
