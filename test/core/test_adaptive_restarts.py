# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Restarts of words: what is restored draws, knows and reports what the first mechanism does.

At every place of words by all policies; any other bytes are refused, and change nothing, or are a
state that gives the same bytes again.
"""
from itertools import pairwise
from math import inf, nan
from random import Random
from struct import pack

from adaptive_reference import HABIT, made, MODELS
from hypothesis import given
from hypothesis import strategies as st
import pytest
from refusals import refused
from strategies import CHAINS, COMPLETE, FOUR, grid, SPLIT
from symdp_ros import ChainError, OnlineMechanism, Privacy

pytestmark = pytest.mark.usefixtures('single_signals')

DELAYS = [0, 1, 2, 5, None]


def standing(mechanism):
    """Return all that may follow."""
    return (mechanism.state, mechanism.previous,
            [(*mechanism.exact_current_distribution(s).items(),)
             for s in (*mechanism.chain.states, None)])


@pytest.mark.parametrize('delay', DELAYS)
@pytest.mark.parametrize('chain', [*MODELS.values(), grid(3), COMPLETE],
                         ids=[*MODELS, 'grid', 'complete'])
def test_a_restart_at_every_place_changes_nothing(chain, delay):
    mechanism, random, restarted = made(chain, delay=delay), Random(3), []
    symbols = 70 if delay is None and len(chain) == 9 else 9
    for t in range(symbols):
        if t % (1 + symbols // 9) == 0:
            restarted.append(mechanism.another())
            restarted[-1].restore(mechanism.state)
            assert restarted[-1].posterior is None
        z = random.choice([*mechanism.current_distribution(None)])
        for one in (mechanism, *restarted):
            one.advance(z)
            assert standing(one) == standing(mechanism)
            if mechanism.posterior is not None:
                assert one.posterior.tolist() == mechanism.posterior.tolist()
    assert len({tuple(one.finish()) for one in (mechanism, *restarted)}) == 1


@pytest.mark.parametrize('policy', ['paper', 'guided'])
@pytest.mark.parametrize('chain', CHAINS.values(), ids=CHAINS)
def test_a_restart_of_the_other_policies(chain, policy):
    mechanism = OnlineMechanism(chain, Privacy(2.0), policy=policy, random=Random(4))
    for symbol in (*chain.states, None):
        mechanism.step(symbol)
        other = mechanism.another()
        other.restore(mechanism.state)
        assert standing(other) == standing(mechanism)
    before = standing(mechanism)
    for state in (b'', mechanism.state[:-1], mechanism.state + b'\0', b'\xff' * 4):
        with refused(ChainError, 'no state'):
            mechanism.restore(state)
        assert standing(mechanism) == before


@given(st.data(), st.sampled_from([FOUR, HABIT, SPLIT, COMPLETE]),
       st.sampled_from([0, 1, 3, None]))
def test_other_bytes_are_refused_or_are_a_state(data, chain, delay):
    mechanism = made(chain, delay=delay, random=Random(1))
    for symbol in (*chain.states, None)[:data.draw(st.integers(0, 5))]:
        mechanism.step(symbol)
    before = standing(mechanism), str(mechanism.posterior)
    content = bytearray(mechanism.state)
    for _ in range(data.draw(st.integers(1, 3))):
        begin = data.draw(st.integers(0, len(content)))
        end = begin + data.draw(st.sampled_from([0, 1, 1, 1, 4, 8, 1000]))
        content[begin:end] = data.draw(st.binary(max_size=8) | st.just(content[begin:end] * 2)
                                       | st.just(bytes(b ^ 1 for b in content[begin:end])))
    content = bytes(content)
    try:
        mechanism.restore(content)
    except ChainError:
        assert (standing(mechanism), str(mechanism.posterior)) == before
    else:
        assert mechanism.state == content and mechanism.posterior is None
        route = [mechanism.previous]
        route += filter(None, [mechanism.step(symbol) for symbol in (*chain.states, None)])
        assert all(b in chain.successors(a) for a, b in pairwise(route + mechanism.finish()))


@pytest.mark.parametrize('delay', [0, 2, None])
@pytest.mark.parametrize('place, wrong', [
    (0, pack('<Q', 2**62)), (0, pack('<Q', 2**63)), (0, b'\xff' * 8), (8, pack('<I', 3)),
    *[(-4, pack('<I', cell)) for cell in (4, 2**32 - 1)],
    *[(12, pack('<d', value)) for value in (-0.9, 2.0, 0.5, 0.0, 1e308, inf, nan)],
    (12, pack('<3d', -0.5, 1.5, 0.0)), (12, pack('<3d', 1e308, 1e308, 0.0))], ids=str)
def test_a_state_that_cannot_be(place, wrong, delay):
    """Too many symbols to be counted, a report that is no state, no cell, no probabilities."""
    mechanism = made(HABIT, trust=1.0, delay=delay, random=Random(1))
    for symbol in 'abc':
        mechanism.step(symbol)
    before = standing(mechanism)
    with refused(ChainError, 'no state'):
        mechanism.restore(before[0][:place] + wrong + before[0][place:][len(wrong):])
    assert standing(mechanism) == before


def test_the_most_symbols_that_are_counted():
    mechanism = made(HABIT, trust=1.0)
    state = pack('<Q', 2**62 - 1) + mechanism.state[8:]
    mechanism.restore(state)
    assert mechanism.state == state


@pytest.mark.parametrize('delay', [0, 2, None])
def test_states_of_others_are_refused(delay):
    mechanism = made(COMPLETE, delay=1)
    assert mechanism.ticks_left == 0
    for other in (made(COMPLETE, delay=2), made(FOUR)):
        for _ in range(2):
            other.advance([*other.current_distribution(None)][0])
        with refused(ChainError, 'no state'):
            mechanism.restore(other.state)
    mechanism = made(FOUR, delay=delay)
    for other in (made(FOUR, delay=3), made(HABIT, delay=delay), made(grid(3), delay=delay),
                  made(FOUR, delay=1), OnlineMechanism(FOUR, Privacy(1.0)),
                  made(COMPLETE, delay=delay)):
        for _ in range(5):
            other.advance([*other.current_distribution(None)][0])
        before = standing(mechanism)
        with refused(ChainError, 'no state'):
            mechanism.restore(other.state)
        assert standing(mechanism) == before


@pytest.mark.parametrize('wrong', [None, 'text', 4, [0] * 4])
def test_a_state_is_bytes(wrong):
    for mechanism in (made(FOUR), made(COMPLETE), OnlineMechanism(FOUR, Privacy(1.0))):
        mechanism.step(FOUR.initial_state if mechanism.chain is FOUR else 'x')
        before = standing(mechanism)
        with refused(ChainError, 'is bytes, not'):
            mechanism.restore(wrong)
        assert standing(mechanism) == before
