# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Learning a chain: how far its tables move, what leaves, and what is learned."""
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest
from refusals import refused
from symdp_ros import Chain, ChainError, ConfigurationError, PrivacyError
from symdp_ros.analysis.accuracy import patrols
from symdp_ros.analysis.learning import ChainLearner, learn_chain, LearningUnit

TWO = Chain({'a': ['a', 'b'], 'b': ['b', 'a']}, 'a')
THREE = Chain({'a': ['a', 'b', 'c'], 'b': ['a', 'c'], 'c': ['c']}, 'a')
MAPS = pytest.mark.parametrize('chain', [TWO, THREE], ids=['two', 'three'])


def distance(first, second):
    return sum(a != b for a, b in zip(first, second, strict=True))


def moved(learner, first, second):
    """Return how far apart the two tables of two sets of logs are, in L1."""
    return moved_tables(learner.count(first), learner.count(second))


def moved_tables(one, other):
    return [int(abs(getattr(one, name) - getattr(other, name)).sum())
            for name in ('stays', 'moves')]


@MAPS
@pytest.mark.parametrize('adjacency', [1, 2])
def test_every_adjacent_pair_of_words(chain, adjacency):
    """Every pair, exactly: the noise keeps its share of ε for each table."""
    learner = ChainLearner(chain, LearningUnit(adjacency))
    words = list(product([*chain.states, None, 'x'], repeat=4 if chain is TWO else 3))
    epsilon = Fraction(7, 5)
    _, scales = learner.add_noise(learner.count([]), epsilon, 40, Random(0))
    worst = [0, 0]
    tables = [(word, learner.count([[word]])) for word in words]
    for (first, one), (second, other) in product(tables, repeat=2):
        if distance(first, second) <= adjacency:
            worst = list(map(max, worst, moved_tables(one, other)))
    assert max(worst) <= learner._unit.distance == 4 * adjacency
    assert max(worst) >= 4 - (chain is THREE)  # the bound is not far off
    # P[noisy tables] differs by the factor e^{Σ |Δ| / scale} at most.
    assert sum(Fraction(far) / scale for far, scale in zip(worst, scales, strict=True)) <= epsilon


def worst_pair(learner, layout, window):
    """
    Return how far the tables move at most where the symbols of a window change, in any way.

    :param layout: lengths of words; `window`: positions in all of them, one after another.
    """
    def tables(symbols):
        rest, words = list(symbols), []
        for length in layout:
            words.append(rest[:length])
            del rest[:length]
        counted = learner.count([[word] for word in words])
        return np.concatenate([counted.stays, counted.moves])

    known, total = [*learner._chain.states, 'x'], sum(layout)
    outside = sorted(set(range(total)) - set(window))
    worst = [0, 0]
    for others in product(known, repeat=len(outside)):
        found = []
        for changed in product(known, repeat=len(window)):
            symbols = dict(zip([*outside, *window], [*others, *changed], strict=True))
            found.append(tables([symbols[i] for i in range(total)]))
        moves = np.abs(np.array(found)[:, None] - np.array(found)[None])
        worst = [max(worst[0], moves[:, :, :2].sum(axis=2).max()),
                 max(worst[1], moves[:, :, 2:].sum(axis=2).max())]
    return worst


@pytest.mark.parametrize('layout', [(2, 3), *(
    pytest.param(layout, marks=pytest.mark.thorough) for layout in (
        (5,), (1, 4), (2, 1, 2), (1, 1, 1, 2)))])
@pytest.mark.parametrize('seconds', [Fraction(n, 2) for n in (0, 2, 3, 5, 6)])
def test_every_change_during_some_seconds(layout, seconds):
    """
    Every word, every change, exactly; one symbol a second, also over the borders of logs.

    The logs follow one another as closely as they can: the last symbol of one and the first of the
    next have stamps that are a moment apart, so that the seconds touch one symbol more for each.
    """
    k = int(seconds) + 1
    learner = ChainLearner(TWO, LearningUnit(k, in_a_row=True))
    stamps, now = [], Fraction(0)
    for length in layout:
        stamps += [now + i for i in range(length)]
        now = stamps[-1] + Fraction(1, 100)
    windows = {tuple(i for i, stamp in enumerate(stamps) if begin <= stamp <= begin + seconds)
               for at in stamps for begin in (at, at - seconds)}
    if layout == (2, 3) and seconds == Fraction(3, 2):
        assert max(map(len, windows)) == k + 1
    worst = [max(pair) for pair in zip(*(worst_pair(learner, layout, window)
                                         for window in windows), strict=True)]
    assert max(worst) <= learner._unit.distance == 2 * (k + 1)
    if layout == (5,) and k < 4:  # a window in the middle: the bound is reached
        assert worst[1] == 2 * (k + 1)
    # k symbols anywhere move more, from two on: one noise does not do for both.
    assert LearningUnit(k).distance > learner._unit.distance or k == 1


def test_of_whole_logs_nothing_that_sets_the_noise_depends_on_their_lengths():
    scales = set()
    for lengths in ([4, 4, 4], [1204, 1196, 0], [12_000, 632, 1]):
        learner = ChainLearner(TWO, LearningUnit(clip=300))
        logs = [[['a', 'b'] * (length // 2)] for length in lengths]
        _, found = learner.add_noise(learner.count([]), Fraction(1), learner.transitions(logs),
                                     Random(0))
        scales.add(found)
    assert len(scales) == 1


@MAPS
@pytest.mark.parametrize('clip', [1, 2, 5])
def test_every_pair_of_logs(chain, clip):
    learner = ChainLearner(chain, LearningUnit(clip=clip))
    words = list(product([*chain.states, None], repeat=4))
    kept = ['a', 'b', 'a']
    for first in words:
        for second in ([list('aaaa')], [list('abab')], [], [[None]], [list('ab'), list('ac')]):
            assert max(moved(learner, [[first], [kept]], [second, [kept]])) \
                <= learner._unit.distance == 2_000 * clip
            assert max(moved(learner, [[first]], [[]])) <= 1_000 * clip


@MAPS
def test_cells_that_no_noise_hides_are_zero_in_every_table(chain):
    learner = ChainLearner(chain, LearningUnit())
    nothing = learner.count([])
    noisy, _ = learner.add_noise(nothing, Fraction(1, 10**6), 10, Random(3))
    for word in product([*chain.states, None, 'x'], repeat=3):
        counted = learner.count([[word]])
        for name in ('stays', 'moves'):
            assert not getattr(counted, name)[getattr(noisy, name) == 0].any()


def test_an_unknown_symbol_and_a_move_off_the_map_count_nowhere():
    learner = ChainLearner(THREE, LearningUnit())
    counted = learner.count([[['a', 'b', None, 'b', 'b', 'c', 'c', 'x', 'a']]])
    assert counted.moves.tolist() == [0, 1, 0, 0, 1, 0]  # a→b, b→c; c has no choice
    assert counted.stays.tolist() == [0, 1]


@MAPS
@pytest.mark.parametrize('unit', [LearningUnit(), LearningUnit(clip=100)], ids=['symbols', 'log'])
def test_the_map_stays_what_it_is(chain, unit):
    """Whatever the words are, and however large the noise: the same moves, all possible."""
    for seed, epsilon in enumerate([1e-9, 0.1, 1.0, 1e6, 1e-17, 5e-324]):
        learned = learn_chain(chain, [[list('acacx')]], epsilon, unit=unit, random=Random(seed))
        assert learned.states == chain.states and learned.initial_state == chain.initial_state
        for state in chain.states:
            assert learned.successors(state) == chain.successors(state)
            assert sum(learned.probabilities(state).values()) == pytest.approx(1)


@pytest.mark.parametrize('unit', [LearningUnit(), LearningUnit(clip=1_000)],
                         ids=['symbols', 'log'])
def test_much_data_is_learned(unit):
    true = Chain({'a': {'a': 0.6, 'b': 0.3, 'c': 0.1}, 'b': {'b': 0.2, 'a': 0.8},
                  'c': {'c': 0.9, 'a': 0.05, 'b': 0.05}}, 'a')
    plain = Chain({state: true.successors(state) for state in true.states}, 'a')
    random = Random(5)
    logs = [[walk] for walk in patrols(true, 1_000, 300)]
    learned = learn_chain(plain, logs, 2.0, unit=unit, random=random)
    for state in true.states:
        for target, chance in true.probabilities(state).items():
            assert learned.probabilities(state)[target] == pytest.approx(
                chance, abs=0.06 if unit.clip else 0.03)


def test_without_data_moves_are_as_the_map_has_them():
    """Two hundred noisy tables of nothing: moves stay near the map's on average and mostly."""
    fair = Chain({str(i): [str(i), str((i + 1) % 9), str((i + 4) % 9)] for i in range(9)}, '0')
    off = [abs(learned.probabilities(s)[t] / (1 - learned.probabilities(s)[s]) - 0.5)
           for seed in range(20)
           for learned in [learn_chain(fair, [[['0']]], 1.0, random=Random(seed))]
           for s in fair.states for t in fair.successors(s)[1:]]
    assert np.mean(np.array(off) < 0.01) > 0.5


def test_the_shares_add_up():
    for chain in (TWO, THREE, Chain({'a': ['b', 'a'], 'b': ['a', 'b']}, 'a'),
                  Chain({'a': ['b', 'c'], 'b': ['a'], 'c': ['a']}, 'a')):
        for unit in (LearningUnit(), LearningUnit(3), LearningUnit(clip=50)):
            for symbols in (0, 1, 50, 10**9):
                shares = ChainLearner(chain, unit).shares(symbols)
                assert sum(shares) == 1 and all(share >= 0 for share in shares)


@pytest.mark.parametrize('arguments', [{'adjacency': 0}, {'adjacency': True}, {'clip': -1},
                                       {'adjacency': 1.5}])
def test_bad_units(arguments):
    with refused(ConfigurationError, setting=next(iter(arguments))):
        LearningUnit(**arguments)


@pytest.mark.parametrize('epsilon', [0, float('nan'), float('inf'), -1])
def test_bad_epsilon(epsilon):
    with pytest.raises((ConfigurationError, PrivacyError)):
        learn_chain(TWO, [], epsilon)


def test_an_alphabet_has_no_moves():
    with pytest.raises(ChainError, match='transitions'):
        learn_chain(Chain.complete(['a', 'b'], 'a'), [], 1.0)
