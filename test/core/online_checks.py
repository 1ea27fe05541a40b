# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the online mechanisms share."""
from collections import Counter
import gc
from itertools import product
from math import exp, prod
import sys

import numpy as np
from offline_checks import assert_drawn
import pytest
from strategies import exp_bounds, feasible_words, flat, per_symbol
from symdp_ros.core.online.counts import SignalNumbers


def histories(mechanism, length):
    """Yield every history that can be drawn, up to this length, and symbol → its next row."""
    inputs = (*mechanism.chain.states, None)
    reached = [()]
    for _ in range(length):
        following = []
        for history in reached:
            mechanism.replay(history)
            for _ in range(mechanism.reports - 1 if history else 0):
                mechanism.tick()
            rows = {symbol: mechanism.exact_current_distribution(symbol) for symbol in inputs}
            yield history, rows
            following += [(*history, output) for output in rows[None]]
        reached = following


def way_of(call):
    """Call, and return every instruction that it takes, and what it returns."""
    way, tracing = [], sys.gettrace()

    def follow(frame, event, argument):
        frame.f_trace_opcodes = True
        if event == 'opcode':
            way.append((frame.f_code, frame.f_lasti))
        return follow

    sys._getframe().f_trace_opcodes = True  # Python 3.12 must know of it before
    gc.disable()  # it calls functions of others
    sys.settrace(follow)
    try:
        returned = call()
    finally:
        sys.settrace(tracing)
        gc.enable()
    return tuple(way), returned


class SameBits:
    """Random bits that are always so many hundredths of the number after the largest."""

    def __init__(self, percent):
        self.percent = percent

    def getrandbits(self, count):
        return self.percent * 2**count // 100


def block_under_way(mechanism):
    """Return how many rows of a block have passed, and how many it has; (0, 0): of none."""
    word = mechanism._word._word
    return (0, 0) if word.blocks[0] is None else (
        word.passed[0], word.blocks[0].most)


def every_signal(mechanism, length):
    """Return every history of this length that can be drawn; with adaptive, of signals."""
    return [(*history, output) for history, rows in histories(mechanism, length)
            if len(history) == length - 1 for output in rows[None]]


def assert_drawn_from_the_law(mechanism, word, draws=3_000):
    """
    Draw a word many times, one by one and together, and look up its law.

    Chi-square tests, each of α = 1e-6.
    """
    law, chain, zones = mechanism.law, mechanism.chain, mechanism.privacy.zones
    names, signals = SignalNumbers(chain.states, zones), law.of_signals.of(word)
    chances = dict(zip(signals, law.of_signals.exact_probabilities(word, signals), strict=True))
    assert sum(chances.values()) == 1
    reports = Counter()
    for z, chance in chances.items():
        reports[tuple(mechanism.decode(z))] += chance
    for drawn, expected in zip(
            mechanism.draw_signals(*flat(chain, [word] * draws)), (reports, chances), strict=True):
        assert_drawn(Counter(tuple(names.name(i) for i in row)
                             for row in drawn.reshape(draws, -1).tolist()), expected, draws)
    assert_drawn(Counter(tuple(mechanism.privatize(word)) for _ in range(1_000)), reports, 1_000)
    for output in [*reports, *feasible_words(chain, len(word))][::7]:
        assert exp(law.log_probability(word, output)) == pytest.approx(float(reports[output]))
    distances = Counter()
    for output, chance in reports.items():
        distances[sum(a != b for a, b in zip(word, output, strict=True))] += chance
    assert law.distance_distribution(word) == pytest.approx(
        [float(distances[d]) for d in range(len(word) + 1)], abs=1e-12)


def excess(mechanism, length, epsilon, adjacency):
    """
    Return an output and j that break P[o|w] ≤ e^{jε/k}·P[o|w'], or None.

    For all w, w' of this length, unknown symbols included, j = their Hamming distance, and all o
    that can be drawn. What holds for a length holds for a shorter one: it is a sum over outputs.
    """
    chain = mechanism.chain
    rows = dict(histories(mechanism, length))
    inputs = (*chain.states, None)
    every = list(product(inputs, repeat=length))
    bounds = [exp_bounds(j * per_symbol(epsilon, adjacency))[0] for j in range(length + 1)]
    numbers = np.array([*product(range(len(inputs)), repeat=length)])
    distances = (numbers[:, None] != numbers).sum(axis=2)
    assert all(sum(row.values()) == 1 for found in rows.values() for row in found.values())
    for output in {(*history, o) for history, row in rows.items() if len(history) == length - 1
                   for o in row[None]}:
        assert mechanism.tables is not None or chain.is_feasible(output)  # no signals
        steps = [{symbol: row[o] for symbol, row in rows[output[:t]].items()}
                 for t, o in enumerate(output)]
        chances = [prod(step[symbol] for step, symbol in zip(steps, word)) for word in every]
        # There are few different chances: each pair of them is compared once for each distance.
        different = {chance: i for i, chance in enumerate(dict.fromkeys(chances))}
        codes, exact = np.array([different[chance] for chance in chances]), [*different]
        shape = length + 1, len(exact), len(exact)
        for found in np.unique(np.ravel_multi_index((distances, codes[:, None], codes), shape)):
            distance, one, other = np.unravel_index(found, shape)
            if exact[one] > bounds[distance] * exact[other]:
                return output, distance
    return None
