# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What is known of a log before ε is spent on it: unknown symbols, and moves that the chain lacks.

**All of it depends on the true route.** It is for the operator who owns the log, and for nobody
else: nothing of it may be part of a release, and a node tells `Inspection.is_noise` alone.
"""
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt
from symdp_ros.core.chain import Chain
from symdp_ros.core.naming import alike, quoted

#: Why a log without a known symbol is refused.
ALL_UNKNOWN = ('none of its symbols names a state of the chain: the release would be noise, and '
               'cost as much as any other. Check the map, --topic, --field and --symbol-key, or '
               'list which values mean which states (--symbol-map)')
#: So many different unknown values are kept and shown.
MOST_NAMES = 1000
_SHOWN = 3


class Moves:
    """
    The moves of a chain, to find the steps of words that are none of them.

    :param initial: the position of the initial state.
    :param stays: whether each state can follow itself; shape (states,).
    :param keys: state · states + successor of every move, sorted, int64; None: all moves exist,
        or they are not asked for.
    """

    def __init__(self, initial: int, stays: npt.NDArray[np.bool_],
                 keys: npt.NDArray[np.int64] | None):
        self.initial, self.stays, self.keys = initial, stays, keys

    @classmethod
    def of(cls, chain: Chain, *, stays_only: bool = False) -> 'Moves':
        """Return those of a chain; `stays_only`: whether its states can follow themselves."""
        states, keys = len(chain), None
        if chain.stores_edges and not stays_only:
            offsets, targets = chain.csr()
            sources = np.repeat(np.arange(states, dtype=np.int64), np.diff(offsets))
            keys = np.sort(sources * states + targets)
        stays = np.ones(states, bool)
        stays[[chain.state_index[state] for state in chain.states_without_staying()]] = False
        return cls(chain.state_index[chain.initial_state], stays, keys)

    def standing(self, symbols: npt.NDArray[Any], begins: npt.NDArray[np.bool_],
                 before: int = -1) -> npt.NDArray[np.int64]:
        """
        Return how often each state is repeated though it cannot follow itself.

        :param symbols: positions of states, −1: unknown; shape (symbols,).
        :param begins: whether a word begins there; the same shape.
        :param before: the symbol before the first one.
        """
        repeated = ~begins
        repeated[0] &= symbols[0] == before
        repeated[1:] &= symbols[1:] == symbols[:-1]
        repeats = symbols[repeated]
        counts = np.bincount(repeats[repeats >= 0], minlength=len(self.stays))
        counts[self.stays] = 0
        return counts

    def missing(self, symbols: npt.NDArray[Any], begins: npt.NDArray[np.bool_],
                before: int = -1) -> int:
        """
        Return how many steps are no move; parameters as of `standing`.

        A word begins with a step from the initial state. A step from or to an unknown symbol is
        not counted.
        """
        if self.keys is None:
            return 0
        sources = np.concatenate(([before], symbols[:-1])).astype(np.int64)
        sources[begins] = self.initial
        known = (symbols >= 0) & (sources >= 0)
        steps = sources[known] * len(self.stays) + symbols[known]
        places = np.minimum(np.searchsorted(self.keys, steps), len(self.keys) - 1)
        return int(np.sum(self.keys[places] != steps))


@dataclass(frozen=True)
class Inspection:
    """
    What was found in one log.

    :param symbols: how many it has, before `unknown_symbol` changes that.
    :param unknown: how many of them are a value that names no state; positions outside all
        regions.
    :param silent: how many are unknown otherwise: the log itself says that there is no region.
    :param names: unknown values and how often they occur, at most `MOST_NAMES` of them.
    :param infeasible: how many steps of the words to release are no moves of the chain; 0 where
        the moves were not asked for.
    :param outside: of poses: on which floors they are that the map does not have, and how many
        lie far from it; ''.
    :param standing: how often each state is repeated though it cannot follow itself.
    """

    symbols: int
    unknown: int
    silent: int
    names: Mapping[str, int]
    infeasible: int
    standing: Mapping[str, int]
    outside: str = ''

    @property
    def known(self) -> int:
        """Return how many symbols name a state."""
        return self.symbols - self.unknown - self.silent

    def is_noise(self, allow_unknown: float) -> bool:
        """
        Return whether no symbol is known, or too many are unknown; the one bit that is told.

        :param allow_unknown: the share of its symbols that may be unknown.
        """
        return not self.known or self.unknown / self.symbols > allow_unknown

    def problem(self, chain: Chain, allow_unknown: float, *, archive: bool = False) -> str | None:
        """
        Return why ε would be wasted on this log; None: it would not be.

        This quotes symbols of the log, so it is no error of this package: those quote none.

        :param allow_unknown: the share of its symbols that may be unknown; and the share that may
            stay in a state that cannot follow itself.
        :param archive: it is an archive, which has no sampling.
        """
        if not self.known:
            if self.outside:
                return f'none of its positions is in a region of the map: {self.outside}'
            named = f'. Unknown are {self.named(chain.states)}' if self.names else ''
            return ALL_UNKNOWN + named
        if self.unknown / self.symbols > allow_unknown:  # as `_allowing` counts
            named = f'name no state, such as {self.named(chain.states)}' if self.names else (
                f'are positions outside all regions{self.outside and f" ({self.outside})"}')
            advice = 'correct the names (--symbol-map), or ' if self.names else ''
            return (
                f'{_share(self.unknown, self.symbols)} of the symbols {named}. Nothing was '
                f'charged: {advice}release it with --allow-unknown '
                f'{_allowing(self.unknown, self.symbols)}')
        stays = sum(self.standing.values())
        if stays / self.symbols > allow_unknown:
            most = max(self.standing, key=self.standing.__getitem__)
            other = '' if archive else ', or take changes of region alone (--sampling change)'
            return (
                f'the robot stands still: {_share(stays, self.symbols)} of the symbols repeat a '
                f'state that cannot follow itself on this map, such as {quoted(most)}. Nothing '
                f'was charged: let states follow themselves (--self-loops){other}, or release it '
                f'with --allow-unknown {_allowing(stays, self.symbols)}')
        return None

    def named(self, states: Iterable[str]) -> str:
        """Return the most frequent unknown values, with similar states."""
        states = tuple(states)
        most = sorted(self.names, key=lambda name: (-self.names[name], name))
        parts = []
        for name in most[:_SHOWN]:
            close = alike(name, states)
            often = self.names[name]
            parts.append(f'{quoted(name)} ({often:,} time{"" if often == 1 else "s"}'
                         + (f'; did you mean {" or ".join(map(quoted, close))}?)' if close
                            else ')'))
        rest = len(most) - _SHOWN
        return ', '.join(parts) + (f' and {rest:,} more' if rest > 0 else '')


def of_states(counts: Iterable[int], chain: Chain) -> dict[str, int]:
    """Return the counts of states that are not 0, by name."""
    return {state: int(count) for state, count in zip(chain.states, counts, strict=True) if count}


def _share(part: int, total: int) -> str:
    percent = 100 * part / total
    return f'{percent:.0f} %' if percent >= 1 else f'{percent:.2g} %'


def _allowing(part: int, total: int) -> str:
    """Return the smallest share of few digits that allows so many."""
    for digits in (2, 4, 8):
        share = ceil(part / total * 10**digits) / 10**digits
        if share < 1.05 * part / total:
            break
    return f'{share:g}'
