# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
From a log to the word that ε protects.

A log is a sequence of (stamp in nanoseconds, value); a value is a string, or None where the log
itself says that there is none. The word is what is sampled from it, as the node `privatizer`
does it live:

`message`  each message is one symbol.
`change`   as `message`, then consecutive repeats are dropped.
`period`   one symbol at every tick, T seconds apart from the first message's stamp to the last
           one's: the region of the latest message up to then. A tick is unknown where that
           message names no region, or is older than `input_timeout`.

An unknown region is None, one more symbol of the word. What becomes of it:

`uniform`  it stays: for the mechanism, it differs from every state.
`drop`     it is left out; the length of the word then tells how many were known. Not with
           `period`: missing symbols would show when it was unknown.
`split`    the log is cut at every run of unknown symbols into several words, each released by
           itself. ε protects each of them; their number and lengths, and so where the log was
           cut, are then public.
`hold`     the last known region takes its place; before the first known one it stays None. ε
           then protects the held word: one measured region may fill many of its symbols, and k
           counts symbols of the held word, not measurements.

`drop`, `split` and `hold` come before the repeats of `change` are dropped.
"""
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from symdp_ros.errors import LogError
from symdp_ros.files.bounds import MOST_SYMBOLS
from symdp_ros.words import stamps
from symdp_ros.words.sampling_settings import SamplingSettings

Log = Sequence[tuple[int, str | None]]
Word = list[str | None]


def sample(log: Log, table: Mapping[str, str],
           sampling: SamplingSettings = SamplingSettings()) -> list[Word]:
    """
    Return the words of a log; empty words are left out.

    Only `split` can give more than one word.

    :param log: in the order of its stamps.
    :param table: value → state; any other value is unknown (`messages.symbols.symbol_table`).
    :raises ConfigurationError: a setting that is not valid.
    :raises LogError: more than 10,000,000 ticks.
    """
    word = [None if value is None else table.get(value) for _, value in _entries(log, sampling)]
    words = _UNKNOWN[sampling.unknown_symbol](word)
    if sampling.rule == 'change':
        words = [[symbol for symbol, _ in groupby(word)] for word in words]
    return [word for word in words if word]


def sampled(log: Log, sampling: SamplingSettings) -> list[tuple[int, str | None]]:
    """
    Return (stamp, value) of each symbol, before it is known which values name states.

    Parameters and errors as of `sample`.
    """
    entries = _entries(log, sampling)
    if sampling.rule == 'change':
        return [next(run) for _, run in groupby(entries, lambda entry: entry[1])]
    return list(entries)


def _entries(log: Log, sampling: SamplingSettings) -> Iterable[tuple[int, str | None]]:
    sampling.check()
    if not sampling.has_period:
        return log
    return _ticks(log, stamps.from_seconds(sampling.period, 'period'),
                  stamps.from_seconds(sampling.input_timeout, 'input_timeout', zero=True))


def _ticks(log: Log, period: int, timeout: int) -> Iterator[tuple[int, str | None]]:
    """Yield (stamp, value) of every tick."""
    if not log:
        return
    first, last = log[0][0], log[-1][0]
    count = (last - first) // period + 1
    if count > MOST_SYMBOLS:
        raise LogError(f'it spans more than {MOST_SYMBOLS:,} periods: choose a longer period, or '
                       'look for a stamp that is wrong')
    latest = -1
    for tick in range(first, first + count * period, period):
        while latest + 1 < len(log) and log[latest + 1][0] <= tick:
            latest += 1
        stamp, value = log[latest]
        yield tick, None if timeout and tick - stamp > timeout else value


def _hold(word: Word) -> list[Word]:
    held: Word = []
    known = None
    for symbol in word:
        known = known if symbol is None else symbol
        held.append(known)
    return [held]


_UNKNOWN: dict[str, Callable[[Word], list[Word]]] = {
    'uniform': lambda word: [word],
    'drop': lambda word: [[symbol for symbol in word if symbol is not None]],
    'split': lambda word: [list(run) for unknown, run in groupby(word, lambda s: s is None)
                           if not unknown],
    'hold': _hold,
}
