# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The adaptive policy: whole histories, exactly; its belief; what a step does for every symbol."""
from collections import Counter
from fractions import Fraction
import gc
from math import exp, inf, log
from random import Random
import sys

from hidden_switch import adaptive_belief, hidden_switch
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from online_checks import excess, histories
import pytest
from refusals import refused
from scipy.stats import chi2
from strategies import (CHAINS, chains, COMPLETE, exp_bounds, feasible_words, FOUR, grid,
                        per_symbol, privacies, replayable_random, RING, Scripted, SPLIT, words)
from symdp_ros import (Chain, ChainError, ConfigurationError, OfflineMechanism, OnlineMechanism,
                       Privacy, UnknownSymbolError)
from symdp_ros.analysis.accuracy import (accuracy, average_accuracy, expected_accuracy,
                                         patrols)
from symdp_ros.analysis.audit import audit
from symdp_ros.core.online import steps as online
from symdp_ros.core.online import targets
from symdp_ros.core.online.adaptive import adaptive
from symdp_ros.core.online.adaptive.adaptive_kernel import DISCOUNT
from symdp_ros.core.online.response import exp_lower_bound, Response

ALPHA = 1e-6

#: Far from uniform; where two ways part for ever; with a period; some states never visited.
HABIT = Chain({'a': {'a': 0.9, 'b': 0.09, 'c': 0.01}, 'b': {'c': 1.0},
               'c': {'a': 1e-12, 'b': 0.3, 'c': 1 - 0.3 - 1e-12}}, 'a')
PARTED = Chain({'a': {'b': 0.001, 'c': 0.998, 'a': 0.001}, 'b': ['b'], 'c': {'c': 1.0},
                'd': ['a', 'b', 'c', 'd']}, 'a')
PERIOD = Chain({'a': {'b': 0.95, 'd': 0.05}, 'b': {'a': 0.5, 'c': 0.5}, 'c': ['b', 'd'],
                'd': {'c': 0.99, 'a': 0.01}}, 'd')
#: More than 8 can follow each state.
WIDE = Chain({f's{i}': {f's{j}': 0.46 if j == i + 1 else 0.06 for j in range(10)}
              for i in range(9)} | {'s9': [f's{j}' for j in range(9)]}, 's9')
#: Where no state can stay, all models that need no knowledge are one.
RESTLESS = Chain({'a': ['b', 'c'], 'b': ['c'], 'c': ['b', 'a']}, 'a')
MODELS = {'four': FOUR, 'ring': RING, 'split': SPLIT, 'habit': HABIT, 'parted': PARTED,
          'period': PERIOD, 'restless': RESTLESS}
for_all_models = pytest.mark.parametrize('chain', MODELS.values(), ids=MODELS)


def made(chain, epsilon=2.0, adjacency=1, **options):
    return OnlineMechanism(chain, Privacy(epsilon, adjacency), policy='adaptive', **options)


# The promise, in exact arithmetic.

@pytest.mark.parametrize('epsilon, adjacency, trust', [
    (0.0, 1, 0.8), (1.0, 1, 0.8), (5.0, 2, 0.8), (700.0, 1, 0.8), (2.0, 1, 0.0), (2.0, 1, 1.0)])
@for_all_models
def test_every_pair_of_words_and_every_history(chain, epsilon, adjacency, trust):
    mechanism = made(chain, epsilon, adjacency, trust=trust)
    assert excess(mechanism, 3, epsilon, adjacency) is None


@pytest.mark.parametrize('chain', [FOUR, HABIT, PERIOD], ids=['four', 'habit', 'period'])
def test_the_search_finds_an_excess(chain, monkeypatch):
    def too_far(exponent):
        return exp_lower_bound(exponent) * (1 + Fraction(1, 10**6))

    monkeypatch.setattr('symdp_ros.core.online.response.exp_lower_bound', too_far)
    assert excess(made(chain, 4.0), 3, 4.0, 1) is not None


@given(chains(complete=False), privacies(), st.sampled_from([0.0, 0.8, 1.0]), st.data())
def test_rows_after_any_history(chain, privacy, trust, data):
    mechanism = OnlineMechanism(chain, privacy, policy='adaptive', trust=trust)
    largest, _ = exp_bounds(per_symbol(privacy.epsilon, privacy.adjacency))
    for _ in range(5):
        rows = [mechanism.exact_current_distribution(s) for s in (*chain.states, None)]
        feasible = chain.successors(mechanism.previous)
        support = tuple(rows[0])
        assert [state for state in feasible if state in support] == list(support) != []
        for row in rows:
            assert sum(row.values()) == 1 and tuple(row) == support
        for state in support:
            chances = [row[state] for row in rows]
            assert 0 < max(chances) <= largest * min(chances)
        assert len(set(rows[-1].values())) == 1  # an unknown symbol: uniform
        mechanism.advance(data.draw(st.sampled_from(support)))


@for_all_models
def test_epsilon_zero_reveals_nothing(chain):
    for _, rows in histories(made(chain, 0.0), 3):
        assert len({tuple(row.items()) for row in rows.values()}) == 1


@for_all_models
def test_the_audit_agrees(chain):
    row = next(row for row in audit(chain, Privacy(1.0, 2), 2) if row.policy == 'adaptive')
    assert row.holds and row.ratio is not None and row.outputs > 0


# What is drawn.

@pytest.mark.parametrize('epsilon', [0.0, 2.0])
@for_all_models
def test_every_integer_that_a_step_can_draw(chain, epsilon, monkeypatch):
    def few(counts, privacy):
        ratio = exp_lower_bound(privacy.epsilon_per_symbol)
        return 30, {count: Response.fitting(count, ratio, 8) for count in counts}

    monkeypatch.setattr(online, 'responses', few)
    for history, rows in list(histories(made(chain, epsilon), 2)):
        size = len(rows[None])
        limit = Response.fitting(size, exp_lower_bound(Fraction(epsilon)), 8).limit
        for symbol, row in rows.items():
            mechanism = made(chain, epsilon, random=Scripted([*range(2**8)], 30))
            drawn = Counter()
            for _ in range(limit):
                mechanism.replay(history)
                drawn[mechanism.step(symbol)] += 1
            assert {o: Fraction(times, limit) for o, times in drawn.items()} == row


@pytest.mark.parametrize('epsilon', [0.7, 3.0])
@for_all_models
def test_words_are_drawn_from_their_law(chain, epsilon):
    """G-test of all outputs, rare ones together; α = 1e-6."""
    release = OfflineMechanism(chain, Privacy(epsilon, 2), selection='causal', policy='adaptive',
                               random=replayable_random())
    word = [chain.states[-1], None, chain.initial_state]
    chances = {output: exp(release.log_probability(word, output))
               for output in feasible_words(chain, len(word))}
    assert sum(chances.values()) == pytest.approx(1, abs=1e-12)
    draws, one_by_one = 10_000, 1_000
    symbols = np.array([-1 if s is None else chain.state_index[s] for s in word] * draws)
    many = release.privatize_many(symbols, np.arange(draws + 1) * len(word))
    for draws, counts in (
            (one_by_one, Counter(tuple(release.privatize(word)) for _ in range(one_by_one))),
            (draws, Counter(tuple(chain.states[i] for i in row)
                            for row in many.reshape(draws, -1)))):
        assert all(chances[output] for output in counts)
        cells, rest = [], [0, 0.0]
        for output, chance in chances.items():
            if chance * draws >= 10:
                cells.append((counts[output], chance * draws))
            else:
                rest = [rest[0] + counts[output], rest[1] + chance * draws]
        cells += [tuple(rest)] if rest[1] >= 10 else []
        g = 2 * sum(seen * log(seen / expected) for seen, expected in cells if seen)
        assert len(cells) == 1 or chi2.sf(g, len(cells) - 1) > ALPHA, counts


def test_the_statistics_notice_a_wrong_epsilon():
    release = OfflineMechanism(FOUR, Privacy(1.0), selection='causal', policy='adaptive')
    wrong = made(FOUR, 1.3, random=Random(1))
    counts = Counter(wrong.privatize(['s2'])[0] for _ in range(20_000))
    expected = {o: 20_000 * exp(release.log_probability(['s2'], [o])) for o in counts}
    g = 2 * sum(seen * log(seen / expected[o]) for o, seen in counts.items())
    assert chi2.sf(g, len(counts) - 1) < ALPHA


def test_the_law_of_words_is_the_product_of_the_rows():
    release = OfflineMechanism(HABIT, Privacy(3.0), selection='causal', policy='adaptive')
    word, outputs = ['b', None, 'a'], list(feasible_words(HABIT, 3))
    exact = release.law.exact_probabilities(word, outputs)
    assert sum(exact) == 1 and 0 < exact.count(0) < len(exact)
    for output, chance in zip(outputs, exact, strict=True):
        found = release.log_probability(word, output)
        assert found == (pytest.approx(log(chance), abs=1e-9) if chance else -inf)
    with refused(ConfigurationError, setting='policy'):
        release.distance_distribution(word)


@given(st.data(), chains(), st.integers(0, 2**32))
def test_steps_whole_words_and_many_words_are_one(data, chain, seed):
    some = data.draw(st.lists(words(chain, 6), min_size=1, max_size=3))
    one_by_one, many, steps = (made(chain, random=Random(seed)) for _ in range(3))
    expected = [one_by_one.privatize(word) for word in some]
    flat = [-1 if s is None else chain.state_index[s] for word in some for s in word]
    ends = np.cumsum([0, *map(len, some)])
    drawn = many.privatize_many(np.array(flat, np.int64), ends)
    if chain.stores_edges:
        assert drawn.dtype == np.int32
        assert [chain.states[i] for i in drawn] == [o for output in expected for o in output]
    for word, output in zip(some, expected, strict=True):
        steps.reset()
        assert [steps.step(symbol) for symbol in word] == output
        assert chain.is_feasible(output) and len(output) == len(word)


# The belief, against plain loops.

def values(chain, epsilon, trust):
    """Return X of the planned policy by 400 sweeps: a function of (s, c)."""
    n = len(chain)
    weights = chain.models(trust).mean
    offsets, successors = chain.csr()
    rows = [[(int(successors[e]), weights[e]) for e in range(offsets[s], offsets[s + 1])]
            for s in range(n)]
    U = np.zeros((n, n))
    for _ in range(400):
        X = np.array([[(c == s) + DISCOUNT * sum(p * U[t, c] for t, p in rows[s])
                       for c in range(n)] for s in range(n)])
        for o in range(n):
            reached = [t for t, _ in rows[o]]
            a = 1 / (len(reached) - 1 + exp(epsilon))
            U[:, o] = a * X[:, reached].sum(axis=1) + (
                a * (exp(epsilon) - 1) * X[:, reached].max(axis=1))
    return X


class Choice:
    """Equation (1), and what comes next, by plain loops."""

    def __init__(self, chain, epsilon, trust):
        self.chain, self.known, self.ratio = chain, hidden_switch(chain, trust), exp(epsilon)
        self.X = values(chain, epsilon, trust)

    def row(self, s, chosen):
        """Return symbol s's chances of each state of a set."""
        a = 1 / (len(chosen) - 1 + self.ratio)
        target = max(chosen, key=lambda c: self.X[s, c])  # the first
        return {c: a * self.ratio if c == target else a for c in chosen}

    def now(self, belief, chosen):
        return sum(chance * p * self.X[s, c] for s, chance in enumerate(belief)
                   for c, p in self.row(s, chosen).items())

    def grown(self, belief, output):
        left = [self.chain.state_index[s] for s in self.chain.successors(
            self.chain.states[output])]
        chosen = []
        while left:
            best = max(left, key=lambda c: self.now(belief, [*chosen, c]))
            chosen.append(best)
            left.remove(best)
            yield sorted(chosen, key=lambda c: self.place(output, c))

    def place(self, output, c):
        return self.chain.successors(self.chain.states[output]).index(self.chain.states[c])

    def believed(self, joint):
        """Return f(s), as floats."""
        found = np.array(self.known.listed(joint)).reshape(-1, len(self.chain))
        return found.sum(axis=0)

    def ahead(self, joint, chosen):
        rows, belief = [self.row(s, chosen) for s in range(len(self.chain))], self.believed(joint)
        index, total = self.chain.state_index, sum(belief[c] * rows[c][c] for c in chosen)
        for c in chosen:
            after = self.believed(self.known.forward(
                {(m, s): chance * Fraction(rows[index[s]][c])
                 for (m, s), chance in joint.items()}))
            total += DISCOUNT * max(self.now(after, later) for later in self.grown(after, c))
        return total


@pytest.mark.parametrize('trust', [0.0, 0.3, 1.0])
@pytest.mark.parametrize('epsilon', [0.5, 2.0])
@for_all_models
def test_belief_set_and_targets_by_plain_loops(chain, epsilon, trust):
    """The belief is that of the hidden switch, exactly but for rounding."""
    mechanism = made(chain, epsilon, trust=trust)
    choice = Choice(chain, epsilon, trust)
    for history, rows in list(histories(mechanism, 3)):
        joint = adaptive_belief(mechanism, history)
        mechanism.replay(history)
        assert mechanism.belief.tolist() == pytest.approx(choice.known.listed(joint), rel=1e-12,
                                                          abs=1e-15)
        output = chain.state_index[mechanism.previous]
        drawn_from = [chain.state_index[s] for s in rows[None]]
        best = max(choice.ahead(joint, chosen)
                   for chosen in choice.grown(choice.believed(joint), output))
        assert choice.ahead(joint, drawn_from) == pytest.approx(best, abs=1e-2)
        for s, symbol in enumerate(chain.states):
            [*likely] = [o for o, p in rows[symbol].items() if p == max(rows[symbol].values())]
            if len(likely) == 1:
                found = choice.X[s, chain.state_index[likely[0]]]
                assert found >= choice.X[s, drawn_from].max() - 1e-2


def test_large_sets_of_followers():
    """Above 16 that can follow, they are tried in one order; a row is a row all the same."""
    names = [f's{i}' for i in range(20)]
    chain = Chain({s: {t: 0.24 if t == names[(i + 1) % 20] else 0.04 for t in names}
                   for i, s in enumerate(names)}, 's0')
    mechanism = made(chain, 2.0)
    for _ in range(5):
        row = mechanism.exact_current_distribution('s3')
        assert sum(row.values()) == 1 and 1 < len(row) <= 20
        mechanism.advance(max(row, key=row.get))


@pytest.mark.parametrize('chain, length', [(RING, 4), (HABIT, 4), (PERIOD, 4), (WIDE, 2)])
def test_pairs_within_a_radius_that_covers_all(chain, length, monkeypatch):
    """
    The large chains' way, where the radius leaves nothing out, gives the same rows.

    It never looks ahead: on `WIDE` the other way does not either, and elsewhere it is the same.
    """
    monkeypatch.setattr(adaptive, '_NEAR_TOLERANCE', adaptive._TOLERANCE)
    dense = dict(histories(made(chain), length))
    monkeypatch.setattr(targets, 'DENSE_STATES', 0)
    mechanism = made(chain)
    assert mechanism.tables.radius is not None
    assert dict(histories(mechanism, length)) == dense


def test_beyond_the_radius_symbols_are_drawn_uniformly(monkeypatch):
    monkeypatch.setattr(targets, 'DENSE_STATES', 0)
    monkeypatch.setattr(targets, 'MOST_PAIRS', 400)
    chain = grid(6)
    mechanism = made(chain)
    assert 1 <= mechanism.tables.radius < 10
    row = mechanism.exact_current_distribution('5,5')
    assert len(set(row.values())) == 1
    assert len(set(mechanism.exact_current_distribution('1,0').values())) == 2
    word = mechanism.privatize([*chain.states] * 5)
    assert chain.is_feasible(word)


# What it goes by.

def state(mechanism):
    """Return all that the next draw depends on, bit by bit."""
    word = mechanism._word
    return (word.belief.tobytes(), bytes(word._codes), mechanism.previous,
            tuple(mechanism.exact_current_distribution(None)))


@given(st.data(), chains(complete=False), privacies(), st.integers(0, 2**32))
def test_replay_is_as_having_stepped(data, chain, privacy, seed):
    word = data.draw(words(chain))
    stepped = OnlineMechanism(chain, privacy, policy='adaptive', random=Random(seed))
    outputs = [stepped.step(symbol) for symbol in word]
    for replayed in (OnlineMechanism(chain, privacy, policy='adaptive'), stepped.another()):
        replayed.replay(outputs)
        assert state(replayed) == state(stepped)  # whatever the word was
    for split in range(len(outputs) + 1):
        stepped.replay(outputs[:split])
        for output in outputs[split:]:
            stepped.advance(output)
        assert state(replayed) == state(stepped)


@given(st.data(), chains(complete=False), privacies(), st.integers(0, 2**32))
def test_with_its_belief_a_word_goes_on_exactly(data, chain, privacy, seed):
    word = data.draw(words(chain))
    stepped = OnlineMechanism(chain, privacy, policy='adaptive', random=Random(seed))
    joined = stepped.another()
    for symbol in word:
        joined.reset(stepped.previous, stepped.belief)
        assert state(joined) == state(stepped)
        joined.advance(stepped.step(symbol))
        assert state(joined) == state(stepped)


@pytest.mark.parametrize('belief', [
    np.full(2, 0.5), np.full(9, 1 / 9), np.full((6, 9), 1 / 54), np.full(54, 1.0),
    np.full(54, np.nan), np.full(54, 1e308), np.array([-1.0, 2, *[0.0] * 52])], ids=str)
def test_what_is_no_belief_is_refused(belief):
    mechanism = made(grid(3), random=Random(3))
    mechanism.step(None)
    before = state(mechanism)
    with refused(ChainError, 'no probability for each state'):
        mechanism.reset(mechanism.previous, belief)
    assert state(mechanism) == before


def test_a_word_that_is_carried_on_begins_from_its_last_output():
    chain = grid(3)
    mechanism = made(chain, random=Random(3))
    fresh = state(mechanism)
    outputs = [mechanism.step(s) for s in chain.states]
    went_on = state(mechanism)
    mechanism.reset(outputs[-1])
    carried = state(mechanism)
    assert carried != went_on
    known = hidden_switch(chain, 0.8)
    expected = known.listed(known.forward(known.begin(outputs[-1])))
    assert mechanism.belief.tolist() == pytest.approx(expected, rel=1e-12)
    mechanism.replay([], outputs[-1])
    assert state(mechanism) == carried
    mechanism.reset()
    assert state(mechanism) == fresh
    mechanism.privatize(chain.states)
    assert state(mechanism) == fresh


def test_what_cannot_have_been_drawn_is_refused():
    mechanism = made(HABIT)
    mechanism.advance(*mechanism.current_distribution(None))
    before = state(mechanism)
    for output in ('x', None, 'SECRET'):
        with refused(ChainError, 'cannot have been drawn', state=output):
            mechanism.advance(output)
    assert state(mechanism) == before
    outside = next((history, o) for history, rows in histories(made(HABIT), 4) if history
                   for o in HABIT.successors(history[-1]) if o not in rows[None])
    mechanism = made(HABIT)
    fresh = state(mechanism)
    with refused(ChainError, state=outside[1]):
        mechanism.replay([*outside[0], outside[1]])
    assert state(mechanism) == fresh
    with refused(ChainError, 'not a state', state='x'):
        mechanism.reset('x')


@pytest.mark.parametrize('call', [
    lambda m: m.distribution('s0', 's0'), lambda m: m.exact_distribution('s0', 's0'),
    lambda m: m.target('s0', 's0'), lambda m: m.target_positions('s0'),
    lambda m: m.likelihood('s0', 's0')])
def test_rows_by_the_previous_symbol_alone_are_refused(call):
    with refused(ConfigurationError, 'replay(outputs), then ask current_', setting='policy'):
        call(made(FOUR))


@pytest.mark.parametrize('policy', ['paper', 'guided', 'planned'])
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
    impossible = ['nowhere', *(s for s in chain.states if s not in followers)]
    for output in impossible:
        with refused(ChainError, 'cannot follow', state=output):
            mechanism.replay([output])
    with pytest.raises(ChainError):
        mechanism.replay([None])
    assert mechanism.previous == chain.initial_state


def test_where_all_can_follow_all_it_is_guided():
    mechanism = made(COMPLETE)
    assert mechanism.tables is None and mechanism.policy == 'adaptive'
    assert mechanism.distribution('y', 'x') == OnlineMechanism(
        COMPLETE, Privacy(2.0)).distribution('y', 'x')


@pytest.mark.parametrize('trust', [-0.1, 1.1, float('nan'), '0.5', True, None])
def test_refuses_a_trust(trust):
    with refused(ConfigurationError, setting='trust'):
        OnlineMechanism(FOUR, Privacy(1.0), policy='adaptive', trust=trust)


# What it reveals apart from the word.

@pytest.mark.parametrize('chain', [FOUR, HABIT, grid(4)], ids=['four', 'habit', 'grid'])
def test_a_step_takes_the_same_way_for_every_symbol(chain):
    """Every instruction, for every symbol, at the same history and the same output."""
    mechanism = made(chain, random=Random(6))
    history = mechanism.privatize([*chain.states] * 3)
    for symbol in (*chain.states, None) * 20:  # all sizes of sets are met
        mechanism.replay(history)
        mechanism.step(symbol)

    def follow(frame, event, argument):
        frame.f_trace_opcodes = True
        if event == 'opcode':
            way.append((frame.f_code, frame.f_lasti))
        return follow

    ways, outputs = {}, set()
    tracing = sys.gettrace()
    for symbol in (*chain.states, None) * (60 // (len(chain) + 1)):
        mechanism.replay(history)
        if not mechanism._word._draws.buffer:
            mechanism._word._draws.fill()
        way = []
        gc.disable()  # it calls functions of others
        sys.settrace(follow)
        try:
            output = mechanism.step(symbol)
        finally:
            sys.settrace(tracing)
            gc.enable()
        ways.setdefault(output, set()).add(tuple(way))
        outputs.add((symbol, output))
    assert all(len(found) == 1 for found in ways.values()) and len(next(iter(ways[output]))) > 10
    assert 0 < sum(symbol == output for symbol, output in outputs) < len(outputs)


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


@pytest.mark.parametrize('symbol', ['secret', '', b's0', 17])
def test_an_unknown_symbol_is_not_named(symbol):
    mechanism = made(FOUR)
    for call in (mechanism.step, lambda s: mechanism.privatize(['s0', s]),
                 mechanism.current_distribution, mechanism.exact_current_distribution):
        before = state(mechanism)
        with pytest.raises(UnknownSymbolError) as caught:
            call(symbol)
        assert caught.value.__context__ is None and 'secret' not in repr(caught.value)
        assert state(mechanism) == before


# Accuracy.

@for_all_models
def test_simulated_errors_are_those_of_the_law(chain):
    """The seed is fixed: 6 standard errors."""
    release = OfflineMechanism(chain, Privacy(1.5), selection='causal', policy='adaptive')
    word = [chain.states[1], chain.initial_state, None, chain.states[-1]]
    outputs = list(feasible_words(chain, len(word)))
    exact = release.law.exact_probabilities(word, outputs)
    distances = [sum(s != o for s, o in zip(word, output)) for output in outputs]
    mean = float(sum(p * d for p, d in zip(exact, distances)))
    found = accuracy(release, word)
    assert found.mean == pytest.approx(mean, abs=6 * found.standard_error + 1e-12)
    assert found.per_position.sum() == pytest.approx(found.mean)
    assert accuracy(release.online, word).mean == found.mean
    walks = expected_accuracy(release, 10, walks=20)
    assert walks == expected_accuracy(release.online, 10, walks=20)
    assert 0 <= walks.error <= 1 and walks.standard_error >= 0


def test_how_long_a_robot_stays_is_found_out():
    """Nothing is known of it: it errs far less than guided. The seeds are fixed."""
    chain = grid(5)
    rows = {s: {t: 0.97 if t == s else 0.03 / (len(chain.successors(s)) - 1)
                for t in chain.successors(s)} for s in chain.states}
    walks = patrols(Chain(rows, '0,0'), 60, 30)
    guided, own = (average_accuracy(mechanism, walks).error for mechanism in (
        OnlineMechanism(chain, Privacy(2.0)), made(chain)))
    assert len(chain.models(0.8)) == 6 and own <= 0.65 * guided


def test_where_the_models_are_one_the_belief_is_of_states():
    mechanism, first = made(RESTLESS), RESTLESS.successors('a')
    assert len(RESTLESS.models(0.8)) == 1
    assert mechanism.belief.tolist() == [0.0, 0.5, 0.5] and first == ('b', 'c')
    assert made(FOUR).belief.shape == (6 * 4,)
    assert made(HABIT, trust=0.3).belief.shape == (7 * 3,)
    assert made(HABIT, trust=1.0).belief.shape == (3,)


def test_a_habit_that_is_known_helps():
    """DESIGN, section 1: with trust 1, a habit of 0.9 and ε = 2 it errs far less than guided."""
    random = Random(4)
    moves = {s: [t for t in grid(5).successors(s) if t != s] for s in grid(5).states}
    rows = {}
    for s, others in moves.items():
        likely = random.choice(others)
        rest = 0.1 / len(others)  # staying included
        rows[s] = {s: rest} | {t: 0.9 if t == likely else rest for t in others}
    chain = Chain(rows, '0,0')
    guided, own = (expected_accuracy(mechanism, 50, walks=50).error for mechanism in (
        OnlineMechanism(chain, Privacy(2.0)), made(chain, trust=1.0)))
    assert own <= 0.65 * guided
