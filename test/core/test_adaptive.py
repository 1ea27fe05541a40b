# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The signals of the adaptive policy: their privacy, exactly; its filter; its cells; its draws.

All words and all signals of small chains are compared, in fractions, and every integer that a step
can draw is drawn. Cells are held against plain Python (adaptive_reference.py).
"""
from collections import Counter
from fractions import Fraction
from math import exp
from random import Random

from adaptive_reference import (ALONE, belief, check_cells, for_all_models, HABIT, hub, made,
                                MODELS, PERIOD, table, values)
from hidden_switch import hidden_switch
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from offline_checks import assert_drawn, OTHER_LAW
from online_checks import assert_drawn_from_the_law, excess, histories, way_of
import pytest
from refusals import refused
from strategies import (all_to_all, CHAINS, chains, COMPLETE, exp_bounds, feasible_words, FOUR,
                        grid, per_symbol, privacies, replayable_random, RING, Scripted, SPLIT,
                        thorough)
from symdp_ros import (Chain, ChainError, ConfigurationError, OnlineMechanism, Privacy,
                       UnknownSymbolError)
from symdp_ros.core.online import targets
from symdp_ros.core.online.adaptive import tables as known
from symdp_ros.core.online.response import exp_lower_bound, Response

pytestmark = pytest.mark.usefixtures('single_signals')


#: A street, and a state to which no moves lead.
PATH = Chain({f'{i}': [f'{j}' for j in (i - 1, i, i + 1) if 0 <= j < 10] for i in range(10)}
             | {'alone': ['alone', '0']}, '4')


# The promise, in exact arithmetic.

@pytest.mark.parametrize('epsilon, adjacency, trust, delay', [
    thorough(0.0, 1, 0.8, 0), thorough(1.0, 1, 0.8, 0), (5.0, 2, 0.8, 0),
    thorough(2.0, 1, 0.0, 0), thorough(2.0, 1, 1.0, 0), thorough(700.0, 1, 0.8, 1),
    thorough(2.0, 1, 0.8, 3), (3.0, 2, 1.0, None)])
@for_all_models
def test_every_pair_of_words_and_all_signals(chain, epsilon, adjacency, trust, delay):
    assert excess(made(chain, epsilon, adjacency, trust=trust, delay=delay), 3, epsilon,
                  adjacency) is None


@pytest.mark.parametrize('delay', [0, 2])
@pytest.mark.parametrize('chain', [FOUR, HABIT, PERIOD], ids=['four', 'habit', 'period'])
def test_the_search_finds_an_excess(chain, delay, monkeypatch):
    def too_far(exponent):
        return exp_lower_bound(exponent) * (1 + Fraction(1, 10**6))

    monkeypatch.setattr('symdp_ros.core.online.response.exp_lower_bound', too_far)
    assert excess(made(chain, 4.0, delay=delay), 3, 4.0, 1) is not None


@given(chains(), privacies(), st.sampled_from([0.0, 0.8, 1.0]),
       st.sampled_from([0, 1, 3, None]), st.data())
def test_rows_after_any_signals(chain, privacy, trust, delay, data):
    mechanism = OnlineMechanism(chain, privacy, policy='adaptive', trust=trust, delay=delay)
    largest, _ = exp_bounds(per_symbol(privacy.epsilon, privacy.adjacency))
    for _ in range(5):
        rows = [mechanism.exact_current_distribution(s) for s in (*chain.states, None)]
        support = [*rows[0]]
        for row in rows:
            assert sum(row.values()) == 1 and [*row] == support != []
        for state in support:
            chances = [row[state] for row in rows]
            assert 0 < max(chances) <= largest * min(chances)
            assert mechanism.current_likelihood(state) == pytest.approx(
                np.array(chances[:-1], float), rel=1e-14)
        assert len({*rows[-1].values()}) == 1  # an unknown symbol: uniform
        mechanism.advance(data.draw(st.sampled_from(support)))


@for_all_models
def test_epsilon_zero_reveals_nothing(chain):
    for _, rows in histories(made(chain, 0.0), 3):
        assert len({tuple(row.items()) for row in rows.values()}) == 1


# What is drawn.

@pytest.mark.parametrize('epsilon, delay', [thorough(0.0, 0), (2.0, 0), thorough(2.0, None)])
@for_all_models
def test_every_integer_that_a_step_can_draw(chain, epsilon, delay, monkeypatch):
    def few(counts, privacy):
        ratio = exp_lower_bound(privacy.epsilon_per_symbol)
        return 30, {count: Response.fitting(count, ratio, 6) for count in counts}

    monkeypatch.setattr(known, 'responses', few)
    one = made(chain, epsilon, delay=delay, trust=1.0)
    for history, rows in list(histories(one, 2)):
        after = {}  # what tells signals apart from outside: the state after them
        for z in rows[None]:
            one.replay([*history, z])
            after[z] = one.state
        limit = Response.fitting(len(rows[None]), exp_lower_bound(Fraction(epsilon)), 6).limit
        for symbol, row in rows.items():
            mechanism = one.another(random=Scripted([*range(2**6)], 30))
            drawn = Counter()
            for _ in range(limit):
                mechanism.replay(history)
                mechanism.step(symbol)
                drawn[mechanism.state] += 1
            expected = Counter()
            for z, chance in row.items():
                expected[after[z]] += chance * limit
            assert drawn == expected


@pytest.mark.parametrize('epsilon, delay', [thorough(0.7, 0), (3.0, 1), thorough(3.0, None)])
@for_all_models
def test_signals_and_reports_are_drawn_from_their_law(chain, epsilon, delay):
    assert_drawn_from_the_law(
        made(chain, epsilon, 2, delay=delay, random=replayable_random()),
        [chain.states[-1], None, chain.initial_state])


def test_the_statistics_notice_a_wrong_epsilon():
    """The seed is fixed."""
    mechanism, wrong = made(FOUR, 1.0), made(FOUR, 2.0, random=Random(1))
    counts = Counter(tuple(wrong.privatize(['s2'])) for _ in range(2_000))
    with pytest.raises(AssertionError, match=OTHER_LAW):
        assert_drawn(counts, {o: exp(mechanism.law.log_probability(['s2'], o))
                              for o in feasible_words(FOUR, 1)}, 2_000)


# The cells.

@pytest.mark.parametrize('epsilon, adjacency, trust', [
    thorough(0.5, 1, 0.0), (2.0, 1, 0.8), thorough(4.0, 2, 1.0)])
@for_all_models
def test_matches_to_come_are_worth_what_their_equation_says(chain, epsilon, adjacency, trust):
    """Up to a shift of all that is not 0, which changes no choice, and the tolerance."""
    expected = values(chain, exp(epsilon / adjacency), trust)
    found = table(made(chain, epsilon, adjacency, trust=trust))
    assert ((found == 0) == (expected == 0)).all()
    difference = (found - expected)[expected > 0]
    assert np.ptp(difference) <= 2e-3 and difference.max() <= 1e-5


@pytest.mark.parametrize('delay', [0, 2])
@pytest.mark.parametrize('chain, epsilon, length', [
    *[(chain, 2.0, 3) for chain in MODELS.values()], (FOUR, 4.0, 3), (SPLIT, 0.5, 3),
    (HABIT, 1.5, 4), (grid(3), 3.0, 2), (grid(4), 3.0, 1), (hub(15), 3.0, 2),
    (all_to_all(15), 5.0, 1), (ALONE, 1.0, 1)])
def test_the_cells_are_the_best_of_those_tried(chain, epsilon, length, delay):
    mechanism = made(chain, epsilon, delay=delay)
    for history, _ in [*histories(mechanism, length)][::1 + len(chain) // 4]:
        mechanism.replay(history)
        check_cells(mechanism)


@pytest.mark.parametrize('reports', [10, 11])
@pytest.mark.parametrize('chain', [HABIT, grid(3)])
def test_the_cells_where_many_reports_follow_a_signal(chain, reports):
    """From eleven on, what is reported at once does not count."""
    # Fixed draws: founders whose sums are the same but for rounding may come in any order.
    mechanism, random = made(chain, 2.0, reports=reports, random=Random(8)), Random(7)
    for _ in range(4):
        check_cells(mechanism)
        mechanism.step(random.choice(chain.states))
        for _ in range(mechanism.ticks_left):
            mechanism.tick()


def test_cells_as_many_as_can_be_reported():
    """Between twelve and all, none is tried: here all serve best."""
    assert len(made(all_to_all(15), 6.0).current_distribution(None)) == 15
    sizes = {len(made(hub(15), e).current_distribution(None)) for e in (0.5, 1.0, 2.0, 3.0, 6.0)}
    assert len(sizes) > 1 and 16 in sizes and sizes <= {*range(1, 13), 16}


@pytest.mark.parametrize('delay', [0, 1])
def test_no_more_cells_than_are_tried(delay):
    """A cell for each of the 16 states would tell more here."""
    mechanism = made(grid(4), 9.0, delay=delay)
    for _ in range(9):
        mechanism.tick()
    check_cells(mechanism)
    assert len(mechanism.current_distribution(None)) == (
        12 if delay else len(grid(4).successors(mechanism.previous)))


def test_the_first_of_equal_cells():
    """Where all states are alike, the first of `successors` founds the first cell, and so on."""
    for delay in (0, 1):
        row = made(all_to_all(5), 3.0, delay=delay).current_distribution(None)
        assert [*row] == [f's{i}' for i in range(len(row))] and len(row) > 1


@pytest.mark.parametrize('delay', [0, 1])
@pytest.mark.parametrize('chain, length', [(RING, 4), (HABIT, 4), (PERIOD, 4), (hub(15), 2)])
def test_pairs_within_a_radius_that_covers_all(chain, length, delay, monkeypatch):
    """The large chains' way, where the radius leaves nothing out, gives the same rows."""
    monkeypatch.setattr(known, '_TOLERANCE', 1e-9)
    monkeypatch.setattr(known, '_NEAR_TOLERANCE', 1e-9)
    dense = dict(histories(made(chain, delay=delay), length))
    monkeypatch.setattr(targets, 'DENSE_STATES', 0)
    mechanism = made(chain, delay=delay)
    assert mechanism.tables.radius is not None
    assert dict(histories(mechanism, length)) == dense


@pytest.mark.parametrize('delay', [0, 2, None])
@pytest.mark.parametrize('chain, pairs', [
    (PATH, 30), (grid(6), 400), (grid(6, staying=False), 130)], ids=['path', 'grid', 'restless'])
def test_beyond_the_radius_cells_spread_by_moves(chain, pairs, delay, monkeypatch):
    monkeypatch.setattr(targets, 'DENSE_STATES', 0)
    monkeypatch.setattr(targets, 'MOST_PAIRS', pairs)
    mechanism = made(chain, 3.0, delay=delay)
    assert 1 <= mechanism.tables.radius < 10 and (table(mechanism) == 0).any()
    for _ in range(4):
        check_cells(mechanism)
        for s in chain.states:
            row = mechanism.current_distribution(s)
            assert len({*row.values()}) == 1 + (s != 'alone')  # none else is left without a cell
        mechanism.advance([*row][-1])
    assert chain.is_feasible(mechanism.privatize([*chain.states] * 3))


# What it goes by.

def test_what_cannot_have_been_drawn_is_refused():
    mechanism = made(HABIT, delay=1)
    mechanism.advance(*[*mechanism.current_distribution(None)][:1])
    before = mechanism.state
    for signal in ('x', None, 'SECRET'):
        with refused(ChainError, 'founded no cell', state=signal):
            mechanism.advance(signal)
    with refused(ChainError, 'not a state', state='x'):
        mechanism.reset('x')
    assert mechanism.state == before
    mechanism = made(HABIT)
    fresh = mechanism.state
    history, z = next((history, z) for history, rows in histories(made(HABIT), 4)
                      for z in HABIT.states if history and z not in rows[None])
    for call in (mechanism.replay, mechanism.decode):
        with refused(ChainError, state=z):
            call([*history, z])
        assert mechanism.state == fresh


def test_a_word_that_is_begun_from_its_last_report():
    chain = grid(3)
    mechanism, known = made(chain, random=Random(3)), hidden_switch(chain, 0.8)
    fresh, reports = mechanism.state, [mechanism.step(s) for s in chain.states]
    went_on = mechanism.state
    mechanism.reset(reports[-1])
    expected = known.moved(known.begin(reports[-1])).sum(axis=0)
    assert belief(mechanism) == pytest.approx(expected, rel=1e-12)
    assert mechanism.previous == reports[-1] and mechanism.state not in (fresh, went_on)
    carried = mechanism.state
    mechanism.replay([], reports[-1])
    assert mechanism.state == carried
    for ends in (mechanism.reset, mechanism.finish, lambda: mechanism.privatize(chain.states)):
        mechanism.step(None)
        ends()
        assert mechanism.state == fresh and mechanism.previous == chain.initial_state


@pytest.mark.parametrize('call', [
    lambda m: m.distribution('s0', 's0'), lambda m: m.exact_distribution('s0', 's0'),
    lambda m: m.target('s0', 's0'), lambda m: m.target_positions('s0'),
    lambda m: m.likelihood('s0', 's0')])
def test_rows_by_the_previous_symbol_alone_are_refused(call):
    with refused(ConfigurationError, 'replay(signals), then ask current_', setting='policy'):
        call(made(FOUR))


@pytest.mark.parametrize('policy', ['paper', 'guided'])
@pytest.mark.parametrize('chain', CHAINS.values(), ids=CHAINS)
def test_the_other_policies_after_the_outputs_so_far(chain, policy):
    mechanism = OnlineMechanism(chain, Privacy(2.0), policy=policy, random=Random(2))
    for symbol in (*chain.states, None):
        mechanism.reset()
        mechanism.replay([mechanism.step(symbol)])
        mechanism.reset(mechanism.previous)
        assert mechanism.current_distribution(symbol) == mechanism.distribution(
            symbol, mechanism.previous)
        output = chain.successors(mechanism.previous)[0]
        assert mechanism.current_likelihood(output).tolist() == mechanism.likelihood(
            output, mechanism.previous).tolist()
    mechanism.reset()
    followers = chain.successors(chain.initial_state)
    for output in (None, 'nowhere', *(s for s in chain.states if s not in followers)):
        with refused(ChainError, 'cannot follow', state=output):
            mechanism.replay([output])
    assert mechanism.previous == chain.initial_state and mechanism.posterior is None


@pytest.mark.parametrize('options, setting', [
    *[({'policy': 'adaptive', 'trust': trust}, 'trust')
      for trust in (-0.1, 1.1, float('nan'), '0.5', True, None)],
    *[({'policy': 'adaptive', 'delay': delay}, 'delay')
      for delay in (-1, True, False, 1.0, '1', float('nan'))],
    *[({'policy': policy, 'delay': delay}, 'delay')
      for policy in ('paper', 'guided') for delay in (1, None, -1)]])
def test_settings_that_are_refused(options, setting):
    for chain in (FOUR, COMPLETE):
        with refused(ConfigurationError, setting=setting):
            OnlineMechanism(chain, Privacy(1.0), **options)


# What it reveals apart from the word.

@pytest.mark.parametrize('delay', [0, 2])
@pytest.mark.parametrize('chain', [FOUR, HABIT, grid(4)], ids=['four', 'habit', 'grid'])
def test_a_step_takes_the_same_way_for_every_symbol(chain, delay):
    """Every instruction, for every symbol, after the same signals and the same one drawn."""
    mechanism = made(chain, delay=delay, random=Random(6))
    before = None
    for symbol in (*chain.states, None) * 20:  # all numbers of cells are met
        if len(mechanism.current_distribution(None)) > 1 and mechanism.posterior is not None:
            before = mechanism.state
        mechanism.step(symbol)

    ways, met = {}, Counter()
    for symbol in (*chain.states, None) * (120 // (len(chain) + 1)):
        mechanism.restore(before)
        mechanism._word._draws.fill()
        way, _ = way_of(lambda: mechanism.step(symbol))
        ways.setdefault(mechanism.state, set()).add(way)  # the state tells the signal
        met[mechanism.state] += 1
    assert all(len(found) == 1 for found in ways.values()) and len(ways) > 1
    assert min(met.values()) > 1 and min(len(way) for [way] in ways.values()) > 10


def test_retries_do_not_depend_on_the_symbol():
    after = set()
    for symbol in (*FOUR.states, None):
        mechanism = made(FOUR, random=Random(5))
        for _ in range(500):
            mechanism.reset()
            mechanism.step(symbol)
        mechanism.reset()
        after.add(tuple(mechanism.privatize([None] * 50)))
    assert len(after) == 1


@pytest.mark.parametrize('chain', [FOUR, COMPLETE], ids=['four', 'complete'])
@pytest.mark.parametrize('symbol', ['secret', '', b's0', 17])
def test_an_unknown_symbol_is_not_named(symbol, chain):
    mechanism = made(chain, delay=1)
    mechanism.step(None)
    for call in (mechanism.step, mechanism.current_distribution,
                 mechanism.exact_current_distribution, lambda s: mechanism.privatize(['s0', s])):
        before = mechanism.state
        with pytest.raises(UnknownSymbolError) as caught:
            call(symbol)
        assert caught.value.__context__ is None and 'secret' not in repr(caught.value)
        assert mechanism.state == before


def test_mechanisms_of_the_same_settings_share_their_tables():
    """As long as one of them is there: equal chains are one, other settings are others."""
    moves = {'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}

    def tables(epsilon=2.0, **more):
        return OnlineMechanism(Chain(moves, 'a'), Privacy(epsilon), policy='adaptive',
                               **more).tables

    first = tables()
    assert tables() is tables(delay=3) is tables(delay=None) is first
    for other in tables(2.5), tables(trust=0.5), tables(reports=2):
        assert other is not first
