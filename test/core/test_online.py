# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The online mechanism: what is drawn, exactly; what that reveals; the word that it carries."""
from array import array
from collections import Counter
import copy
from fractions import Fraction
from itertools import product
from math import exp
import pickle
from random import Random
import traceback

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from online_checks import excess, way_of
import pytest
from refusals import refused
from scipy.stats import binomtest
from strategies import (all_to_all, CHAINS, chains, COMPLETE, exp_bounds, FOUR, grid, per_symbol,
                        privacies, replayable_random, Scripted, symbols, thorough, words)
from symdp_ros import (Chain, ChainError, ConfigurationError, OnlineMechanism, Privacy, SymdpError,
                       UnknownSymbolError)
from symdp_ros.analysis.accuracy import expected_accuracy
from symdp_ros.core.online import direct, steps as online, targets
from symdp_ros.core.online.in_c import compiled
from symdp_ros.core.online.response import exp_lower_bound, Response, responses

POLICIES = ('paper', 'guided')
LN_2 = 0.6931471805599453  # the float just below ln 2
ONE_WAY = Chain({'s0': ['s0', 's1'], 's1': ['far', 's1'], 'far': ['far']}, 's0')
ALPHA = 1e-6
both_policies = pytest.mark.parametrize('policy', POLICIES)
for_all_chains = pytest.mark.parametrize('chain', CHAINS.values(), ids=CHAINS)


# The distributions.

def algorithm_4(chain, symbol, previous, epsilon, adjacency):
    """Return μ(· | s_t, o_{t−1}) as the paper writes it, in floats."""
    feasible = chain.successors(previous)
    n = len(feasible)
    if symbol not in feasible:
        return {state: 1 / n for state in feasible}
    tau = 1 / ((n - 1) * exp(-epsilon / adjacency) + 1)
    return {state: tau if state == symbol else (1 - tau) / (n - 1) for state in feasible}


@pytest.mark.parametrize('adjacency', [1, thorough(2), 3])
@pytest.mark.parametrize('epsilon', [
    0.0, thorough(0.1), LN_2, thorough(2.0), thorough(10.0), 40.0])
@for_all_chains
def test_algorithm_4(chain, epsilon, adjacency):
    mechanism = OnlineMechanism(chain, Privacy(epsilon, adjacency), policy='paper')
    for previous, symbol in product(chain.states, (*chain.states, None)):
        exact = mechanism.exact_distribution(symbol, previous)
        assert sum(exact.values()) == 1 and tuple(exact) == chain.successors(previous)
        assert mechanism.distribution(symbol, previous) == {s: float(p) for s, p in exact.items()}
        expected = algorithm_4(chain, symbol, previous, epsilon, adjacency)
        assert exact == pytest.approx(expected, abs=1.01e-10)


@pytest.mark.parametrize('symbol, previous, expected', [
    ('s1', 's0', {'s1': 1 / 2, 's2': 1 / 4, 's3': 1 / 4}),              # N = 3: τ = 1/(2/2 + 1)
    ('s3', 's0', {'s1': 1 / 4, 's2': 1 / 4, 's3': 1 / 2}),
    ('s0', 's0', {'s1': 1 / 3, 's2': 1 / 3, 's3': 1 / 3}),
    (None, 's0', {'s1': 1 / 3, 's2': 1 / 3, 's3': 1 / 3}),
    ('s1', 's1', {'s1': 2 / 3, 's2': 1 / 3}),                           # N = 2: τ = 1/(1/2 + 1)
    ('s3', 's1', {'s1': 1 / 2, 's2': 1 / 2}),
    ('s0', 's2', {'s0': 1}), ('s3', 's2', {'s0': 1}), (None, 's2', {'s0': 1}),
    ('s2', 's3', {'s3': 1 / 5, 's0': 1 / 5, 's1': 1 / 5, 's2': 2 / 5})])
def test_by_hand_at_ln_2(symbol, previous, expected):
    found = OnlineMechanism(FOUR, Privacy(LN_2), policy='paper').distribution(symbol, previous)
    assert found == pytest.approx(expected, abs=1e-9)
    assert found == pytest.approx(
        OnlineMechanism(FOUR, Privacy(3 * LN_2, 3), policy='paper').distribution(symbol, previous),
        abs=1e-9)


@for_all_chains
def test_guided_draws_as_the_paper_does_about_its_target(chain):
    paper, guided = (OnlineMechanism(chain, Privacy(2.0), policy=p) for p in POLICIES)
    for previous, symbol in product(chain.states, (*chain.states, None)):
        target = guided.target(symbol, previous)
        assert guided.exact_distribution(symbol, previous) == \
            paper.exact_distribution(target, previous)
        if symbol in chain.successors(previous):
            assert paper.target(symbol, previous) == target == symbol
        else:
            assert paper.target(symbol, previous) is None


@both_policies
@for_all_chains
def test_weights(chain, policy):
    mechanism = OnlineMechanism(chain, Privacy(2.0), policy=policy)
    others, beyond = mechanism.weights()
    assert others.shape == beyond.shape == (len(chain),)
    for previous, other, more in zip(chain.states, others, beyond, strict=True):
        aimed = chain.successors(previous)[0]
        chances = mechanism.distribution(aimed, previous)
        assert chances.pop(aimed) == pytest.approx(other + more, abs=1e-15)
        assert list(chances.values()) == pytest.approx([other] * len(chances), abs=1e-15)


# The promise, in exact arithmetic.

@pytest.mark.parametrize('epsilon, adjacency', [
    thorough(0.0, 1), (1.0, 1), (5.0, 3), thorough(700.0, 1)])
@both_policies
@for_all_chains
def test_every_pair_of_words_and_every_output(chain, policy, epsilon, adjacency):
    mechanism = OnlineMechanism(chain, Privacy(epsilon, adjacency), policy=policy)
    assert excess(mechanism, 3, epsilon, adjacency) is None


@pytest.mark.parametrize('chain', [FOUR, COMPLETE], ids=['four', 'complete'])
@both_policies
def test_the_search_finds_an_excess(chain, policy):
    mechanism = OnlineMechanism(chain, Privacy(1.0 + 1e-6), policy=policy)
    assert excess(mechanism, 3, 1.0, 1) is not None


@given(chains(), privacies(), st.sampled_from(POLICIES))
def test_no_two_symbols_differ_by_more(chain, privacy, policy):
    mechanism = OnlineMechanism(chain, privacy, policy=policy)
    largest, _ = exp_bounds(per_symbol(privacy.epsilon, privacy.adjacency))
    for previous in chain.states:
        rows = [mechanism.exact_distribution(s, previous) for s in (*chain.states, None)]
        for row in rows:
            assert sum(row.values()) == 1 and tuple(row) == chain.successors(previous)
        for state in chain.successors(previous):
            chances = [row[state] for row in rows]
            assert 0 < max(chances) <= largest * min(chances)


@both_policies
@for_all_chains
def test_epsilon_zero_reveals_nothing(chain, policy):
    mechanism = OnlineMechanism(chain, Privacy(0.0), policy=policy)
    for previous, symbol in product(chain.states, (*chain.states, None)):
        feasible = chain.successors(previous)
        assert mechanism.exact_distribution(symbol, previous) == dict.fromkeys(
            feasible, Fraction(1, len(feasible)))


@pytest.mark.parametrize('epsilon', [thorough(40.0), 700.0, thorough(2000.0), 1e300])
@both_policies
@for_all_chains
def test_a_large_epsilon_hardly_changes_a_word(chain, policy, epsilon):
    mechanism = OnlineMechanism(chain, Privacy(epsilon), policy=policy)
    for previous, symbol in product(chain.states, chain.states):
        chances = mechanism.exact_distribution(symbol, previous)
        target = mechanism.target(symbol, previous)
        assert min(chances.values()) > 0
        assert target is None or chances[target] >= 1 - Fraction(1, 10**10)


# The step itself, integer by integer.

@pytest.fixture
def narrow(monkeypatch):
    """Draw from integers below 2¹⁰, all of which can be tried."""
    def few(counts, privacy):
        ratio = exp_lower_bound(privacy.epsilon_per_symbol)
        return 30, {count: Response.fitting(count, ratio, 10) for count in counts}

    monkeypatch.setattr(online, 'responses', few)


@pytest.mark.parametrize('epsilon', [
    thorough(0.0), thorough(0.5), thorough(LN_2), 2.0, thorough(40.0)])
@both_policies
@for_all_chains
def test_every_integer_that_a_step_can_draw(chain, policy, epsilon, narrow):
    largest, _ = exp_bounds(per_symbol(epsilon, 1))
    for previous, symbol in product(chain.states, (*chain.states, None)):
        feasible = chain.successors(previous)
        n = len(feasible)
        response = Response.fitting(n, exp_lower_bound(Fraction(epsilon)), 10)
        assert 1 <= response.a <= response.b <= response.a * largest
        rejected = [*range(response.limit, 2**10)]
        script = [*rejected, *range(2**10), 0]  # also as the first ones of a buffer
        mechanism = OnlineMechanism(chain, Privacy(epsilon), policy=policy,
                                    random=Scripted(script, 30))
        drawn = Counter()
        for _ in range(response.limit):
            mechanism.reset(previous)
            drawn[mechanism.step(symbol)] += 1
        mechanism.reset(previous)
        assert mechanism.step(symbol) == feasible[0]  # the others were rejected: the last 0
        target = mechanism.target(symbol, previous)
        total = (n - 1) * response.a + response.b
        assert set(drawn) == set(feasible)
        for state, times in drawn.items():
            share = (Fraction(1, n) if target is None
                     else Fraction(response.b if state == target else response.a, total))
            assert Fraction(times, response.limit) == share
            assert share == mechanism.exact_distribution(symbol, previous)[state]


@pytest.mark.parametrize('epsilon', [0.0, 1e-9, 2.0, 40.0])
@pytest.mark.parametrize('count', [1, 2, 3, 11, 43, 200])
@pytest.mark.parametrize('policy, stored', [('paper', True), ('paper', False), ('guided', True)])
def test_the_ends_of_every_range_that_a_step_can_draw(policy, stored, count, epsilon):
    """Those of an outcome follow each other, in each part: their ends say how many there are."""
    chain = all_to_all(count, stored=stored)
    names = chain.states
    width, made = responses([count], Privacy(epsilon))
    r = made[count]
    aim = count // 2
    some = sorted({0, 1, aim, count - 1} & set(range(count)))
    script = [(None, r.limit - 1, count - 1)]
    for i in some:
        first, cut, last = i * r.weight, i * r.weight + r.cut, (i + 1) * r.weight - 1
        script += [(names[aim], first, i), (names[aim], cut - 1, i), (None, first, i),
                   (None, cut - 1, i), (None, last, i)]
        if r.cut < r.weight:  # not where all weigh the same
            script += [(names[aim], cut, aim), (names[aim], last, aim), (None, cut, i)]
    mechanism = OnlineMechanism(chain, Privacy(epsilon), policy=policy, random=Scripted(
        [integer for _, integer, _ in script] + [min(r.limit, 2**width - 1), 0], width))
    assert [mechanism.step(symbol) for symbol, _, _ in script] == [names[i] for *_, i in script]
    if r.limit < 2**width:
        assert mechanism.step(names[aim]) == names[0]  # the limit itself is rejected


@both_policies
@pytest.mark.parametrize('chain', [FOUR, COMPLETE, grid(5)], ids=['four', 'complete', 'grid'])
def test_retries_do_not_depend_on_the_symbol(chain, policy, narrow):
    """After any symbols the stream of random integers is at the same place."""
    limit = Response.fitting(len(chain.successors(chain.initial_state)),
                             exp_lower_bound(Fraction(2)), 10).limit
    narrowed = Random(3)
    script = [narrowed.getrandbits(10) for _ in range(20_000)]
    assert sum(integer >= limit for integer in script) > 3
    after = set()
    for symbol in (*chain.states, None):
        mechanism = OnlineMechanism(chain, Privacy(2.0), policy=policy,
                                    random=Scripted(script, 30))
        for _ in range(500):
            mechanism.reset()
            mechanism.step(symbol)
        mechanism.reset()
        after.add(tuple(mechanism.step(None) for _ in range(100)))
    assert len(after) == 1


@pytest.mark.parametrize('dense', [True, False])
@both_policies
@pytest.mark.parametrize('chain', [FOUR, COMPLETE, grid(5)], ids=['four', 'complete', 'grid'])
def test_a_step_takes_the_same_way_for_every_symbol(chain, policy, dense, monkeypatch):
    """Every instruction: for feasible, infeasible and unknown symbols, whatever is published."""
    monkeypatch.setattr(direct, 'follow', direct.follow_in_python)  # those of C are not seen here
    if not dense:
        monkeypatch.setattr(direct, 'DENSE_STATES', 0)
    mechanism = OnlineMechanism(chain, Privacy(2.0), policy=policy, random=Random(6))
    mechanism.step(None)
    mechanism.reset()
    outputs, ways = set(), set()
    for symbol in (*chain.states, None) * (64 // (len(chain) + 1)):  # all drawn at once
        way, output = way_of(lambda: mechanism.step(symbol))
        outputs.add((symbol, output))
        ways.add(way)
        mechanism.reset()
    assert len(ways) == 1 and len(ways.pop()) > 10
    hits = sum(symbol == output for symbol, output in outputs)
    assert 0 < hits < len(outputs)


@pytest.mark.parametrize('dense', [True, False])
@pytest.mark.parametrize('policy', ['guided', 'paper'])
@pytest.mark.parametrize('states', [['0', '33', '?', 'é'], ['?', '??', '0']])
def test_no_symbol_is_the_object_that_it_is_looked_up_by(states, policy, dense, monkeypatch):
    """Of one character Python keeps one object, and a dict finds that sooner than an equal one."""
    class Recorder(dict):
        def __getitem__(self, key):
            found.append(any(key is other for other in self))
            return dict.__getitem__(self, key)

    monkeypatch.setattr(direct, 'follow', direct.follow_in_python)  # in C, it is a new string too
    if not dense:
        monkeypatch.setattr(direct, 'DENSE_STATES', 0)
        monkeypatch.setattr(targets, 'DENSE_STATES', 0)
    cases = (Chain.complete(states, states[0]),
             Chain({s: list({s, states[0]}) for s in states}, states[0]))
    for chain in cases:
        found = []
        mechanism = OnlineMechanism(chain, Privacy(2.0), policy=policy, random=Random(1))
        step = mechanism.step
        mechanism.privatize([*chain.states, None])
        cell = dict(zip(step.__code__.co_freevars, step.__closure__))['index']
        cell.cell_contents = Recorder(cell.cell_contents)
        for symbol in (*chain.states, None) * 5:
            step(symbol)
        assert found == [False] * 5 * (len(states) + 1)
        with pytest.raises(UnknownSymbolError):
            step('???')


@pytest.mark.skipif(compiled is None, reason='the loops in C were not built')
@pytest.mark.parametrize('kind', [bytes, bytearray, 'array', dict])
def test_a_step_in_c_is_the_step_in_python(kind):
    """Of every draw and symbol; and where something is missing, or out of range."""
    others = [['b'], ['c'], ['d']]
    index, unknown = {'b.': 1, 'c.': 2, 'd.': 3, 'e.': 4, 'u.': 5}, 'u'
    places = {'array': lambda row: array('I', row),
              dict: lambda row: {at: place for at, place in enumerate(row, 1) if place}}.get(
        kind, kind)([2, 1, 0, 3, 0])
    follows = direct.follow_in_python, compiled.follow
    for symbol, number, hit in product(['b', 'c', 'd', 'e', None], [1, 2, 3], [0, 1]):
        found = [follow(['a', [(number, hit)].pop, [None, *others], places], index, unknown,
                        symbol) for follow in follows]
        assert found[0] is found[1] is not None
    draws = [(1, 0)] * 2
    for symbol, row in (('f', ['a', draws.pop, [None, *others], places]), ('b', ['a']),
                        (3, ['a', draws.pop, [None, *others], places]),
                        ('b', ['a', [].pop, [None, *others], places])):
        assert [follow(row, index, unknown, symbol) for follow in follows] == [None, None]
    assert len(draws) == 2, 'a symbol that is refused takes no draw'
    for wrong in ((0, 0), (4, 0), (-1, 1), (1,), 1, ('1', 0)):
        with pytest.raises((TypeError, ValueError)):
            compiled.follow(['a', lambda drawn=wrong: drawn, [None, *others], places], index,
                            unknown, 'b')
    if kind is not dict:
        with pytest.raises(ValueError, match='out of range'):
            compiled.follow(['a', [(1, 0)].pop, [None, *others], places], {'b.': 6}, unknown, 'b')
    with pytest.raises(TypeError):
        compiled.follow([], [], unknown, 'b')


@pytest.mark.parametrize('epsilon', [0.5, 2.0])
@for_all_chains
def test_large_chains_draw_as_small_ones_do(chain, epsilon, monkeypatch):
    """Where there are too many states for a table of all pairs, the same integers do the same."""
    def word():
        mechanism = OnlineMechanism(chain, Privacy(epsilon), policy='paper', random=Random(5))
        return mechanism.privatize([*chain.states, None] * 30)

    small = word()
    for states in (0, len(chain) - 1, len(chain)):
        monkeypatch.setattr(direct, 'DENSE_STATES', states)
        assert word() == small


# Statistics of the real sampler.

def least_p(counts, chances):
    """Return the smallest exact binomial p-value of all cells, times their number."""
    n = sum(counts.values())
    assert set(counts) <= set(chances)
    return len(chances) * min(binomtest(counts[cell], n, float(p)).pvalue
                              for cell, p in chances.items())


def source(name):
    return None if name == 'os' else replayable_random()


@pytest.mark.parametrize('name', [thorough('replayable'), 'os'])
@pytest.mark.parametrize('epsilon', [thorough(0.5), 5.0])
@both_policies
def test_steps_are_drawn_from_the_distribution(policy, epsilon, name):
    """Exact binomial tests of all cells; α = 1e-6 for all of them together."""
    mechanism = OnlineMechanism(FOUR, Privacy(epsilon), policy=policy, random=source(name))
    cases = list(product(FOUR.states, (*FOUR.states, None)))
    for previous, symbol in cases:
        counts = Counter()
        for _ in range(10_000):
            mechanism.reset(previous)
            counts[mechanism.step(symbol)] += 1
        p = least_p(counts, mechanism.exact_distribution(symbol, previous))
        assert p > ALPHA / len(cases), f'{previous=} {symbol=} {counts=} {p=}'


def test_these_statistics_notice_a_wrong_epsilon():
    """At ε = 1.2 instead of 1, 10,000 draws are off by 9 σ."""
    mechanism = OnlineMechanism(COMPLETE, Privacy(1.2), random=Random(1))
    counts = Counter(mechanism.step('y') for _ in range(10_000))
    claimed = OnlineMechanism(COMPLETE, Privacy(1.0)).exact_distribution('y', 'x')
    assert least_p(counts, claimed) < ALPHA
    assert least_p(counts, mechanism.exact_distribution('y', 'x')) > ALPHA


@pytest.mark.parametrize('epsilon, paper, guided', [
    (2.0, 0.72, 0.56), (3.0, 0.50, 0.29), (5.0, 0.12, 0.05)])
def test_published_errors_on_a_grid(epsilon, paper, guided):
    """DESIGN, section 1: a 5×5 grid with staying, words of length 100, k = 1."""
    found = [expected_accuracy(OnlineMechanism(grid(5), Privacy(epsilon), policy=policy),
                               100).error for policy in POLICIES]
    assert found == pytest.approx([paper, guided], abs=0.015)


# The word.

@given(st.data(), chains(), privacies(), st.sampled_from(POLICIES), st.integers(0, 2**32))
def test_outputs_can_be_walked_and_lengths_are_kept(data, chain, privacy, policy, seed):
    mechanism = OnlineMechanism(chain, privacy, policy=policy, random=Random(seed))
    for _ in range(3):
        word = data.draw(words(chain))
        output = mechanism.privatize(iter(word))
        assert type(output) is list and len(output) == len(word) and chain.is_feasible(output)
        assert mechanism.previous == chain.initial_state
        mechanism.step(data.draw(symbols(chain)))  # the next word begins anew all the same


@given(st.data(), chains(), st.sampled_from(POLICIES), st.integers(0, 2**32))
def test_steps_make_the_word(data, chain, policy, seed):
    """Step by step, the same integers give the word that `privatize` gives."""
    word = data.draw(words(chain))
    whole, steps = (OnlineMechanism(chain, Privacy(2.0), policy=policy, random=Random(seed))
                    for _ in range(2))
    previous = chain.initial_state
    output = []
    for symbol in word:
        assert steps.previous == previous
        output.append(previous := steps.step(symbol))
    assert whole.privatize(word) == output and steps.previous == previous


@both_policies
def test_carrying_on_is_no_different_from_going_on(policy):
    word = ['s1', None, 's3', 's0'] * 10

    def steps(mechanism, reset):
        for symbol in word:
            if reset:
                mechanism.reset(mechanism.previous)
            yield mechanism.step(symbol)

    made = [OnlineMechanism(FOUR, Privacy(2.0), policy=policy, random=Random(4)) for _ in '12']
    assert list(steps(made[0], True)) == list(steps(made[1], False))


@both_policies
@for_all_chains
def test_refuses_to_carry_on_from_an_unknown_state(chain, policy):
    mechanism = OnlineMechanism(chain, Privacy(1.0), policy=policy)
    here = mechanism.step(None)
    for ask in (mechanism.reset, lambda s: mechanism.distribution(None, s),
                lambda s: mechanism.target(None, s)):
        with refused(ChainError, state='hull'):
            ask('hull')
    assert mechanism.previous == here


@pytest.mark.parametrize('policy', ['Paper', '', None, 'guided?', 1, ['paper']])
def test_refuses_a_policy(policy):
    with refused(ConfigurationError, 'one of paper, guided, adaptive', setting='policy'):
        OnlineMechanism(FOUR, Privacy(1.0), policy=policy)


@pytest.mark.parametrize('policy', ['paper', 'guided'])
@pytest.mark.parametrize('chain', [FOUR, ONE_WAY, COMPLETE], ids=['four', 'one way', 'complete'])
def test_likelihoods_are_the_distribution_of_each_symbol(chain, policy):
    mechanism = OnlineMechanism(chain, Privacy(2.0), policy=policy)
    for previous in chain.states:
        exact = [mechanism.exact_distribution(symbol, previous) for symbol in chain.states]
        for output in chain.states:
            assert mechanism.likelihood(output, previous) == pytest.approx(
                [float(chances.get(output, 0)) for chances in exact], rel=1e-15)


@pytest.mark.parametrize('state', [
    b'', b'\1', bytes(3), bytes(5), b'\4' + bytes(3), b'\xff' * 4, bytes(3) + b'\1'])
def test_bytes_that_are_no_state(state):
    mechanism = OnlineMechanism(FOUR, Privacy(1.0), policy='guided')
    mechanism.advance('s1')
    with refused(ChainError, 'no state of such a mechanism'):
        mechanism.restore(state)
    assert mechanism.previous == 's1'
    mechanism.restore(b'\3' + bytes(3))
    assert mechanism.previous == 's3' and mechanism.state == b'\3' + bytes(3)


@pytest.mark.parametrize('output', ['far', 's9', 5, None, b's1'])
def test_outputs_that_cannot_follow(output):
    mechanism = OnlineMechanism(ONE_WAY, Privacy(1.0), policy='guided')
    with refused(ChainError, state=output if isinstance(output, str) else None):
        mechanism.advance(output)
    assert mechanism.previous == 's0'
    mechanism.advance('s1')
    assert mechanism.previous == 's1'


@both_policies
def test_says_what_it_was_made_of(policy):
    mechanism = OnlineMechanism(FOUR, Privacy(2.0, 3), policy=policy)
    assert (mechanism.chain, mechanism.privacy, mechanism.policy) == (FOUR, Privacy(2, 3), policy)
    assert (mechanism.targets is None) == (policy == 'paper')
    assert OnlineMechanism(COMPLETE, Privacy(2.0), policy=policy).targets is None


# What it reveals apart from the word.

SECRET = 'secret_bedroom_17'
UNKNOWN = [SECRET, '', SECRET.encode(), 17, 17.5, (SECRET,), 's0 ']


@pytest.mark.parametrize('call', [
    lambda m, s: m.step(s), lambda m, s: m.privatize(['s0', None, s]),
    lambda m, s: m.target(s, 's0'), lambda m, s: m.distribution(s, 's0'),
    lambda m, s: m.exact_distribution(s, 's0')],
    ids=['step', 'privatize', 'target', 'distribution', 'exact_distribution'])
@both_policies
@pytest.mark.parametrize('chain', [FOUR, Chain.complete(FOUR.states, 's0')],
                         ids=['four', 'complete'])
def test_an_unknown_symbol_is_not_named(chain, policy, call):
    mechanism = OnlineMechanism(chain, Privacy(1.0), policy=policy, random=Random(1))
    for symbol in UNKNOWN * 2:  # before and after something was drawn
        with pytest.raises(UnknownSymbolError) as caught:
            call(mechanism, symbol)
        error = caught.value
        assert isinstance(error, SymdpError) and isinstance(error, ValueError)
        assert error.__cause__ is None and error.__context__ is None and not error.args[1:]
        said = ''.join(traceback.format_exception(error)) + repr(error) + repr(vars(error))
        assert 'secret' not in said and '17' not in repr(error)
        assert str(error).startswith('the word holds a symbol that is no state of the chain; ')
        mechanism.step(None)


@both_policies
def test_what_cannot_be_a_symbol_is_not_named_either(policy):
    mechanism = OnlineMechanism(FOUR, Privacy(1.0), policy=policy)
    for call in (mechanism.step, lambda s: mechanism.privatize([s])):
        with pytest.raises((UnknownSymbolError, TypeError)) as caught:
            call([SECRET])
        assert SECRET not in repr(caught.value) and caught.value.__context__ is None
    assert mechanism.previous == 's0'


def test_an_unknown_symbol_error_takes_no_symbol():
    with pytest.raises(TypeError):
        UnknownSymbolError(SECRET)
    assert str(UnknownSymbolError()) == str(UnknownSymbolError())


@both_policies
@for_all_chains
def test_after_an_unknown_symbol_the_word_goes_on_as_before(chain, policy):
    mechanism = OnlineMechanism(chain, Privacy(1.0), policy=policy)
    output = []
    for _ in range(30):
        output.append(mechanism.step(None))
        with pytest.raises(UnknownSymbolError):
            mechanism.step(SECRET)
        assert mechanism.previous == output[-1]
    assert chain.is_feasible(output)


@both_policies
def test_a_word_is_checked_before_anything_is_drawn(policy):
    random = Scripted([0] * 10, 30)
    mechanism = OnlineMechanism(FOUR, Privacy(1.0), policy=policy, random=random)
    for word in ([SECRET], ['s0', None, SECRET], ['s0'] * 100 + [SECRET]):
        with pytest.raises(UnknownSymbolError):
            mechanism.privatize(word)
    assert random.calls == 0
    mechanism.privatize(['s0'])
    assert random.calls == 1


class Label(str):
    """A string that is not the chain's own, as those of numpy and pandas are not."""


@pytest.mark.parametrize('kind', [Label, np.str_, lambda s: ''.join(list(s)), lambda s: s],
                         ids=['Label', 'numpy', 'str', 'own'])
@both_policies
@for_all_chains
def test_outputs_are_never_the_callers_objects(chain, policy, kind):
    """Handing back the caller's object would tell where the output is the truth."""
    names = {state: f'room {state}' for state in chain.states}  # of one letter there is one object
    chain = (Chain({names[state]: [names[s] for s in chain.successors(state)]
                    for state in chain.states}, names[chain.initial_state])
             if chain.stores_edges else
             Chain.complete(names.values(), names[chain.initial_state]))
    word = [kind(chain.successors(chain.initial_state)[0])] * 200
    output = OnlineMechanism(chain, Privacy(1.0), policy=policy).privatize(word)
    assert {type(symbol) for symbol in output} == {str}
    assert not {id(symbol) for symbol in output} & {id(symbol) for symbol in word}
    assert chain.is_feasible(output)


@pytest.mark.parametrize('chain', [FOUR, COMPLETE], ids=['four', 'complete'])
@both_policies
def test_a_target_is_the_chains_own_string(chain, policy):
    mechanism = OnlineMechanism(chain, Privacy(1.0), policy=policy)
    target = mechanism.target(Label(chain.states[1]), chain.initial_state)
    assert target == chain.states[1] and type(target) is str
    assert mechanism.target(None, chain.initial_state) is None


@pytest.mark.parametrize('copied', [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_mechanism_is_not_copied(copied):
    """Two copies would go on with one word."""
    with pytest.raises(TypeError, match='another one'):
        copied(OnlineMechanism(FOUR, Privacy(1.0)))
