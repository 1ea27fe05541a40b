# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What is known of a log before ε is spent on it: unknown symbols, and moves that the chain lacks.

**All of it depends on the true route.** It is for the operator who owns the log, and for nobody
else: no node may use it, and nothing of it may be part of a release.
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
               'cost as much as any other. List in symbol_map the values that name states, and '
               'check field, topic and symbol_key')
#: So many different unknown values are kept and shown.
MOST_NAMES = 1000
_SHOWN = 3


class Moves:
    """
    The moves of a chain, to count the steps of words that are none of them.

    :param states: their number.
    :param initial: the position of the initial state.
    :param keys: state · states + successor of every move, sorted, int64; None: all moves exist.
    """

    def __init__(self, states: int, initial: int, keys: npt.NDArray[np.int64] | None):
        self.states, self.initial, self.keys = states, initial, keys
        self._stays = np.ones(states, bool)
        if keys is not None:
            self._stays[:] = False
            self._stays[keys[keys % (states + 1) == 0] // states] = True

    @classmethod
    def of(cls, chain: Chain) -> 'Moves':
        """Return those of a chain."""
        keys = None
        if chain.stores_edges:
            offsets, targets = chain.csr()
            sources = np.repeat(np.arange(len(chain), dtype=np.int64), np.diff(offsets))
            keys = np.sort(sources * len(chain) + targets)
        return cls(len(chain), chain.state_index[chain.initial_state], keys)

    def missing(self, symbols: npt.NDArray[Any], begins: npt.NDArray[np.bool_],
                before: int = -1) -> tuple[int, npt.NDArray[np.int64]]:
        """
        Return how many steps are no move, and how many of them stay, for each state.

        A step from or to an unknown symbol is not counted. A word begins with a step from the
        initial state.

        :param symbols: positions of states, −1: unknown; shape (symbols,).
        :param begins: whether a word begins there; the same shape.
        :param before: the symbol before the first one.
        """
        symbols = symbols.astype(np.int64)
        last = np.concatenate(([before], symbols[:-1]))
        last[begins] = self.initial
        known = (symbols >= 0) & (last >= 0)
        last, symbols, begins = last[known], symbols[known], begins[known]
        standing = np.bincount(symbols[(last == symbols) & ~begins & ~self._stays[symbols]],
                               minlength=self.states)
        if self.keys is None:
            return 0, standing
        steps = last * self.states + symbols
        found = np.searchsorted(self.keys, steps)
        return int(np.sum(self.keys[np.minimum(found, len(self.keys) - 1)] != steps)), standing


@dataclass(frozen=True)
class Inspection:
    """
    What was found in one log.

    :param symbols: how many it has, before `unknown_symbol` changes that.
    :param unknown: how many of them are a value that names no state; positions outside all
        regions.
    :param silent: how many are unknown otherwise: the log itself says that there is no region.
    :param names: unknown values and how often they occur, at most `MOST_NAMES` of them.
    :param infeasible: how many steps of the words to release are no moves of the chain.
    :param standing: how many of these stay in a state that cannot follow itself, for each.
    """

    symbols: int
    unknown: int
    silent: int
    names: Mapping[str, int]
    infeasible: int
    standing: Mapping[str, int]

    @property
    def known(self) -> int:
        """Return how many symbols name a state."""
        return self.symbols - self.unknown - self.silent

    def problem(self, chain: Chain, allow_unknown: float, *, archive: bool = False) -> str | None:
        """
        Return why ε would be wasted on this log; None: it would not be.

        This quotes symbols of the log, so it is no error of this package: those quote none.

        :param allow_unknown: the share of its symbols that may be unknown; and the share that may
            stay in a state that cannot follow itself.
        :param archive: it is an archive, which has no sampling.
        """
        if not self.known:
            named = f'. Unknown are {self.named(chain.states)}' if self.names else ''
            return ALL_UNKNOWN + named
        if self.unknown > allow_unknown * self.symbols:
            named = f': such as {self.named(chain.states)}' if self.names else (
                ': positions outside all regions')
            return (
                f'unknown symbols: {_share(self.unknown, self.symbols)}{named}. Nothing was '
                'charged: correct the names (symbol_map), or release it with --allow-unknown '
                f'{_allowing(self.unknown, self.symbols)}')
        stays = sum(self.standing.values())
        if stays > allow_unknown * self.symbols:
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
            parts.append(f'{quoted(name)} ({self.names[name]:,} times'
                         + (f'; did you mean {" or ".join(map(quoted, close))}?)' if close
                            else ')'))
        rest = len(most) - _SHOWN
        return ', '.join(parts) + (f' and {rest:,} more' if rest > 0 else '')


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
