# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Guided targets: against breadth-first search in plain Python.

Of tables of all pairs, and of large chains, where pairs beyond a radius are left out and rows are
forgotten: what is drawn is that of the search.
"""
from collections import deque
from functools import cache
from inspect import getclosurevars
from math import inf
from random import Random
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from strategies import chains, COMPLETE, FOUR, grid, RING, SPLIT, thorough, words
from symdp_ros import Chain, ChainError, OnlineMechanism, Privacy, UnknownSymbolError
from symdp_ros.core.online import targets
from symdp_ros.core.online.guided import guided_targets
from symdp_ros.core.online.targets import DenseTargets, feasible_row, SparseTargets


def ring(n, *, staying=False):
    return Chain({str(i): [str((i + 1) % n)] + [str(i)] * staying for i in range(n)}, '0')


def hub(arms, length):
    """Return a hub with one-way arms of some length that lead back to it."""
    rows = {'hub': [f'{i}.0' for i in range(arms)]}
    for i in range(arms):
        for j in range(length):
            rows[f'{i}.{j}'] = [f'{i}.{j + 1}' if j + 1 < length else 'hub']
    return Chain(rows, 'hub')


def clusters(count, size):
    """Return groups, complete in themselves, in a ring: one state of each leads to the next."""
    rows = {}
    for k in range(count):
        for i in range(size):
            rows[f'{k}.{i}'] = [f'{k}.{j}' for j in range(size)]
        rows[f'{k}.0'].append(f'{(k + 1) % count}.0')
    return Chain(rows, '0.0')


def moves_from(chain, start):
    """Return the fewest moves from `start` to each state that it reaches; 0 to itself."""
    moves, waiting = {start: 0}, deque([start])
    while waiting:
        state = waiting.popleft()
        for target in chain.successors(state):
            if target not in moves:
                moves[target] = moves[state] + 1
                waiting.append(target)
    return moves


@cache
def aims(chain):
    """Return {(o, s): (target, moves from o by it to s)} of all pairs that have a target."""
    moves = {state: moves_from(chain, state) for state in chain.states}
    found = {}
    for o in chain.states:
        for s in chain.states:
            further = [moves[c].get(s) for c in chain.successors(o)]
            fewest = min((m for m in further if m is not None), default=None)
            if fewest is not None:
                found[o, s] = chain.successors(o)[further.index(fewest)], fewest + 1
    return found


def brute_force(chain, radius=inf):
    """Return {(o, s): target} of all pairs that have one, s at most `radius` moves from o."""
    return {pair: target for pair, (target, moves) in aims(chain).items() if moves <= radius}


def as_drawn(mechanism):
    """Return the same as the mechanism has it."""
    states = mechanism.chain.states
    pairs = {(o, s): mechanism.target(s, o) for o in states for s in states}
    return {pair: target for pair, target in pairs.items() if target is not None}


@pytest.fixture
def sparse(monkeypatch):
    """Keep the targets of all chains as those of large ones, all pairs unless said otherwise."""
    monkeypatch.setattr(targets, 'DENSE_STATES', 0)
    return lambda most: monkeypatch.setattr(targets, 'MOST_PAIRS', most)


CHAINS = {
    'four': FOUR, 'ring with a stop': RING, 'split': SPLIT, 'one state': ring(1),
    'ring of 2': ring(2), 'ring of 7': ring(7), 'ring of 7, staying': ring(7, staying=True),
    'grid': grid(5), 'grid, not staying': grid(4, staying=False), 'clusters': clusters(4, 5),
    'all to all': Chain({s: list('cabd') for s in 'abcd'}, 'a'),
    'sink': Chain({'a': ['b', 'c'], 'b': ['c'], 'c': ['c']}, 'a')}
for_all_chains = pytest.mark.parametrize('chain', CHAINS.values(), ids=CHAINS)


@pytest.mark.parametrize('states, kind', [(2_000, DenseTargets), (0, SparseTargets)])
@for_all_chains
def test_against_brute_force(chain, states, kind, monkeypatch):
    """Of large chains too."""
    monkeypatch.setattr(targets, 'DENSE_STATES', states)
    mechanism = OnlineMechanism(chain, Privacy(1.0), policy='guided')
    assert isinstance(mechanism.targets, kind)
    assert (mechanism.targets.radius is None) == (kind == DenseTargets)
    assert as_drawn(mechanism) == brute_force(chain)


@given(chains(max_states=8, complete=False))
def test_against_brute_force_on_any_chain(chain):
    expected = brute_force(chain)
    assert as_drawn(OnlineMechanism(chain, Privacy(1.0), policy='guided')) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(targets, 'DENSE_STATES', 0)
        assert as_drawn(OnlineMechanism(chain, Privacy(1.0), policy='guided')) == expected


@pytest.mark.parametrize('chain, symbol, previous, target', [
    (FOUR, 's0', 's0', 's2'),                  # s2 and s3 are one move away: the first of both
    (FOUR, 's0', 's1', 's2'), (FOUR, 's3', 's1', 's2'), (FOUR, 's2', 's2', 's0'),
    (FOUR, 's1', 's1', 's1'),                  # feasible: itself
    (Chain({'a': ['c', 'b'], 'b': ['d'], 'c': ['d'], 'd': ['a']}, 'a'), 'd', 'a', 'c'),
    (Chain({'a': ['b', 'c'], 'b': ['d'], 'c': ['d'], 'd': ['a']}, 'a'), 'd', 'a', 'b'),
    (SPLIT, 'r', 'p', None), (SPLIT, 'p', 'r', 'p'), (SPLIT, 'r', 'r', 't'),
    (ring(7), '0', '0', '1'), (ring(7, staying=True), '3', '0', '1'),
    (FOUR, None, 's0', None), (COMPLETE, 'y', 'x', 'y'), (COMPLETE, None, 'x', None)])
def test_by_hand(chain, symbol, previous, target):
    assert OnlineMechanism(chain, Privacy(1.0), policy='guided').target(symbol, previous) == target


@pytest.mark.parametrize('arms', [thorough(254), 255, 256, thorough(300)])
@pytest.mark.parametrize('dense', [True, False])
def test_states_of_many_successors(arms, dense, monkeypatch):
    monkeypatch.setattr(targets, 'DENSE_STATES', 10**6 if dense else 0)
    mechanism = OnlineMechanism(hub(arms, 2), Privacy(5.0), policy='guided')
    for i in range(arms):
        assert mechanism.target(f'{i}.1', 'hub') == f'{i}.0'
        assert mechanism.target(f'{i}.1', f'{arms - 1 - i}.1') == 'hub'
    assert mechanism.target('hub', 'hub') == '0.0'
    mechanism.reset('hub')
    assert mechanism.step(f'{arms - 1}.1') in mechanism.chain.successors('hub')
    if dense:
        assert isinstance(mechanism.targets.row(0), bytes) == (arms <= 255)


def test_the_number_of_states_up_to_which_every_pair_has_a_target(monkeypatch):
    for most, kind in ((25, DenseTargets), (24, SparseTargets)):
        monkeypatch.setattr(targets, 'DENSE_STATES', most)
        assert type(guided_targets(CHAINS['grid'])) is kind


@pytest.mark.parametrize('successors', [1, 254, 255, 256, 257])
def test_a_row_whose_targets_are_the_symbols_themselves(successors):
    """One byte for each up to 255 of them, and no code that is not its own."""
    some = [(7 * i) % 300 for i in range(successors)]
    row = feasible_row(some, 300)
    assert list(row) == [1 + some.index(s) if s in some else 0 for s in range(301)]
    assert memoryview(row).itemsize == (1 if successors <= 255 else 4)


CLUSTERS = clusters(4, 20)


@pytest.mark.parametrize('over', [-1, 0, thorough(1)])
@pytest.mark.parametrize('radius', [1, thorough(2), 7])
@pytest.mark.parametrize('chain', [FOUR, ring(7), grid(5), clusters(3, 4), CLUSTERS],
                         ids=['four', 'ring', 'grid', 'clusters', 'large clusters'])
def test_the_radius_is_the_largest_that_fits(chain, radius, over, sparse):
    """The largest for which no more than MOST_PAIRS pairs are needed, but at least 1."""
    most = len(brute_force(chain, radius)) + over
    sparse(most)
    fits = [r for r in range(1, len(chain) + 1) if len(brute_force(chain, r)) <= most] or [1]
    mechanism = OnlineMechanism(chain, Privacy(1.0), policy='guided')
    assert as_drawn(mechanism) == brute_force(chain, fits[-1])
    assert brute_force(chain, mechanism.targets.radius) == brute_force(chain, fits[-1])


def test_beyond_the_radius_a_draw_is_uniform(sparse):
    sparse(0)
    guided = OnlineMechanism(grid(4), Privacy(3.0), policy='guided')
    paper = OnlineMechanism(grid(4), Privacy(3.0))
    for o in paper.chain.states:
        for s in (*paper.chain.states, None):
            assert guided.exact_distribution(s, o) == paper.exact_distribution(s, o)


@pytest.mark.parametrize('kept', [1, thorough(2), thorough(5)])
@given(word=words(grid(4), max_size=60), seed=st.integers(0, 2**32))
def test_forgetting_rows_changes_nothing(kept, word, seed):
    """One stream of random integers through a table of all rows and one that forgets them."""
    chain = grid(4)
    dense = OnlineMechanism(chain, Privacy(2.0), policy='guided', random=Random(seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(targets, 'DENSE_STATES', 0)
        sparse = OnlineMechanism(chain, Privacy(2.0), policy='guided', random=Random(seed))
    sparse.targets.kept_rows = kept
    assert sparse.privatize(word) == dense.privatize(word)
    make_ready = getclosurevars(sparse.step).nonlocals['make_ready']
    make = getclosurevars(make_ready).nonlocals['make']
    rows = getclosurevars(make).nonlocals['rows'].values()
    assert sum(len(row) > 1 for row in rows) <= kept
    for o in chain.states:
        for s in chain.states:
            assert sparse.exact_distribution(s, o) == dense.exact_distribution(s, o)


@for_all_chains
def test_all_rows_have_one_code_for_each_symbol_and_the_unknown_one(chain, sparse):
    table = guided_targets(chain)
    assert table.kept_rows >= 16
    assert table.nbytes == sum(part.nbytes for part in table.pairs())
    for i in range(len(chain)):
        row = table.row(i)
        assert len(row) == len(chain) + 1 and row[len(chain)] == 0


def test_a_byte_for_each_pair():
    assert guided_targets(grid(5)).nbytes == 25 * 26
    assert guided_targets(hub(256, 1)).nbytes == 4 * 257 * 258


def test_making_the_table_takes_little_memory():
    """A chain may well list all moves: with 1,000 states that must not take gigabytes."""
    names = [f's{i}' for i in range(200)]
    chain = Chain(dict.fromkeys(names, names), 's0')
    tracemalloc.start()
    try:
        guided_targets(chain)
        assert tracemalloc.get_traced_memory()[1] <= 64e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize('dense', [True, False])
@pytest.mark.parametrize('policy', ['paper', 'guided'])
@for_all_chains
def test_target_positions(chain, policy, dense, monkeypatch):
    monkeypatch.setattr(targets, 'DENSE_STATES', 10**6 if dense else 0)
    mechanism = OnlineMechanism(chain, Privacy(1.0), policy=policy)
    for symbol in (*chain.states, None):
        aims = [mechanism.target(symbol, o) for o in chain.states]
        positions = mechanism.target_positions(symbol)
        assert positions.dtype == np.int64
        assert positions.tolist() == [-1 if aim is None else chain.states.index(aim)
                                      for aim in aims]


def test_target_positions_refuses():
    with pytest.raises(UnknownSymbolError):
        OnlineMechanism(FOUR, Privacy(1.0)).target_positions('hull')
    with pytest.raises(ChainError, match='complete'):
        OnlineMechanism(COMPLETE, Privacy(1.0)).target_positions('x')
