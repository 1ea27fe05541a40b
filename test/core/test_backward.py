# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The exponential mechanism as drawn: exact weights, privacy with rounding, range, memory."""
from collections import Counter
from fractions import Fraction
from functools import cached_property
from math import exp, log, log2, prod
from random import Random
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from offline_checks import assert_drawn, assert_private, distance, large_grid, reached_in
import pytest
from strategies import (CHAINS, chains, exp_bounds, feasible_words, FOUR, grid, per_symbol,
                        periodic_chains, replayable_random, Tape, thorough, words)
from symdp_ros import Chain, Privacy
from symdp_ros.core.compiled import compiling
from symdp_ros.core.draws.exact_draw import as_integers
from symdp_ros.core.offline import backward
from symdp_ros.core.offline.automaton import HammingAutomaton
from symdp_ros.core.offline.backward import BackwardSampler, match_ratio, rounding_reserve
from symdp_ros.core.offline.passes import kernels
from symdp_ros.core.offline.reachable import LoopSizes, NO_WEIGHTS, ReachableChain

SPARSE = {name: chain for name, chain in CHAINS.items() if chain.stores_edges}
for_sparse_chains = pytest.mark.parametrize('chain', SPARSE.values(), ids=SPARSE)
for_two_ways = pytest.mark.parametrize('layout, base', [
    ('columns', 'weighted'), ('rows', 'counting'), thorough('columns', 'counting'),
    thorough('rows', 'weighted')], indirect=True)
U = Fraction(1, 2**53)
choose = (compiling.numba.njit(kernels._choose.py_func) if compiling.numba
          else kernels._choose)


@pytest.fixture(params=['columns', 'rows'], autouse=True)
def layout(request, monkeypatch):
    """Both ways in which weights are summed: over padded columns, as on large chains; by rows."""
    monkeypatch.setattr(Sampler, 'columns_from', 0 if request.param == 'columns' else 10**9)
    return request.param


@pytest.fixture(params=['counting', 'weighted'], autouse=True)
def base(request, monkeypatch):
    """All moves alike, or with weights of their own."""
    monkeypatch.setattr(Sampler, 'weighted', request.param == 'weighted')
    return request.param


def two_branches(choices=1):
    """Return a chain that, after one move, stays in one half: x… or y…, or is nearly random."""
    halves = {f'{half}{i}': [f'{half}{j}' for j in range(choices)]
              for half in 'xy' for i in range(choices)}
    return Chain({'start': ['x0', 'y0'], **halves}, 'start')


def uneven(degree, state):
    """Return weights of the moves from a state: 1/2, 1/4, …, so that they add up exactly."""
    weights = np.arange(1.0, degree + 1)
    if degree <= 6:
        weights = 2.0**-np.minimum(weights, degree - 1)
    return np.roll(weights / weights.sum(), state).astype(np.float32)


class Sampler(BackwardSampler):
    """A sampler for labels, whose chances as drawn are exact."""

    weighted = False
    columns_from = LoopSizes.columns_from

    def __init__(self, chain, epsilon, adjacency=1, random=None, **sizes):
        self.chain = chain
        self.reachable = ReachableChain(chain, LoopSizes(columns_from=self.columns_from, **sizes))
        degrees = np.diff(self.reachable.offsets[1:]).tolist()
        weights = np.concatenate([uneven(*of) for of in zip(degrees, range(10**9))])
        super().__init__(self.reachable, Privacy(epsilon, adjacency).epsilon_per_symbol,
                         random or Random(0), weights if self.weighted else None)
        #: the moves, and the factors of a position
        self.moves_weights = weights.astype(float) if self.weighted else np.ones(len(weights))
        self.factors = self.reachable.most_successors + 1 + self.weighted

    @cached_property
    def h(self):
        """Return h of each move from state number to number."""
        states = np.arange(1, len(self.reachable) + 1)
        starts = np.repeat(states, np.diff(self.reachable.offsets[1:])).tolist()
        return dict(zip(zip(starts, self.reachable.targets.tolist()),
                        map(Fraction, self.moves_weights)))

    def weights(self, numbers):
        """Return Ŵ_1…Ŵ_n exactly, up to one factor for each position: number → weight."""
        W, E, plan = self._all_rows(numbers)
        states = [reached_in(self.reachable, t, plan.period) for t in range(1, len(numbers) + 1)]
        return [{s: Fraction(W[t, s]) * Fraction(2)**(int(E[t, s]) if plan.wide else 0)
                 for s in some.tolist()} for t, some in enumerate(states, 1)]

    def chances(self, numbers):
        """Return, for each position, (state, next) → the probability of that draw, exactly."""
        W, E, plan = self._all_rows(numbers)
        result = []
        for t in range(1, len(numbers) + 1):
            result.append(row := {})
            for state in reached_in(self.reachable, t - 1, plan.period).tolist():
                drawn = as_integers(*self._drawn_by(W[t], E[t] if plan.wide else 0, state, W))
                row |= {(state, there): Fraction(weight, sum(drawn)) for there, weight in zip(
                    self.reachable.successors(state).tolist(), drawn, strict=True)}
        return result

    def numbers(self, word):
        return [self.reachable.number[s] for s in word]

    def release(self, word):
        return [self.reachable.label[i] for i in self.draw(self.numbers(word))]

    def measure(self, output):
        """Return h of an output."""
        numbers = self.numbers(output)
        return prod((self.h[move] for move in zip([1, *numbers], numbers)), start=Fraction(1))

    def chance(self, chances, output):
        """Return P̂ of an output, by equation (2)."""
        numbers = self.numbers(output)
        return prod((row[move] for row, move in zip(chances, zip([1, *numbers], numbers),
                                                    strict=True)), start=Fraction(1))

    def law(self, word):
        chances = self.chances(self.numbers(word))
        return {o: self.chance(chances, o) for o in feasible_words(self.chain, len(word))}

    def exponential(self, word, ratio):
        """Return P[o] ∝ h(o)·R^{matches}, by enumeration."""
        weights = {o: self.measure(o) * ratio**(len(word) - distance(word, o))
                   for o in feasible_words(self.chain, len(word))}
        return {o: w / sum(weights.values()) for o, w in weights.items()}

    def exact_sums(self, word, ratio):
        """Return V_0(s_0), by the recursion in rational numbers."""
        successors = {s: self.reachable.successors(s).tolist()
                      for s in range(1, len(self.reachable) + 1)}
        values = dict.fromkeys(successors, Fraction(1))
        for symbol in reversed(self.numbers(word)):
            weights = {s: v * (ratio if s == symbol else 1) for s, v in values.items()}
            values = {s: sum(self.h[s, t] * weights[t] for t in after)
                      for s, after in successors.items()}
        return values[1]


def log_of(fraction):
    """Return the logarithm of a fraction that may be outside of a float's range."""
    return log(fraction.numerator) - log(fraction.denominator)


# What is drawn.

@for_two_ways
@given(st.data(), st.sampled_from([0.0, 0.1, 2.0, 14.0]))
def test_enumeration_automaton_and_recursion_agree(data, epsilon):
    """Exactly: at R = 2^i, i·n ≤ 40, all floats are exact: the drawn law is the mechanism's."""
    chain = data.draw(chains(max_states=4, complete=False))
    word = data.draw(words(chain, max_size=4))
    sampler = Sampler(chain, epsilon)
    exact = 2.0**round(log(sampler.ratio(len(word)), 2))
    plan = sampler.plan(len(word))
    sampler._plans[len(word)] = backward.replace(plan, ratio=exact)
    law = sampler.law(word)
    assert law == sampler.exponential(word, Fraction(exact))
    n, total = len(word), sampler.exact_sums(word, Fraction(exact))
    if not sampler.weighted:
        counts = [HammingAutomaton(chain, word, d).word_count for d in range(n + 1)]
        assert total == sum(m * Fraction(exact)**(n - d) for d, m in enumerate(counts))
    assert sampler.log_normalizer(sampler.numbers(word)) == pytest.approx(log(total), abs=1e-12)
    for output, chance in law.items():
        assert chance == (sampler.measure(output)
                          * Fraction(exact)**(n - distance(word, output)) / total)


@for_two_ways
@given(st.data(), st.floats(0, 100))
def test_the_rounding_is_bounded(data, epsilon):
    """P̂ is the mechanism's times at most 2·n·(N+1) factors of 1±u; N+2 with weights."""
    chain = data.draw(chains(max_states=4, complete=False))
    word = data.draw(words(chain, max_size=4))
    sampler = Sampler(chain, epsilon)
    exact = sampler.exponential(word, Fraction(sampler.ratio(len(word))))
    factors = 2 * len(word) * sampler.factors
    for output, chance in sampler.law(word).items():
        assert (1 - U)**factors <= chance / exact[output] <= 1 / (1 - U)**factors


@pytest.mark.parametrize('epsilon, adjacency', [
    thorough(0.0, 1), (0.1, 1), (2.0, 2), thorough(2000.0, 1)])
@for_sparse_chains
def test_every_adjacent_pair_and_output(chain, epsilon, adjacency):
    sampler = Sampler(chain, epsilon, adjacency)
    assert_private(chain, 3, epsilon, adjacency, sampler.law)


@for_two_ways
@given(st.data(), st.floats(0, 40), st.integers(1, 200))
def test_long_adjacent_words(data, epsilon, length):
    chain = data.draw(chains(complete=False))
    random = Random(data.draw(st.integers(0, 2**32)))
    word = random.choices((*chain.states, None), k=length)
    adjacency = random.randint(1, 3)
    other = word.copy()
    for _ in range(adjacency):
        other[random.randrange(length)] = random.choice((*chain.states, None))
    sampler = Sampler(chain, epsilon, adjacency, random)
    laws = [sampler.chances(sampler.numbers(w)) for w in (word, other)]
    limit, _ = exp_bounds(per_symbol(epsilon, adjacency) * adjacency)
    for output in (sampler.release(word), sampler.release(other),
                   sampler.release([None] * length)):
        one, two = (sampler.chance(law, output) for law in laws)
        assert 0 < one <= limit * two and two <= limit * one


def test_at_zero_epsilon_no_bit_depends_on_the_word():
    for epsilon in (0.0, 1e-14):
        sampler = Sampler(grid(4), epsilon)
        assert sampler.ratio(50) == 1
        first, second = (sampler.weights(sampler.numbers(Random(seed).choices(
            grid(4).states, k=50))) for seed in (1, 2))
        assert first == second


@pytest.mark.parametrize('layout, base', [('columns', 'counting')], indirect=True)
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
    sampler = Sampler(FOUR, 3.0, 2)
    assert sampler.ratio(100) == pytest.approx(exp(3 / 4), rel=1e-12)
    assert rounding_reserve(100, sampler.reachable) == Fraction(5 * 100 * 5, 2**53)
    assert rounding_reserve(100, sampler.reachable, True) == Fraction(5 * 100 * 6, 2**53)
    reserve = Fraction(5 * 10**8 * sampler.factors, 2**53)
    assert sampler.ratio(10**8) == match_ratio(Fraction(3, 2), reserve)
    assert match_ratio(Fraction(1000), reserve) == 2**40


def test_weights_that_could_be_too_far_apart_have_exponents():
    """A path of `mixing_moves` may cost the least weight of a move, and R·N, so many times."""
    chain = ReachableChain(grid(23))
    moves, degrees = chain.mixing_moves, np.diff(chain.offsets[1:])
    even = np.repeat(1 / degrees, degrees).astype(np.float32)
    rare = even.copy()
    rare[0], rare[1:degrees[0]] = 2.0**-40, 1 / (degrees[0] - 1)
    assert 1700 / 40 < moves < 100
    for weights, wide in ((even, False), (rare, True)):
        assert BackwardSampler(chain, Fraction(2), Random(0), weights).plan(10_000).wide == wide
    for bits, wide in ((1690, False), (1710, True)):
        epsilon = 2 * (bits / moves - log2(chain.most_successors)) * log(2)
        assert BackwardSampler(chain, Fraction(epsilon), Random(0)).plan(10_000).wide == wide


# How it is drawn.

@for_sparse_chains
def test_draws(chain):
    random = replayable_random()
    word = [chain.states[1], None, chain.states[2], chain.states[0]]
    sampler = Sampler(chain, 2.0, random=random)
    n = 2_000
    assert_drawn(Counter(tuple(sampler.release(word)) for _ in range(n)), sampler.law(word), n)


@pytest.mark.parametrize('layout', ['columns'], indirect=True)
@given(st.data(), st.integers(0, 63), st.booleans())
def test_a_choice_is_right_or_is_not_made(data, shift, wide):
    """Both ends of what 53 bits say must lie on the chosen edge."""
    weights = data.draw(st.lists(st.floats(1, 2, exclude_max=True), min_size=1, max_size=6))
    exponents = [data.draw(st.sampled_from([0, -1, -30, -53, -60, -300])) for _ in weights]
    if not wide:
        weights, exponents = np.ldexp(weights, exponents).tolist(), [0] * len(weights)
    own, drawn = NO_WEIGHTS, weights
    if Sampler.weighted:
        own = np.array([data.draw(st.floats(2**-40, 1, width=32)) for _ in weights], np.float32)
        drawn = (np.array(weights) * own).tolist()
    exact = [Fraction(w) * Fraction(2)**e for w, e in zip(drawn, exponents, strict=True)]
    ends = np.cumsum([Fraction(0), *exact])
    near = int(data.draw(st.sampled_from(list(ends))) / ends[-1] * 2**53)
    bits = min(max(0, near + data.draw(st.integers(-64, 64)) * (1 << shift >> 6)), 2**53 - 1)
    targets, shifted = np.arange(1, len(weights) + 1, dtype=np.uint32), np.uint64(bits << 11)
    if wide:
        edge = kernels._choose_wide(0, len(weights), targets, own, np.array([0, *weights]),
                                    np.array([0, *exponents], np.int32), shifted)
    else:
        W = np.array([[[7, 7]] * (len(weights) + 1), [[0, 0], *([7, w] for w in weights)]])
        edge = choose(0, len(weights), targets, own, W, 1, 1, shifted)
    if edge >= 0:
        assert ends[edge] <= bits * ends[-1] / 2**53
        assert (bits + 1) * ends[-1] / 2**53 <= ends[edge + 1]
    else:
        margin = Fraction(5 * len(weights) + 20) * U
        assert any(abs(end / ends[-1] - bits * U) <= margin for end in ends[1:-1])


class Constant:
    """A `random` whose bits are all 0, or all 1, from the bit `begin` on."""

    def __init__(self, bit, then=None, begin=0):
        self._bit, self._then, self._left = bit, then, begin

    def getrandbits(self, width):
        if self._then is not None and self._left <= 0:
            return self._then.getrandbits(width)
        self._left -= width
        return (2**width - 1) * self._bit


@pytest.mark.parametrize('bit, likely', [(0, 'y'), (1, 'x')])
def test_what_is_next_to_impossible_is_drawn_by_its_bits(bit, likely):
    """x0 and y0 lie at either end of the point's range; the other has 2⁻⁴⁰·¹⁰ of it."""
    unlikely = {'x': 'y', 'y': 'x'}[likely]
    word = [likely + '0'] * 10
    far = Sampler(two_branches(), 2000.0, random=Constant(bit))
    assert far.release(word) == [unlikely + '0'] * 10
    # 64 bits are not enough of them.
    near = Sampler(two_branches(), 2000.0, random=Constant(bit, Random(0), 64 * 10))
    assert near.release(word) == word


def test_a_walk_goes_on_where_bits_were_missing(monkeypatch):
    """Where no choice is ever sure in 53 bits, the rest of the bits make the same law."""
    random = replayable_random()

    real = backward.loops.run

    def run(name, seconds, *arguments):
        if name == 'route':
            word, _, edges, period, ratio, spacing, _, *others = arguments
            real('sweep', seconds, word, edges, period, ratio, spacing, *others[:-2])
            return 0, 1, 1
        if name == 'walk':
            position, state = arguments[:2]
            return position, state, position + 1
        return real(name, seconds, *arguments)

    monkeypatch.setattr(backward.loops, 'run', run)
    word = ['s1', None, 's3', 's0']
    sampler = Sampler(FOUR, 2.0, random=random)
    counts = Counter(tuple(sampler.release(word)) for _ in range(2_000))
    assert_drawn(counts, sampler.law(word), 2_000)


@pytest.mark.parametrize('epsilon', [thorough(0.0), 2.0, thorough(10.0), 2000.0])
@pytest.mark.parametrize('chain, length', [
    (grid(9), 300), (two_branches(3), 500), thorough(two_branches(12), 97),
    (CHAINS['split'], 17)])
def test_what_is_not_stored_is_recomputed(chain, length, epsilon):
    """The same bits give the same word, however few rows are kept."""
    word = Random(3).choices((*chain.states, None), k=length)
    stored = Sampler(chain, epsilon, random=Random(7)).release(word)
    assert chain.is_feasible(stored)
    for limit in (0, 8 * len(chain) * 60):
        sampler = Sampler(chain, epsilon, random=Random(7), stored_bytes=limit)
        if not limit:
            assert sampler.plan(length).spacing > 1
        assert sampler.release(word) == stored


def test_exponents_give_the_same_law():
    """Weights with exponents of their own are the same weights, up to rounding."""
    chain = grid(5)
    word = Random(1).choices(chain.states, k=60)
    plain = Sampler(chain, 2.0)
    assert not plain.plan(60).wide
    wide = Sampler(chain, 2.0, spread_bits=0)
    assert wide.plan(60).wide
    for a, b in zip(plain.weights(plain.numbers(word)), wide.weights(wide.numbers(word)),
                    strict=True):
        ratios = {a[s] / b[s] / (a[1] / b[1]) for s in a}
        assert all(abs(r - 1) < 2 * 60 * plain.factors * U for r in ratios)
    assert wide.log_normalizer(wide.numbers(word)) == pytest.approx(
        plain.log_normalizer(plain.numbers(word)), abs=1e-11)


@for_two_ways
@given(st.data(), st.sampled_from([0.0, 2.0, 14.0]))
def test_a_period_gives_the_same_law(data, epsilon):
    """Weights that no walk can see are not computed; the others are the same, as is the word."""
    chain = data.draw(periodic_chains())
    word = data.draw(st.lists(st.sampled_from((*chain.states, None)), min_size=1, max_size=40))
    n, seed = len(word), data.draw(st.integers(0, 2**32))
    plain = Sampler(chain, epsilon, random=Random(seed))
    assert not plain.plan(n).wide and plain.plan(n).period == 1
    expected, weights = plain.release(word), plain.weights(plain.numbers(word))
    reachable, log_normalizer = plain.reachable, plain.log_normalizer(plain.numbers(word))
    for limit in (10**6, 0):  # all rows stored; some computed again
        sampler = Sampler(chain, epsilon, random=Random(seed), stored_bytes=limit)
        plan = sampler.plan(n)
        sampler._plans[n] = backward.replace(
            plan, period=reachable.period, rescale_every=data.draw(st.sampled_from([1, 3])))
        assert sampler.release(word) == expected
        assert sampler.log_normalizer(sampler.numbers(word)) == pytest.approx(log_normalizer)
        for t, (row, all_) in enumerate(zip(sampler.weights(sampler.numbers(word)), weights,
                                            strict=True), 1):
            assert set(row) == set(reached_in(reachable, t, reachable.period).tolist())
            assert len({row[s] / all_[s] for s in row}) == 1


@pytest.mark.parametrize('chain, length', [
    (grid(9, staying=False), 600), thorough(grid(40, staying=False), 1_500)])
def test_a_period_needs_no_exponents(chain, length):
    """Long words on maps where the robot never stays; against one exponent for each state."""
    word = Random(5).choices(chain.states, k=length)
    sampler = Sampler(chain, 2.0, random=Random(2))
    plan = sampler.plan(length)
    assert not plan.wide and plan.period == (1 if sampler.weighted and length == 600 else 2)
    released = sampler.release(word)
    assert chain.is_feasible(released)
    wide = Sampler(chain, 2.0, random=Random(2))
    wide._plans[length] = backward.replace(plan, wide=True, period=1)
    assert wide.log_normalizer(wide.numbers(word)) == pytest.approx(
        sampler.log_normalizer(sampler.numbers(word)), rel=1e-13)
    assert wide.release(word) == released  # but where rounding matters: never in practice
    for limit in (0, 8 * len(chain) * 60):
        again = Sampler(chain, 2.0, random=Random(2), stored_bytes=limit)
        assert again.plan(length).period == plan.period
        assert again.release(word) == released


def expander(states):
    """Return a chain on which a walk can soon be anywhere."""
    names = [f's{i}' for i in range(states)]
    return Chain({a: {names[j % states] for j in (2 * i, 2 * i + 1, 3 * i + 7, i + 1)[:4 - i % 2]}
                  for i, a in enumerate(names)}, 's0')


@pytest.mark.parametrize('layout', ['columns'], indirect=True)
@given(st.data(), st.sampled_from([0.0, 2.0, 14.0]))
def test_segments_together_give_the_same_word(data, epsilon):
    """To the last bit of each weight: the same random bits give the same word."""
    chain = data.draw(chains(max_states=12, complete=False))
    word = data.draw(st.lists(st.sampled_from((*chain.states, None)), min_size=2, max_size=60))
    n, seed = len(word), data.draw(st.integers(0, 2**32))
    stored = Sampler(chain, epsilon, random=Random(seed))
    plan = backward.replace(stored.plan(n), rescale_every=data.draw(st.sampled_from([1, 3, 99])))
    assert not plan.wide and plan.period == plan.spacing == 1 <= len(stored.reachable.columns)
    stored._plans[n] = plan
    sampler = Sampler(chain, epsilon, random=Random(seed))
    near = data.draw(st.integers(1, 4))
    spacing = data.draw(st.integers(near + 2, 30))
    rows = -(-n // spacing) + 1 + max(2, near)
    sampler._plans[n] = joint = backward.replace(
        plan, spacing=spacing, alone=near, shape=(rows, plan.shape[1]))
    assert sampler.release(word) == stored.release(word)

    # A walk that goes on from any position, or stops there; and each weight.
    numbers, weights = np.array(sampler.numbers(word)), stored.weights(stored.numbers(word))
    assert sampler.weights(sampler.numbers(word)) == weights
    bits = np.frombuffer(Random(seed).randbytes(8 * n), np.uint64)
    edges, (W, E, scale, together) = sampler.edges, joint.workspace(n)
    kernels.sweep(numbers, edges, 1, plan.ratio, spacing, plan.rescale_every, False, W, E, scale)
    walk = [numbers, bits, edges, 1, plan.ratio, spacing, near, False, W, E, scale, together]
    whole, part = np.empty(n, np.int64), np.empty(n, np.int64)
    assert kernels.walk(0, 1, *walk, whole) == (n, whole[-1], 0)
    position = data.draw(st.integers(1, n))
    part[:position] = whole[:position]
    kernels.walk(position, whole[position - 1], *walk, part)
    assert part.tolist() == whole.tolist()
    position = data.draw(st.integers(0, n - 1))
    state = int(whole[position - 1]) if position else 1
    successors = sampler.reachable.successors(state).tolist()
    if len(successors) > 1:  # a point between two of them
        row = [sampler.h[state, s] * weights[position][s] for s in successors]
        walk[1] = bits.copy()
        walk[1][position] = int(row[0] / sum(row) * 2**53) << 11
        walk[1].flags.writeable = False  # else a loop is compiled that nothing else needs
        *at, stored_row = kernels.walk(0, 1, *walk, part)
        assert at == [position, state]
        assert len({Fraction(W[stored_row, s]) / weights[position][s] for s in successors}) == 1

    for begin in range(0, n, spacing):
        kernels._recompute_together(begin, near, numbers, edges, plan.ratio, spacing, W, scale,
                                    together)
        for i in range(kernels.SEGMENTS):
            for ahead in range(near + 1, spacing):
                t = begin + i * spacing + ahead
                if t < n:
                    some = list(weights[t - 1])
                    row = [Fraction(x) for x in together[ahead - near - 1, some, i]]
                    assert len({x / weights[t - 1][s] for x, s in zip(row, some)}) == 1
                    assert together[ahead - near - 1, 0, i] == 0


@pytest.mark.parametrize('length', [997, thorough(1_000)])
@pytest.mark.parametrize('epsilon', [thorough(0.0), 2.0, 60.0])
def test_segments_are_recomputed_together(layout, length, epsilon):
    """As planned where a walk can soon be anywhere, within the memory that is allowed."""
    chain, limit, random = expander(300), 8 * 301 * 130, Random(3)
    word = ['s0']
    for _ in range(length - 1):  # all of it may match: the weights grow as fast as they can
        word.append(random.choice(chain.successors(word[-1])))
    stored = Sampler(chain, epsilon, random=Random(7))
    assert stored.plan(length).spacing == 1
    expected = stored.release(word)
    sampler = Sampler(chain, epsilon, random=Random(7), stored_bytes=limit)
    plan = sampler.plan(length)
    assert (plan.alone > 0) == (layout == 'columns')
    W, _, _, together = plan.workspace(length)
    assert together.shape[2] == kernels.SEGMENTS
    assert W.nbytes + together.nbytes <= limit
    assert not plan.alone or together.ctypes.data % 32 == 0
    assert sampler.release(word) == expected


@pytest.mark.parametrize('layout, base', [('columns', 'weighted')], indirect=True)
@pytest.mark.parametrize('alone', [0, 1, 3])
def test_as_few_rows_are_computed_again_as_memory_allows(alone):
    """Against all spacings, one by one."""
    for length in (1, 7, 60, 400, 1_000):
        for most in (*range(260), length, length + 1):
            found = spacing, near, rows = backward._spacing(length, most, alone)
            if length < most:
                assert found == (1, 0, length + 1)
                continue
            choices = range(2, max(2, round(length**0.5 / 2)) + 1)
            needed = {s: len(range(0, length, s)) + 1 + max(2, s - 1) for s in choices}
            plain = next((s for s in choices if needed[s] <= most), choices[-1])
            if not near:
                assert found == (plain, 0, needed[plain])
            together = {s: len(range(0, length, s)) + 1 + max(2, alone) for s in choices
                        if s > alone + 1}
            fitting = [s for s in together
                       if together[s] + kernels.SEGMENTS * (s - alone) <= most]
            worth = alone > 0 and fitting and (
                (1 - (alone + 1) / fitting[0]) / 2 < 0.9 - (alone + 1) / plain)
            assert near == (alone if worth else 0)
            assert not near or (spacing, rows) == (fitting[0], together[fitting[0]])


@pytest.mark.parametrize('staying', [True, False])
def test_how_much_is_kept_is_planned(layout, base, staying):
    """A walk is alone until it can be in an eighth of all states."""
    for chain in (expander(300), expander(24), grid(9, staying=staying), two_branches(40)):
        length, limit = 1_000, 8 * (len(chain) + 1) * 130
        sampler = Sampler(chain, 2.0, stored_bytes=limit, spread_bits=600)
        plan, reach, width = sampler.plan(length), sampler.reachable.reach, len(chain) + 1
        alone = 0
        if layout == 'columns' and not plan.wide and plan.period == 1:
            alone = max(1, next(t for t, many in enumerate(reach) if many > width // 8) - 1)
        spacing, alone, rows = backward._spacing(length, 86 if plan.wide else 130, alone)
        assert (plan.spacing, plan.alone, plan.shape) == (spacing, alone, (rows, width))
        growth = log2(plan.ratio * (
            1 + 2**-20 if base == 'weighted' else sampler.reachable.most_successors))
        assert plan.rescale_every == int(160 / growth)


@pytest.mark.parametrize('layout', ['columns'], indirect=True)
def test_points_on_boundaries_in_segments_together(layout):
    """Both moves are equally likely, and the 53 bits of each point are those of ½."""
    names = [f's{i}' for i in range(300)]
    chain = Chain({a: [names[2 * i % 300], names[(2 * i + 1) % 300]]
                   for i, a in enumerate(names)}, 's0')
    word, halves = ['s5'] * 1_000, sum(2**63 << 64 * i for i in range(1_000))
    outputs = []
    for limit in (10**9, 8 * 301 * 130):
        sampler = Sampler(chain, 0.0, random=Tape(halves, 64_000, Random(5)), stored_bytes=limit)
        assert (sampler.plan(1_000).alone > 0) == (limit < 10**9)
        outputs.append(sampler.release(word))
    assert outputs[0] == outputs[1] and chain.is_feasible(outputs[0])


@pytest.mark.parametrize('hub', [5, 12])
def test_rows_longer_than_the_columns(hub, layout):
    """One state with many successors does not widen the others' rows."""
    names = [f'n{i}' for i in range(hub)]
    chain = Chain({'hub': names, **{a: ['hub', b] for a, b in zip(
        names, names[1:] + names[:1], strict=True)}}, 'hub')
    sampler = Sampler(chain, 2.0)
    columns = len(sampler.reachable.columns)
    assert columns == (2 if layout == 'columns' else 0)
    assert list(sampler.reachable.long_rows) == ([1] if columns else [*range(1, hub + 2)])
    word = ['n1', 'hub', 'n3']
    exact = sampler.exponential(word, Fraction(sampler.ratio(3)))
    for output, chance in sampler.law(word).items():
        assert abs(chance / exact[output] - 1) < 6 * sampler.factors * U


@pytest.mark.parametrize('degree', [1, 2, 3, 4, 5, *map(thorough, range(6, 11))])
def test_every_number_of_columns(degree, layout):
    names = [f'n{i}' for i in range(11)]
    chain = Chain({a: [names[(i * i + j) % 11] for j in range(degree)]
                   for i, a in enumerate(names)}, 'n3')
    sampler = Sampler(chain, 2.0)
    assert len(sampler.reachable.columns) == (degree if layout == 'columns' else 0)
    word = replayable_random().choices(names, k=20)
    exact = sampler.exact_sums(word, Fraction(sampler.ratio(20)))
    assert sampler.log_normalizer(sampler.numbers(word)) == pytest.approx(log_of(exact), rel=1e-13)


# Range.

@pytest.mark.parametrize('epsilon, matching', [(2.0, 800), (2000.0, 400)])
def test_two_branches_that_never_meet(epsilon, matching):
    """R^800 = 2^1154 and R^400 = 2^16000 between the two; against rational numbers."""
    chain = two_branches(2)
    word = ['x0'] * matching + ['y1'] * (800 - matching)
    random = replayable_random()
    sampler = Sampler(chain, epsilon, random=random)
    ratio = Fraction(sampler.ratio(800))
    weights, chances = (of(sampler.numbers(word)) for of in (sampler.weights, sampler.chances))
    factors = 2 * 800 * sampler.factors
    # The sums of one branch: R+1 at a position that can match, else 2; the first has no choice.
    # With weights, all moves have ½.
    branch = {'x': ratio * (ratio + 1)**(matching - 1) * 2**(800 - matching),
              'y': 2**(matching - 1) * (ratio + 1)**(800 - matching)}
    first = {label: weights[0][sampler.reachable.number[label]] for label in ('x0', 'y0')}
    computed, exact = first['x0'] / first['y0'], branch['x'] / branch['y']
    assert (1 - U)**factors <= computed / exact <= 1 / (1 - U)**factors
    normalizer = sampler.log_normalizer(sampler.numbers(word))
    log_measure = -800 * log(2) if sampler.weighted else 0
    assert normalizer == pytest.approx(log_of(branch['x'] + branch['y']) + log_measure, rel=1e-13)
    for _ in range(5):
        output = sampler.release(word)
        chance = sampler.chance(chances, output)
        assert chance > 0 and chain.is_feasible(output)
        expected = (800 - distance(word, output)) * log_of(ratio) + log_measure - normalizer
        assert log_of(chance) == pytest.approx(expected, abs=1e-8)
        if matching == 800:
            assert output[0] == 'x0'


def test_long_words_neither_under_nor_overflow():
    """With n = 2,000 on 256 states; the normaliser against one that sums logarithms."""
    chain = large_grid(16)
    word = Random(5).choices(chain.states, k=2_000)
    for epsilon in (2.0, 2000.0):
        sampler = Sampler(chain, epsilon)
        numbers = sampler.numbers(word)
        assert chain.is_feasible(sampler.release(word))
        sums = np.zeros(len(chain) + 1)
        sums[0] = -np.inf
        log_ratio = log(sampler.ratio(2_000))
        targets = sampler.reachable.targets
        begins = sampler.reachable.offsets[1:-1]
        for number in reversed(numbers):
            sums[number] += log_ratio
            sums = np.append(-np.inf, np.logaddexp.reduceat(
                sums[targets] + np.log(sampler.moves_weights), begins))
        assert sampler.log_normalizer(numbers) == pytest.approx(sums[1], rel=1e-10)


@pytest.mark.parametrize('layout, base', [('columns', 'weighted')], indirect=True)
@pytest.mark.parametrize('epsilon, side', [(2.0, 100), thorough(2000.0, 40)])
def test_memory(epsilon, side):
    """With n = 10,000 on up to 10,000 states: all above the chain in less than 100 MB."""
    chain = large_grid(side)
    word = Random(5).choices(chain.states, k=10_000)
    Sampler(grid(3), epsilon).release([None] * 3)  # compiled
    tracemalloc.start()
    try:
        assert chain.is_feasible(Sampler(chain, epsilon).release(word))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    print(f'{peak / 1e6} MB')
    assert 10e6 < peak < 100e6
