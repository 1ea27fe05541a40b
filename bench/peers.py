# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of one route against samplers of other libraries, and against the exact automaton."""
from functools import cache
from itertools import product
from math import exp, log
from random import SystemRandom
from statistics import median

from bench.chains import any_word, PRIVACY, random_chain, town
from bench.measure import against, check_shares, Figure, medians, peer, ratios, Row, side_by_side
import numpy as np
from symdp_ros.core.chain import Chain
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.offline.automaton import HammingAutomaton

#: Small enough to list every word: a peer must draw each as often as the mechanism does.
_TINY = Chain({'a': ['a', 'b', 'c'], 'b': ['a', 'c'], 'c': ['b']}, 'a')
_TINY_WORD = ['b', 'b', 'a', 'c']
_DRAWS = 20_000


def _check_draws(drawn, name):
    """Hold words drawn by a peer for `_TINY_WORD` against the mechanism's probabilities."""
    mechanism = OfflineMechanism(_TINY, PRIVACY, base='counting')
    check_shares(drawn, {word: exp(mechanism.log_probability(_TINY_WORD, word))
                         for word in product(_TINY.states, repeat=len(_TINY_WORD))}, name)


# The exact automaton.

def exact_release(chain, word, base, random):
    """
    Draw a word as the paper's Mechanism 3 does: ℓ with p(ℓ) ∝ m_ℓ·B^ℓ, then a word at distance ℓ.

    Every automaton is built once; the one to draw from is chosen while they go by.
    """
    total, chosen = 0.0, None
    for distance in range(len(word) + 1):
        automaton = HammingAutomaton(chain, word, distance)
        weight = automaton.word_count * base**distance
        total += weight
        if weight and random.random() * total < weight:
            chosen = automaton
    return chosen.sample(random)


def _automaton(length):
    def tasks():
        mechanism = OfflineMechanism(town(), PRIVACY, base='counting')
        word, random = any_word(town(), length), SystemRandom()
        base = 1 / mechanism.ratio(length)
        return {'automaton': lambda: exact_release(town(), word, base, random),
                'mechanism': lambda: mechanism.privatize(word)}
    return against(tasks, slow=['automaton'])


# dynamax.

def hidden_markov_model(chain, word, ratio):
    """
    Return (initial, transitions, log-likelihoods) whose posterior is the exponential mechanism's.

    Moves are uniform over successors, P(s'|s) = 1/N(s); the likelihood at t is R at w_t and 1
    elsewhere, times N(s) where a move follows, which takes the 1/N(s) of that move away again.
    """
    offsets, targets = chain.csr()
    counts, states = np.diff(offsets), len(chain)
    transitions = np.zeros((states, states))
    transitions[np.repeat(np.arange(states), counts), targets] = 1
    transitions /= counts[:, None]
    log_likelihoods = np.zeros((len(word), states))
    log_likelihoods[np.arange(len(word)), [chain.state_index[s] for s in word]] = log(ratio)
    log_likelihoods[:-1] += np.log(counts)
    return transitions[chain.state_index[chain.initial_state]], transitions, log_likelihoods


@cache
def _checked_dynamax():
    """Return jax and a sampler that was seen to draw from the mechanism's distribution."""
    sample = peer('dynamax.hidden_markov_model', 'dynamax').hmm_posterior_sample
    jax = peer('jax', 'dynamax')
    ratio = OfflineMechanism(_TINY, PRIVACY, base='counting').ratio(len(_TINY_WORD))
    model = [jax.numpy.asarray(part) for part in hidden_markov_model(_TINY, _TINY_WORD, ratio)]
    _, drawn = jax.vmap(lambda key: sample(key, *model))(
        jax.random.split(jax.random.PRNGKey(1), _DRAWS))
    _check_draws((tuple(_TINY.states[i] for i in row) for row in np.asarray(drawn).tolist()),
                 'dynamax')
    return jax, sample


def _dynamax(make):
    def tasks():
        jax, sample = _checked_dynamax()
        chain, length = make(), 1_000
        mechanism = OfflineMechanism(chain, PRIVACY, base='counting')
        word = any_word(chain, length)
        model = [jax.numpy.asarray(part)
                 for part in hidden_markov_model(chain, word, mechanism.ratio(length))]
        key = jax.random.PRNGKey(2)
        return {'dynamax': lambda: jax.block_until_ready(sample(key, *model)),
                'mechanism': lambda: mechanism.privatize(word)}
    return against(tasks)


# OpenFst.

def _chain_acceptor(pynini, chain, arcs):
    """Return the acceptor of the feasible words; label i+1 is state i."""
    one, index = pynini.Weight.one(arcs), chain.state_index
    acceptor = pynini.Fst(arc_type=arcs)
    acceptor.add_states(len(chain))
    acceptor.set_start(index[chain.initial_state])
    for state, i in index.items():
        for j in map(index.__getitem__, chain.successors(state)):
            acceptor.add_arc(i, pynini.Arc(j + 1, j + 1, one, j))
        acceptor.set_final(i, one)
    return acceptor.arcsort('ilabel')


def _word_acceptor(pynini, chain, word, ratio, arcs):
    """Return the acceptor of all words of one length, each at the cost ln R · d(w, o)."""
    one, cost = pynini.Weight.one(arcs), pynini.Weight(arcs, log(ratio))
    acceptor = pynini.Fst(arc_type=arcs)
    acceptor.add_states(len(word) + 1)
    acceptor.set_start(0)
    for t, symbol in enumerate(word):
        for state, j in chain.state_index.items():
            acceptor.add_arc(t, pynini.Arc(j + 1, j + 1, one if state == symbol else cost, t + 1))
    acceptor.set_final(len(word), one)
    return acceptor


def _paths(acceptor):
    """Yield the labels of each path, without epsilons."""
    paths = acceptor.paths()
    while not paths.done():
        yield [label for label in paths.ilabels() if label]
        paths.next()


def _openfst(effort):
    pynini = peer('pynini', 'pynini')

    def sampler(chain, word, arcs='log64', paths=1):
        ratio = OfflineMechanism(chain, PRIVACY, base='counting').ratio(len(word))
        words = _word_acceptor(pynini, chain, word, ratio, arcs)
        feasible = _chain_acceptor(pynini, chain, arcs)

        def sample():
            weighted = pynini.push(pynini.compose(words, feasible), push_weights=True)
            return pynini.randgen(weighted, npath=paths, select='log_prob')
        return sample

    drawn = sampler(_TINY, _TINY_WORD, paths=_DRAWS)()
    _check_draws((tuple(_TINY.states[label - 1] for label in labels)
                  for labels in _paths(drawn)), 'OpenFst')
    chain = town()
    mechanism, word = OfflineMechanism(chain, PRIVACY, base='counting'), any_word(chain, 1_000)
    tasks = {'mechanism': lambda: mechanism.privatize(word), 'OpenFst': sampler(chain, word)}
    if not effort.quick:
        tasks['OpenFst, float32'] = sampler(chain, word, 'log')
    times, note = side_by_side(tasks, effort), ''
    if not effort.quick:
        single = median(ratios(times['OpenFst, float32'], times['mechanism']))
        note = (f'OpenFst in float32, whose rounding would enter the privacy claim, takes '
                f'{single:,.0f} times as long as the mechanism.')
    yield Figure(ratios(times['OpenFst'], times['mechanism']), medians(times), note)


_EXACTLY = (
    "The whole of the paper's Mechanism 3 with exact integers: the automaton of every distance ℓ "
    'is built by `HammingAutomaton` and counted, ℓ drawn, and a word drawn from its automaton. '
    'The map is an invented town, 43 streets and 211 moves; the word is random.')
ROWS = (
    Row('automaton-14', _automaton(14), _EXACTLY),
    Row('automaton-100', _automaton(100), slow=True),
    Row('dynamax-43', _dynamax(town),
        "A hidden Markov model on the town whose posterior is the mechanism's distribution "
        "(checked by drawing 20,000 words of a tiny case); in float32, dynamax's default and its "
        'faster choice. Setting up the model is not timed.'),
    Row('dynamax-1000', _dynamax(lambda: random_chain(1_000)),
        'The same on a random chain of 1,000 states of degree 4; dynamax knows dense matrices '
        'only.', slow=True),
    Row('openfst', _openfst,
        'The acceptor of the word with its Hamming costs is composed with the acceptor of the '
        "town's moves, its weights are pushed, and one path is drawn (checked as dynamax is), in "
        'float64 as the mechanism. Building both acceptors is not timed.'),
)
