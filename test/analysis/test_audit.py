# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The audit: its numbers against a plain search, and that it finds what breaks a promise."""
from fractions import Fraction
from itertools import product
from math import exp, log
from types import SimpleNamespace

from offline_checks import distance
from online_checks import every_signal
import pytest
from refusals import refused
from strategies import (CHAINS, COMPLETE, exp_bounds, feasible_words, FOUR, per_symbol,
                        probability, RING)
from symdp_ros import Chain, ConfigurationError, OfflineMechanism, OnlineMechanism, Privacy
from symdp_ros.analysis import audit as module
from symdp_ros.analysis.audit import audit
from symdp_ros.core.mechanism_settings import CHOICES
from symdp_ros.core.online.causal_law import Causal

MECHANISMS = [('online', 'paper'), ('online', 'guided'), ('online', 'adaptive'),
              ('exponential', None), ('exponential, counting', None), ('causal, adaptive', None)]
for_all_chains = pytest.mark.parametrize('chain', CHAINS.values(), ids=CHAINS)


@pytest.mark.parametrize('epsilon, adjacency', [(0.0, 1), (0.5, 2), (2.0, 3), (700.0, 1)])
@for_all_chains
def test_every_mechanism_keeps_its_promise(chain, epsilon, adjacency):
    for length in (1, 3) if adjacency == 3 else (2,):
        rows = audit(chain, Privacy(epsilon, adjacency), length)
        assert [(row.mechanism, row.policy) for row in rows] == MECHANISMS
        for row in rows:
            assert row.holds and 0 <= row.loss <= epsilon
            assert (row.length, row.epsilon, row.adjacency) == (length, epsilon, adjacency)
            assert row.ratio <= exp_bounds(adjacency * per_symbol(epsilon, adjacency))[0]
            assert row.loss == pytest.approx(log(row.ratio))
            if epsilon == 0:
                assert row.ratio == 1 and row.loss == 0


def plain_search(chain, length, adjacency, law):
    """Return the largest P[o|w]/P[o|w'], pair by pair."""
    laws = {word: law(word) for word in product((*chain.states, None), repeat=length)}
    return max(laws[v][o] / laws[w][o] for v in laws for w in laws
               if distance(v, w) <= adjacency for o in laws[v])


@pytest.mark.parametrize('adjacency', [1, pytest.param(2, marks=pytest.mark.thorough)])
@pytest.mark.parametrize('chain', [FOUR, COMPLETE, CHAINS['split']],
                         ids=['four', 'complete', 'split'])
def test_against_a_plain_search(chain, adjacency, monkeypatch):
    """Of signals about one symbol each; of blocks see test/core/test_blocks.py."""
    monkeypatch.setattr('symdp_ros.core.online.adaptive.tables.LONGEST', 1)
    privacy = Privacy(2.0, adjacency)
    outputs = [*feasible_words(chain, 2)]

    def online(policy, **options):
        mechanism = OnlineMechanism(chain, privacy, policy=policy, **options)
        drawn = every_signal(mechanism, 2)
        return lambda word: {output: probability(mechanism, word, output) for output in drawn}

    def offline(name):
        mechanism = CHOICES[name].offline(chain, privacy)
        return lambda word: {o: exp(mechanism.log_probability(word, o)) for o in outputs}

    for row in audit(chain, privacy, 2):
        whole = {'policy': 'adaptive', 'delay': None}  # a log: signals are chosen otherwise
        options = {'policy': row.policy or 'paper'}
        if row.mechanism == 'causal, adaptive':
            options = whole
        assert row.holds
        assert row.outputs == len(every_signal(OnlineMechanism(chain, privacy, **options), 2))
        assert row.pairs == sum(0 < distance(v, w) <= adjacency for v, w in product(
            product((*chain.states, None), repeat=2), repeat=2))
        if row.policy is not None or options is whole:
            assert row.ratio == plain_search(chain, 2, adjacency, online(**options))
        else:
            found = plain_search(chain, 2, adjacency, offline(row.mechanism))
            assert row.loss == pytest.approx(log(found), abs=1e-8)


def test_losses_by_hand():
    """N = 3, ε = ln 2 or so: 1/2 against 1/4. With one way to go, signals reveal nothing."""
    rows = audit(COMPLETE, Privacy(0.6931471805599453), 1)
    losses = {row.mechanism if row.policy is None else row.policy: row.loss for row in rows}
    # Of words that may stay, R = √2: 0.55·√2/(0.45 + 0.55·√2) against 0.55/(0.55 + 0.45·√2), …
    assert losses.pop('exponential') < log(2) - 0.2
    assert [*losses.values()] == pytest.approx([log(2)] * len(losses), abs=1e-7)
    assert max(losses.values()) <= log(2) + 1e-12
    # A signal about more symbols reveals something of words that no robot can go.
    *rows, whole = audit(RING, Privacy(5.0), 3)
    assert {row.loss for row in rows} == {0.0} and whole.holds


@pytest.mark.parametrize('mechanism', ['online', 'adaptive', 'exponential'])
def test_it_finds_a_broken_promise(mechanism):
    """A mechanism of ε = 2 + 10⁻⁶ under a promise of 2: the exact rows show it."""
    policy = 'adaptive' if mechanism == 'adaptive' else 'paper'
    chain, online = FOUR, OnlineMechanism(FOUR, Privacy(2.0 + 1e-6), policy=policy)
    law, outputs = Causal(online), every_signal(online, 2)
    if mechanism == 'adaptive':
        law = online.law.of_signals
        assert sorted(law.everything(2)) == sorted(outputs)
    if mechanism == 'exponential':
        chain, law = forced(), OfflineMechanism(forced(), Privacy(8.0)).law
        outputs = [*feasible_words(chain, 2)]
    words = [*product((*chain.states, None), repeat=2)]
    row = module._row(law, words, outputs, Privacy(2.0), mechanism)
    assert not row.holds and row.loss > 2


def forced():
    return Chain({'s': ['t', 'u'], 't': ['t'], 'u': ['t', 'u', 's']}, 's')


def test_a_nearly_broken_promise_is_decided_exactly():
    """A ratio just above e^ε, by less than a float shows."""
    limit = exp_bounds(Fraction(2))[1] + Fraction(1, 10**40)
    laws = {('x',): [limit / (1 + limit), 1 / (1 + limit)], ('y',): [1 / (1 + limit)] * 2}
    law = SimpleNamespace(exact_probabilities=lambda word, outputs: laws[word])
    row = module._row(law, [('x',), ('y',)], [('x',), ('y',)], Privacy(2.0), 'online')
    assert row.loss == 2.0 and row.ratio == limit and not row.holds


@pytest.mark.parametrize('chain, adjacency, length, what', [
    (Chain.complete(list('abcde'), 'a'), 1, 1, 'chain'), (FOUR, 4, 1, 'adjacency'),
    (FOUR, 1, 5, 'length'), (FOUR, 1, 0, 'length'), (FOUR, 1, 1.5, 'length')])
def test_larger_ones_are_refused(chain, adjacency, length, what):
    with refused(ConfigurationError, setting=what):
        audit(chain, Privacy(1.0, adjacency), length)


def test_the_largest():
    rows = audit(RING, Privacy(2.0, 3), 4)
    assert all(row.holds and row.outputs == 2 for row in rows)
