# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The audit: the worst loss of every mechanism over all words, by enumeration.

On a small chain, all words (feasible or not, unknown symbols included), all pairs of them that
differ in at most k symbols and all feasible outputs are compared; with zones, the pairs that have
the same ones, by the mechanisms that know zones. The laws:

- online and causal, each policy: products of the fractions that are drawn from, exact; of
  'adaptive' the signals, of which all that it publishes is computed;
- exponential: as it is drawn from the weights in float64, rounding included, which are rational
  numbers (`core.offline.backward`, equation (2)): exact; on the complete chain as online.

They are compared in floats first; every pair within 10⁻⁹ of the worst then in fractions.
"""
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import inf, log

import numpy as np
from symdp_ros.core.annotations import Ints, Word
from symdp_ros.core.chain import Chain
from symdp_ros.core.law import Law
from symdp_ros.core.mechanism_settings import WHOLE_WORD
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.online.response import exp_lower_bound
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.registry import IN_ZONES, POLICIES
from symdp_ros.core.zones import Zones
from symdp_ros.errors import ConfigurationError

MOST_STATES = 4
MOST_SYMBOLS = 4
MOST_ADJACENCY = 3

_NEAR = 1e-9
_NEVER = 1e300  # −ln 0, as far as differences go


@dataclass(frozen=True)
class AuditRow:
    """The worst of one mechanism: over all adjacent words and all outputs."""

    mechanism: str          # 'online', which is also causal; or of `WHOLE_WORD`
    policy: str | None      # of 'online'
    length: int             # n
    epsilon: float
    adjacency: int          # k
    pairs: int              # ordered pairs of different words that were compared
    outputs: int
    loss: float             # ln of the largest P[o|w]/P[o|w']
    ratio: Fraction | None  # e^loss exactly; None: it is infinite
    holds: bool             # ratio ≤ e^ε, decided in fractions


def audit(chain: Chain, privacy: Privacy, length: int) -> list[AuditRow]:
    """
    Return a row for every mechanism and policy (see the module).

    Takes up to a minute at the largest sizes.

    :param chain: of at most 4 states.
    :param privacy: k at most 3.
    :param length: of the words, 1…4.
    :raises ConfigurationError: anything larger.
    """
    for name, setting, value, most in (
            ('the chain has', 'chain', len(chain), MOST_STATES),
            ('the length is', 'length', length, MOST_SYMBOLS),
            ('k is', 'adjacency', privacy.adjacency, MOST_ADJACENCY)):
        if value not in range(1, most + 1):
            raise ConfigurationError(f'{name} {value!r}: every pair of words is compared only up '
                                     f'to {most}', setting=setting)
    words = [*product((*chain.states, None), repeat=length)]
    outputs = [*_feasible(chain, length, chain.initial_state)]
    zones = None if privacy.zones is None else _zone_words(chain, privacy.zones, words)
    rows = [_drawn(OnlineMechanism(chain, privacy, policy=policy).law, words, outputs, privacy,
                   zones, 'online', policy) for policy in POLICIES
            if zones is None or policy in IN_ZONES]
    rows += [_drawn(settings.offline(chain, privacy).law, words, outputs, privacy, zones, name)
             for name, settings in WHOLE_WORD.items() if zones is None or settings.knows_zones]
    return rows


def _zone_words(chain: Chain, zones: Zones, words: Sequence[Word]) -> Ints:
    """Return the number of the zone that is told with each symbol: shape (words, n)."""
    index: dict[str | None, int] = {None: -1}
    index.update(chain.state_index)
    numbers, zone_of = np.array([[index[s] for s in word] for word in words]), zones.numbers(chain)
    last = np.full(len(words), chain.state_index[chain.initial_state])
    zones_told = np.empty_like(numbers)
    for t, column in enumerate(numbers.T):
        last = np.where(column < 0, last, column)
        zones_told[:, t] = zone_of[last]
    return zones_told


def _feasible(chain: Chain, length: int, state: str) -> Iterator[tuple[str, ...]]:
    if length == 0:
        yield ()
        return
    for after in chain.successors(state):
        for rest in _feasible(chain, length - 1, after):
            yield after, *rest


def _drawn(law: Law, words: Sequence[Word], outputs: Sequence[Sequence[str]], privacy: Privacy,
           zones: Ints | None, mechanism: str, policy: str | None = None) -> AuditRow:
    """Compare all pairs under one law, of signals where these are drawn."""
    if law.of_signals is not None:
        law, outputs = law.of_signals, law.of_signals.everything(len(words[0]))
    return _row(law, words, outputs, privacy, mechanism, policy, zones)


def _row(law: Law, words: Sequence[Word], outputs: Sequence[Sequence[str]], privacy: Privacy,
         mechanism: str, policy: str | None = None, zones: Ints | None = None) -> AuditRow:
    """
    Compare all pairs under one law: of the object that draws.

    :param zones: of each word: only those with the same ones are compared; None: all are.
    """
    table = [law.exact_probabilities(word, outputs) for word in words]
    # What no word can give tells nothing; what some can, and others cannot, tells all.
    possible = [i for i in range(len(outputs)) if any(row[i] for row in table)]
    different: dict[Fraction, int] = {}
    numbers = np.array([[different.setdefault(row[i], len(different)) for i in possible]
                        for row in table])
    exact = [*different]
    logs = np.array([log(chance.numerator) - log(chance.denominator) if chance else -_NEVER
                     for chance in exact])
    values = logs[numbers]
    coded = {symbol: i for i, symbol in enumerate({s for word in words for s in word})}
    letters = np.array([[coded[symbol] for symbol in word] for word in words])

    def compared(i: int) -> Ints:
        differ = (letters != letters[i]).sum(axis=1)
        adjacent = (differ > 0) & (differ <= privacy.adjacency)
        if zones is not None:
            adjacent &= (zones == zones[i]).all(axis=1)
        return np.flatnonzero(adjacent)

    others = [compared(i) for i in range(len(words))]
    worst = max((float((values[i] - values[some]).max()) for i, some in enumerate(others)
                 if len(some)), default=0.0)
    ratio, holds = None, False
    if worst > _NEVER / 2:
        worst = inf
    else:
        nearest = set()
        for i, some in enumerate(others):
            which, where = np.nonzero(values[i] - values[some] >= worst - _NEAR)
            pairs = numbers[i][where] * len(exact) + numbers[some[which], where]
            nearest.update(np.unique(pairs).tolist())
        ratio = max((exact[pair // len(exact)] / exact[pair % len(exact)] for pair in nearest
                     if exact[pair % len(exact)]), default=Fraction(1))
        worst = log(ratio)
        # A power, as `exp_lower_bound` ends at e⁶⁴.
        holds = ratio <= exp_lower_bound(privacy.epsilon_per_symbol)**privacy.adjacency
    return AuditRow(mechanism, policy, len(words[0]), privacy.epsilon, privacy.adjacency,
                    sum(map(len, others)), len(possible), worst, ratio, holds)
