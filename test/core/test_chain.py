# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The chain: what it refuses and how it says so; what it answers; what it costs.

Each wrong row has its message; answers are held against plain Python on random chains; memory is
measured.
"""
from decimal import Decimal
from enum import Enum
from fractions import Fraction
import gc
from hashlib import sha256
from itertools import product
from math import inf, nan
import os
import subprocess
import sys
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from refusals import refused
from strategies import chains, feasible_words, FOUR, successor_maps
from symdp_ros import Chain, ChainError, OnlineMechanism, Privacy, SymdpError


class Region(str, Enum):
    DOCK, HALL = 'dock', 'hall'


OK = {'dock': ['hall', 'dock'], 'hall': ['dock']}


@pytest.mark.parametrize('row, message', [
    ([], 'no successors'), ({}, 'no successors'), (set(), 'no successors'),
    (['hull'], "successor 'hull', which is not a state"),
    ({'hull': 1.0}, "successor 'hull', which is not a state"),
    (['dock', ''], "successor '', which is not a state"),
    (['dock', 'hall', 'dock'], "successor 'dock' twice"),
    (['dock', 1], 'successor 1 of type int'), ({None}, 'successor None of type NoneType'),
    ([['dock']], r"successor \['dock'\] of type list"), (b'dock', 'successor 100 of type int'),
    ('dock', "'dock' where a list"), (None, 'None where a list'), (7, '7 where a list'),
    ({'dock': 1.5, 'hall': -0.5}, "'dock' the probability 1.5.* not in"),
    ({'dock': -0.5, 'hall': 1.5}, "'dock' the probability -0.5.* not in"),
    ({'dock': nan}, "'dock' the probability nan.* not in"),
    ({'dock': inf}, "'dock' the probability inf.* not in"),
    ({'dock': -inf}, "'dock' the probability -inf.* not in"),
    ({'dock': 1.0, 'hall': 0.0}, "'hall' the probability 0.0.* not in.* remove"),
    ({'dock': 1.0, 'hall': 0}, "'hall' the probability 0.* not in.* remove"),
    ({'dock': 10**400}, "'dock' the probability inf, which is not in"),
    ({'dock': Fraction(1), 'hall': Fraction(1, 10**400)}, "'hall' the probability"),
    ({'dock': True}, 'True: it must be a number'), ({'dock': '1'}, "'1': it must be a number"),
    ({'dock': None}, 'None: it must be a number'), ({'dock': 1j}, '1j: it must be a number'),
    ({'dock': Decimal(1)}, 'it must be a number'),
    ({'dock': 0.5, 'hall': 0.4}, r'sum to 0\.9.*make the sum 1'),
    ({'dock': 0.5, 'hall': 0.5 + 2e-9}, 'sum to 1.000000002'),
    ({'dock': 0.5, 'hall': 0.5 - 2e-9}, 'sum to 0.999999998'),
])
def test_refuses_a_row(row, message):
    with pytest.raises(ChainError, match=message) as caught:
        Chain({'hall': ['dock'], 'dock': row}, 'hall')
    assert caught.value.state == 'dock'
    assert str(caught.value).startswith("state 'dock' ")


@pytest.mark.parametrize('successors, initial, message', [
    ({}, 'a', 'empty: list at least one'),
    ([('a', ['a'])], 'a', 'mapping.* not a list'), (None, 'a', 'mapping.* not a NoneType'),
    ({'a': ['a'], '': ['a']}, 'a', 'empty label: give it a name'),
    ({'a': ['a'], 7: ['a']}, 'a', "state 7 is of type int.* string, '7'"),
    ({'a': ['a'], 7.5: ['a']}, 'a', "state 7.5 is of type float.* string, '7.5'"),
    ({'a': ['a'], None: ['a']}, 'a', 'state None is of type NoneType'),
    ({'a': ['a'], False: ['a']}, 'a', 'state False is of type bool'),
    ({'a': ['a'], b'b': ['a']}, 'a', "state b'b' is of type bytes"),
    (OK, 'hull', "initial state 'hull' is not a state.*: did you mean 'hall'"),
    (OK, '', "initial state '' is not"), (OK, None, 'initial state None is not'),
    (OK, 0, 'initial state 0 is not'), (OK, ['dock'], r"initial state \['dock'\] is not"),
])
def test_refuses_a_chain(successors, initial, message):
    with pytest.raises(ChainError, match=message):
        Chain(successors, initial)


@pytest.mark.parametrize('symbols, initial, message', [
    ([], 'a', 'empty: list at least one'), (5, 'a', 'list of labels, not 5'),
    ({'a', 1}, 'a', 'state 1 is of type int'), ('ab', 'a', "list of labels, not the string 'ab'"),
    (['a', 'b', 'a'], 'b', "'a' is listed twice: list it once"),
    (['a', ''], 'a', 'empty label'), (['a', 1], 'a', "state 1 is of type int.* string, '1'"),
    (['a', None], 'a', 'state None'), (['a'], 'b', "initial state 'b' is not"),
    (['a'], None, 'initial state None is not'),
])
def test_refuses_a_complete_chain(symbols, initial, message):
    with pytest.raises(ChainError, match=message) as caught:
        Chain.complete(symbols, initial)
    assert 'twice' not in message or caught.value.state == 'a'


@pytest.mark.parametrize('chain', [
    Chain({Region.DOCK: [Region.DOCK, Region.HALL], Region.HALL: {Region.DOCK: 1.0}}, Region.DOCK),
    Chain.complete(Region, Region.DOCK), Chain.complete({*Region}, Region.DOCK)])
@pytest.mark.parametrize('policy', ['paper', 'guided', 'adaptive'])
def test_labels_of_an_enumeration(chain, policy):
    """A step once looked for ever for what `format` does not make of them."""
    assert {type(state) for state in chain.states} == {str} and chain.initial_state == 'dock'
    online = OnlineMechanism(chain, Privacy(1.0), policy=policy)
    assert chain.is_feasible([online.step(symbol) for symbol in ('dock', Region.HALL, None)])


@pytest.mark.parametrize('state', [['dock'], 0, None])
def test_what_is_no_state(state):
    mechanism = OnlineMechanism(Chain(OK, 'dock'), Privacy(1.0))
    for call in (mechanism.chain.successors, mechanism.chain.probabilities,
                 lambda s: mechanism.distribution('dock', s)):
        with refused(ChainError, 'is not a state of the chain'):
            call(state)
    assert not mechanism.chain.is_feasible([state])


def test_errors_are_value_errors_of_this_package():
    assert issubclass(ChainError, SymdpError) and issubclass(ChainError, ValueError)


@pytest.mark.parametrize('row', [
    {'dock': 0.5, 'hall': 0.5 + 5e-10}, {'dock': 1}, {'dock': Fraction(1, 3), 'hall': 2 / 3},
    {'dock': np.float64(0.25), 'hall': np.float32(0.75)},
    {'hall': 5e-324, 'dock': 1.0}])
def test_accepts_probabilities(row):
    chain = Chain({'dock': row, 'hall': ['dock']}, 'dock')
    assert chain.successors('dock') == tuple(row)
    assert chain.probabilities('dock') == {state: float(p) for state, p in row.items()}
    assert chain.probabilities('hall') == {'dock': 1.0}


@pytest.mark.parametrize('row', [
    ['hall', 'dock'], ('hall', 'dock'), iter(['hall', 'dock']), np.array(['hall', 'dock']),
    {'hall': 0.5, 'dock': 0.5}])
def test_keeps_the_order_of_a_row(row):
    assert Chain({'dock': row, 'hall': ['dock']}, 'dock').successors('dock') == ('hall', 'dock')


def test_a_set_is_put_into_the_order_of_states():
    names = [f'n{i}' for i in range(50)]
    chain = Chain({name: set(names) for name in names}, 'n0')
    assert chain.successors('n7') == tuple(names)


def test_answers():
    chain = Chain({'b': {'a': 0.25, 'b': 0.75}, 'a': ['c', 'a'], 'c': ['b']}, 'a')
    assert (chain.states, chain.initial_state) == (('b', 'a', 'c'), 'a')
    assert (len(chain), chain.edge_count, chain.stores_edges) == (3, 5, True)
    assert [chain.successors(s) for s in 'bac'] == [('a', 'b'), ('c', 'a'), ('b',)]
    assert chain.probabilities('b') == {'a': 0.25, 'b': 0.75}
    assert chain.probabilities('a') == {'c': 0.5, 'a': 0.5}
    assert chain.out_degrees().tolist() == [2, 2, 1]
    assert [part.tolist() for part in chain.csr()] == [[0, 2, 4, 5], [1, 0, 2, 1, 0]]
    assert dict(chain.state_index) == {'b': 0, 'a': 1, 'c': 2}
    assert chain.states_without_staying() == ('c',)
    assert repr(chain) == "<Chain: 3 states, 5 edges, initial state 'a'>"


def test_answers_of_a_complete_chain():
    chain = Chain.complete(iter(['b', 'a']), 'a')
    assert (chain.states, chain.initial_state) == (('b', 'a'), 'a')
    assert (len(chain), chain.edge_count, chain.stores_edges) == (2, 4, False)
    assert chain.is_alphabet
    assert chain.successors('a') == chain.successors('b') == ('b', 'a')
    assert chain.probabilities('b') == {'b': 0.5, 'a': 0.5}
    assert chain.out_degrees().tolist() == [2, 2] and chain.states_without_staying() == ()
    with pytest.raises(ChainError, match='complete'):
        chain.csr()


def test_files_are_read_by_what_reads_files(monkeypatch):
    monkeypatch.setattr(Chain, 'read_file', lambda *arguments: arguments)
    assert Chain.from_yaml('map.yaml') == ('map.yaml', None, False)
    assert Chain.from_yaml('map.yaml', 'a', self_loops=True) == ('map.yaml', 'a', True)
    monkeypatch.setattr(Chain, 'read_file', None)
    with refused(ChainError, 'symdp_ros.maps'):
        Chain.from_yaml('map.yaml')


def test_probabilities_that_are_named_for_some_states():
    some = Chain({'a': {'a': 0.25, 'b': 0.75}, 'b': ['a', 'b', 'c'], 'c': ['a']}, 'a')
    assert some.names_probabilities and not FOUR.names_probabilities
    assert some.every(2, 1).names_probabilities and not FOUR.every(2, 1).names_probabilities
    assert some.edge_probabilities().tolist() == [0.25, 0.75, *[1 / 3] * 3, 1.0]
    assert FOUR.edge_probabilities().tolist() == [
        1 / len(FOUR.successors(s)) for s in FOUR.states for _ in FOUR.successors(s)]
    assert some.how_it_moves(0.5) == some.models(0.5).summary
    assert FOUR.how_it_moves(0.5) == f'not given: {FOUR.models(0.5).summary}'


def test_probabilities_some_ticks_later():
    often = Chain({'a': {'a': 0.25, 'b': 0.75}, 'b': {'a': 1.0}}, 'a').every(2, 1)
    assert often.probabilities('a') == pytest.approx({'a': 0.8125, 'b': 0.1875})
    assert often.probabilities('b') == pytest.approx({'a': 0.25, 'b': 0.75})


@pytest.mark.parametrize('ticks, moves', [
    *[(wrong, 1) for wrong in (0, -1, True, 1.0, '2', None)], (1, 0), (1, False)])
def test_numbers_of_ticks_and_moves_that_are_refused(ticks, moves):
    for chain in (FOUR, Chain.complete(['a', 'b'], 'a')):
        with refused(ChainError, 'must be a whole number'):
            chain.every(ticks, moves)


def test_an_alphabet_has_all_public_models():
    """It matters how long the robot stays."""
    chain = Chain({s: ['a', 'b', 'c'] for s in 'abc'}, 'a')
    often, without = chain.every(2, 1), FOUR.every(2, 1)
    assert len(chain.models(0.8)) == len(often.single.models(0.8)) == len(often.models(0.8)) == 6
    assert often.single is chain
    assert often.every(2, 1).single is often.single and often.every(2, 1).ticks == 4
    assert len(FOUR.models(0.8)) == len(without.models(0.8)) and without.single is FOUR


@pytest.mark.parametrize('ask', [Chain.successors, Chain.probabilities])
@pytest.mark.parametrize('chain', [FOUR, Chain.complete(['a'], 'a')])
def test_refuses_to_answer_for_an_unknown_state(chain, ask):
    with refused(ChainError, state='hull'):
        ask(chain, 'hull')


@given(successor_maps(), st.data())
def test_answers_what_was_given(rows, data):
    chain = Chain(rows, data.draw(st.sampled_from(list(rows))))
    assert chain.states == tuple(rows)
    assert {state: list(chain.successors(state)) for state in chain.states} == rows
    assert set(chain.states_without_staying()) == {s for s in rows if s not in rows[s]}
    assert chain.edge_count == sum(map(len, rows.values())) == chain.out_degrees().sum()


@given(chains(max_states=4))
def test_feasible_words_are_those_that_can_be_walked(chain):
    for length in range(4):
        walkable = set(feasible_words(chain, length))
        for word in product((*chain.states, 'hull', None), repeat=length):
            assert chain.is_feasible(word) == (word in walkable)


@pytest.mark.parametrize('name', [
    'states', 'initial_state', 'stores_edges', 'edge_count', 'other'])
def test_attributes_cannot_be_set(name):
    with pytest.raises(AttributeError):
        setattr(FOUR, name, 'x')


def test_what_it_hands_out_cannot_change_it():
    rows = {state: list(row) for state, row in OK.items()}
    chain = Chain(rows, 'dock')
    digest = chain.digest()
    rows['dock'].clear()
    rows['hull'] = ['hull']
    for change in (lambda: chain.state_index.update(x=1), lambda: chain.csr()[0].put(0, 1),
                   lambda: chain.csr()[1].put(0, 1)):
        with pytest.raises((AttributeError, ValueError)):
            change()
    chain.probabilities('dock').clear()
    chain.out_degrees()[:] = 0
    assert chain == Chain(OK, 'dock') and chain.out_degrees().tolist() == [2, 1]
    assert Chain(dict(OK), 'dock').digest() == digest == chain.digest()


# The digest.

DIFFERENT = [
    Chain(OK, 'dock'), Chain(OK, 'hall'), Chain({**OK, 'dock': ['dock', 'hall']}, 'dock'),
    Chain(dict(reversed(OK.items())), 'dock'), Chain({**OK, 'hall': ['dock', 'hall']}, 'dock'),
    Chain({**OK, 'dock': {'hall': 0.25, 'dock': 0.75}}, 'dock'),
    Chain({**OK, 'dock': {'hall': 0.75, 'dock': 0.25}}, 'dock'),
    Chain.complete(['dock', 'hall'], 'dock'), Chain.complete(['hall', 'dock'], 'dock'),
    Chain.complete(['ab', 'c'], 'c'), Chain.complete(['a', 'bc', 'c'], 'c'),
    Chain.complete(['a', 'b', 'c'], 'c')]


def test_digest_differs_between_chains():
    assert len({chain.digest() for chain in DIFFERENT}) == len(DIFFERENT) == len(set(DIFFERENT))
    assert all((a == b) == (a is b) for a in DIFFERENT for b in DIFFERENT)
    assert DIFFERENT[0] != 'a chain'


SCRIPT = """
from symdp_ros import Chain
names = [f'n{i}' for i in range(20)]
print(Chain({name: set(names) for name in names}, 'n0').digest())
print(Chain({name: {n: 1 / 20 for n in names} for name in names}, 'n0').digest())
print(Chain({'n0': {'n0': 0.25, 'n1': 0.75}, 'n1': ['n0']}, 'n0').digest())
print(Chain.complete(names, 'n0').digest())
print(Chain.complete(set(names), 'n0').digest())
"""


def digests(seed):
    """Return the digests that a process with this hash seed computes."""
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    done = subprocess.run([sys.executable, '-c', SCRIPT], capture_output=True, cwd=here,
                          env={**os.environ, 'PYTHONHASHSEED': str(seed), 'PYTHONPATH': here},
                          text=True, check=True)
    return done.stdout.split()


def test_digest_is_the_same_in_every_process():
    first, *others = [digests(seed) for seed in (0, 1, 2)]
    assert len(set(first)) == 5 and all(len(digest) == 64 for digest in first)
    assert others == [first, first]


@pytest.mark.parametrize('chain, digest', [
    (Chain({'a': ['b', 'a'], 'b': {'a': 1.0}}, 'b'),
     b'chain|b|\0\0\0\0\0\0\0\2|a|b|' + np.array([0, 2, 3], '<i8').tobytes() + b'|'
     + np.array([1, 0, 0], '<i4').tobytes() + b'|' + np.array([nan, nan, 1], '<f8').tobytes()),
    (Chain.complete(['a', 'b'], 'b'), b'complete|b|\0\0\0\0\0\0\0\2|a|b')])
def test_digest_is_frozen(chain, digest):
    """State files carry it over updates of this package; so it must not change by itself."""
    parts = digest.split(b'|')
    framed = b''.join(len(part).to_bytes(8, 'big') + part for part in parts)
    assert chain.digest() == sha256(framed).hexdigest()


# What it costs.

def held(make):
    """Return (the bytes that stay allocated, what was made)."""
    gc.collect()
    tracemalloc.start()
    try:
        made = make()
        gc.collect()
        return tracemalloc.get_traced_memory()[0], made
    finally:
        tracemalloc.stop()


def rows_of(n):
    names = [f'region_{i}' for i in range(n)]
    return {names[i]: [names[(i + j) % n] for j in (0, 1, 7, 101)] for i in range(n)}


def test_memory_of_a_chain():
    used, chain = held(lambda: Chain(rows_of(3_000), 'region_0'))
    assert len(chain) == 3_000 and used <= 1000 * 3_000


def test_memory_of_a_mechanism_that_has_been_everywhere():
    def make():
        mechanism = OnlineMechanism(Chain(rows_of(3_000), 'region_0'), Privacy(1.0),
                                    policy='paper')
        for state in mechanism.chain.states:
            mechanism.reset(state)
            mechanism.step(state)
        return mechanism

    used, mechanism = held(make)
    assert mechanism.policy == 'paper' and used <= 1000 * 3_000


@pytest.mark.parametrize('policy', ['paper', 'guided'])
def test_a_complete_chain_stores_no_edges(policy):
    def make():
        chain = Chain.complete([f'symbol_{i}' for i in range(5_000)], 'symbol_0')
        mechanism = OnlineMechanism(chain, Privacy(20.0), policy=policy)
        mechanism.privatize(['symbol_1', None, 'symbol_4999'] * 100)
        return mechanism

    used, mechanism = held(make)
    assert mechanism.chain.edge_count == 5_000**2 and used <= 1000 * 5_000
