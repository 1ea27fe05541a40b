# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
One step of the policies paper and guided, integer by integer.

Every integer that can be drawn is drawn; and a step takes the same way, in its every instruction,
whatever the symbol is.
"""
from array import array
from collections import Counter
from fractions import Fraction
from itertools import product
from random import Random

from online_checks import way_of
import pytest
from strategies import (all_to_all, CHAINS, COMPLETE, exp_bounds, FOUR, grid, per_symbol, Scripted,
                        thorough)
from symdp_ros import Chain, OnlineMechanism, Privacy, UnknownSymbolError
from symdp_ros.core.online import direct, steps as online, targets
from symdp_ros.core.online.in_c import compiled
from symdp_ros.core.online.response import exp_lower_bound, Response, responses

POLICIES = ('paper', 'guided')
LN_2 = 0.6931471805599453  # the float just below ln 2
both_policies = pytest.mark.parametrize('policy', POLICIES)
for_all_chains = pytest.mark.parametrize('chain', CHAINS.values(), ids=CHAINS)


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
