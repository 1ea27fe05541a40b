# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows that a sweep leaves out and a walk computes again: as if all were stored, bit by bit."""
from functools import partial
from random import Random

import numpy as np
from offline_checks import reached_in
import pytest
from strategies import grid, RING
from symdp_ros import Chain, Privacy
from symdp_ros.core.compiled.vectors import LANES
from symdp_ros.core.offline.backward import BackwardSampler
from symdp_ros.core.offline.model_backward import ModelSampler
from symdp_ros.core.offline.passes import kernels, model_kernels, short_words
from symdp_ros.core.offline.passes.segments import SEGMENTS
from symdp_ros.core.offline.reachable import LoopSizes, ReachableChain

#: Ways out of one place, of 1 to 9 successors each.
FAN = Chain({'hub': [f'{i}' for i in range(9)],
             **{f'{i}': ['hub', *[f'{j}' for j in range(i)]] for i in range(9)}}, 'hub')
CHAINS = {'ring': RING, 'grid': grid(4), 'period 2': grid(4, staying=False), 'fan': FAN,
          'line': Chain({f'{i}': [f'{i}', f'{i + 1}'] for i in range(25)} | {'25': ['25']}, '0'),
          'wide': Chain({'0': ['0', 'a', 'b'], 'a': ['a'], 'b': ['b', 'c'], 'c': ['b', 'c']},
                        '0')}
LENGTH = 23
UNDEFINED = 1e300  # of states that no walk can be in


def sampler_of(name, columns=False, weighted=False):
    """Return a sampler of words of a chain, whose moves can have weights."""
    chain = ReachableChain(CHAINS[name], LoopSizes(columns_from=0 if columns else 10**9))
    weights = None
    if weighted:
        weights = np.random.default_rng(1).random(len(chain.targets)).astype(np.float32) + 0.5
    return chain, BackwardSampler(chain, Privacy(1.0).epsilon_per_symbol, Random(5), weights)


def some_word(chain):
    return np.array([Random(i).randrange(len(chain) + 1) for i in range(LENGTH)])


def rows_for(spacing, shape, wide):
    """Return W, E and scale: room for what a sweep with this spacing stores."""
    rows = -(-LENGTH // spacing) + 1 + max(2, spacing - 1)
    W = np.full((rows, *shape), UNDEFINED)
    W[:, 0] = 0.0
    return (W, np.full((rows, shape[0]) if wide else (1, 1), 77, np.int32),
            np.zeros(LENGTH + 1, np.int32))


def led_to(chain, state, moves):
    """Return the numbers of the states that just so many moves lead to."""
    some = {state}
    for _ in range(moves):
        some = {int(t) for s in some for t in chain.successors(s)}
    return sorted(some)


def check_rows(chain, spacing, period, wide, stored, swept, recompute, start):
    """
    Compare every row that a walk from some place would compute.

    :param start: how far the walk has come in the first segment of those compared.
    """
    (W, E, scale), (rows, row_exponents, scales) = stored, swept
    assert scale.tolist() == scales.tolist()
    last = -(-LENGTH // spacing)
    for i in range(1, last + 1):
        t = min(i * spacing, LENGTH)
        some = reached_in(chain, t, period)
        assert rows[i, some].tobytes() == W[t, some].tobytes()
        assert not wide or row_exponents[i, some].tobytes() == E[t, some].tobytes()
    size = len(chain) + 1
    cone, mark = np.empty(size, np.int64), np.zeros(size, np.int64)
    sizes = np.empty(spacing + 1, np.int64)
    state, position = led_to(chain, 1, start)[-1], start
    while position < LENGTH:
        end = min(position // spacing * spacing + spacing, LENGTH)
        if end - position > 1:
            recompute(position, end, state, rows, row_exponents, scales,
                      end_row=-(-end // spacing), base=last + 1, cone=cone, sizes=sizes, mark=mark)
        for t in range(position + 1, end):
            some, row = led_to(chain, state, t - position), last + t - position
            assert rows[row, some].tobytes() == W[t, some].tobytes()
            assert not wide or row_exponents[row, some].tobytes() == E[t, some].tobytes()
            assert not rows[row, 0].any() and (not wide or row_exponents[row, 0] == -2**30)
        state, position = led_to(chain, state, end - position)[-1], end


@pytest.mark.parametrize('most', [0, 3, 99])
@pytest.mark.parametrize('spacing', [2, 3, 7])
@pytest.mark.parametrize('name, columns, weighted, wide', [
    *[(name, columns, weighted, False) for name in ('ring', 'grid', 'period 2', 'fan')
      for columns in (False, True) for weighted in (False, True)],
    *[(name, columns, weighted, True) for name in ('grid', 'fan', 'wide')
      for columns in (False, True) for weighted in (False, True)]])
def test_rows_of_a_segment(name, columns, weighted, wide, spacing, most):
    """Where a walk can see more than `most` states, all of a row are computed."""
    chain, sampler = sampler_of(name, columns, weighted)
    word, period = some_word(chain), 1 if wide else chain.period
    shape, every = (len(chain) + 1,), 4
    sweep = partial(kernels.sweep, word, sampler.edges, period, 3.0)
    stored, swept = rows_for(1, shape, wide), rows_for(spacing, shape, wide)
    total, row = sweep(1, every, wide, *stored)
    assert row == 1 and total == stored[2].sum() and (wide or total != 0)
    sweep(spacing, every, wide, *swept)

    def recompute(begin, end, state, W, E, scale, *, end_row, base, cone, sizes, mark):
        kernels._recompute(begin, end, state, word, sampler.edges, period, 3.0, wide, W, E, scale,
                           end_row, base, cone, sizes, mark, most)

    for start in (0, 1, 8):
        check_rows(chain, spacing, period, wide, stored, swept, recompute, start)


@pytest.mark.parametrize('most', [0, 3, 99])
@pytest.mark.parametrize('spacing', [2, 3, 7])
@pytest.mark.parametrize('wide', [False, True])
@pytest.mark.parametrize('name', ['ring', 'grid', 'fan', 'wide'])
def test_rows_of_a_segment_with_models(name, wide, spacing, most):
    chain = ReachableChain(CHAINS[name])
    sampler = ModelSampler(chain, CHAINS[name].models(0.8), Privacy(1.0).epsilon_per_symbol,
                           Random(5))
    word, shape, every = some_word(chain), (len(chain) + 1, LANES), 4
    stored, swept = rows_for(1, shape, wide), rows_for(spacing, shape, wide)
    total, row = model_kernels.sweep(word, sampler.edges, 3.0, 1, every, wide, *stored)
    assert row == 1 and total == stored[2].sum() and (wide or total != 0)
    model_kernels.sweep(word, sampler.edges, 3.0, spacing, every, wide, *swept)

    def recompute(begin, end, state, W, E, scale, *, end_row, base, cone, sizes, mark):
        model_kernels._recompute(begin, end, state, word, sampler.edges, 3.0, wide, W, E, scale,
                                 end_row, base, cone, sizes, mark, most)

    for start in (0, 1, 8):
        check_rows(chain, spacing, 1, wide, stored, swept, recompute, start)


@pytest.mark.parametrize('weighted', [False, True])
@pytest.mark.parametrize('name', ['ring', 'grid', 'fan', 'line'])
@pytest.mark.parametrize('spacing, alone', [(4, 1), (5, 1), (5, 3), (30, 2)])
def test_rows_of_some_segments_together(name, spacing, alone, weighted):
    chain, sampler = sampler_of(name, True, weighted)
    word, shape = some_word(chain), (len(chain) + 1,)
    (W, _, scale), (rows, _, _) = rows_for(1, shape, False), rows_for(spacing, shape, False)
    kernels.sweep(word, sampler.edges, 1, 3.0, 1, 4, False, W, np.zeros((1, 1), np.int32), scale)
    kernels.sweep(word, sampler.edges, 1, 3.0, spacing, 4, False, rows,
                  np.zeros((1, 1), np.int32), scale)
    together = np.zeros((spacing - alone, *shape, SEGMENTS))
    for begin in range(0, LENGTH, spacing):
        kernels._recompute_together(begin, alone, word, sampler.edges, 3.0, spacing, rows, scale,
                                    together)
        for i in range(SEGMENTS):
            for ahead in range(alone + 1, spacing):
                t = begin + i * spacing + ahead
                if t < LENGTH:
                    some = reached_in(chain, t)
                    assert (together[ahead - alone - 1, some, i] == W[t, some]).all()
        assert not together[:, 0].any()


@pytest.mark.parametrize('name, columns, wide, spacing, alone', [
    *[(name, columns, False, spacing, 0) for name in ('grid', 'period 2', 'fan')
      for columns in (False, True) for spacing in (2, 3, 4, 7)],
    *[(name, True, False, 5, alone) for name in ('grid', 'fan') for alone in (1, 2, 3)],
    *[('wide', False, True, spacing, 0) for spacing in (3, 4, 7)]])
def test_walks(name, columns, wide, spacing, alone):
    """The same bits give the same route, also from a position in its middle."""
    chain, sampler = sampler_of(name, columns)
    word, period = some_word(chain), 1 if wide else chain.period
    bits = np.frombuffer(Random(8).randbytes(8 * LENGTH), np.uint64)
    found = []
    for each, own in ((1, 0), (spacing, alone)):  # of rows that are stored
        W, E, scale = rows_for(each, (len(chain) + 1,), wide)
        together, out = np.zeros((each - own, len(chain) + 1, SEGMENTS)), np.zeros(
            LENGTH, np.int64)
        end = kernels.route(word, bits, sampler.edges, period, 3.0, each, own, 4, wide, W, E,
                            scale, together, out)
        assert end == (LENGTH, out[-1], 0)
        for begin in (1, 6, 17):
            again = out.copy()
            again[begin:] = 0
            assert end == kernels.walk(begin, out[begin - 1], word, bits, sampler.edges, period,
                                       3.0, each, own, wide, W, E, scale, together, again)
            assert again.tolist() == out.tolist()
        found.append(out.tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize('wide', [False, True])
@pytest.mark.parametrize('spacing', [2, 3, 4, 7])
def test_walks_with_models(spacing, wide):
    chain = ReachableChain(CHAINS['grid'])
    models = CHAINS['grid'].models(0.8)
    sampler = ModelSampler(chain, models, Privacy(1.0).epsilon_per_symbol, Random(5))
    bits = np.frombuffer(Random(8).randbytes(8 * LENGTH), np.uint64)
    found = []
    for each in (1, spacing):
        rows = rows_for(each, (len(chain) + 1, LANES), wide)
        out, model = np.zeros(LENGTH, np.int64), sampler._prior()
        assert model_kernels.route(some_word(chain), bits, sampler.edges, 3.0, each, 4, wide,
                                   *rows, model, out) == (LENGTH, out[-1], 0)
        found.append((out.tolist(), model.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize('spacing, alone', [(1, 0), (3, 0), (5, 0), (5, 1), (5, 3), (7, 2)])
def test_where_bits_do_not_decide(spacing, alone):
    """The point is where two parts meet. What follows is then in the row that is returned."""
    chain = ReachableChain(Chain({'a': ['a', 'b'], 'b': ['a', 'b']}, 'a'),
                           LoopSizes(columns_from=0))
    edges, word = chain.edges, np.zeros(LENGTH, np.int64)
    for stuck in range(LENGTH):
        points = [2**63 if t == stuck else 2**62 for t in range(LENGTH)]
        bits = np.frombuffer(np.array(points, np.uint64).tobytes(), np.uint64)
        W, E, scale = rows_for(spacing, (3,), False)
        together, out = np.zeros((spacing - alone, 3, SEGMENTS)), np.zeros(LENGTH, np.int64)
        position, state, row = kernels.route(word, bits, edges, 1, 1.0, spacing, alone, 99, False,
                                             W, E, scale, together, out)
        assert (position, state) == (stuck, 1) and (out[:stuck] == 1).all()
        assert W[row].tolist() == [0.0, *[2.0**(LENGTH - stuck - 1)] * 2]


@pytest.mark.parametrize('name', ['ring', 'period 2', 'fan'])
def test_what_a_walk_can_see(name):
    chain = ReachableChain(CHAINS[name])
    for state in range(1, len(chain) + 1):
        within, seen = [[state]], {state}
        for _ in range(5):
            seen = seen | {int(t) for s in seen for t in chain.successors(s)}
            within.append(sorted(seen))
        for most in range(len(chain) + 1):
            cone, sizes = np.zeros(len(chain) + 1, np.int64), np.full(6, -1)
            mark = np.full(len(chain) + 1, 6)
            end = kernels._cone(state, 4, (chain.offsets, chain.targets), cone, sizes, mark, 7,
                                most)
            expected = [j for j in range(1, 5) if len(within[j]) > most]
            assert end == min([*expected, 5])
            assert sizes[:end].tolist() == [len(some) for some in within[:end]]
            assert [sorted(cone[:size].tolist()) for size in sizes[:end]] == within[:end]
            assert (sizes[min(end, 4) + 1:] == -1).all()


@pytest.mark.parametrize('weighted', [False, True])
@pytest.mark.parametrize('name', ['ring', 'grid', 'fan'])
def test_rows_of_words_side_by_side(name, weighted):
    """Each lane has the weights of its word alone, times a power of two."""
    chain, sampler = sampler_of(name, weighted=weighted)
    random, ratios = Random(3), 1.0 + np.arange(kernels.LANES)
    words = np.array([[random.randrange(len(chain) + 1) for _ in range(kernels.LANES)]
                      for _ in range(LENGTH)], np.uint32)
    together = np.full((LENGTH, len(chain) + 1, kernels.LANES), UNDEFINED)
    kernels._sweep_lanes(LENGTH, words, sampler.edges, ratios, 4, together)
    for lane in (0, 1, kernels.LANES - 1):
        W, E, scale = rows_for(1, (len(chain) + 1,), False)
        kernels.sweep(words[:, lane].astype(np.int64), sampler.edges, 1, ratios[lane], 1, LENGTH,
                      False, W, E, scale)
        for t in range(LENGTH):
            some = reached_in(chain, t + 1)
            here, alone = together[t, some, lane], W[t + 1, some]
            factor = here[0] / alone[0]
            assert here == pytest.approx(alone * factor, rel=1e-13) and np.frexp(factor)[0] == 0.5
            if (LENGTH - 1 - t) % 4 == 3:
                matching = some == words[t, lane]
                assert np.frexp((here / np.where(matching, ratios[lane], 1)).max())[1] == 800
        assert not together[:, 0].any()


@pytest.mark.parametrize('weighted', [False, True])
def test_words_side_by_side(weighted):
    """In three groups; what is drawn is what each word draws alone, and bits decide it all."""
    chain, sampler = sampler_of('fan', weighted=weighted)
    random, many = Random(4), 2 * kernels.LANES + 5
    lengths = np.sort([random.randrange(1, 9) for _ in range(many)])
    begins = np.cumsum(lengths) - lengths
    symbols = np.array([random.randrange(-1, len(chain)) for _ in range(lengths.sum())], np.int32)
    places = np.append(begins, lengths.sum())
    bits = np.frombuffer(random.randbytes(8 * lengths.sum()), np.uint64)
    ratios, out = 2.0 + np.arange(many) / 10, np.full(lengths.sum(), -1, np.int32)
    at, states = np.full(kernels.LANES, -1), np.ones(kernels.LANES, np.int64)
    assert kernels.exponential(
        symbols, begins, lengths, ratios, places, bits, chain.numbers, chain.positions,
        sampler.edges, 3, np.zeros((8, len(chain) + 1, kernels.LANES)), 0, at, states, out) == 3
    for begin, length, ratio in zip(begins, lengths, ratios, strict=True):
        W, E = np.zeros((length + 3, len(chain) + 1)), np.zeros((1, 1), np.int32)
        word, alone = chain.numbers[symbols[begin:begin + length] + 1], np.empty(length, np.int64)
        kernels.route(word.astype(np.int64), bits[begin:begin + length], sampler.edges, 1, ratio,
                      1, 0, 3, False, W, E, np.zeros(length + 1, np.int32), np.zeros((1, 1, 1)),
                      alone)
        assert out[begin:begin + length].tolist() == chain.positions[alone].tolist()


@pytest.mark.parametrize('weighted', [False, True])
def test_which_edge_a_point_falls_on(weighted):
    """On and about the ends of the parts, as among intervals of these lengths."""
    random = Random(2)
    for count in (1, 2, 3, 7):
        first, lane = 4, 1
        W = np.zeros((2, 12, 2))
        W[1, :, lane] = [random.random() + 0.1 for _ in range(12)]
        targets = np.array([random.randrange(12) for _ in range(20)], np.uint32)
        weights = (np.random.default_rng(3).random(20).astype(np.float32) if weighted
                   else np.zeros(0))
        edges = slice(first, first + count)
        lengths = W[1, targets[edges], lane] * (weights[edges] if weighted else 1)
        right, unsure = np.add.accumulate(lengths), 0
        for end in right:
            for beside in range(-5 * count - 12, 5 * count + 13):
                point = min(max(int(end / right[-1] * 2**53) + beside, 0), 2**53 - 1)
                found = kernels._choose(first, first + count, targets, weights, W, 1, lane,
                                        np.uint64(point << 11))
                expected = short_words.choose(lengths, float(point))
                assert found == (first + expected if expected >= 0 else -1)
                unsure += found < 0
        assert unsure > 0 or count == 1


def test_sums_over_successors_and_models():
    chain, random = ReachableChain(CHAINS['fan']), np.random.default_rng(6)
    weights = random.random((len(chain.targets), LANES)).astype(np.float32)
    switch, after = random.random(LANES), random.random((len(chain) + 1, LANES))
    edges = chain.offsets, chain.targets, chain.reach, weights, 0.75, switch
    for some in ([], [2, 5]):
        here, nothing = np.zeros_like(after), np.zeros(1, np.int32)
        model_kernels._fill(np.array(some, np.int64), len(chain), edges, False, after, nothing,
                            here, nothing, 3)
        for s in some or range(1, len(chain) + 1):
            row = slice(chain.offsets[s], chain.offsets[s + 1])
            sums = (weights[row] * after[chain.targets[row]]).sum(axis=0)
            assert here[s] == pytest.approx((0.75 * sums + switch @ sums) / 8, rel=1e-14)


def test_sums_over_models():
    random = np.random.default_rng(5)
    for _ in range(9):
        one, two, three = random.random((3, LANES))
        assert model_kernels.added(one, two) == pytest.approx(one @ two, rel=1e-14)
        weights = two.astype(np.float32)
        assert model_kernels.length_of(one, weights, three) == pytest.approx(
            (one * weights) @ three, rel=1e-14)
        model, switch = one.copy(), random.random(LANES)
        model_kernels.learn(model, 1, np.stack([three, two]).astype(np.float32), 0.75, switch)
        found = one * weights
        assert model == pytest.approx(0.75 * found / found.sum() + switch, rel=1e-14)
