# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What `auto` takes, live and for logs: of all that the settings leave open, what errs least.

It is chosen from chain, ε, k, length and settings alone, never from a word. Errors are averaged
over walks of the public models of how a robot moves (`analysis.accuracy.robots`), weighed as the
models are, and with the same walks for all: compared is the difference on each walk. Errors are
exact for each walk; those of adaptive are simulated, by one draw for each. What counts words
(permute-and-flip) is computed for a few walks, and elsewhere taken to differ from the exponential
mechanism with the base counting as it does there.

First there are about 100 walks. What could err less than the first by more than 0.005 (at four
standard errors of the difference) is compared with it over about 300, and then 1,000. All seeds
are fixed: the choice is the same every time, and on every machine, up to rounding.

Words longer than 192 symbols commonly err about as much per symbol, and are judged by such;
lengths above 15 by four binary digits of them, and so is k, where it is the length (of a short
word: `Privacy.for_length`). Live words have no length, and are judged as if they had 192 symbols.
On large chains there are fewer walks, and shorter ones. Left out are, where something else is
left: planned where states·edges > 3·10⁵ and adaptive above 2,000 states, whose tables take long;
both where numba is missing; what counts words where that is refused, or would take long.
"""
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np
from symdp_ros.analysis.accuracy import edges_of, errors_of_robots, patrols, robots
from symdp_ros.core.annotations import Floats
from symdp_ros.core.chain import Chain
from symdp_ros.core.mechanism import Mechanism, MOST_COUNTING_STEPS
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.registry import LIVE
from symdp_ros.errors import ConfigurationError
from symdp_ros.words.sampling_settings import SamplingSettings

LONGEST = 192  # symbols

_ROUNDS = 100, 300, 1_000  # walks
_LEAST_WALKS = 2           # of each robot
_LEAST_LENGTH = 20
_STEPS = 2 * 10**7         # symbols·edges, for each mechanism
_GAIN, _SURE = 0.005, 4.0  # errors per symbol; standard errors
_WORTH = 1e-3              # errors per symbol for which words are counted
_EQUAL = 1e-6
_PLANNED_STEPS = 3 * 10**5  # states·edges
_ADAPTIVE_STATES = 2_000


@dataclass(frozen=True)
class Expected:
    """
    What a mechanism is expected to err.

    :param error: per symbol.
    :param standard_error: of its difference from what is taken; of that itself: of the error.
    :param walks: over which it is averaged.
    """

    error: float
    standard_error: float
    walks: int


@dataclass(frozen=True)
class Comparison:
    """
    What was compared, by the names of `core.registry.name_of`.

    :param errors: the first is taken; the others by their errors.
    :param left_out: name → why.
    """

    errors: dict[str, Expected]
    left_out: dict[str, str]

    @property
    def taken(self) -> str:
        """Return the name of what is taken."""
        return next(iter(self.errors))

    def __str__(self) -> str:
        shown = '; '.join(f'{name}: {found.error:.3f}' for name, found in self.errors.items())
        error = max(found.standard_error for found in self.errors.values())
        return (f'Expected share of wrong symbols: {shown} (standard errors of the differences: '
                f'at most {error:.3f})' + ''.join(
                    f'; not compared: {name}: {why}' for name, why in self.left_out.items()))


def choose(chain: Chain, privacy: Privacy, settings: MechanismSettings, length: int = LONGEST,
           symbols: int = 0) -> tuple[MechanismSettings, Comparison | None]:
    """
    Return the settings of what is taken, and what was compared; None: nothing was left open.

    Parameters and errors as of `compare`.
    """
    available = settings.available(privacy.zones)
    if len(available) == 1:
        return next(iter(available.values())), None
    found = compare(chain, privacy, settings, length, symbols)
    return available[found.taken], found


@dataclass(frozen=True, eq=False)
class LiveChoice:
    """
    What draws live words, and why.

    :param settings: of the mechanism; they leave nothing open.
    :param sampling: of its words, in the same way.
    :param compared: what was compared; None: nothing was left open.
    """

    settings: MechanismSettings
    sampling: SamplingSettings
    compared: Comparison | None
    mechanism: OnlineMechanism


def choose_live(chain: Chain, privacy: Privacy, settings: MechanismSettings,
                sampling: SamplingSettings) -> LiveChoice:
    """
    Choose among live mechanisms as `choose`, and keep the one that was made to be compared.

    Its first draw, which may have to be compiled, is done.
    """
    available = settings.available(privacy.zones)
    compared, taken = None, next(iter(available.values()))
    if len(available) == 1:
        made = taken.online(chain, privacy)
    else:
        compared, mechanism = _compare(chain, privacy, settings, LONGEST, True)
        assert isinstance(mechanism, OnlineMechanism)
        taken, made = available[compared.taken], mechanism
    made.privatize([chain.initial_state] * 2)
    return LiveChoice(taken, sampling, compared, made)


def compare(chain: Chain, privacy: Privacy, settings: MechanismSettings, length: int = LONGEST,
            symbols: int = 0) -> Comparison:
    """
    Return the expected errors of all that the settings leave open (see the module).

    :param length: n ≥ 1, of the longest word; of live words it is not known.
    :param symbols: in all words together, where there are several: what counts words is left out
        for archives so large that it would take long.
    :raises ConfigurationError: a setting is not valid, or the length.
    """
    if not length >= 1:
        raise ConfigurationError(f'length must be at least 1, not {length!r}', setting='length')
    if privacy.adjacency == length:
        privacy = privacy.for_length(_four_digits(length))
    return _compared(chain, privacy, settings, _four_digits(min(length, LONGEST)),
                     max(length, symbols) * length * edges_of(chain) <= MOST_COUNTING_STEPS)


@lru_cache(maxsize=1_000)
def _compared(chain: Chain, privacy: Privacy, settings: MechanismSettings, length: int,
              may_count: bool) -> Comparison:
    return _compare(chain, privacy, settings, length, may_count)[0]


def _compare(chain: Chain, privacy: Privacy, settings: MechanismSettings, length: int,
             may_count: bool) -> tuple[Comparison, Mechanism]:
    """Return what was compared, and what is taken, made."""
    settings.check()
    available = settings.available(privacy.zones)
    left_out = dict(_left_out(chain, length, available, may_count))
    if len(left_out) == len(available):
        left_out = {}
    made: dict[str, Mechanism] = {
        name: (one.online if one.selection == LIVE else one.offline)(chain, privacy)
        for name, one in available.items() if name not in left_out}
    walks = _Walks(chain, length, settings.trust)
    names, found = list(made), dict[str, Expected]()
    for count in _ROUNDS:
        walks.draw(count)
        errors = {name: walks.errors(made[name]) for name in names}
        best = _first(made, {name: walks.mean(errors[name]) for name in names}, length)
        found |= {name: walks.expected(errors[name], errors[best]) for name in names}
        found[best] = walks.expected(errors[best], 0.0)
        names = [name for name in names if name == best or (
            found[name].error - found[best].error
            < _SURE * found[name].standard_error - _GAIN)]
        if len(names) == 1:
            break
    return Comparison({name: found[name] for name in sorted(
        found, key=lambda name: (name != best, found[name].error))}, left_out), made[best]


class _Walks:
    """Walks of each robot, and the errors of mechanisms on them: shape (walks,)."""

    def __init__(self, chain: Chain, length: int, trust: float):
        self._robots = list(robots(chain, trust).values())
        self._weights = chain.models(trust).prior
        self._most = _STEPS // edges_of(chain)
        least = _LEAST_WALKS * len(self._robots)
        self._length = min(length, max(_LEAST_LENGTH, self._most // least))

    def draw(self, walks: int) -> None:
        """Draw about so many in all, shared among the robots by their weights."""
        walks = min(walks, self._most // self._length)
        counts = np.maximum(_LEAST_WALKS, np.ceil(self._weights * walks - 1e-9)).astype(int)
        self._words = [patrols(robot, self._length, count)
                       for robot, count in zip(self._robots, counts.tolist(), strict=True)]
        self._ends = np.cumsum(counts)[:-1]
        self._each = np.repeat(self._weights / counts, counts)

    def errors(self, mechanism: Mechanism) -> Floats:
        """Return the expected errors per symbol of each walk."""
        return np.concatenate(errors_of_robots(mechanism, self._words))

    def mean(self, errors: Floats) -> float:
        """Return the mean over the robots by their weights."""
        return float(self._each @ errors)

    def expected(self, errors: Floats, others: Floats | float) -> Expected:
        """Return the mean, with the standard error of the difference from others."""
        variance = sum(weight**2 * part.var(ddof=1) / len(part) for weight, part in zip(
            self._weights, np.split(errors - others, self._ends), strict=True))
        return Expected(self.mean(errors), sqrt(variance), len(errors))


def _first(made: dict[str, Mechanism], errors: dict[str, float], length: int) -> str:
    """Return what errs least: of equals, the first. Words are counted only where that pays."""
    price = {name: _WORTH if made[name].law.counting_steps(length) else 0.0 for name in errors}
    least = min(errors[name] + price[name] for name in errors)
    return next(name for name in errors if errors[name] + price[name] <= least + _EQUAL)


def _left_out(chain: Chain, length: int, available: dict[str, MechanismSettings],
              may_count: bool) -> Iterator[tuple[str, str]]:
    """Yield the names of what would take long, and why."""
    for name, settings in available.items():
        policy = settings.policy if settings.selection in (LIVE, 'causal') else ''
        if policy == 'planned' and len(chain) * edges_of(chain) > _PLANNED_STEPS or (
                policy == 'adaptive' and len(chain) > _ADAPTIVE_STATES):
            yield name, 'the map is large'
        elif settings.selection == 'permute_and_flip' and not may_count:
            yield name, 'it would count words for long'


def _four_digits(length: int) -> int:
    """Return a length, rounded down to its first four binary digits."""
    unit = 1 << max(0, length.bit_length() - 4)
    return length // unit * unit
