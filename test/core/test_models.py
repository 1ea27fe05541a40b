# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Models of how a robot moves: their formulas, and the switch between them, by its definition.

The measure of a word is a sum over all sequences of models, in fractions.
"""
from fractions import Fraction
from itertools import product
from math import inf, log

from model_checks import CHAINS_WITH_P, measure
import numpy as np
import pytest
from refusals import refused
from strategies import feasible_words, FOUR, thorough
from symdp_ros import Chain, ChainError, ConfigurationError, OfflineMechanism, Privacy
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.models import (counting_model, known_model, LEAST_WEIGHT, make_models,
                                   public_models, STAYING, SWITCH)
from symdp_ros.core.offline.reachable import MODEL_LANES

for_all_chains = pytest.mark.parametrize('chain', CHAINS_WITH_P.values(), ids=CHAINS_WITH_P)


def formula(chain, trust):
    """Return the models as in the text: name → (weight, state → next state → probability)."""
    rows = {'all moves equally likely': {s: dict.fromkeys(chain.successors(s), Fraction(
        1, len(chain.successors(s)))) for s in chain.states}}
    for staying in STAYING:
        rows[f'stays {staying:g}'] = model = {}
        for s in chain.states:
            moves = [x for x in chain.successors(s) if x != s]
            stay = (1 if not moves else Fraction(str(staying)) if s in chain.successors(s) else 0)
            model[s] = {x: stay if x == s else (1 - Fraction(stay)) / len(moves)
                        for x in chain.successors(s)}
    different = {name: model for i, (name, model) in enumerate(rows.items())
                 if model not in [*rows.values()][:i]}
    named = chain.names_probabilities
    share = 1 - Fraction(trust) if named else Fraction(1)
    others = len(different) - 1
    found = {name: (share if not others else share / 2 if i == 0 else share / 2 / others, model)
             for i, (name, model) in enumerate(different.items()) if share}
    if named and trust:
        P = {s: {x: Fraction(str(p)) for x, p in chain.probabilities(s).items()}
             for s in chain.states}
        same = [name for name, (_, model) in found.items() if model == P]
        weight = Fraction(trust) + sum(found.pop(name)[0] for name in same)
        found = {'as the map says': (weight, P)} | found
    return found


def by_sequences(chain, trust, output):
    """Return h of a word by its definition: over every sequence of models."""
    models, total = formula(chain, trust), Fraction(0)
    switch = Fraction(str(SWITCH)) if len(models) > 1 else 0
    for sequence in product(models, repeat=len(output)):
        chance, last = Fraction(1), None
        for name, before, after in zip(sequence, (chain.initial_state, *output), output,
                                       strict=False):
            weight, rows = models[name]
            drawn = weight if last is None else (1 - switch) * (name == last) + switch * weight
            chance *= drawn * rows[before][after]
            last = name
        total += chance
    return total


# The models.

for_all_trusts = pytest.mark.parametrize('trust', [0.0, thorough(0.3), 0.8, 1.0])


@for_all_chains
@for_all_trusts
def test_the_models_are_the_formulas(chain, trust):
    models, expected = chain.models(trust), formula(chain, trust)
    assert list(models.names) == list(expected)
    for weights, q, (share, rows) in zip(models.weights.tolist(), models.prior.tolist(),
                                         expected.values(), strict=True):
        assert q == pytest.approx(float(share), rel=1e-12)
        weight = iter(weights)
        for state in chain.states:
            row = {after: next(weight) if chain.stores_edges else weights[after == state]
                   for after in chain.successors(state)}
            assert abs(sum(row.values()) - 1) <= 2**-23
            assert row == pytest.approx({s: float(p) for s, p in rows[state].items()}, rel=1e-6)


@for_all_chains
@for_all_trusts
def test_the_measure_of_a_word_is_the_sum_over_all_sequences_of_models(chain, trust):
    models = chain.models(trust)
    for output in feasible_words(chain, 3):
        expected = float(by_sequences(chain, trust, output))
        assert float(measure(chain, models, output)) == pytest.approx(expected, rel=1e-5)
        index = chain.state_index
        route = [index[s] for s in (chain.initial_state, *output)]
        assert models.log_measure(route) == pytest.approx(
            log(measure(chain, models, output)), rel=1e-12, abs=1e-12)


def test_the_models_are_those_of_the_text():
    assert (STAYING, SWITCH, LEAST_WEIGHT) == ((0.0, 0.7, 0.9, 0.97, 0.99), 0.01, 2.0**-40)
    chain = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')
    offsets, targets = chain.csr()
    public = public_models(offsets, targets)
    assert np.add.reduceat(public, offsets[:-1], axis=1) == pytest.approx(np.ones((6, 3)))
    never_stays = chain.models(0.8).weights[chain.models(0.8).names.index('stays 0')]
    assert never_stays.tolist() == public[1].tolist() == [0, 1] * 3
    six = make_models(offsets, targets, public, None, 0.8)
    assert six.prior.tolist() == pytest.approx([0.5, *[0.1] * 5])
    assert six.mean == pytest.approx(six.prior @ six.weights, rel=1e-6)


def test_one_model_by_itself():
    offsets, targets = FOUR.csr()
    chances = np.full(len(targets), 0.25)
    for models, edges in ((counting_model(offsets, targets), len(targets)),
                          (known_model(offsets, targets, chances), len(targets)),
                          (Chain.complete(['a', 'b', 'c'], 'a', 0.5).models(1.0), 2)):
        assert len(models) == 1 and models.weights.shape == (1, edges)
        assert models.prior.tolist() == [1] and models.switch.tolist() == [0]
        assert models.keep == 1 and len(models.targets) == (edges if edges > 2 else 0)
    belief = np.array([[[0.25, 1.0], [0.75, 0.0], [0.0, 0.0]]])  # of two words
    assert models.forward(belief).tolist() == [[[0.3125, 0.5], [0.4375, 0.25], [0.25, 0.25]]]
    assert models.backward(belief[..., 0]).tolist() == [[0.3125, 0.4375, 0.25]]


@pytest.mark.parametrize('stays', [None, 0, 0.5, 1.0])
@pytest.mark.parametrize('states', [1, 2, 5])
def test_where_all_follow_all_two_numbers_are_a_model(states, stays):
    """As of the chain that lists its moves."""
    names = [f's{i}' for i in range(states)]
    complete = Chain.complete(names, 's0', stays)
    rows = {s: names for s in names} if stays is None else {'s0': {'s0': 1.0}}
    if stays is not None and states > 1:
        rows = {s: {t: max(1e-13, stays if s == t else (1 - stays) / (states - 1))
                    for t in names} for s in names}
    one, other = complete.models(0.8), Chain(rows, 's0').models(0.8)
    belief = np.random.default_rng(1).random((len(one), states, 3))
    if len(one) == len(other):
        assert one.names == other.names and one.prior == pytest.approx(other.prior)
        assert one.forward(belief) == pytest.approx(other.forward(belief), rel=1e-6, abs=1e-10)
        assert one.backward(belief) == pytest.approx(other.backward(belief), rel=1e-6, abs=1e-10)
        route = [0, states - 1, states - 1, 0]
        assert one.log_measure(route) == pytest.approx(other.log_measure(route), abs=1e-6)
    sums = (states - 1) * one.weights[:, 0] + one.weights[:, 1]
    assert sums == pytest.approx(np.ones(len(one)), rel=2**-22) and one.weights.max(axis=0).all()


def test_what_is_said_of_models():
    turns = {'a': {'b': 0.9, 'c': 0.1}, 'b': ['a'], 'c': ['a']}
    named, plain = CHAINS_WITH_P['habit'], Chain({'a': ['a', 'b'], 'b': ['a', 'b', 'c'],
                                                  'c': ['a']}, 'a')
    for models, summary in (
            (named.models(1.0), 'as the map says'), (plain.models(0.8), 'six models'),
            (named.models(0.75), 'as the map says, weight 0.75, and six models'),
            (Chain(turns, 'a').models(0.5), 'as the map says, weight 0.5, and one model')):
        assert models.summary == summary
    assert str(named.models(1.0)) == 'as the map says'
    assert str(Chain(turns, 'a').models(0.75)) == (
        '2 models: as the map says (0.75); all moves equally likely (0.25)')


def test_models_that_coincide_are_one():
    without_staying = Chain({'a': ['b', 'c'], 'b': ['a'], 'c': ['a', 'b']}, 'a')
    assert without_staying.models(0.8).names == ('all moves equally likely',)
    assert Chain({'a': ['a']}, 'a').models(0.8).names == ('all moves equally likely',)
    three = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')
    assert len(three.models(0.8)) == 6
    named = Chain({'a': {'a': 0.9, 'b': 0.1}, 'b': {'b': 0.9, 'a': 0.1}}, 'a').models(0.7)
    assert named.names[0] == 'as the map says' and len(named) == 6
    assert named.prior.tolist() == pytest.approx([0.7 + 0.03, 0.15, *[0.03] * 4])
    assert len(Chain.complete(list('ab'), 'a').models(0.8)) == 6
    assert len(Chain.complete(['a'], 'a').models(0.8)) == 1


def test_the_belief_moves_as_the_models_say():
    """From s_0 it is the measure of the first moves; `forward` and `backward` are adjoint."""
    chain = CHAINS_WITH_P['habit']
    models = chain.models(0.8)
    joint = models.begin(chain.state_index['a'], 3)
    for t in range(1, 4):
        joint = models.forward(joint)
        expected = np.zeros(3)
        for output in feasible_words(chain, t):
            expected[chain.state_index[output[-1]]] += float(measure(chain, models, output))
        assert joint.sum(axis=0) == pytest.approx(expected, rel=1e-12)
    several = np.stack([joint, models.begin(1, 3)], axis=-1)  # words
    for i, moved in enumerate(np.moveaxis(models.forward(several), -1, 0)):
        assert moved == pytest.approx(models.forward(several[..., i]), rel=1e-12)
    values = np.random.default_rng(1).random((len(models), 3))
    assert (models.forward(joint) * values).sum() == pytest.approx(
        (joint * models.backward(values)).sum(), rel=1e-12)


@pytest.mark.parametrize('trust', [1e-13, 1 - 1e-13, 5e-324])
def test_hardly_any_weight_is_none(trust):
    assert len(CHAINS_WITH_P['habit'].models(trust)) == (1 if trust > 0.5 else 6)


@pytest.mark.parametrize('trust', [LEAST_WEIGHT, 1 - LEAST_WEIGHT])
def test_the_least_weight_is_one(trust):
    assert len(CHAINS_WITH_P['habit'].models(trust)) == 7


@pytest.mark.parametrize('ticks, moves', [(1, 1), (2, 1), (3, 2), (2, 3)])
@pytest.mark.parametrize('name', ['habit', 'four', 'absorbing', 'loops'])
def test_between_reports_each_model_is_that_of_single_ticks(name, ticks, moves):
    """Taken to the reports as P is: to the power of the ticks, on the states within the moves."""
    chain = CHAINS_WITH_P.get(name, Chain({'a': ['a', 'b'], 'b': ['b', 'c', 'd'], 'c': ['c', 'd'],
                                           'd': ['a', 'd']}, 'a'))
    try:
        found = chain.every(ticks, moves)
    except ChainError:
        assert name in ('habit', 'four', 'absorbing')
        return
    assert found.names_probabilities == chain.names_probabilities
    single = [Chain({s: {x: float(p) for x, p in row.items() if p} for s, row in rows.items()},
                    chain.initial_state) for _, rows in formula(chain, 0.5).values()]
    models = found.models(0.5)
    expected = []
    for model in single:
        power = np.zeros((len(chain), len(chain)))
        for i, state in enumerate(chain.states):
            for after, p in model.probabilities(state).items():
                power[i, chain.state_index[after]] = p
        power = np.linalg.matrix_power(power, ticks)
        row = []
        for i, state in enumerate(chain.states):
            own = power[i, [chain.state_index[s] for s in found.successors(state)]]
            row += (own / own.sum()).tolist() if own.sum() else [
                *found.probabilities(state).values()]
        expected.append(row)
    unlike = [row for i, row in enumerate(expected)
              if not any(np.allclose(row, other, rtol=1e-6) for other in expected[:i])]
    assert len(unlike) == len(models)
    for row, weights in zip(unlike, models.weights.tolist(), strict=True):
        assert weights == pytest.approx(row, rel=1e-6, abs=1e-12)


def test_the_digest_tells_models_apart():
    """What is between reports is another chain than one that names the same probabilities."""
    loops = Chain({'a': ['a', 'b'], 'b': ['b', 'a', 'c'], 'c': ['c', 'a']}, 'a')
    between = loops.every(3, 2)
    named = Chain({s: between.probabilities(s) for s in between.states}, 'a')
    assert named.digest() != between.digest() and named != between
    assert len(named.models(1.0)) == 1 and len(between.models(1.0)) > 1
    assert loops.every(3, 2) == between


def test_no_weight_is_too_small_and_none_is_negative():
    """Whatever P is: sums may be off by 1e-9, and probabilities as small as floats are."""
    chain = Chain({'a': {'a': 1 + 9e-10, 'b': 5e-324}, 'b': {'a': 1e-300, 'b': 1.0}}, 'a')
    for trust in (0, 0.5, 1):
        models = chain.models(trust)
        assert models.weights.dtype == np.float32 and len(models) <= MODEL_LANES
        assert models.weights.max(axis=0).min() >= LEAST_WEIGHT * (1 - 2**-20)
        assert models.weights.min() >= 0
    assert Fraction(float(chain.models(1).weights[0, 1])) == Fraction(2)**-40


def test_a_uniform_row_stays_exactly_uniform():
    """Also where P says so, and where no float is 1/N."""
    third = 1 / 3
    chain = Chain({'a': {'a': third, 'b': third, 'c': third}, 'b': ['a', 'c', 'b'],
                   'c': {'a': 0.2, 'b': 0.4, 'c': 0.4}}, 'a')
    weights = chain.models(1.0).weights[0].tolist()
    assert len({*weights[:6]}) == 1 and len({*weights[6:]}) > 1
    offsets, targets = chain.csr()
    even = make_models(offsets, targets, np.full((6, 9), third), None, 0.8)
    assert len(even) == 1 and len({*even.weights[0].tolist()}) == 1


@pytest.mark.parametrize('base, trust', [
    ('Chain', 0.8), ('', 0.8), (None, 0.8), ('chain', -0.1), ('chain', 1.5), ('chain', inf),
    ('chain', float('nan')), ('chain', '1'), ('chain', True), ('counting', None)])
def test_what_is_no_base(base, trust):
    for selection in ('exponential', 'causal'):
        with refused(ConfigurationError, setting='base' if trust == 0.8 else 'trust'):
            OfflineMechanism(FOUR, Privacy(1.0), selection=selection, base=base, trust=trust)
        with refused(ConfigurationError, setting='base' if trust == 0.8 else 'trust'):
            MechanismSettings(selection, base=base, trust=trust).check()


@pytest.mark.parametrize('trust', [0, 0.0, 0.5, 1, Fraction(1, 3)])
def test_what_is_a_base(trust):
    for base in ('chain', 'counting'):
        OfflineMechanism(FOUR, Privacy(1.0), base=base, trust=trust)
        MechanismSettings(base=base, trust=trust).check()
