# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The planned policy: against all policies on small chains, against guided on maps; its cache."""
from array import array
from hashlib import sha256
from itertools import product
import tracemalloc
import zlib

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.sparse import csr_array
from shared_data import shared
from strategies import COMPLETE, FOUR, grid, RING, SPLIT, successor_maps, thorough
from symdp_ros import Chain, OnlineMechanism, Privacy
from symdp_ros.analysis.accuracy import expected_accuracy
from symdp_ros.core.online import planned as plan
from symdp_ros.core.online import targets
from symdp_ros.core.online.guided import near_pairs
from symdp_ros.core.online.planned import DISCOUNT, NEAR_TOLERANCE, planned_targets, TOLERANCE
from symdp_ros.core.online.values_in_numpy import choose
from symdp_ros.core.registry import DEFAULT_TRUST
from symdp_ros.maps import read_graph

ALLOWED = TOLERANCE + 1.1e-4  # ties included
BIASED = Chain({'a': {'b': 0.9, 'a': 0.1}, 'b': {'c': 0.05, 'a': 0.95}, 'c': {'a': 0.5, 'c': 0.5}},
               'a')
ONE_WAY = Chain({'a': ['b', 'c'], 'b': ['c'], 'c': ['a', 'b']}, 'a')
#: of period 2
SWING = Chain({'a': ['b', 'd'], 'b': ['a', 'c'], 'c': ['b', 'd'], 'd': ['c', 'a']}, 'a')


@pytest.fixture
def solves(monkeypatch):
    """Plan at once, for the last successors; return the list of the chains that were planned."""
    found = []

    def solve(chain, first, *_):
        found.append(chain)
        return np.repeat(chain.out_degrees(), np.diff(first)).astype(np.uint32)

    monkeypatch.setattr(plan, '_solve', solve)
    return found


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Return a cache of the test's own."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    return tmp_path / 'symdp_ros'


def planned(chain, epsilon, adjacency=1):
    return OnlineMechanism(chain, Privacy(epsilon, adjacency), policy='planned')


def walk(chain):
    """Return P, the mean of the models: shape (states, states)."""
    found = np.zeros((len(chain), len(chain)))
    offsets, targets = chain.csr()
    found[np.repeat(np.arange(len(chain)), np.diff(offsets)), targets] = chain.models(
        DEFAULT_TRUST).mean
    return found


def channel(mechanism):
    """Return μ(o | s, previous), shape (states, states, states)."""
    chain = mechanism.chain
    found = np.zeros((len(chain),) * 3)
    for i, symbol in enumerate(chain.states):
        for j, previous in enumerate(chain.states):
            for o, p in mechanism.distribution(symbol, previous).items():
                found[i, j, chain.state_index[o]] = p
    return found


def value(P, mu):
    """Return the expected discounted matches from (s_t, o_{t−1}), by a linear solve."""
    n = len(P)
    moves = np.einsum('sjo,st->sjto', mu, P).reshape(n * n, n * n)
    matches = np.einsum('sjs->sj', mu).ravel()
    return np.linalg.solve(np.eye(n * n) - DISCOUNT * moves, matches).reshape(n, n)


def value_by_sweeps(mechanism):
    """Return the same for larger chains, to 10⁻⁶, by plain sweeps with a sparse matrix."""
    n, mu, P = len(mechanism.chain), channel(mechanism), csr_array(walk(mechanism.chain))
    rows = csr_array(mu.reshape(n * n, n))
    matches = np.einsum('sjs->sj', mu)
    U = np.zeros((n, n))
    blocks = [rows[s * n:(s + 1) * n] for s in range(n)]
    for _ in range(1_900):
        later = P @ U  # [s, o']
        U = matches + DISCOUNT * np.stack([block @ row for block, row in zip(blocks, later)])
    return U


def every_policy(chain, mechanism):
    """Yield the channel of every assignment of targets, and of none, to the pairs."""
    index, choices = chain.state_index, []
    for _, previous in product(chain.states, chain.states):
        feasible = chain.successors(previous)
        rows = []
        for target in feasible:
            row = np.zeros(len(chain))
            for state, p in mechanism.distribution(feasible[0], previous).items():
                row[index[state]] = p
            # The distribution about another target is the same, with two entries exchanged.
            first = mechanism.target(feasible[0], previous)
            row[[index[first], index[target]]] = row[[index[target], index[first]]]
            rows.append(row)
        choices.append(rows)
    for rows in product(*choices):
        yield np.array(rows).reshape((len(chain),) * 3)


@pytest.mark.parametrize('epsilon', [thorough(0.5), 2.0, thorough(5.0)])
@pytest.mark.parametrize('chain', [BIASED, ONE_WAY], ids=['biased', 'one way'])
def test_no_assignment_of_targets_is_better(chain, epsilon):
    """From every pair, by linear solves."""
    mechanism, P = planned(chain, epsilon), walk(chain)
    best = np.max([value(P, mu) for mu in every_policy(chain, OnlineMechanism(
        chain, Privacy(epsilon), policy='guided'))], axis=0)
    found = value(P, channel(mechanism))
    assert (found >= best - 1e-9).all() and (found <= best + 1e-9).all()


def best_by_policy_iteration(chain, epsilon):
    """Return the largest values: Howard's policy iteration, with exact evaluation."""
    mechanism, P = OnlineMechanism(chain, Privacy(epsilon), policy='guided'), walk(chain)
    offsets, successors = chain.csr()
    others, gain = mechanism.weights()
    mu = channel(mechanism)
    while True:
        U = value(P, mu)
        X = np.eye(len(chain)) + DISCOUNT * P @ U
        new = mu.copy()
        for o in range(len(chain)):
            feasible = successors[offsets[o]:offsets[o + 1]]
            for s in range(len(chain)):
                best = feasible[np.argmax(X[s, feasible])]
                earned = others[o] * X[s, feasible].sum() + gain[o] * X[s, best]
                if earned > mu[s, o] @ X[s] + 1e-10:
                    new[s, o] = 0
                    new[s, o, feasible] = others[o]
                    new[s, o, best] += gain[o]
        if (new == mu).all():
            return U
        mu = new


@pytest.mark.parametrize('chain', [FOUR, RING, SPLIT, SWING, grid(3), grid(3, staying=False),
                                   grid(1)],
                         ids=['four', 'ring', 'split', 'swing', 'grid', 'periodic grid', 'one'])
@pytest.mark.parametrize('epsilon', [0.0, thorough(0.5), 2.0, thorough(5.0)])
def test_as_good_as_policy_iteration(chain, epsilon):
    best = best_by_policy_iteration(chain, epsilon)
    found = value(walk(chain), channel(planned(chain, epsilon)))
    assert (found >= best - ALLOWED).all() and (found <= best + 1e-9).all()


@given(successor_maps(max_states=5), st.sampled_from([0.3, 2.0, 4.0]))
def test_random_chains(rows, epsilon):
    chain = Chain(rows, 's0')
    best = best_by_policy_iteration(chain, epsilon)
    found = value(walk(chain), channel(planned(chain, epsilon)))
    guided = value(walk(chain), channel(OnlineMechanism(chain, Privacy(epsilon), policy='guided')))
    assert (found >= best - ALLOWED).all() and (found >= guided - ALLOWED).all()


@pytest.mark.parametrize('name, staying', [
    ('route_turtlebot3', False), thorough('route_turtlebot4', True)])
def test_never_worse_than_guided_on_the_shared_maps(name, staying):
    """From every pair, by an evaluation of both."""
    chain = shared_map(name, staying)
    found, guided = (value_by_sweeps(OnlineMechanism(chain, Privacy(2.0), policy=policy))
                     for policy in ('planned', 'guided'))
    assert (found >= guided - 1e-6).all()
    assert found.mean() > guided.mean()


def shared_map(name, staying=True):
    graph = read_graph(shared('nav2', f'{name}_graph.geojson'))
    return (graph.with_self_loops() if staying else graph).chain([*graph.successors][0])


@pytest.mark.parametrize('epsilon, guided, found', [
    (2.0, 0.519, 0.480), thorough(3.0, 0.258, 0.229)])
def test_published_errors_in_the_warehouse(epsilon, guided, found):
    """DESIGN, section 1: n = 50, k = 1, staying allowed, averaged over (other) uniform walks."""
    chain = shared_map('bringup_warehouse')
    for policy, published in (('guided', guided), ('planned', found)):
        error = expected_accuracy(OnlineMechanism(chain, Privacy(epsilon), policy=policy), 50)
        assert error.error == pytest.approx(published, abs=0.015)


def test_it_heeds_the_probabilities():
    """While the robot is still at the fork, the way it will probably take is aimed at."""
    for b, target in ((0.05, 'c'), (0.5, 'b'), (0.95, 'b')):
        chain = Chain({'a': {'b': b, 'c': 1 - b}, 'b': {'b': 1}, 'c': {'c': 1}}, 'a')
        assert planned(chain, 2.0).target('a', 'a') == target


# Targets, and what has none.

@pytest.mark.parametrize('chain', [FOUR, RING, grid(3)], ids=['four', 'ring', 'grid'])
def test_targets_can_follow(chain):
    mechanism = planned(chain, 2.0)
    for previous in chain.states:
        assert mechanism.target(None, previous) is None
        assert all(mechanism.target(s, previous) in chain.successors(previous)
                   for s in chain.states)
        uniform = mechanism.distribution(None, previous)
        assert len(set(uniform.values())) == 1


def test_where_no_match_can_be_had_there_is_no_target():
    mechanism = planned(SPLIT, 2.0)
    # p and q are never left for r and t. From r and t the robot may come over: p is aimed at.
    assert mechanism.target('p', 'q') == 'p'
    chain = Chain({'s': ['a', 'b'], 'a': ['a'], 'b': ['b', 'c'], 'c': ['b', 'c']}, 's')
    mechanism = planned(chain, 2.0)
    assert mechanism.target('a', 'b') is None and mechanism.target('a', 's') == 'a'
    assert len(set(mechanism.distribution('a', 'b').values())) == 1
    # Of period 2: an output that is out of step never meets the robot again.
    assert planned(SWING, 2.0).target('a', 'a') is None
    assert planned(SWING, 2.0).target('b', 'a') == 'b'


def test_ties_go_by_the_order_of_successors():
    for order in (['b', 'c'], ['c', 'b']):
        chain = Chain({'a': ['a', *order], 'b': ['b', 'd'], 'c': ['c', 'd'], 'd': ['d', 'a']}, 'a')
        assert planned(chain, 2.0).target('d', 'a') == order[0]


@pytest.mark.parametrize('epsilon', [0.5, 3.0])
def test_on_the_complete_chain_there_is_nothing_to_plan(epsilon):
    names = ['x', 'y', 'z', 'u']
    listed = Chain({'x': {'x': 0.7, 'y': 0.1, 'z': 0.1, 'u': 0.1}, 'y': names, 'z': names,
                    'u': names}, 'x')
    for chain in (listed, COMPLETE):
        assert planned(chain, epsilon).targets is None
        assert all(planned(chain, epsilon).target(s, o) == s
                   for s, o in product(chain.states, chain.states))
    mechanism = OnlineMechanism(listed, Privacy(epsilon))
    table = planned_targets(listed, Privacy(epsilon), 0.8, *mechanism.weights())
    assert all([*table.row(o)] == [1, 2, 3, 4, 0] if o else True for o in range(4))
    assert [*table.row(0)] == [1, 2, 3, 4, 0]


@pytest.mark.parametrize('arms, kind', [(254, bytes), (255, array), (300, array)])
def test_states_of_many_successors(arms, kind, solves):
    """Codes up to 255 take one byte each; the chain is planned for the last successors."""
    rows = {'hub': ['hub', *map(str, range(arms))],
            **{f'{i}': ['hub', f'{i}'] for i in range(arms)}}
    mechanism = planned(Chain(rows, 'hub'), 8.0)
    assert len(solves) == 1
    for o, last in ((0, arms + 1), (1, 2), (arms, 2)):
        row = mechanism.targets.row(o)
        assert type(row) is kind and [*row] == [*[last] * (arms + 1), 0]
    assert mechanism.target('0', 'hub') == f'{arms - 1}' == mechanism.target('hub', f'{arms - 1}')


def test_who_is_at_one_of_many_arms_is_aimed_at():
    rows = {'hub': [f'{i}' for i in range(300)],
            **{f'{i}': ['hub', f'{i}'] for i in range(300)}}
    mechanism = planned(Chain(rows, 'hub'), 8.0)
    assert mechanism.target('299', 'hub') == '299' and mechanism.target('255', 'hub') == '255'


def test_the_memory_that_planning_takes():
    """24 bytes for each pair and some for the table: 1,000 states within 200 MB."""
    chain = grid(15)
    planned(FOUR, 1.0)  # imports
    tracemalloc.start()
    try:
        planned(chain, 2.0)
        assert tracemalloc.get_traced_memory()[1] <= 60 * len(chain)**2 + 2e6
    finally:
        tracemalloc.stop()


# Privacy.


def test_the_plan_is_of_public_data_alone():
    """It does not change with what was privatized."""
    mechanism = planned(FOUR, 2.0)
    before = [bytes(mechanism.targets.row(o)) for o in range(4)]
    mechanism.privatize(['s1', 's1', None] * 20)
    assert before == [bytes(planned(FOUR, 2.0).targets.row(o)) for o in range(4)]


# Large chains.

@pytest.fixture
def sparse(monkeypatch):
    def use(most):
        monkeypatch.setattr(targets, 'DENSE_STATES', 0)
        monkeypatch.setattr(targets, 'MOST_PAIRS', most)
    return use


def near_value(mechanism, inside):
    """
    Return the expected discounted matches from pairs (s_t, o_{t−1}) inside.

    Nothing more is earned from (s_t, o_t) outside, unless they match, or (s_{t+1}, o_t) outside.
    """
    P, mu = walk(mechanism.chain), channel(mechanism)
    n = len(P)
    mu = mu * inside[:, :, None]
    moves = np.einsum('sjo,so,st,to->sjto', mu, inside | np.eye(n, dtype=bool), P, inside)
    return np.linalg.solve(np.eye(n * n) - DISCOUNT * moves.reshape(n * n, n * n),
                           np.einsum('sjs->sj', mu).ravel()).reshape(n, n)


@pytest.mark.parametrize('most', [0, 120, 300, 10**6])
@pytest.mark.parametrize('chain', [grid(4), grid(4, staying=False)], ids=['staying', 'moving'])
def test_large_chains_are_planned_within_the_radius(chain, most, sparse):
    dense = value(walk(chain), channel(planned(chain, 2.0)))
    sparse(most)
    guided = OnlineMechanism(chain, Privacy(2.0), policy='guided')
    mechanism = planned(chain, 2.0)
    assert mechanism.targets.radius == guided.targets.radius
    inside = np.array([[guided.target(s, o) is not None for o in chain.states]
                       for s in chain.states])
    for (i, s), (j, o) in product(enumerate(chain.states), enumerate(chain.states)):
        if not inside[i, j]:
            assert mechanism.target(s, o) is None
    found, before = near_value(mechanism, inside), near_value(guided, inside)
    assert (found >= before - NEAR_TOLERANCE - 1e-3).all()
    if inside.all():
        assert (value(walk(chain), channel(mechanism)) >= dense - NEAR_TOLERANCE).all()


@pytest.mark.parametrize('most', [0, 120])
@pytest.mark.parametrize('chain', [grid(4), grid(4, staying=False)], ids=['staying', 'moving'])
def test_values_within_the_radius_are_those_of_the_equation(chain, most, sparse):
    """Equation (1) by dense sweeps, in which nothing is earned from pairs outside."""
    sparse(most)
    n, table = len(chain), near_pairs(chain)
    first, symbols, _ = table.pairs()
    others, gain = OnlineMechanism(chain, Privacy(2.0), policy='guided').weights()
    found, match = plan.values(chain, first, symbols, others, gain, chain.models(0.8).mean, 0.9,
                               1e-9)
    P, inside = walk(chain), np.zeros((n, n), bool)  # of (s, o)
    inside[symbols, np.repeat(np.arange(n), np.diff(first))] = True
    assert not inside.all() and inside.any(axis=1).all()
    U = np.zeros((n, n))
    for _ in range(300):
        X = 0.9 * P @ U
        X[~inside & ~np.eye(n, dtype=bool)] = 0
        X += np.eye(n)
        for o, state in enumerate(chain.states):
            reached = X[:, [chain.state_index[c] for c in chain.successors(state)]]
            U[:, o] = others[o] * reached.sum(axis=1) + gain[o] * reached.max(axis=1)
        U[~inside] = 0
    for o in range(n):
        here = slice(first[o], first[o + 1])
        assert found[here] == pytest.approx(X[symbols[here], o], rel=1e-7)
    assert match == pytest.approx(X.diagonal(), rel=1e-7)
    codes = choose(first, symbols, *chain.csr(), 1e-6, found, match)
    for o, state in enumerate(chain.states):
        here = slice(first[o], first[o + 1])
        reached = X[np.ix_(symbols[here], [chain.state_index[c] for c in chain.successors(state)])]
        best = np.argmax(reached > reached.max(axis=1, keepdims=True) - 1e-6, axis=1) + 1
        assert codes[here].tolist() == np.where(reached.any(axis=1), best, 0).tolist()


def test_the_size_from_which_pairs_are_left_out(monkeypatch):
    for states, kind in ((16, targets.DenseTargets), (15, targets.SparseTargets)):
        monkeypatch.setattr(targets, 'DENSE_STATES', states)
        assert type(planned(grid(4), 2.0).targets) is kind


# The cache.

LARGE = grid(9)  # the smallest that is kept


def rows(mechanism):
    return [bytes(mechanism.targets.row(o)) for o in range(len(mechanism.chain))]


@pytest.fixture
def unsolved(monkeypatch):
    """Fail where a plan is made."""
    def fails():
        def solve(*_):
            raise AssertionError('the plan is made again')
        monkeypatch.setattr(plan, '_solve', solve)
    return fails


def test_a_plan_is_kept(cache, unsolved):
    made = rows(planned(LARGE, 2.0))
    files = [*cache.iterdir()]
    assert len(files) == 1 and files[0].stat().st_mode & 0o777 == 0o600
    unsolved()
    assert rows(planned(LARGE, 2.0)) == made
    for epsilon, adjacency in ((2.5, 1), (2.0, 2)):
        with pytest.raises(AssertionError, match='^the plan is made again$'):
            planned(LARGE, epsilon, adjacency)
    with pytest.raises(AssertionError, match='^the plan is made again$'):
        planned(grid(10, staying=False), 2.0)


def test_large_plans_of_pairs_are_kept_too(cache, unsolved, sparse):
    sparse(5_500)
    made = rows(planned(LARGE, 2.0))
    unsolved()
    assert rows(planned(LARGE, 2.0)) == made
    sparse(6_400)
    with pytest.raises(AssertionError, match='^the plan is made again$'):
        planned(LARGE, 2.0)


def signed(data):
    packed = zlib.compress(data)
    return sha256(packed).digest() + packed


def test_a_damaged_file_is_ignored_and_replaced(cache, solves):
    made = rows(planned(LARGE, 2.0))
    file, = cache.iterdir()
    content, codes = file.read_bytes(), b''.join(row[:-1] for row in made)
    good = np.frombuffer(codes, np.uint8).astype('<u4').tobytes()
    assert zlib.decompress(content[32:]) == good
    for damaged in (b'', content[:20], content[:-1],
                    content[:50] + bytes([content[50] ^ 1]) + content[51:],
                    signed(b''), signed(good + bytes(4)), signed(good[:-4]),
                    signed(good + bytes(len(good) // 4)), sha256(b'x').digest() + b'x',
                    signed(b'\xff' * len(good)), signed(b'\xff' * 4 + good[4:])):
        file.write_bytes(damaged)
        solves.clear()
        assert rows(planned(LARGE, 2.0)) == made and solves == [LARGE]
        assert file.read_bytes() == content and [*cache.iterdir()] == [file]
    for kept in (good, bytes(len(good))):  # up to the largest code, and no targets at all
        file.write_bytes(signed(kept))
        solves.clear()
        found = b''.join(row[:-1] for row in rows(planned(LARGE, 2.0)))
        assert np.frombuffer(found, np.uint8).astype('<u4').tobytes() == kept and not solves


def test_a_cache_that_cannot_be_used_is_harmless(cache, tmp_path, monkeypatch, solves):
    made = rows(planned(LARGE, 2.0))
    file, = cache.iterdir()
    file.unlink()
    file.mkdir()
    assert rows(planned(LARGE, 2.0)) == made
    assert [*cache.iterdir()] == [file]
    (tmp_path / 'file').write_text('')
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'file'))
    assert rows(planned(LARGE, 2.0)) == made


def test_where_the_cache_is(tmp_path, monkeypatch, solves):
    monkeypatch.setenv('HOME', str(tmp_path / 'home'))
    for unset in (None, '', 'relative'):
        monkeypatch.delenv('XDG_CACHE_HOME')
        if unset is not None:
            monkeypatch.setenv('XDG_CACHE_HOME', unset)
        planned(LARGE, 2.0)
        monkeypatch.setenv('XDG_CACHE_HOME', '')
    assert len([*(tmp_path / 'home' / '.cache' / 'symdp_ros').iterdir()]) == 1


def test_small_plans_are_not_kept(cache, solves):
    planned(grid(8), 2.0)
    assert not cache.exists() and len(solves) == 1
    planned(LARGE, 2.0)
    assert len([*cache.iterdir()]) == 1
