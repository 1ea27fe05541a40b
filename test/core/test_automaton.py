# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The automaton: counts and policies by hand and by enumeration, what Algorithm 1 would count."""
from collections import Counter
from fractions import Fraction
from math import comb, prod

from hypothesis import given
from hypothesis import strategies as st
from offline_checks import ALPHA, distance
from p_values import chi_square_p
import pytest
from refusals import refused
from strategies import CHAINS, chains, feasible_words, FOUR, replayable_random, words
from symdp_ros import Chain, ChainError, ConfigurationError, UnknownSymbolError
from symdp_ros.core.offline.automaton import HammingAutomaton

ABC = Chain.complete(['a', 'b', 'c'], 'a')


def test_more_errors_than_symbols_were_read_cannot_be():
    automaton = HammingAutomaton(ABC, list('abc'), 2)
    assert [[automaton.count(position, errors, 'a') for errors in range(3)]
            for position in range(4)] == [[12, 0, 0], [4, 4, 0], [0, 2, 1], [0, 0, 1]]


def test_algorithm_1_taken_literally_counts_3():
    """V(q) as a sum over successor states q, of which several symbols reach the same one."""
    def literally(position, errors):
        if position == 3:
            return int(errors == 2)
        return literally(position + 1, errors) + literally(position + 1, errors + 1)

    assert literally(0, 0) == comb(3, 2) == 3 != HammingAutomaton(ABC, list('abc'), 2).word_count


def test_s1_s2_s3_at_distance_2():
    """
    Of the 16 words of FOUR from s0, six are at distance 2 from s1 s2 s3, by hand.

    They are s1 s1 s1, s1 s1 s2, s2 s0 s3, s3 s3 s3, s3 s0 s3 and s3 s2 s0.
    """
    word = ('s1', 's2', 's3')
    assert [HammingAutomaton(FOUR, word, d).word_count for d in range(4)] == [0, 1, 6, 9]
    automaton = HammingAutomaton(FOUR, word, 2)
    assert automaton.policy(0, 0, 's0') == {'s1': Fraction(1, 3), 's2': Fraction(1, 6),
                                            's3': Fraction(1, 2)}
    assert automaton.policy(1, 0, 's1') == {'s1': 1}
    assert automaton.policy(2, 1, 's1') == {'s1': Fraction(1, 2), 's2': Fraction(1, 2)}
    assert automaton.policy(1, 1, 's3') == {s: Fraction(1, 3) for s in ('s3', 's0', 's2')}
    assert [state for state in automaton.states() if state.position == 1] == [
        (1, 0, 's1'), (1, 1, 's2'), (1, 1, 's3')]


@pytest.mark.parametrize('chain', CHAINS.values(), ids=CHAINS)
def test_the_edges(chain):
    """They carry the policy; the walks over them are the words, equally likely."""
    word = [*chain.states[:2], None, chain.states[0]]
    for errors in range(5):
        automaton = HammingAutomaton(chain, word, errors)
        walks = {(): (1, (0, 0, chain.initial_state))}
        edges, states = list(automaton.edges()), list(automaton.states())
        assert len(set(states)) == len(states) and len(set(edges)) == len(edges)
        assert {e.source for e in edges} | {e.target for e in edges} == set(states)
        for position in range(4):
            walks = {(*walk, edge.target.state): (chance * edge.probability, edge.target)
                     for walk, (chance, here) in walks.items() for edge in edges
                     if edge.source == here and here[0] == position}
        expected = [w for w in feasible_words(chain, 4) if distance(word, w) == errors]
        assert {w: c for w, (c, _) in walks.items()} == dict.fromkeys(
            expected, Fraction(1, max(1, len(expected))))
        assert all(e.is_error == (e.target.state != word[e.source.position]) for e in edges)


@given(st.data())
def test_counts_and_policies_against_enumeration(data):
    chain = data.draw(chains(max_states=4))
    word = data.draw(words(chain, max_size=4))
    outputs = list(feasible_words(chain, len(word)))
    counts = Counter(distance(word, o) for o in outputs)
    for errors in range(len(word) + 1):
        automaton = HammingAutomaton(chain, word, errors)
        assert automaton.word_count == counts[errors]
        for output in outputs:
            if distance(word, output) == errors:
                before = [chain.initial_state, *output]
                policies = [automaton.policy(t, distance(word[:t], output[:t]), before[t])
                            for t in range(len(word))]
                assert all(sum(policy.values()) == 1 for policy in policies)
                assert prod(p[o] for p, o in zip(policies, output, strict=True)) == Fraction(
                    1, counts[errors])


def test_samples_are_uniform():
    random = replayable_random()
    automaton = HammingAutomaton(FOUR, ['s1', None, 's3', 's0'], 3)
    expected = [o for o in feasible_words(FOUR, 4) if distance(['s1', None, 's3', 's0'], o) == 3]
    counts = Counter(tuple(automaton.sample(random)) for _ in range(20_000))
    assert set(counts) == set(expected) and len(expected) == automaton.word_count
    p = chi_square_p([counts[o] for o in expected], [20_000 / len(expected)] * len(expected))
    print(f'n = 20000, {len(expected)} words, p = {p}')
    assert p > ALPHA
    assert automaton.sample()


def test_a_long_word_has_exact_counts():
    assert HammingAutomaton(ABC, list('abc' * 50), 70).word_count == comb(150, 70) * 2**70


def test_the_empty_word():
    automaton = HammingAutomaton(FOUR, [], 0)
    assert automaton.word_count == 1 and automaton.sample() == [] and not list(automaton.edges())
    assert list(automaton.states()) == [(0, 0, 's0')]


@pytest.mark.parametrize('errors', [-1, 4, 1.0, True, None, '1'])
def test_a_distance_that_is_none(errors):
    with refused(ConfigurationError, 'integer from 0 to 3', setting='distance'):
        HammingAutomaton(ABC, list('abc'), errors)


def test_what_is_no_chain():
    with refused(ChainError, 'of type dict'):
        HammingAutomaton({'a': ['a']}, ['a'], 1)


def test_symbols_that_are_no_states():
    with pytest.raises(UnknownSymbolError):
        HammingAutomaton(ABC, list('abx'), 1)


def test_no_policy():
    automaton = HammingAutomaton(FOUR, ['s1', 's2', 's3'], 0)
    assert automaton.word_count == 0 and not list(automaton.states())
    with refused(ConfigurationError, setting='distance'):
        automaton.sample()
    with refused(ConfigurationError, setting=None):
        automaton.policy(0, 0, 's0')
    for arguments in ((3, 0, 's0'), (4, 0, 's0'), (0, 1, 's0'), (-1, 0, 's0')):
        with pytest.raises(ConfigurationError):
            automaton.policy(*arguments)
    with refused(ChainError, state='nowhere'):
        automaton.policy(0, 0, 'nowhere')
