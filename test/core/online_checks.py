# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the online mechanisms share."""
from collections import Counter
from fractions import Fraction
from functools import lru_cache
import gc
from math import exp, prod
from random import Random
import sys

from offline_checks import assert_drawn
import pytest
from strategies import exp_bounds, feasible_words, flat, per_symbol
from symdp_ros.core.online.counts import SignalNumbers
from symdp_ros.core.zones import Told, WAITING


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


def draw_anew(mechanism, seed):
    """Have the policy adaptive draw from a `random` of its own, from now on."""
    word = mechanism._word
    word._random, word._draws_of = Random(seed), {}
    word._prepare()


def block_under_way(mechanism):
    """Return how many rows of a block have passed, and how many it has; (0, 0): of none."""
    word = mechanism._word._word
    return (0, 0) if word.blocks[0] is None else (
        word.passed[0], word.blocks[0].most_rows)


class SignalChances:
    """
    P[signals | word] of the policy adaptive, exactly, by the rows that are drawn from.

    As `law.of_signals`, which is made for one word: here one replay serves all symbols.
    """

    def __init__(self, mechanism):
        self.mechanism, self._online, self._rows = mechanism, mechanism.another(), {}
        self.of = lru_cache(None)(mechanism.law.of_signals.of)
        self.alike = mechanism.law.of_signals.alike

    def law(self, word):
        """Return {signals: chance}, of all that the word can have."""
        word = tuple(word)
        return {signals: self.chance(word, signals) for signals in self.of(self.alike(word))}

    def chance(self, word, signals):
        """Return P[signals | word]."""
        found, begin, last = Fraction(1), 0, len(word) - 1
        for t, signal in enumerate(signals):
            if t and signals[t - 1] != WAITING and not isinstance(signals[t - 1], Told):
                begin = t
            rows, ends = self._after(signals[:t], word[begin:t])
            symbol = word[t]
            row = rows[symbol, t == last or ends[symbol, word[t + 1]]]
            found *= row.get(signal, 0)
            if not found:
                break
        return found

    def _after(self, signals, symbols):
        """Return {(symbol, whether a block ends with it): row}, {(symbol, next): whether}."""
        if (signals, symbols) not in self._rows:
            online, some = self._online, (*self._online.chain.states, None)
            online.replay(signals, word=(*[None] * (len(signals) - len(symbols)), *symbols))
            for _ in range(online.ticks_left):
                online.tick()
            self._rows[signals, symbols] = (
                {(s, ends): online.exact_current_distribution(s, ends)
                 for s in some for ends in (False, True)},
                {(s, then): online.ends_block(s, then) for s in some for then in some})
        return self._rows[signals, symbols]


def every_signal(mechanism, length):
    """Return every history of this length that can be drawn; with adaptive, of signals."""
    return [(*history, output) for history, rows in histories(mechanism, length)
            if len(history) == length - 1 for output in rows[None]]


def assert_drawn_from_the_law(mechanism, word, draws=3_000):
    """
    Draw a word 300 times one by one and many times together, and look up its law.

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
    assert_drawn(Counter(tuple(mechanism.privatize(word)) for _ in range(300)), reports, 300)
    for output in [*reports, *feasible_words(chain, len(word))][::7]:
        assert exp(law.log_probability(word, output)) == pytest.approx(float(reports[output]))
    distances = Counter()
    for output, chance in reports.items():
        distances[sum(a != b for a, b in zip(word, output, strict=True))] += chance
    assert law.distance_distribution(word) == pytest.approx(
        [float(distances[d]) for d in range(len(word) + 1)], abs=1e-12)


def excess(mechanism, length, epsilon, adjacency):
    """
    Return a j such that P[o|w] ≤ e^{jε/k}·P[o|w'] is broken where w and w' differ in j symbols.

    Of all w, w' of this length, unknown symbols included, and all o that can be drawn; None: of
    none. What holds for a length holds for a shorter one: it is a sum over outputs.
    """
    ratios = largest_ratios(mechanism, length)
    return next((j for j, ratio in enumerate(ratios)
                 if ratio > exp_bounds(j * per_symbol(epsilon, adjacency))[0]), None)


def largest_ratios(mechanism, length):
    """
    Return for each j ≤ length the largest P[o|w]/P[o|w'] where w and w' differ in j symbols.

    P[o|w] is a product over positions, of rows that the outputs before choose. Where w and w' have
    the same symbol, so is the factor; so the worst pair at distance j differs at the j positions
    whose rows differ most, and there by the symbols most and least likely to give the output.
    """
    rows, most = dict(histories(mechanism, length)), {}
    for history, found in rows.items():
        assert all(sum(row.values()) == 1 for row in found.values())
        for output in found[None]:
            chances = [row[output] for row in found.values()]
            assert min(chances) > 0
            most[(*history, output)] = max(chances) / min(chances)
    worst = [Fraction(1)] * (length + 1)
    for output in most:
        if len(output) == length:
            assert mechanism.tables is not None or mechanism.chain.is_feasible(output)
            ratios = sorted((most[output[:t]] for t in range(1, length + 1)), reverse=True)
            worst = [max(w, prod(ratios[:j])) for j, w in enumerate(worst)]
    return worst
