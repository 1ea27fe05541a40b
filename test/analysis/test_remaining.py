# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What is found of stays: against the law of the signals, by enumeration."""
from collections import Counter
from itertools import takewhile
import json
from math import log, sqrt
from random import Random
import subprocess
import sys

import numpy as np
from offline_checks import assert_drawn
import pytest
from strategies import grid
from symdp_ros import Chain, OnlineMechanism, Privacy
from symdp_ros.analysis.accuracy import patrols, robots
from symdp_ros.analysis.remaining import stay_drawn, stays_found
from symdp_ros.core.zones import Count, WAITING
from symdp_ros.options import PARAMETERS

THREE = Chain({'a': {'a': 0.9, 'b': 0.1}, 'b': {'a': 0.05, 'b': 0.9, 'c': 0.05},
               'c': {'b': 0.1, 'c': 0.9}}, 'b')
LENGTHS = (1, 2, 4)


def made(delay, chain=THREE, **more):
    return OnlineMechanism(chain, Privacy(1.0), policy='adaptive', delay=delay, **more)


def waiting(signals):
    """Return how many symbols of a block come last, for which nothing was drawn yet."""
    return sum(1 for _ in takewhile(lambda signal: signal == WAITING, reversed(signals)))


@pytest.mark.parametrize('delay', [0, 1, 2, 3])
@pytest.mark.parametrize('chain', [THREE, THREE.every(2, 1)], ids=['three', 'ticks'])
def test_how_likely_a_stay_is(chain, delay):
    """Also where a block has symbols from before the stay, and where the stay ends within one."""
    mechanism, random = made(delay, chain, trust=1.0), Random(delay)
    law, straddle, cut = mechanism.law.of_signals, 0, 0
    for before in 3 * ('b', 'bb', 'bba', 'abbc', 'ccc', 'bbbac'):
        stays = [*stay_drawn(mechanism, before, LENGTHS, random)]
        for n, (signals, likelihood) in zip(LENGTHS, stays, strict=True):
            exact = [law.exact_probabilities([*before[:-1], *place * n], [tuple(signals)])
                     for place in chain.states]
            expected = np.array([log(chance) for [chance] in exact])
            # What was drawn before the stay does not depend on where that is.
            assert likelihood - likelihood[0] == pytest.approx(expected - expected[0], abs=1e-9)
            straddle += waiting(signals[:-n]) > 0
            cut += signals[-1] != stays[-1][0][len(signals) - 1]
    assert (straddle > 0 and cut > 0) == (delay > 0)


@pytest.mark.parametrize('before', ['b', 'bba'])
def test_signals_of_a_stay_are_drawn_from_their_law(before):
    """Of a stay of any length as if the word ended with it."""
    mechanism, random, draws = made(3, trust=1.0), Random(7), 800
    law, drawn = mechanism.law.of_signals, [Counter(), Counter()]
    for _ in range(draws):
        for counter, (signals, _) in zip(drawn, stay_drawn(mechanism, before, (1, 3), random),
                                         strict=True):
            counter[tuple(signals)] += 1
    for counter, n in zip(drawn, (1, 3), strict=True):
        word = [*before[:-1], *before[-1] * n]
        every = law.of(word)
        assert_drawn(counter, dict(zip(every, law.exact_probabilities(word, every), strict=True)),
                     draws)


@pytest.mark.parametrize('delay', [0, 3])
def test_how_often_a_stay_is_found(delay):
    """By enumeration of all signals; of places that are equally likely any may be taken."""
    mechanism, runs = made(delay, trust=1.0), 400
    law, walks = mechanism.law.of_signals, Counter(
        map(tuple, patrols(robots(THREE, 1.0)['as the map says'], 4, runs)))
    for n, found in zip((1, 3), stays_found(mechanism, (1, 3), runs), strict=True):
        least = most = 0.0
        for walk, count in walks.items():
            every = law.of([*walk[:-1], *'b' * n])
            chances = np.array([law.exact_probabilities([*walk[:-1], *place * n], every)
                                for place in 'abc'], float)
            best = chances >= chances.max(axis=0) * (1 - 1e-9)
            own = 'abc'.index(walk[-1])
            most += count / runs * chances[own, best[own]].sum()
            least += count / runs * chances[own, best[own] & (best.sum(axis=0) == 1)].sum()
        margin = sqrt(log(2 / 1e-6) / (2 * runs))  # Hoeffding's, of α = 1e-6
        assert least - margin < found < most + margin


def test_who_stays_longer_is_found_more_often():
    for mechanism in (made(3), made(2, grid(3))):
        found = stays_found(mechanism, (1, 20), 60)
        assert 1 / len(mechanism.chain) < found[0] < found[1] > 0.9


@pytest.mark.parametrize('delay', [1, 3])
def test_how_likely_a_stay_in_a_zone_is(delay):
    """Also where the way to it leaves a zone within a block; other zones are impossible."""
    zones = {'A': ['a', 'b'], 'B': ['c']}
    mechanism = OnlineMechanism(THREE, Privacy(0.7, zones=zones), policy='adaptive', delay=delay,
                                trust=1.0)
    law, blocks, random = mechanism.law.of_signals, 0, Random(delay)
    for before in 3 * ('b', 'bb', 'bba', 'abbc', 'ccbb', 'bbbac'):
        places = next(states for states in zones.values() if before[-1] in states)
        for n, (signals, likelihood) in zip(
                LENGTHS, stay_drawn(mechanism, before, LENGTHS, random), strict=True):
            exact = [law.exact_probabilities([*before[:-1], *place * n], [tuple(signals)])
                     for place in places]
            expected = np.array([log(chance) for [chance] in exact])
            found = likelihood[[THREE.state_index[place] for place in places]]
            assert found - found[0] == pytest.approx(expected - expected[0], abs=1e-9)
            assert np.isinf(likelihood).sum() == len(THREE) - len(places)
            blocks += any(isinstance(signal, Count) for signal in signals)
    assert blocks


def test_the_process_ends_with_who_started_it(tmp_path):
    """Nothing tells it when a node was killed, but that the pipe is closed."""
    chain = grid(30)  # it takes far longer than to close the pipe
    (tmp_path / 'map.chain.yaml').write_text(json.dumps({
        'initial_state': chain.initial_state, 'tick': 1.0,
        'transitions': {state: [*chain.successors(state)] for state in chain.states}}))
    values = {option.name: option.default for option in PARAMETERS['privatizer']} | {
        'chain_file': str(tmp_path / 'map.chain.yaml'), 'epsilon': 1.0, 'protect': 30.0}
    process = subprocess.Popen([sys.executable, '-m', 'symdp_ros.analysis.remaining'],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    found, _ = process.communicate(json.dumps(values).encode() + b'\n', timeout=150)
    assert process.returncode == 1 and found == b''
