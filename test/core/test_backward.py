# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The exponential mechanism as drawn: exact weights, privacy with rounding, range, memory.

It draws a feasible word o with P[o] = h(o)·R^{matches} / Z. Matches are the positions at which o
has the sensitive symbol, R = e^{ε/2k}, and h is 1, or the P of the chain (`trust` 1), or that of
six models and P (`trust` 0.8). In floats this becomes P̂, which `as_drawn` returns in fractions.
Here P̂ is compared with P, by enumeration, for the first two; test_models.py has the third, and
test_zones_whole.py zones. And the same word is drawn in all the ways there are: where weights
might leave the range of a float, each state has an exponent (`LoopSizes.spread_bits`), and where
rows would take too much memory, they are computed twice (`LoopSizes.stored_bytes`).
"""
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import exp, log, log2, prod
from random import Random
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from offline_checks import as_drawn, assert_drawn, assert_private, distance, large_grid
import pytest
from strategies import (CHAINS, chains, exp_bounds, feasible_words, FOUR, grid, per_symbol,
                        replayable_random, Tape, thorough, words)
from symdp_ros import Chain, Privacy
from symdp_ros.core.offline import passes
from symdp_ros.core.offline.automaton import HammingAutomaton
from symdp_ros.core.offline.backward import match_ratio, rounding_reserve
from symdp_ros.core.offline.exponential import Exponential
from symdp_ros.core.offline.passes import in_numpy
from symdp_ros.core.offline.reachable import LoopSizes, ReachableChain

SPARSE = {name: chain for name, chain in CHAINS.items() if chain.stores_edges}
for_both_bases = pytest.mark.parametrize('trust', [None, 1.0], ids=['counting', 'weighted'])
for_all_bases = pytest.mark.parametrize('trust', [None, 1.0, 0.8],
                                        ids=['counting', 'weighted', 'models'])
U = Fraction(1, 2**53)


# The law, by its definition.

def weighted(chain):
    """Return the chain with moves of 1/2, 1/4, …, so that they add up exactly."""
    def row(successors):
        last = len(successors) - 1
        return {s: 2.0**-min(i + 1, last) for i, s in enumerate(successors)}

    return Chain({s: row(chain.successors(s)) for s in chain.states}, chain.initial_state)


def measure(chain, trust, output):
    """Return h of an output."""
    if trust is None:
        return Fraction(1)
    rows, route = weighted(chain), (chain.initial_state, *output)
    return prod((Fraction(rows.probabilities(a)[b]) for a, b in zip(route, route[1:])),
                start=Fraction(1))


def by_enumeration(chain, trust, word, ratio):
    """Return P[o] ∝ h(o)·R^{matches}, and the sum of these weights."""
    weights = {o: measure(chain, trust, o) * ratio**(len(word) - distance(word, o))
               for o in feasible_words(chain, len(word))}
    total = sum(weights.values())
    return {o: weight / total for o, weight in weights.items()}, total


# The law as it is drawn.

def law_of(chain, epsilon, trust=None, adjacency=1, random=None, **sizes):
    return Exponential(weighted(chain), Privacy(epsilon, adjacency), trust, random,
                       sizes=LoopSizes(**sizes))


def most_factors(n, most_successors, models=1):
    """Return how many factors of 1±2⁻⁵³ may stand between P̂ and P: 2·n·(N + 4M + 12)."""
    return 2 * n * (most_successors + 4 * models + 12)


def has_exponents(law, n):
    """Return whether each state has an exponent of its own in words of n symbols."""
    return law._sampler.plan(n).rescale_every == 0


# What is drawn.

@for_both_bases
@given(st.data(), st.sampled_from([0.0, 0.1, 2.0, 14.0]))
def test_enumeration_automaton_and_pass_agree(trust, data, epsilon):
    """P̂ = P, exactly: with R = 2^i, i·n ≤ 40, put in place of e^{ε/2k}, all floats are exact."""
    chain = data.draw(chains(max_states=4, complete=False))
    word = data.draw(words(chain, max_size=4))
    law, n = law_of(chain, epsilon, trust), len(word)
    ratio = 2.0**round(log2(law.ratio(n)))
    plan = replace(law._sampler.plan(n), ratio=ratio)
    law._sampler.plan = lambda length: plan
    exact, total = by_enumeration(chain, trust, word, Fraction(ratio))
    assert as_drawn(law, chain, word) == exact
    if trust is None:
        counts = [HammingAutomaton(chain, word, d).word_count for d in range(n + 1)]
        assert total == sum(m * Fraction(ratio)**(n - d) for d, m in enumerate(counts))
    for output, chance in exact.items():
        assert law.log_probability(word, output) == pytest.approx(log(chance), abs=1e-12)


@for_both_bases
@given(st.data(), st.floats(0, 100))
def test_the_rounding_is_bounded(trust, data, epsilon):
    chain = data.draw(chains(max_states=4, complete=False))
    word = data.draw(words(chain, max_size=4))
    law = law_of(chain, epsilon, trust)
    exact, _ = by_enumeration(chain, trust, word, Fraction(law.ratio(len(word))))
    factors = most_factors(len(word), int(chain.out_degrees().max()))
    for output, chance in as_drawn(law, chain, word).items():
        assert (1 - U)**factors <= chance / exact[output] <= 1 / (1 - U)**factors


@pytest.mark.parametrize('epsilon, adjacency', [
    thorough(0.0, 1), (0.1, 1), (2.0, 2), thorough(2000.0, 1)])
@for_both_bases
@pytest.mark.parametrize('chain', SPARSE.values(), ids=SPARSE)
def test_every_adjacent_pair_and_output(chain, trust, epsilon, adjacency):
    law = law_of(chain, epsilon, trust, adjacency)
    assert_private(chain, 3, epsilon, adjacency, lambda word: as_drawn(law, chain, word))


@for_both_bases
@given(st.data(), st.floats(0, 40), st.integers(1, 200))
def test_long_adjacent_words(trust, data, epsilon, length):
    chain = data.draw(chains(complete=False))
    random = Random(data.draw(st.integers(0, 2**32)))
    word = random.choices((*chain.states, None), k=length)
    adjacency = random.randint(1, 3)
    other = word.copy()
    for _ in range(adjacency):
        other[random.randrange(length)] = random.choice((*chain.states, None))
    law = law_of(chain, epsilon, trust, adjacency, random)
    outputs = [law.draw(w) for w in (word, other, [None] * length)]
    limit, _ = exp_bounds(per_symbol(epsilon, adjacency) * adjacency)
    for one, two in zip(*(law.exact_probabilities(w, outputs) for w in (word, other))):
        assert 0 < one <= limit * two and two <= limit * one


@for_both_bases
def test_at_zero_epsilon_no_bit_depends_on_the_word(trust):
    chain = grid(4)
    for epsilon in (0.0, 1e-14):
        law = law_of(chain, epsilon, trust, random=Random(1))
        assert law.ratio(50) == 1
        outputs = [law.draw([None] * 50) for _ in range(3)]
        first, second = (law.exact_probabilities(Random(seed).choices(chain.states, k=50), outputs)
                         for seed in (1, 2))
        assert first == second


@given(st.floats(0, 2000), st.integers(1, 5), st.floats(0, 1))
def test_the_ratio(epsilon, adjacency, reserve):
    per = Privacy(epsilon, adjacency).epsilon_per_symbol
    ratio = match_ratio(per, Fraction(reserve))
    assert 1 <= ratio <= 2**40
    assert Fraction(ratio) <= exp_bounds(max(Fraction(0), (per - Fraction(reserve)) / 2))[1]
    expected = exp(min(28, max(0, float(per) - reserve) / 2))
    assert ratio == pytest.approx(min(2**40, expected), rel=1e-12)


def test_the_published_exponent():
    """B = e^{−ε/2k}, a little more private by what is set aside for rounding."""
    law = law_of(FOUR, 3.0, adjacency=2)
    assert law.ratio(100) == pytest.approx(exp(3 / 4), rel=1e-12)
    reserve = Fraction(5 * 10**8 * (4 + 4 + 12), 2**53)
    assert rounding_reserve(10**8, 4, 1) == reserve
    assert law.ratio(10**8) == match_ratio(Fraction(3, 2), reserve)
    assert match_ratio(Fraction(1000), reserve) == 2**40


def test_weights_that_could_be_too_far_apart_have_exponents():
    """A path of `mixing_moves` may cost the least weight of a move, and R·N, so many times."""
    chain = grid(23)
    moves = ReachableChain(chain).mixing_moves
    assert 1550 / 40 < moves < 100
    rows = {s: dict.fromkeys(chain.successors(s), 1 / len(chain.successors(s)))
            for s in chain.states}
    rare = {**rows, '0,0': {'0,0': 2.0**-40, '1,0': 0.5 - 2.0**-40, '0,1': 0.5}}
    for some, wide in ((rows, False), (rare, True)):
        law = Exponential(Chain(some, '0,0'), Privacy(2.0), 1.0)
        assert has_exponents(law, 10_000) == wide
    for bits, wide in ((1540, False), (1560, True)):
        epsilon = 2 * (bits / moves - log2(5)) * log(2)
        law = Exponential(chain, Privacy(epsilon), None)
        assert has_exponents(law, 10_000) == wide


# How it is drawn.

@for_both_bases
@pytest.mark.parametrize('chain', SPARSE.values(), ids=SPARSE)
def test_draws(chain, trust):
    word, n = [chain.states[1], None, chain.states[2], chain.states[0]], 2_000
    law = law_of(chain, 2.0, trust, random=replayable_random())
    assert_drawn(Counter(tuple(law.draw(word)) for _ in range(n)), as_drawn(law, chain, word), n)


@for_all_bases
def test_a_walk_goes_on_where_bits_were_missing(trust, monkeypatch):
    """Where no choice is ever sure in 53 bits, the rest of the bits make the same law."""
    monkeypatch.setattr(passes, 'compiled', None)
    monkeypatch.setattr(in_numpy, 'interval_at', lambda values, point: -1)
    word, n = ['s1', None, 's3', 's0'], 800
    law = law_of(FOUR, 2.0, trust, random=replayable_random())
    assert_drawn(Counter(tuple(law.draw(word)) for _ in range(n)), as_drawn(law, FOUR, word), n)


def two_branches(choices=1):
    """Return a chain that, after one move, stays in one half: x… or y…, or is nearly random."""
    halves = {f'{half}{i}': [f'{half}{j}' for j in range(choices)]
              for half in 'xy' for i in range(choices)}
    return Chain({'start': ['x0', 'y0'], **halves}, 'start')


@pytest.mark.parametrize('bit, likely', [(0, 'y'), (1, 'x')])
@for_both_bases
def test_what_is_next_to_impossible_is_drawn_by_its_bits(trust, bit, likely):
    """x0 and y0 lie at either end of the point's range; the other has 2⁻⁴⁰·¹⁰ of it."""
    unlikely = {'x': 'y', 'y': 'x'}[likely]
    word = [likely + '0'] * 10
    for alike, drawn in ((2_000, [unlikely + '0'] * 10), (64 * 10, word)):  # 64 are not enough
        bits = Tape((2**alike - 1) * bit, alike, Random(0))
        assert law_of(two_branches(), 2000.0, trust, random=bits).draw(word) == drawn


@for_all_bases
@pytest.mark.parametrize('epsilon', [2.0, thorough(10.0), 2000.0])
@pytest.mark.parametrize('chain, length', [
    (grid(9), 300), (two_branches(3), 500), thorough(two_branches(12), 97),
    (CHAINS['split'], 17)])
def test_what_is_not_stored_is_recomputed(chain, length, epsilon, trust):
    """The same bits give the same word, and the same normaliser, however few rows are kept."""
    word = Random(3).choices((*chain.states, None), k=length)
    laws = [law_of(chain, epsilon, trust, random=Random(7), stored_bytes=stored)
            for stored in (10**9, 0)]
    blocks = [law._sampler.block(length, len(chain)) for law in laws]
    assert blocks[0] == length > blocks[1]
    drawn = [law.draw(word) for law in laws]
    assert chain.is_feasible(drawn[0]) and drawn[0] == drawn[1]
    assert len({law.log_probability(word, drawn[0]) for law in laws}) == 1


@for_all_bases
def test_exponents_give_the_same_law(trust):
    """Weights with exponents of their own are the same weights, up to rounding."""
    word = Random(1).choices(grid(5).states, k=60)
    plain, wide = (law_of(grid(5), 2.0, trust, random=Random(2), **sizes)
                   for sizes in ({}, {'spread_bits': 0}))
    assert has_exponents(wide, 60) and not has_exponents(plain, 60)
    output = plain.draw(word)
    assert wide.draw(word) == output  # but where rounding matters: never in practice
    (one,), (other,) = (law.exact_probabilities(word, [output]) for law in (plain, wide))
    assert abs(one / other - 1) < 2 * most_factors(60, 5, 8 if trust == 0.8 else 1) * U
    assert plain.log_probability(word, output) == pytest.approx(
        wide.log_probability(word, output), abs=1e-11)


# Range.

def log_of(fraction):
    """Return the logarithm of a fraction that may be outside of a float's range."""
    return log(fraction.numerator) - log(fraction.denominator)


@for_both_bases
@pytest.mark.parametrize('epsilon, matching', [(2.0, 800), (2000.0, 400)])
def test_two_branches_that_never_meet(trust, epsilon, matching):
    """R^800 = 2^1154 and R^400 = 2^16000 between the two; against rational numbers."""
    chain = two_branches(2)
    word = ['x0'] * matching + ['y1'] * (800 - matching)
    law = law_of(chain, epsilon, trust, random=replayable_random())
    ratio = Fraction(law.ratio(800))
    # The sums of one branch: R+1 at a position that can match, else 2; the first has no choice.
    # With weights, all moves have ½.
    x = ratio * (ratio + 1)**(matching - 1) * 2**(800 - matching)
    y = 2**(matching - 1) * (ratio + 1)**(800 - matching)
    output = law.draw(word)
    (chance,) = law.exact_probabilities(word, [output])
    exact = ratio**(800 - distance(word, output)) / (x + y)
    factors = most_factors(800, 2)
    assert (1 - U)**factors <= chance / exact <= 1 / (1 - U)**factors
    assert chain.is_feasible(output) and (matching < 800 or output[0] == 'x0')
    assert law.log_probability(word, output) == pytest.approx(log_of(exact), abs=1e-8)


@for_both_bases
def test_long_words_neither_under_nor_overflow(trust):
    """With n = 2,000 on 256 states; against the normaliser that sums logarithms."""
    chain = large_grid(16)
    word = Random(5).choices(chain.states, k=2_000)
    index, (offsets, targets) = chain.state_index, chain.csr()
    moves = np.log(weighted(chain).edge_probabilities()) * (trust is not None)
    for epsilon in (2.0, 2000.0):
        law = law_of(chain, epsilon, trust, random=Random(1))
        output = law.draw(word)
        assert chain.is_feasible(output)
        log_ratio, sums = log(law.ratio(2_000)), np.zeros(len(chain))
        for symbol in reversed(word):
            sums[index[symbol]] += log_ratio
            sums = np.logaddexp.reduceat(sums[targets] + moves, offsets[:-1])
        expected = (log_of(measure(chain, trust, output))
                    + (2_000 - distance(word, output)) * log_ratio - sums[index['0,0']])
        assert law.log_probability(word, output) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize('epsilon, side', [(2.0, 100), thorough(2000.0, 40)])
def test_memory(epsilon, side):
    """With n = 10,000 on up to 10,000 states: all above the chain in less than 100 MB."""
    chain = large_grid(side)
    word = Random(5).choices(chain.states, k=10_000)
    law_of(grid(3), epsilon, 1.0).draw([None] * 3)
    tracemalloc.start()
    try:
        assert chain.is_feasible(law_of(chain, epsilon, 1.0).draw(word))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    print(f'{peak / 1e6} MB')
    assert 3e6 < peak < 100e6
