# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How words differ: two given ones, the most similar routes of a map; and where none can."""
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from symdp_ros.core.annotations import Ints, ShortInts
from symdp_ros.core.chain import Chain
from symdp_ros.errors import ConfigurationError

_MOST_STATES = 2000      # more than these: a bit for each pair of them would be too much
_LARGEST_STEP = 1 << 20  # pairs that are followed at a time


def differences(word: Sequence[str | None], other: Sequence[str | None]) -> int:
    """
    Return the Hamming distance of two words.

    :raises ConfigurationError: their lengths differ.
    """
    if len(word) != len(other):
        raise ConfigurationError(f'words of {len(word)} and {len(other)} symbols have no Hamming '
                                 'distance: compare words of one length')
    return sum(s != o for s, o in zip(word, other, strict=True))


def is_adjacent(word: Sequence[str | None], other: Sequence[str | None], adjacency: int) -> bool:
    """
    Return whether d(v, w) ≤ k: what ε promises is about such words.

    :raises ConfigurationError: their lengths differ.
    """
    return differences(word, other) <= adjacency


class Alternatives(NamedTuple):
    """The answer of `fewest_differences`."""

    positions: int | None  # None: no two routes join the same ends
    exact: bool            # False: the chain is too large, and `positions` a lower bound


def fewest_differences(chain: Chain, *, from_anywhere: bool = False) -> Alternatives:
    """
    Return min d(v, w) over all v ≠ w of one length, feasible from s_0, that end in one state.

    An adjacency k below it makes no two such routes adjacent: it protects no real alternative.

    The closest two part once, at some s, and meet once; between, they run through pairs of
    different states, one pair for each position that differs. So it is a shortest path over
    pairs: from {u, v} ⊆ C(s) to a pair with a common successor. One position is decided in
    O(states²) time at worst, O(Σ_s Σ_{u∈C(s)} N(u)) commonly; more take O(edges²) time and
    O(states²) memory, and above 2,000 states the answer is (2, False).

    :param from_anywhere: also routes from states that s_0 never leads to.
    """
    if not chain.stores_edges:
        return Alternatives(1 if len(chain) > 1 else None, True)
    offsets, targets = chain.csr()
    if not from_anywhere:
        offsets, targets = _reachable(offsets, targets, chain.state_index[chain.initial_state])
    if _can_meet_at_once(offsets, targets):
        return Alternatives(1, True)
    if len(offsets) - 1 > _MOST_STATES:
        return Alternatives(2, False)
    return Alternatives(_shortest_path(offsets, targets), True)


def single_moves(chain: Chain) -> str | None:
    """
    Return in a sentence how many states allow one move only; None: no state does.

    After such a state, every mechanism draws its only successor, whatever the true word is.
    """
    single, states = int((chain.out_degrees() == 1).sum()), len(chain)
    if single == states:
        return ('every state allows one move only: the private route is certain, and nothing can '
                'be hidden')
    return f'{single:,} of {states:,} states allow{"s" if single == 1 else ""} one move only: ' \
        'there the next private symbol is certain, and nothing can be hidden' if single else None


def _reachable(offsets: Ints, targets: ShortInts, start: int) -> tuple[Ints, ShortInts]:
    """Return the same arrays for the states that `start` leads to, itself included."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order

    n = len(offsets) - 1
    matrix = csr_matrix((np.ones(len(targets), np.int8), targets, offsets), shape=(n, n))
    reached = np.zeros(n, bool)
    reached[breadth_first_order(matrix, start, return_predecessors=False)] = True
    number = np.cumsum(reached) - 1
    degrees = np.diff(offsets)
    return (np.concatenate([[0], np.cumsum(degrees[reached])]),
            number[targets[np.repeat(reached, degrees)]])


def _can_meet_at_once(offsets: Ints, targets: ShortInts) -> bool:
    """Return whether some state has two successors that share a successor."""
    bounds = offsets.tolist()
    rows = [targets[begin:end].tolist() for begin, end in zip(bounds, bounds[1:], strict=False)]
    last = [-1] * len(rows)  # the state from which each was last reached in two moves
    for state, row in enumerate(rows):
        for middle in row:
            for target in rows[middle]:
                if last[target] == state:
                    return True
                last[target] = state
    return False


def _shortest_path(offsets: Ints, targets: ShortInts) -> int | None:
    """Return how many pairs are passed until both are in one state; None where they never are."""
    n = len(offsets) - 1
    seen = np.zeros(n * n, bool)  # a pair u < v is u·n + v

    def fresh(u: ShortInts, v: ShortInts) -> Ints:
        pairs: Ints = np.minimum(u, v).astype(np.int64) * n + np.maximum(u, v)
        pairs = np.unique(pairs[~seen[pairs]])
        seen[pairs] = True
        return pairs

    parted: list[Ints] = [np.zeros(0, np.int64)]
    for begin, end in zip(offsets.tolist(), offsets[1:].tolist(), strict=False):
        if end - begin > 1:
            row = targets[begin:end]
            one, other = np.triu_indices(len(row), 1)
            parted.append(fresh(row[one], row[other]))
    frontier = np.concatenate(parted)
    positions = 0
    while len(frontier):
        positions += 1
        reached = []
        for u, v in _moves(frontier // n, frontier % n, offsets, targets):
            if (u == v).any():
                return positions
            reached.append(fresh(u, v))
        frontier = np.concatenate(reached)
    return None


def _moves(u: Ints, v: Ints, offsets: Ints,
           targets: ShortInts) -> Iterator[tuple[ShortInts, ShortInts]]:
    """Yield all C(u_i) × C(v_i) as two arrays, some pairs at a time."""
    degrees = np.diff(offsets)
    sizes = degrees[u] * degrees[v]
    steps = np.cumsum(sizes) // _LARGEST_STEP
    cuts = [0, *(np.flatnonzero(np.diff(steps)) + 1).tolist(), len(u)]
    for begin, end in zip(cuts, cuts[1:], strict=False):
        which = np.repeat(np.arange(begin, end), sizes[begin:end])
        starts = np.cumsum(sizes[begin:end]) - sizes[begin:end]
        rank = np.arange(len(which)) - np.repeat(starts, sizes[begin:end])
        i, j = np.divmod(rank, degrees[v[which]])
        yield targets[offsets[u[which]] + i], targets[offsets[v[which]] + j]
