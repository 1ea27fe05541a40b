# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How the rows of the benchmark measure: side by side, interleaved, round by round."""
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
import gc
from importlib import import_module
from math import log, sqrt
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
import tracemalloc

ROUNDS = 7


class NotMeasured(Exception):
    """A row cannot be measured here; the message says why."""


@dataclass(frozen=True)
class Effort:
    """
    How much a run may do.

    :param quick: the whole run is to take less than a minute.
    :param directory: an empty temporary directory, deleted after the run.
    :param rounds: at least 7, unless a row says otherwise.
    """

    quick: bool
    directory: Path
    rounds: int = ROUNDS

    @property
    def seconds(self) -> float:
        """How long a timing should take at the least: far above the clock's resolution."""
        return self.either(0.01, 0.05)

    def either(self, quick, full):
        """Return the one that suits the run."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Figure:
    """
    What was measured for one goal.

    :param values: one for each round, in the goal's unit; the median is what counts.
    :param seconds: label → median seconds of what was timed.
    :param note: what a reader must know of this run: sizes, versions, what was left out.
    :param estimate: what this is instead of a measurement of the whole; empty where it is one.
    :param goal: its name in `goals.GOALS`; '': that of the row.
    """

    values: Sequence[float]
    seconds: Mapping[str, float] = field(default_factory=dict)
    note: str = ''
    estimate: str = ''
    goal: str = ''


@dataclass(frozen=True)
class Row:
    """
    One measurement, of one or several goals.

    :param name: for `--only`.
    :param measure: yields a Figure for each goal, or raises NotMeasured.
    :param how: for the page: what is compared, in a sentence or two; '': as in the row above.
    :param goals: names in `goals.GOALS`; none: the row's own.
    :param slow: whether the quick run leaves it out.
    """

    name: str
    measure: Callable[[Effort], Iterable[Figure]]
    how: str = ''
    goals: tuple[str, ...] = ()
    slow: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, 'goals', self.goals or (self.name,))


def quartiles_of(values: Sequence[float]) -> tuple[float, float]:
    """Return the lower and upper quartile (of one value: that one, twice)."""
    if len(values) == 1:
        return values[0], values[0]
    lower, _, upper = quantiles(values, n=4, method='inclusive')
    return lower, upper


def peer(module: str, name: str):
    """
    Return an optional module.

    :param name: of what is to be installed, for the message.
    :raises NotMeasured: it is not installed, or cannot be imported.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise NotMeasured(f'needs {name}: install the extra `bench`') from None
    except Exception as error:  # a peer whose own dependencies do not fit
        raise NotMeasured(f'{name} is installed but cannot be imported '
                          f'({type(error).__name__})') from error


@contextmanager
def no_garbage_collection():
    """Collect garbage now, and not while something is timed."""
    was_on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def seconds_of(task: Callable[[], object], repetitions: int = 1) -> float:
    """Return how long one call took, on average over the repetitions."""
    started = perf_counter()
    for _ in range(repetitions):
        task()
    return (perf_counter() - started) / repetitions


def side_by_side(tasks: Mapping[str, Callable[[], object]], effort: Effort,
                 slow: Collection[str] = ()) -> dict[str, list[float]]:
    """
    Time tasks in turn, round by round, each round in the opposite order of the one before.

    Every task is called once before, untimed, so that what is cached is there.

    :param tasks: label → what is timed.
    :param effort: each timing repeats its task until it takes about `effort.seconds`.
    :param slow: labels of tasks that take long: not called before, nor
        repeated.
    :return: label → seconds a call, one for each round.
    """
    seconds, repetitions = effort.seconds, dict.fromkeys(slow, 1)
    for label, task in tasks.items():
        if label in slow:
            continue
        task()
        once = seconds_of(task)
        if once < seconds / 10:  # a single call tells too little of the next ones
            once = seconds_of(task, max(1, min(1_000, int(seconds / 10 / max(once, 1e-9)))))
        repetitions[label] = max(1, round(seconds / max(once, 1e-9)))
    times = {label: [] for label in tasks}
    order = list(tasks)
    for _ in range(effort.rounds):
        for label in order:
            with no_garbage_collection():
                times[label].append(seconds_of(tasks[label], repetitions[label]))
        order.reverse()
    return times


def ratios(numerator: Iterable[float], denominator: Iterable[float]) -> tuple[float, ...]:
    """Return the quotient of each round."""
    return tuple(a / b for a, b in zip(numerator, denominator, strict=True))


def medians(times: Mapping[str, Iterable[float]]) -> dict[str, float]:
    """Return label → median over the rounds."""
    return {label: median(values) for label, values in times.items()}


def against(tasks: Callable[[], Mapping[str, Callable[[], object]]],
            slow: Collection[str] = ()) -> Callable[[Effort], Iterable[Figure]]:
    """Return what measures a row of one goal: the first of two tasks, in units of the second."""
    def measure(effort: Effort) -> Iterable[Figure]:
        times = side_by_side(tasks(), effort, slow)
        yield Figure(ratios(*times.values()), medians(times))
    return measure


def memory_of(make: Callable[[], object]) -> tuple[int, int]:
    """Return the bytes that what is made holds on to, and the most that were held meanwhile."""
    with no_garbage_collection():
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            kept = make()
            after, peak = tracemalloc.get_traced_memory()
            del kept
        finally:
            tracemalloc.stop()
    return after - before, peak - before


def check_shares(drawn: Iterable[Hashable], expected: Mapping[Hashable, float],
                 name: str) -> None:
    """
    Hold what a peer draws against the chances that it should have: it must do the same work.

    :raises NotMeasured: a share is off by more than Hoeffding's bound allows at α = 10⁻⁶.
    """
    counts = Counter(drawn)
    bound = sqrt(log(2 * len(expected) / 1e-6) / (2 * counts.total()))
    for each in {*counts, *expected}:
        chance = expected.get(each, 0.0)
        if abs(counts[each] / counts.total() - chance) > bound or (counts[each] and not chance):
            raise NotMeasured(f'{name} draws from another distribution here')
