# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What can be inferred from private symbols. This is post-processing: it costs no privacy.

The model: the true region s_t moves from the initial state by the public models P_m of the chain
and the hidden switch T between them (`core.models`; `trust` of the mechanism is theirs), and o_t
is drawn from μ(· | s_t, o_{t−1}), the online mechanism's. With m_t the model by which the robot
moves to s_t, and the beliefs

    b_t(m, s) = P[m_{t+1} = m, s_t = s | o_1 … o_t],  c_t(m, s) the same given o_1 … o_n,

    b_t(m, s)  ∝  μ(o_t | s, o_{t−1}) · p_t(m, s),
    p_t(m', s')  =  Σ_m T(m'|m) · Σ_s P_m(s'|s) · b_{t−1}(m, s),                               (1)
    c_t(m, s)  =  b_t(m, s) · Σ_{s'} P_m(s'|s) · Σ_m' T(m'|m) · c_{t+1}(m', s') / p_{t+1}(m', s'),
    c_n  =  b_n,                                                                               (2)

exactly, for every policy but 'adaptive', and so for causal release, which is the online mechanism
over a word. What is returned is b_t(s) and c_t(s), their sums over the models: P[s_t = s | …].
(What 'adaptive' publishes is no draw: whoever has its signals knows
`OnlineMechanism.posterior`.)

**No output rules everything out.** μ(o|s, o') ≥ a/T > 0 for every s and every feasible o
(`core.online.response`: a ≥ 1), and p_t sums to 1, so the sum in (1) is at least a/T: also where
a robot was moved by hand to where no model says that it can be.

**Never worse than the private route,** in expectation over the model: the state of largest c_t
(b_t) has the most expected matches of all functions of o_1…o_n (o_1…o_t), and o_t is one of them;
`best_route` has the most of all feasible routes, and o_1…o_n is one of them.

States that come to less than 10⁻²⁰⁰ in (1) count as impossible. So (2) divides by no less than
about 10⁻²²⁰ and stays within the range of floats, however long the word.

An unknown region is not modelled: the robot is taken to be in some state always.
"""
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import takewhile
from math import isqrt

import numpy as np
from symdp_ros.core.annotations import Floats, Ints
from symdp_ros.core.chain import Chain
from symdp_ros.core.mechanism import listed_word
from symdp_ros.core.models import Models
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.online.adaptive.many import NO_SYMBOL, Seen, seen, seen_alone
from symdp_ros.core.online.adaptive.tables import AdaptiveTables
from symdp_ros.core.online.counts import SignalNumbers
from symdp_ros.core.zones import Signal
from symdp_ros.errors import ChainError, ConfigurationError

_IMPOSSIBLE = 1e-200
_KEPT = 2**22  # numbers of likelihoods that are kept
_MOST_BYTES = 2**26  # of b_t and p_t of all positions


class Filter:
    """
    The beliefs b_t of equation (1), symbol by symbol, in O(models·edges) time each.

    As much memory; on a complete chain O(states). Use it from one thread. The beliefs are those of
    the mechanism's chain, ε, k and policy: with other settings than those that drew the symbols
    they are wrong, without any sign of it. Its `trust` may be any.

    :param mechanism: as the one that draws the symbols; nothing is drawn from it.
    :raises ConfigurationError: policy 'adaptive': what it publishes is decoded from signals.
    """

    def __init__(self, mechanism: OnlineMechanism):
        if mechanism.tables is not None:
            raise ConfigurationError(
                'what the policy adaptive publishes is not drawn, but decoded from signals, so it '
                'has no likelihood: ask the mechanism itself for its `posterior`',
                setting='policy')
        self._mechanism, self._models = mechanism.another(), _models(mechanism)
        self.reset()

    def __repr__(self) -> str:
        return f'Filter({self._mechanism})'

    @property
    def beliefs(self) -> Floats:
        """Return b_t of each state: shape (states,), summing to 1; before o_1, all at s_0."""
        return self._beliefs

    @property
    def best(self) -> str:
        """Return the most probable state, the first of `states` where several are."""
        return self._mechanism.chain.states[int(self._beliefs.argmax())]

    @property
    def previous(self) -> str:
        """Return the last private symbol; before the first one, the initial state."""
        return self._mechanism.previous

    def reset(self) -> None:
        """Begin a new word: the true region and the private one are the initial state."""
        chain = self._mechanism.chain
        self._mechanism.reset()
        self._set(self._models.begin(chain.state_index[chain.initial_state], len(chain)))

    def update(self, output: str) -> Floats:
        """
        Take in the next private symbol and return the beliefs: shape (states,), not writable.

        :raises ChainError: it cannot follow the last one; nothing changes.
        """
        likelihood = self._mechanism.current_likelihood(output)
        if not likelihood[0]:
            raise ChainError(f'the private symbol {output!r} cannot follow {self.previous!r}',
                             state=output)
        self._mechanism.advance(output)
        return self._set(_posterior(self._models.forward(self._joint), likelihood))

    def _set(self, joint: Floats) -> Floats:
        self._joint, self._beliefs = joint, joint.sum(axis=0)
        self._beliefs.flags.writeable = False
        return self._beliefs


def smooth(mechanism: OnlineMechanism, outputs: Iterable[str]) -> Floats:
    """
    Return c_t of equation (2) for each position of a private word: shape (n, states).

    For words of an online mechanism and for causal releases: `mechanism` is the online one, with
    the release's policy; with 'adaptive', the word is one of signals, never of reports. (The
    exponential mechanism on a complete chain draws as the online one with policy='paper'.)
    O(n·models·edges) time; the result, 8·n·states bytes, and 16·√n·models·states bytes meanwhile,
    are all that grows with n.

    :raises ChainError: the word is not feasible from the initial state.
    """
    return smooth_together(mechanism, [outputs])[:, :, 0]


def smooth_together(mechanism: OnlineMechanism, words: Iterable[Iterable[Signal]],
                    models: Models | Sequence[Models] | None = None,
                    clock: tuple[int, int] = (1, 1)) -> Floats:
    """
    Return `smooth` of each of some private words of one length: shape (ticks, states, words).

    :param words: with zones, of what `OnlineMechanism.advance` takes.
    :param models: how the robot moves in a tick, or that for each word; None: those of the
        mechanism's chain and trust.
    :param clock: the number of the first symbol's tick, from 1, and ticks from each symbol to the
        next. The last symbol's tick is the last one.
    :raises ChainError: a word is not feasible from the initial state, or cannot have been drawn.
    """
    chain = mechanism.chain
    if models is None:
        models = _models(mechanism)
    if mechanism.tables is not None:
        drawn = [[*word] for word in words]
        if mechanism.tables.longest(mechanism.delay) > 1:
            each = [models] * len(drawn) if isinstance(models, Models) else models
            return np.stack([
                _smooth_turns(chain, own, seen_alone(*_given(mechanism), numbers), clock)
                for own, numbers in zip(each, _numbers(mechanism, drawn), strict=True)], axis=2)
        return _by_models(chain, models, len(drawn[0]), len(drawn), _along(mechanism, drawn),
                          clock)
    routes = [_checked(chain, map(str, word)) for word in words]
    moves = [zip((chain.initial_state, *route), route, strict=False) for route in routes]

    @lru_cache(maxsize=max(1, _KEPT // len(chain)))
    def likelihood(before: str, output: str) -> Floats:
        return mechanism.likelihood(output, before)

    return _by_models(chain, models, len(routes[0]), len(routes), lambda t: np.stack(
        [likelihood(*next(steps)) for steps in moves], axis=1), clock)


def smooth_in_zones(mechanism: OnlineMechanism, zones: Ints,
                    models: Models | Sequence[Models], clock: tuple[int, int]) -> Floats:
    """
    Return `smooth_together` where the zone of each symbol is told, and nothing else is drawn.

    :param zones: the numbers of these zones: shape (words, symbols).
    """
    chain, all_zones = mechanism.chain, mechanism.privacy.zones
    assert all_zones is not None
    of = all_zones.numbers(chain)[:, None]
    return _by_models(chain, models, zones.shape[1], len(zones),
                      lambda t: (of == zones[:, t]).astype(np.float64), clock)


def _by_models(chain: Chain, models: Models | Sequence[Models], length: int, words: int,
               likelihood: Callable[[int], Floats], clock: tuple[int, int]) -> Floats:
    """Return `posteriors` of words, each with its own models."""
    if isinstance(models, Models):
        return posteriors(chain, models, length, words, likelihood, clock)
    likelihoods_at = [likelihood(t) for t in range(length)]
    parts, begin = [], 0
    while begin < words:
        end = begin + sum(1 for _ in takewhile(lambda each: each is models[begin], models[begin:]))
        some = [likely[:, begin:end] for likely in likelihoods_at]
        parts.append(posteriors(chain, models[begin], length, end - begin, some.__getitem__,
                                clock))
        begin = end
    return np.concatenate(parts, axis=2)


def _along(mechanism: OnlineMechanism, routes: list[list[Signal]]) -> Callable[[int], Floats]:
    """
    Return likelihoods of signals for `posteriors`: they depend on all signals before.

    So the function is to be asked for t = 0, 1, … in this order, once for each.
    """
    rows = seen(*_given(mechanism), _numbers(mechanism, routes))
    return lambda t: next(rows)[1]


def _given(mechanism: OnlineMechanism) -> tuple[AdaptiveTables, int | None, int]:
    chain, tables = mechanism.chain, mechanism.tables
    assert tables is not None
    return tables, mechanism.delay, chain.state_index[chain.initial_state]


def _numbers(mechanism: OnlineMechanism, routes: list[list[Signal]]) -> Ints:
    """Return signals as `OnlineMechanism.draw_signals` does: shape (words, symbols)."""
    numbers = SignalNumbers(mechanism.chain.states, mechanism.privacy.zones)

    def number(signal: Signal) -> int:
        try:
            return NO_SYMBOL if signal is None else numbers.number(signal)
        except KeyError:
            raise ChainError(f'{signal!r} founded no cell: it is no state',
                             state=signal if isinstance(signal, str) else None) from None

    return np.array([[number(signal) for signal in route] for route in routes], np.int64)


def _smooth_turns(chain: Chain, models: Models, told: list[Seen],
                  clock: tuple[int, int]) -> Floats:
    """
    Return c_t(s) of one word of signals, of which some are about blocks: shape (ticks, states).

    As `posteriors` for one word. Within a block the last axis is that of the counts so far.
    """
    first, each = clock
    length = first + (len(told) - 1) * each
    here = models.begin(chain.state_index[chain.initial_state], len(chain))[:, :, None]
    span = max(1, length if 20 * length * here.nbytes <= _MOST_BYTES else isqrt(length))
    by_tick: list[Seen | tuple[None, None]] = [
        (None, None) if (t + 1 - first) % each else told[(t + 1 - first) // each]
        for t in range(length)]

    def go_over(begin: int, here: Floats) -> tuple[list[Floats], Floats]:
        priors = []
        for turns, likelihood in by_tick[begin:begin + span]:
            prior = models.forward(here)
            priors.append(prior)
            here = prior if turns is None else turns.forward(prior)
            here = here if likelihood is None else here * likelihood
            here = here / here.sum()
            here[here < _IMPOSSIBLE] = 0.0
        return priors, here

    starts, priors = list[Floats](), list[Floats]()
    for begin in range(0, length, span):
        starts.append(here)
        priors, here = go_over(begin, here)
    result, later = np.empty((length, len(chain))), np.ones_like(here)
    for begin in range(span * (len(starts) - 1), -1, -span):
        if not priors:
            priors, _ = go_over(begin, starts[-1])
        starts.pop()
        for t in range(begin + len(priors) - 1, begin - 1, -1):
            prior, (turns, likelihood) = priors.pop(), by_tick[t]
            later = later if likelihood is None else later * likelihood
            if turns is not None:
                padded = np.zeros((later.shape[0], later.shape[1] + 1, later.shape[2]))
                padded[:, :-1] = later
                later = turns.backward(padded)[:, :-1]
            likely = (prior * later).sum(axis=(0, 2))
            result[t] = likely / likely.sum()
            later = models.backward(later / later.max())
    return result


def smooth_with_constant_normaliser(mechanism: OfflineMechanism,
                                    outputs: Iterable[str]) -> Floats:
    """
    Return approximately c_t for a word of the exponential mechanism: shape (n, states).

    **An approximation:** P[o|w] = B^{d(w, o)} / Z(w), and Z(w) does not factor over positions; it
    is taken as constant, so that the likelihood is B where s_t ≠ o_t, and 1 where they agree. On a
    complete chain Z is constant, and the result exact. Elsewhere it need not do better than the
    private route; `test/analysis/test_belief.py` measures on small chains by how much it is off.

    :raises ConfigurationError: a mechanism of another form, or with zones.
    :raises ChainError: the word is not feasible from the initial state.
    """
    chain = mechanism.chain
    outputs, index = _checked(chain, outputs), chain.state_index
    ratio = mechanism.law.likelihood_ratio(len(outputs))
    if mechanism.privacy.zones is not None:
        raise ConfigurationError(
            'with zones there is no such smoother: where no route has the zones of the word, the '
            'released one lies in others and tells nothing of the place, and it does not show '
            'where that is. Of a causal release with the policy adaptive, `smooth` is exact: give '
            'it the signals (`OnlineMechanism.draw_signals`)', setting='zones')
    if ratio is None:
        raise ConfigurationError('this smoother is for the selection exponential, not '
                                 f'{mechanism.selection}: a causal release has an exact one, '
                                 '`smooth`', setting='selection')

    def likelihood(t: int) -> Floats:
        column = np.full((len(chain), 1), 1 / ratio)
        column[index[outputs[t]]] = 1
        return column

    return posteriors(chain, _models(mechanism), len(outputs), 1, likelihood)[:, :, 0]


def best_route(values: Floats, chain: Chain) -> list[str]:
    """
    Return the feasible route r with the largest Σ_t values[t, r_t].

    Where several have the largest, the one that comes first in the order of `successors`.
    O(n·edges) time, as much memory as the values.

    :param values: shape (n, states).
    """
    if not len(values):
        return []
    if not chain.stores_edges:
        return [chain.states[i] for i in values.argmax(axis=1).tolist()]
    offsets, targets = chain.csr()
    best = np.array(values, float)  # best[t, s]: the largest sum from t on, where s_t = s
    for here, there in zip(best[-2::-1], best[:0:-1], strict=True):
        here += np.maximum.reduceat(there[targets], offsets[:-1])
    route, state = [], chain.state_index[chain.initial_state]
    for row in best:
        edges = slice(offsets[state], offsets[state + 1])
        state = int(targets[edges][row[targets[edges]].argmax()])
        route.append(chain.states[state])
    return route


def _models(mechanism: OnlineMechanism | OfflineMechanism) -> Models:
    return mechanism.chain.models(mechanism.trust)


def posteriors(chain: Chain, models: Models, length: int, words: int,
               likelihood: Callable[[int], Floats], clock: tuple[int, int] = (1, 1)) -> Floats:
    """
    Return c_t(s) of words of which each thing seen depends on the symbol at its time alone.

    Where b_t of all positions takes more than `_MOST_BYTES`, it is kept at every √ticks-th one,
    and those between are computed again.

    :param models: how the robot moves in a tick.
    :param length: n ≥ 1, of symbols.
    :param words: how many.
    :param likelihood: t → P[what is seen at t | s_t], or a multiple of it: shape (states, words);
        asked for t = 0 … n−1 in this order.
    :param clock: as of `smooth_together`.
    :return: shape (ticks, states, words).
    """
    first, each = clock
    length = first + (length - 1) * each
    result = np.empty((length, len(chain), words))  # of each position, its likelihood first
    start = models.begin(chain.state_index[chain.initial_state], len(chain))
    here = np.repeat(start[:, :, None], words, axis=2)
    span = max(1, length if 2 * length * here.nbytes <= _MOST_BYTES else isqrt(length))
    checkpoints = []                         # b of the position before each so many
    pairs = list[tuple[Floats, Floats]]()    # b_t, p_t of the last ones

    def go_on(t: int) -> None:
        nonlocal here
        prior = models.forward(here)
        here = (np.where(prior < _IMPOSSIBLE, 0.0, prior) if (t + 1 - first) % each
                else _posterior(prior, result[t]))
        pairs.append((here, prior))

    for t in range(length):
        if t % span == 0:
            checkpoints.append(here)
            pairs.clear()
        symbol, more = divmod(t + 1 - first, each)
        result[t] = 1.0 if more else likelihood(symbol)
        go_on(t)
    following: tuple[Floats, Floats] | None = None  # c_{t+1}, p_{t+1}
    for begin in range(span * (len(checkpoints) - 1), -1, -span):
        here = checkpoints.pop()
        if not pairs:
            for t in range(begin, begin + span):
                go_on(t)
        for t in range(begin + len(pairs) - 1, begin - 1, -1):
            here, prior = pairs.pop()
            if following is not None:
                there, expected = following
                here *= models.backward(np.divide(there, expected, out=np.zeros_like(there),
                                                  where=there > 0))
                here /= here.sum(axis=(0, 1))
            result[t], following = here.sum(axis=0), (here, prior)
    return result


def _posterior(prior: Floats, likelihood: Floats) -> Floats:
    """
    Return the posterior.

    :param prior: shape (models, states) or (models, states, words).
    :param likelihood: shape (states,) or (states, words).
    """
    posterior: Floats = prior * likelihood
    posterior /= posterior.sum(axis=(0, 1))
    np.copyto(posterior, 0, where=posterior < _IMPOSSIBLE)
    return posterior


def _checked(chain: Chain, outputs: Iterable[str]) -> list[str]:
    outputs = listed_word(outputs)
    if not chain.is_feasible(outputs):
        raise ChainError('the private word is not feasible from the initial state: it was drawn '
                         'on another chain')
    return outputs
