# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The ε that a wanted error needs, from the chain alone."""
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import count
from math import log

from symdp_ros.analysis.accuracy import (accuracy, averaged, check_walks, errors_of_robots,
                                         mean_stay, patrols)
from symdp_ros.core.annotations import Word
from symdp_ros.core.chain import Chain
from symdp_ros.core.mechanism import Mechanism
from symdp_ros.core.mechanism_settings import MechanismSettings, WHOLE_WORD
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.registry import (check_gone, check_trust, DEFAULT_TRUST, LIVE as LIVE_DRAWS,
                                     POLICIES)
from symdp_ros.errors import ConfigurationError

DELAYS = 1, 3, 10  # symbols; to wait for all is 'causal, adaptive'


def _live(delays: Iterable[int]) -> dict[str, MechanismSettings]:
    choices = [*((policy, 0) for policy in POLICIES), *(('adaptive', delay) for delay in delays)]
    settings = [MechanismSettings(LIVE_DRAWS, policy=policy, delay=delay)
                for policy, delay in choices]
    return {each.name: each for each in settings}


#: Names of mechanisms as people choose them: live ones by policy, then those for logs.
LIVE = tuple(_live(DELAYS))
LOGGED = tuple(WHOLE_WORD)
MECHANISMS = (*LIVE, *LOGGED)

_DRAWS = 2  # of each walk, where errors are simulated
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

    Logs that are shorter than k are drawn for as many changes as they have symbols, as releases
    are (`Privacy.for_length`).

    :param word: the word whose error is meant; None: averaged over walks (see
        `analysis.accuracy.patrols`), so that nothing sensitive is needed.
    :param walks: how many, at least 2; the same ones for all mechanisms and every ε.
    :param trust: the weight of the chain's P among the models of how a robot moves, for the base
        measure and for 'adaptive'.
    :param robots: who walks, by name: chains with the states of this one, such as
        `analysis.accuracy.robots`; each makes so many walks. None: one, by the chain's P (uniform
        moves where it is not known). The rule of `auto` is for the mean over all public models,
        by their weights: who asks for one robot may see another order.
    :param zones: as of `Privacy`; what does not know zones is left out.
    :param delays: in symbols, those of the live mechanisms of policy 'adaptive', besides none.
    :raises PrivacyError: the adjacency is out of range.
    :raises ConfigurationError: `length`, `walks` or `trust` out of range; the word has no symbol.
    """

    def __init__(self, chain: Chain, adjacency: int, length: int, *,
                 word: Sequence[str | None] | None = None, walks: int = 200,
                 trust: float = DEFAULT_TRUST, robots: Mapping[str, Chain] | None = None,
                 delays: Iterable[int] = DELAYS,
                 zones: Mapping[str, Iterable[str]] | None = None):
        if word is not None and not len(word):
            raise ConfigurationError('the word has no symbols, so no error per symbol: give one '
                                     'that has some', setting='word')
        self._privacy = Privacy(0.0, adjacency, zones)
        check_trust(trust)
        self._chain, self._length = chain, length
        self._settings = {name: replace(each, trust=trust)
                          for name, each in {**_live(delays), **WHOLE_WORD}.items()
                          if zones is None or each.knows_zones}
        self._word, self._walks = word, walks
        self._words: dict[str, Sequence[Word]] = {
            name: check_walks(patrols(robot, length, walks))
            for name, robot in (robots or {'': chain}).items()} if word is None else {'': [word]}
        self._found: dict[str, dict[float, dict[str, Error]]] = {}  # by mechanism and ε

    def __repr__(self) -> str:
        words = f'{self._walks} walks' if self._word is None else 'a given word'
        return (f'<Calibration: {words} of length {self._length}, k = {self._privacy.adjacency}, '
                f'{self._chain}>')

    @property
    def mean_stay(self) -> dict[str, float]:
        """Return how many symbols each robot stays in a state on average; of a word: none."""
        return {name: mean_stay(words) for name, words in self._words.items()
                } if self._word is None else {}

    def mechanisms(self) -> tuple[str, ...]:
        """Return the mechanisms that are compared: with zones, those that know them."""
        return tuple(self._settings)

    def error(self, name: str, epsilon: float) -> Error:
        """
        Return the expected error of a mechanism at ε, of the robot on which it errs most.

        The walks are the same at every ε, so a curve over ε is smooth: all of it may be off by
        `standard_error`.
        """
        return max(self.errors(name, epsilon).values(), key=_mean)

    def errors(self, name: str, epsilon: float) -> dict[str, Error]:
        """Return the expected error of a mechanism at ε for each robot."""
        by_epsilon = self._found.setdefault(name, {})
        if epsilon not in by_epsilon:
            by_epsilon[epsilon] = self._errors(name, epsilon)
        return by_epsilon[epsilon]

    def _errors(self, name: str, epsilon: float) -> dict[str, Error]:
        mechanism = self._mechanism(name, epsilon)
        if self._word is not None:
            of_word = accuracy(mechanism, self._word)
            return {'': Error(of_word.mean / len(self._word),
                              of_word.standard_error / len(self._word))}
        each = map(averaged, errors_of_robots(mechanism, [*self._words.values()], draws=_DRAWS))
        return {robot: Error(averages.error, averages.standard_error)
                for robot, averages in zip(self._words, each, strict=True)}

    def epsilon_for(self, name: str, target: float, *, best: bool = False) -> float | None:
        """
        Return the least ε at which the error is at most `target`, to 0.1 %, for every robot.

        None where 60 is not enough. Errors that are known already are used.

        :param best: for one robot.
        """
        of_robots = min if best else max
        return least_epsilon(
            lambda epsilon: of_robots(map(_mean, self.errors(name, epsilon).values())),
            target, _TOLERANCE, self._found.setdefault(name, {}))

    def table(self, epsilons: Iterable[float], done: Callable[[str], None] = lambda text: None,
              others: Iterable[Callable[[], None]] = ()) -> dict[float, dict[str, Error]]:
        """
        Return ε → mechanism → expected error, of the robot on which it errs most.

        :param done: called with a few words after each of them, on any thread.
        :param others: what else is to be called, on this thread, while errors are simulated.
        """
        names, epsilons = self.mechanisms(), list(epsilons)

        def find(name: str, epsilon: float) -> None:
            self.errors(name, epsilon)
            done(f'{name} at ε = {epsilon:g}')

        _two_at_a_time([*(('', other) for other in others),
                        *((name, partial(find, name, epsilon))
                          for epsilon in epsilons for name in names)])
        return {epsilon: {name: self.error(name, epsilon) for name in names}
                for epsilon in epsilons}

    def needed(self, target: float,
               done: Callable[[str], None] = lambda text: None
               ) -> dict[str, tuple[float | None, float | None]]:
        """
        Return mechanism → `epsilon_for` this target: for the best robot, and for all.

        :param done: as for `table`.
        """
        epsilons: dict[str, tuple[float | None, float | None]] = dict.fromkeys(
            self.mechanisms(), (None, None))

        def find(name: str) -> None:
            epsilons[name] = (self.epsilon_for(name, target, best=True),
                              self.epsilon_for(name, target))
            done(f'the ε of {name}')

        _two_at_a_time([(name, partial(find, name)) for name in epsilons])
        return epsilons

    def _mechanism(self, name: str, epsilon: float) -> Mechanism:
        if name not in self._settings:
            for part in str(name).split(', '):
                check_gone('mechanism', part)
            raise ConfigurationError(f'{name!r} is no mechanism: it must be one of '
                                     + '; '.join(self._settings), setting='mechanism')
        settings, privacy = self._settings[name], replace(self._privacy, epsilon=epsilon)
        return settings.made(self._chain, privacy if settings.selection == LIVE_DRAWS
                             else privacy.for_length(self._length))


def least_epsilon(error: Callable[[float], float], target: float, tolerance: float,
                  known: Iterable[float] = ()) -> float | None:
    """
    Return the least ε at which an error is at most `target`; None where 60 is not enough.

    :param error: of ε; it falls. It is asked once for each ε.
    :param tolerance: relative, and absolute, of the ε.
    :param known: those for which it need not be computed.
    :raises ConfigurationError: the target is no number ≥ 0.
    """
    if not target >= 0:
        raise ConfigurationError(f'target is {target!r}: it must be an error per symbol, at least '
                                 '0', setting='target')
    error = lru_cache(maxsize=None)(error)
    if error(0.0) <= target:
        return 0.0
    low, high = 0.0, 1.0
    while error(high) > target:
        if high == _LARGEST_EPSILON:
            return None
        low, high = high, min(2 * high, _LARGEST_EPSILON)
    for epsilon in sorted(known):
        if low < epsilon < high:
            low, high = (epsilon, high) if error(epsilon) > target else (low, epsilon)
    steps = count(1)
    while high - low > tolerance * high and high > tolerance:
        above, below = (log(max(error(end), 1e-12) / max(target, 1e-12)) for end in (low, high))
        middle, side = (low + high) / 2, next(steps) % 4
        if side and above > below:  # beside where ln of the error, a line, meets the target
            near = low + (high - low) * above / (above - below)
            near += (0.4 if side % 2 else -0.4) * tolerance * high
            middle = near if low < near < high else middle
        low, high = (middle, high) if error(middle) > target else (low, middle)
    return high


def _mean(error: Error) -> float:
    return error.mean


def _two_at_a_time(jobs: Sequence[tuple[str, Callable[[], None]]]) -> None:
    """
    Run jobs, by names of mechanisms: those that are simulated on a second thread.

    They take about as long as all others, and leave Python free to run those meanwhile.
    """
    with ThreadPoolExecutor(1) as second:
        futures = [(second.submit(job), job) for name, job in jobs if 'adaptive' in name]
        try:
            for name, job in jobs:
                if 'adaptive' not in name:
                    job()
            for future, job in reversed(futures):
                if future.cancel():
                    job()
                else:
                    future.result()
        finally:
            second.shutdown(cancel_futures=True)
