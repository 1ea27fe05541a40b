"""
Targets: for each sensitive symbol and previous private symbol, the feasible state to aim at.

A table of targets is computed from the public chain alone, before the first symbol, and holds,
for the pair (o, s), a code: 0 for no target (uniform), j+1 for the j-th of `successors(o)`.

Guided policy: the target is the c ∈ C(o) from which the fewest further moves lead to s, the first
of `successors(o)` where several do. So it is s itself where s ∈ C(o), and there is none where s
cannot be reached. Up to `DENSE_STATES` states all pairs are kept, one byte each (more where a
state has over 255 successors). Above that, only pairs within a radius: s at most `radius` moves
from o, the largest radius (at least 1) for which no more than `MOST_PAIRS` pairs are needed. It
depends on the chain alone, so it is public.
"""
from array import array

import numpy as np

from symdp_ros.core.chain import Chain

DENSE_STATES = 2_000
MOST_PAIRS = 4_000_000
_CANDIDATES = 1_000_000  # pairs looked at together: bounds the memory of the search


class DenseTargets:
    """A code for every pair."""

    radius = None
    kept_rows = None  # rows exist anyway: a caller may keep all

    def __init__(self, rows):
        """:param rows: for each o the codes of all s, and a 0 for the unknown symbol."""
        self._rows = rows

    @property
    def nbytes(self) -> int:
        """Memory of the table in bytes."""
        return sum(memoryview(row).nbytes for row in self._rows)

    def row(self, previous: int):
        """Return the codes of one o: a sequence of states + 1 integers, the last one 0."""
        return self._rows[previous]

    def column(self, symbol: int) -> np.ndarray:
        """Return the codes of one s for every o: shape (states,)."""
        return np.array([row[symbol] for row in self._rows])


class SparseTargets:
    """The codes of the pairs within a radius."""

    def __init__(self, pairs: np.ndarray, codes: np.ndarray, states: int, radius: int):
        """
        :param pairs: int64, o·states + s of each pair kept, ascending.
        :param codes: uint32, their codes, same shape.
        """
        self.radius = radius
        self.kept_rows = max(16, 2**25 // states)
        self._states = states
        self._first = np.searchsorted(pairs, np.arange(states + 1, dtype=np.int64) * states)
        self._symbols = (pairs % states).astype(np.int32)
        self._codes = codes if codes.max() > 255 else codes.astype(np.uint8)

    @property
    def nbytes(self) -> int:
        """Memory of the table in bytes."""
        return self._first.nbytes + self._symbols.nbytes + self._codes.nbytes

    def pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return (first, symbols, codes): the pairs of o are first[o]…first[o+1]−1, symbols ascending.

        :return: int64 (states + 1,), int32 and integer codes, one for each pair.
        """
        return self._first, self._symbols, self._codes

    def row(self, previous: int):
        """Return the codes of one o: a sequence of states + 1 integers, the last one 0."""
        row = np.zeros(self._states + 1, self._codes.dtype)
        here = slice(self._first[previous], self._first[previous + 1])
        row[self._symbols[here]] = self._codes[here]
        return _as_row(row)

    def column(self, symbol: int) -> np.ndarray:
        """Return the codes of one s for every o: shape (states,)."""
        column = np.zeros(self._states, self._codes.dtype)
        found = np.flatnonzero(self._symbols == symbol)
        column[np.searchsorted(self._first, found, 'right') - 1] = self._codes[found]
        return column


def _as_row(codes: np.ndarray):
    """Return codes as what Python indexes fastest."""
    return codes.tobytes() if codes.dtype == np.uint8 else array('I', codes.tobytes())


def guided_targets(chain: Chain) -> DenseTargets | SparseTargets:
    """Return the targets of the guided policy (see the module)."""
    return _all_pairs(chain) if len(chain) <= DENSE_STATES else _near_pairs(chain)


def _all_pairs(chain):
    """
    Breadth-first from every state at once, with sets of symbols as the bits of integers.

    `at_distance[c]` holds the symbols that are d moves from c; in the order of C(o), each c gives
    its own to the symbols that o has no target for yet.
    """
    n = len(chain)
    offsets, targets = chain.csr()
    successors = [row.tolist() for row in np.split(targets, offsets[1:-1])]
    wide = max(map(len, successors)) > 255
    rows = [array('I', bytes(4 * (n + 1))) if wide else bytearray(n + 1) for _ in range(n)]
    without_target = [(1 << n) - 1] * n
    at_distance = [1 << state for state in range(n)]
    while any(at_distance):
        reached = [0] * n
        for o, left in enumerate(without_target):
            if not left:
                continue
            for code, c in enumerate(successors[o], 1):
                symbols = at_distance[c] & left
                if symbols:
                    left ^= symbols
                    _put(rows[o], symbols, code)
            reached[o] = without_target[o] ^ left
            without_target[o] = left
        at_distance = reached
    return DenseTargets(rows if wide else [bytes(row) for row in rows])


def _put(row, symbols, code):
    """Set the code of every symbol whose bit is set."""
    while symbols:
        lowest = symbols & -symbols
        row[lowest.bit_length() - 1] = code
        symbols ^= lowest


def _near_pairs(chain):
    """
    Breadth-first, backwards: the pairs (o, s) at distance d+1 are those of the predecessors of
    some c with (c, s) at distance d, that are not nearer. A pair is the integer o·states + s.
    """
    n = len(chain)
    offsets, targets = chain.csr()
    degrees = np.diff(offsets)
    sources = np.repeat(np.arange(n, dtype=np.int64), degrees)
    edge_codes = (np.arange(len(targets)) - np.repeat(offsets[:-1], degrees) + 1).astype(np.uint32)
    by_target = np.argsort(targets, kind='stable')
    predecessors, their_codes = sources[by_target], edge_codes[by_target]
    first = np.concatenate([[0], np.cumsum(np.bincount(targets, minlength=n))])
    found = pairs, codes = _least_codes(sources * n + targets, edge_codes)
    radius = 1
    while len(pairs):
        nearer, farther = found[0], (pairs[:0], codes[:0])
        counts = np.diff(first)[pairs // n]
        for part in np.split(pairs, np.flatnonzero(np.diff(np.cumsum(counts) // _CANDIDATES)) + 1):
            if len(nearer) + len(farther[0]) > MOST_PAIRS:
                break
            here, symbols = np.divmod(part, n)
            counts = first[here + 1] - first[here]
            edges = np.repeat(first[here] - np.cumsum(counts) + counts, counts)
            edges += np.arange(len(edges))
            candidates = predecessors[edges] * n + np.repeat(symbols, counts)
            new = ~_holds(nearer, candidates)
            farther = _least_codes(np.concatenate([farther[0], candidates[new]]),
                                   np.concatenate([farther[1], their_codes[edges[new]]]))
        pairs, codes = farther
        if len(nearer) + len(pairs) > MOST_PAIRS:
            break
        found = _least_codes(np.concatenate([nearer, pairs]), np.concatenate([found[1], codes]))
        radius += 1
    return SparseTargets(*found, n, radius)


def _least_codes(pairs, codes):
    """Return the different pairs, ascending, each with its smallest code."""
    order = np.lexsort((codes, pairs))
    pairs, codes = pairs[order], codes[order]
    first = np.ones(len(pairs), bool)
    first[1:] = pairs[1:] != pairs[:-1]
    return pairs[first], codes[first]


def _holds(ascending, pairs):
    """Return for each of some pairs whether it is among others."""
    place = np.minimum(np.searchsorted(ascending, pairs), len(ascending) - 1)
    return ascending[place] == pairs
