# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Words of fewer symbols than k, drawn for as many changes as they have symbols."""
from fractions import Fraction
from math import exp

from hypothesis import given
from hypothesis import strategies as st
from offline_checks import all_words, assert_private, EXCESS
import pytest
from strategies import CHAINS, COMPLETE, exp_bounds, feasible_words, FOUR, thorough
from symdp_ros import Privacy
from symdp_ros.core.mechanism_settings import CHOICES, MechanismSettings

EPSILON = 3.0
for_all_mechanisms = pytest.mark.parametrize('name', [*CHOICES, 'causal, paper'])


def law_of(chain, privacy, name, length):
    """Return word → {output or signals: chance}, exact but for what counts words."""
    settings = CHOICES.get(name, MechanismSettings('causal', policy='paper'))
    mechanism = settings.offline(chain, privacy)
    law, outputs = mechanism.law, [*feasible_words(chain, length)]
    if law.of_signals is not None:
        law = law.of_signals
        every = law.everything(length)
        word = [None] * length
        outputs = [o for o, p in zip(every, law.exact_probabilities(word, every)) if p]
    if law.exact_probabilities([None] * length, outputs[:1]) is None:
        def rounded(word):
            parts = [Fraction(exp(mechanism.log_probability(word, o))) for o in outputs]
            return {o: p / sum(parts) for o, p in zip(outputs, parts, strict=True)}
        return rounded
    return lambda word: dict(zip(outputs, law.exact_probabilities(word, outputs), strict=True))


@pytest.mark.parametrize('length, adjacency', [(1, 4), (2, 31), thorough(3, 4), (3, 2)])
@pytest.mark.parametrize('chain', [FOUR, COMPLETE], ids=['four', 'complete'])
@for_all_mechanisms
def test_every_pair_of_words_and_every_output(chain, name, length, adjacency):
    """Of words of n < k symbols every pair is adjacent; longer ones are drawn as before."""
    privacy = Privacy(EPSILON, adjacency).for_length(length)
    assert privacy == Privacy(EPSILON, min(length, adjacency))
    assert_private(chain, length, EPSILON, min(length, adjacency),
                   law_of(chain, privacy, name, length))


def worst(law, length):
    laws = [law(word) for word in all_words(COMPLETE, length)]
    return max(one[o] / other[o] for one in laws for other in laws for o in one)


@pytest.mark.parametrize('name', ['causal, guided', 'causal, adaptive', 'exponential, counting'])
def test_all_of_epsilon_serves(name):
    """
    Drawn for k changes, words of 2 symbols reach ε·2/k; drawn for 2, they reach ε.

    With adaptive, of k = 31, all states of the first symbol of the block are in one cell.
    """
    for adjacency in (8, 31):
        privacy = Privacy(EPSILON, adjacency)
        told = 1 if (name, adjacency) == ('causal, adaptive', 31) else 2
        for drawn, reached in ((privacy, EPSILON * told / adjacency),
                               (privacy.for_length(2), EPSILON)):
            limit, _ = exp_bounds(Fraction(reached))
            assert limit * (1 - Fraction(1, 10**5)) < worst(
                law_of(COMPLETE, drawn, name, 2), 2) <= limit


@pytest.mark.parametrize('name', ['causal, guided', 'exponential, counting'])
def test_the_search_finds_an_excess(name):
    law = law_of(COMPLETE, Privacy(EPSILON, 31).for_length(1), name, 2)
    with pytest.raises(AssertionError, match=EXCESS):
        assert_private(COMPLETE, 2, EPSILON, 2, law)


@pytest.mark.parametrize('chain', CHAINS.values(), ids=CHAINS)
def test_epsilon_zero_reveals_nothing(chain):
    for name in CHOICES:
        law = law_of(chain, Privacy(0.0, 9).for_length(2), name, 2)
        assert len({tuple(law(word).values()) for word in all_words(chain, 2)}) == 1, name


@given(st.floats(0, 100), st.integers(1, 10**6), st.integers(0, 10**6))
def test_the_adjacency_of_a_length(epsilon, adjacency, length):
    privacy = Privacy(epsilon, adjacency)
    short = privacy.for_length(length)
    assert short.epsilon == epsilon and short.adjacency == max(1, min(length, adjacency))
    # What adjacent words cost together is no more than before.
    assert short.epsilon_per_symbol * min(length, adjacency) <= (
        privacy.epsilon_per_symbol * adjacency)
