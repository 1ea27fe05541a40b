# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The numbers of the experiments: exact, and by simulated words with public seeds."""
from math import exp
from random import Random

import numpy as np
from studies.paper.town import ROUTE, SPARSE_FILE, STARTS
from symdp_ros.analysis.accuracy import accuracy
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.maps import read_chain

WORDS = 1_000
DRAWN = (0.1, 1.0, 3.0, 5.0, 10.0)                              # ε of the routes that are drawn
CORRECT_AT = 5.0                                                # ε of the correct transitions
POSITIONS = 5
CURVE = (0.1, *(step / 4 for step in range(1, 41)))             # ε of the exact errors,
SAMPLED = (0.1, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)        # and of the sampled ones
POLICIES = ('paper', 'guided')
MECHANISMS = (*POLICIES, 'exponential')
_DIGITS = 9  # kept of a number: platforms differ beyond


def mechanism(name, epsilon, start, random=None):
    """Return the online mechanism of a policy, or the offline one of a selection."""
    chain = read_chain(SPARSE_FILE, STARTS[start])
    if name in POLICIES:
        return OnlineMechanism(chain, Privacy(epsilon), policy=name, random=random)
    return OfflineMechanism(chain, Privacy(epsilon), selection=name, base='counting',
                            random=random)


def private_words(purpose, name, epsilon, start, count):
    """Return private words of the route; the seed is what they are for, so they repeat."""
    seed = f'{purpose}, {name}, epsilon {epsilon}, from {start}'
    drawing = mechanism(name, epsilon, start, Random(seed))
    return [drawing.privatize(ROUTE) for _ in range(count)]


def routes():
    """Return a private route for each policy and ε: policy → ε → word."""
    return {policy: {str(epsilon): private_words('route', policy, epsilon, 'start', 1)[0]
                     for epsilon in DRAWN} for policy in ('paper', 'guided')}


def correct_exactly(policy, start):
    """Return P[o_t = w_t] for the first positions t."""
    errors = accuracy(mechanism(policy, CORRECT_AT, start), ROUTE).per_position
    return (1 - errors[:POSITIONS]).round(_DIGITS).tolist()


def correct_sampled(policy, start):
    """Return the share of private words with o_t = w_t, for the first positions t."""
    words = private_words('correct transition', policy, CORRECT_AT, start, WORDS)
    return (np.array(words) == np.array(ROUTE)).mean(axis=0)[:POSITIONS].tolist()


def map_size():
    """Return how many states and moves there are, the most from a state, and N on the route."""
    chain = read_chain(SPARSE_FILE)
    return {'states': len(chain), 'moves': chain.edge_count,
            'most': max(chain.out_degrees().tolist()),
            'along': [len(chain.successors(street))
                      for street in (STARTS['start'], *ROUTE[:POSITIONS - 1])]}


def correct_bound():
    """Return τ(N_max), of the remark after Theorem 7."""
    return round(1 / ((map_size()['most'] - 1) * exp(-CORRECT_AT) + 1), _DIGITS)


def error_exactly(name, epsilon, start):
    """Return E[d]."""
    return round(accuracy(mechanism(name, epsilon, start), ROUTE).mean, _DIGITS)


def error_sampled(name, epsilon, start):
    """Return the average of d over private words."""
    words = private_words('error', name, epsilon, start, WORDS)
    return float((np.array(words) != np.array(ROUTE)).sum()) / WORDS


def numbers():
    """Return all numbers of `numbers.json`."""
    return {
        'map': map_size(),
        'words': WORDS,
        'starts': STARTS,
        'route': list(ROUTE),
        'private_routes': routes(),
        'correct_transition': {
            'epsilon': CORRECT_AT,
            'bound_with_most_moves': correct_bound(),
            **{start: {policy: {'exact': correct_exactly(policy, start),
                                'sampled': correct_sampled(policy, start)}
                       for policy in POLICIES} for start in ('start', 'detour')},
        },
        'average_error': {
            'epsilon': {'exact': CURVE, 'sampled': SAMPLED},
            **{start: {name: {'exact': [error_exactly(name, e, start) for e in CURVE],
                              'sampled': [error_sampled(name, e, start) for e in SAMPLED]}
                       for name in MECHANISMS} for start in STARTS},
        },
    }
