# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Words of the policies paper and guided: they go on as they should, and reveal nothing else.

Steps make the same word as `privatize`; what cannot be is refused, and nothing is changed; no
error and no object that is published tells of a symbol.
"""
import copy
import pickle
from random import Random
import traceback

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from refusals import refused
from strategies import CHAINS, chains, COMPLETE, FOUR, privacies, Scripted, symbols, words
from symdp_ros import (Chain, ChainError, ConfigurationError, OfflineMechanism, OnlineMechanism,
                       Privacy, SymdpError, UnknownSymbolError)

POLICIES = ('paper', 'guided')
ONE_WAY = Chain({'s0': ['s0', 's1'], 's1': ['far', 's1'], 'far': ['far']}, 's0')
both_policies = pytest.mark.parametrize('policy', POLICIES)
for_all_chains = pytest.mark.parametrize('chain', CHAINS.values(), ids=CHAINS)


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
UNKNOWN = [SECRET, '', SECRET.encode(), 17, 17.5, (SECRET,), [SECRET], 's0 ']


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


@pytest.mark.parametrize('word, said', [('gate', 'one string'), (17, 'of type int'),
                                        (None, 'of type NoneType')])
def test_what_is_no_word(word, said):
    for mechanism in (OnlineMechanism(FOUR, Privacy(1.0)), OfflineMechanism(FOUR, Privacy(1.0))):
        with refused(ConfigurationError, said):
            mechanism.privatize(word)


def test_whole_numbers_of_numpy():
    two, options = np.int64(2), {'policy': 'adaptive', 'trust': np.float32(0.5)}
    mechanism = OnlineMechanism(FOUR.every(two, np.uint8(1)), Privacy(1.0, two), delay=two,
                                reports=two, **options)
    assert repr(mechanism) == repr(OnlineMechanism(
        FOUR.every(2, 1), Privacy(1.0, 2), delay=2, reports=2, **options))
    assert {type(number) for number in (
        mechanism.delay, mechanism.reports, mechanism.chain.ticks)} == {int}


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
