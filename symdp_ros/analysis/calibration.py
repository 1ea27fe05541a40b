# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The ε that a wanted error needs, from the chain alone."""
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count
from math import log

from symdp_ros.analysis.accuracy import accuracy, average_accuracy, check_walks, mean_stay, patrols
from symdp_ros.core.annotations import Word
from symdp_ros.core.chain import Chain
from symdp_ros.core.mechanism import Mechanism, MOST_COUNTING_STEPS
from symdp_ros.core.models import check_base
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.offline.distances import Counts
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.registry import CHOICES, DEFAULT_TRUST, POLICIES, WHOLE_WORD
from symdp_ros.errors import ConfigurationError

#: Names of mechanisms as people choose them: live ones by policy, then those for logs.
_POLICIES = {f'live, {policy}': policy for policy in POLICIES}
LIVE = tuple(_POLICIES)
_SIMULATED = 'live, adaptive'
LOGGED = WHOLE_WORD
MECHANISMS = (*LIVE, *LOGGED)

_LARGEST_EPSILON = 60.0
_TOLERANCE = 1e-3  # relative, of a solved ε


@dataclass(frozen=True)
class Error:
    """Expected error per symbol, and the standard error of that (0: exact)."""

    mean: float
    standard_error: float


class Calibration:
    """
    Expected error per symbol by mechanism and ε, for one chain, k and length.

    :param word: the word whose error is meant; None: averaged over walks by P (see
        `analysis.accuracy.patrols`), so that nothing sensitive is needed.
    :param walks: how many, at least 2; the same ones for all mechanisms and every ε.
    :param trust: how far the chain's P is trusted, by the base measure and by 'adaptive'.
    :raises PrivacyError: the adjacency is out of range.
    :raises ConfigurationError: `length`, `walks` or `trust` out of range.
    """

    def __init__(self, chain: Chain, adjacency: int, length: int, *,
                 word: Sequence[str | None] | None = None, walks: int = 40,
                 trust: float = DEFAULT_TRUST):
        Privacy(0.0, adjacency)
        check_base('chain', trust)
        self._chain, self._adjacency, self._length = chain, adjacency, length
        self._trust = trust
        self._word, self._walks = word, walks
        self._words: Sequence[Word] = (check_walks(patrols(chain, length, walks)) if word is None
                                       else [word])
        self._counts: dict[tuple[str | None, ...], Counts] = {}  # of the words
        self._found: dict[str, dict[float, Error]] = {}  # by mechanism and ε

    def __repr__(self) -> str:
        words = f'{self._walks} walks' if self._word is None else 'a given word'
        return (f'<Calibration: {words} of length {self._length}, k = {self._adjacency}, '
                f'{self._chain}>')

    @property
    def mean_stay(self) -> float | None:
        """Return how many symbols the walks stay in a state on average; None of a given word."""
        return mean_stay(self._words) if self._word is None else None

    def mechanisms(self) -> tuple[str, ...]:
        """Return the mechanisms that can serve this length."""
        walks = self._walks if self._word is None else 1
        return tuple(name for name in MECHANISMS if name in LIVE or walks * self._mechanism(
            name, 0.0).law.counting_steps(self._length) <= MOST_COUNTING_STEPS)

    def error(self, name: str, epsilon: float) -> Error:
        """
        Return the expected error of a mechanism at ε.

        The walks are the same at every ε, so a curve over ε is smooth: all of it may be off by
        `standard_error`.
        """
        found = self._found.setdefault(name, {})
        if epsilon not in found:
            found[epsilon] = self._error(name, epsilon)
        return found[epsilon]

    def _error(self, name: str, epsilon: float) -> Error:
        mechanism = self._mechanism(name, epsilon)
        if self._word is not None:
            of_word = accuracy(mechanism, self._word)
            return Error(of_word.mean / len(self._word), of_word.standard_error / len(self._word))
        found = average_accuracy(mechanism, self._words)
        return Error(found.error, found.standard_error)

    def epsilon_for(self, name: str, target: float) -> float | None:
        """
        Return the least ε at which the error is at most `target`, to 0.1 %.

        None where 60 is not enough. Errors that are known already are used.
        """
        if self.error(name, 0.0).mean <= target:
            return 0.0
        high = 1.0
        while self.error(name, high).mean > target:
            if high == _LARGEST_EPSILON:
                return None
            high = min(2 * high, _LARGEST_EPSILON)
        known = self._found[name]
        high = min(epsilon for epsilon, error in known.items() if error.mean <= target)
        low = max(epsilon for epsilon, error in known.items()
                  if error.mean > target and epsilon < high)
        steps = count(1)
        while high - low > _TOLERANCE * high and high > _TOLERANCE:
            above, below = (log(max(known[end].mean, 1e-12) / max(target, 1e-12))
                            for end in (low, high))
            middle, side = (low + high) / 2, next(steps) % 4
            if side and above > below:  # beside where ln of the error, a line, meets the target
                near = low + (high - low) * above / (above - below)
                near += (0.4 if side % 2 else -0.4) * _TOLERANCE * high
                middle = near if low < near < high else middle
            if self.error(name, middle).mean > target:
                low = middle
            else:
                high = middle
        return high

    def table(self, epsilons: Iterable[float],
              done: Callable[[str], None] = lambda text: None) -> dict[float, dict[str, Error]]:
        """
        Return ε → mechanism → expected error.

        :param done: called with a few words after each of them, on any thread.
        """
        names, epsilons = self.mechanisms(), list(epsilons)

        def find(name: str, epsilon: float) -> None:
            self.error(name, epsilon)
            done(f'{name} at ε = {epsilon:g}')

        _two_at_a_time([(name, partial(find, name, epsilon))
                        for epsilon in epsilons for name in names])
        return {epsilon: {name: self.error(name, epsilon) for name in names}
                for epsilon in epsilons}

    def needed(self, target: float,
               done: Callable[[str], None] = lambda text: None) -> dict[str, float | None]:
        """
        Return mechanism → `epsilon_for` this target.

        :param done: as for `table`.
        """
        found: dict[str, float | None] = dict.fromkeys(self.mechanisms())

        def find(name: str) -> None:
            found[name] = self.epsilon_for(name, target)
            done(f'the ε of {name}')

        _two_at_a_time([(name, partial(find, name)) for name in found])
        return found

    def _mechanism(self, name: str, epsilon: float) -> Mechanism:
        privacy = Privacy(epsilon, self._adjacency)
        if name in _POLICIES:
            return OnlineMechanism(self._chain, privacy, policy=_POLICIES[name],
                                   trust=self._trust)
        if name not in LOGGED:
            raise ConfigurationError(f'{name!r} is no mechanism: it must be one of '
                                     + '; '.join(MECHANISMS), setting='mechanism')
        selection, base = CHOICES[name]
        mechanism = OfflineMechanism(self._chain, privacy, selection=selection, base=base,
                                     trust=self._trust)
        mechanism.law.keep_counts(self._counts)
        return mechanism


def _two_at_a_time(jobs: Sequence[tuple[str, Callable[[], None]]]) -> None:
    """
    Run jobs, by names of mechanisms: those that are simulated on a second thread.

    They take about as long as all others, and leave Python free to run those meanwhile.
    """
    with ThreadPoolExecutor(1) as second:
        futures = [(second.submit(job), job) for name, job in jobs if name == _SIMULATED]
        try:
            for name, job in jobs:
                if name != _SIMULATED:
                    job()
            for future, job in reversed(futures):
                if future.cancel():
                    job()
                else:
                    future.result()
        finally:
            second.shutdown(cancel_futures=True)
