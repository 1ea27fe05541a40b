# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What `auto` chooses, live and for logs: by a rule, from public data alone, in microseconds.

Live, the policy `adaptive` errs least on every map, at every ε and k. (Where the map says how the
robot moves and is wrong, `guided` can err less; but nobody knows that.)

For words of n symbols it is the exponential mechanism or causal, adaptive. The first one weighs
true symbols by e^{ε/2k} each. That adds up where robots are predictable, and little of it is left
where n·ε/k is small. The other one weighs signals, which are true or not by e^{ε/k} each: the more
are true, the more it is ahead. Let g be the entropy of a move in nats, on average over the states
and the public models of how a robot moves (`core.models`). The first one is taken where
n·ε/k ≥ A·g and ε/k ≤ B − C·g:

    signals are about counts (`core.online.adaptive.blocks`)    A = 45    B = 0.7    C = 0.5
    more than 2,000 states                                      15        1.3        0.5
    `Chain.complete` of N symbols                               10        0.8        0.2

On `Chain.complete` B is 0.6·ln(N/3) larger, for N > 3. Where the settings leave no adaptive, the
first one is taken where ε/k ≤ 3, for every n. The base counting is taken only where nothing else
is left.

Where all words over an alphabet are feasible, base counting has the whole of ε/k: of the two bases
it is taken where ε/k > ln N + 5·(0.7 − g/ln N).

Where adaptive's tables would take long (states·moves > 2.5·10⁷), the lightest policy is taken.

`python -m studies.choice` holds this rule against the best of all (docs/evidence/choice.md).
"""
from functools import lru_cache
from math import log

import numpy as np
from symdp_ros.core.chain import Chain
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.registry import LIVE

_MOST_PAIRS = 2.5e7  # states·moves
#: A, B, C, against adaptive
_COUNTS, _SYMBOLS, _COMPLETE = (45.0, 0.7, 0.5), (15.0, 1.3, 0.5), (10.0, 0.8, 0.2)
_MORE, _FEW = 0.6, 3  # ε/k for each ln(N/3)
_LARGE = 3.0  # ε/k, against guided
_MOST_STATES = 2_000  # of which signals are about counts: `core.online.targets.DENSE_STATES`
_STEEP, _EVEN = 5.0, 0.7  # against counting over an alphabet


def choose(chain: Chain, privacy: Privacy, settings: MechanismSettings,
           length: int = 0) -> MechanismSettings:
    """
    Return the settings that are chosen, without 'auto'.

    :param length: n, of the longest word; of live words it is not known.
    :raises ConfigurationError: a setting is not valid.
    """
    settings.check()
    each, policies = float(privacy.epsilon_per_symbol), ['adaptive', 'guided', 'paper']
    if chain.stores_edges and len(chain) * chain.edge_count > _MOST_PAIRS:
        policies.append(policies.pop(0))
    if length and _adds_up(chain, privacy, length, _entropy(chain, settings.trust)):
        better = 0
    else:
        better = policies.index('guided') if each <= _LARGE else len(policies)
    order = [*policies[:better], 'exponential', *policies[better:], 'exponential, counting']
    if chain.is_alphabet and _counts(chain, each, settings.trust):
        order.remove('exponential')
        order.append('exponential')

    def rank(one: MechanismSettings) -> int:
        name = one.policy if one.selection in (LIVE, 'causal') else one.name
        return order.index(name) if name in order else len(order)

    return min(settings.available(privacy.zones).values(), key=rank)


def _adds_up(chain: Chain, privacy: Privacy, length: int, entropy: float) -> bool:
    """Return whether weights of true symbols tell more of a word than signals."""
    each, more = float(privacy.epsilon_per_symbol), 0.0
    if not chain.stores_edges:
        least, most, less = _COMPLETE
        more = max(0.0, _MORE * log(len(chain) / _FEW))
    else:
        least, most, less = _COUNTS if len(chain) <= _MOST_STATES else _SYMBOLS
    return length * each >= least * entropy and each <= most - less * entropy + more


def _counts(chain: Chain, each: float, trust: float) -> bool:
    """Return whether all of ε for equal words is worth more than half of it for likely ones."""
    nats = log(max(2, len(chain.successors(chain.initial_state))))
    return each > nats + _STEEP * (_EVEN - _entropy(chain, trust) / nats)


@lru_cache(maxsize=100)
def _entropy(chain: Chain, trust: float) -> float:
    """Return the entropy of a move, in nats."""
    models = chain.models(trust)
    weights = models.weights.astype(np.float64)
    nats = -weights * np.log(np.maximum(weights, 1e-300))
    if not chain.stores_edges:
        return float(models.prior @ nats @ [len(chain) - 1, 1])
    rows = np.add.reduceat(nats, chain.csr()[0][:-1], axis=1)
    return float(models.prior @ rows.mean(axis=1))
