"""
Targets: for each sensitive symbol and previous private symbol, the feasible state to aim at.

A table of targets is computed from the public chain alone, before the first symbol, and holds,
for the pair (o, s), a code: 0 for no target (uniform), j+1 for the j-th of `successors(o)`.

Guided policy: the target is the c ∈ C(o) from which the fewest further moves lead to s, the first
of `successors(o)` where several do. So it is s itself where s ∈ C(o), and there is none where s
cannot be reached. Up to `DENSE_STATES` states all pairs are kept, one byte each (more where a
state has over 255 successors). Above that, only pairs within a radius: s at most `radius` moves
from o, the largest radius for which no more than `MOST_PAIRS` pairs are needed. It depends on the
chain alone, so it is public.
"""
from array import array

import numpy as np

from symdp_ros.core.chain import Chain

DENSE_STATES = 2_000
MOST_PAIRS = 4_000_000


class DenseTargets:
    """A code for every pair."""

    radius = None
    kept_rows = None  # rows exist anyway: a caller may keep all

    def __init__(self, codes: np.ndarray):
        """:param codes: unsigned integers, shape (states, states), [o, s]."""
        self._rows = [_as_row(row) for row in np.pad(codes, ((0, 0), (0, 1)))]

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
    """
    Return the targets of the guided policy (see the module).

    Breadth-first from all symbols at once, backwards: the pairs (o, s) at distance 1 are those
    with s ∈ C(o); a pair is at distance d+1 when some successor c of o is at distance d from s,
    and it is not nearer. All pairs of one distance are found in one step.
    """
    n = len(chain)
    if n <= DENSE_STATES:
        seen = _DensePairs(n, chain)
        for pairs, codes in _pairs_by_distance(chain, seen):
            seen.add(pairs, codes)
        return DenseTargets(seen.codes)
    seen = _SparsePairs()
    radius = 0
    for pairs, codes in _pairs_by_distance(chain, seen, MOST_PAIRS):
        if radius and len(seen.pairs) + len(pairs) > MOST_PAIRS:
            break
        seen.add(pairs, codes)
        radius += 1
    return SparseTargets(seen.pairs, seen.codes, n, radius)


def _pairs_by_distance(chain, seen, most=None):
    """
    Yield (pairs, codes) for distance 1, 2, …: pairs o·states + s with their smallest code.

    The caller puts them into `seen` before it asks for the next distance.
    """
    offsets, targets = chain.csr()
    n = len(chain)
    degrees = np.diff(offsets)
    sources = np.repeat(np.arange(n, dtype=np.int64), degrees)
    edge_codes = np.arange(len(targets), dtype=np.int64) - np.repeat(offsets[:-1], degrees) + 1
    pairs = sources * n + targets
    order = np.argsort(pairs)
    pairs, codes = pairs[order], edge_codes[order]
    # Predecessors of each state, with the code by which they lead to it.
    by_target = np.argsort(targets, kind='stable')
    before = np.concatenate([[0], np.cumsum(np.bincount(targets, minlength=n))])
    predecessor, its_code = sources[by_target], edge_codes[by_target]
    while len(pairs):
        yield pairs, codes
        here, symbol = np.divmod(pairs, n)
        first, counts = before[here], before[here + 1] - before[here]
        if most is not None and counts.sum() > 8 * most:
            return
        edge = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        pairs = predecessor[edge] * n + np.repeat(symbol, counts)
        codes = its_code[edge]
        new = seen.lacks(pairs)
        pairs, codes = pairs[new], codes[new]
        order = np.lexsort((codes, pairs))
        pairs, codes = pairs[order], codes[order]
        first = np.ones(len(pairs), bool)
        first[1:] = pairs[1:] != pairs[:-1]
        pairs, codes = pairs[first], codes[first]


class _DensePairs:
    """Codes of all pairs in one array: shape (states, states)."""

    def __init__(self, n, chain):
        kind = np.uint8 if int(chain.out_degrees().max()) <= 255 else np.uint32
        self.codes = np.zeros((n, n), kind)

    def lacks(self, pairs):
        return self.codes.ravel()[pairs] == 0

    def add(self, pairs, codes):
        self.codes.ravel()[pairs] = codes


class _SparsePairs:
    """Codes of some pairs in two sorted arrays."""

    def __init__(self):
        self.pairs = np.zeros(0, np.int64)
        self.codes = np.zeros(0, np.uint32)

    def lacks(self, pairs):
        if not len(self.pairs):
            return np.ones(len(pairs), bool)
        place = np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)
        return self.pairs[place] != pairs

    def add(self, pairs, codes):
        merged = np.concatenate([self.pairs, pairs])
        order = np.argsort(merged, kind='stable')
        self.pairs = merged[order]
        self.codes = np.concatenate([self.codes, codes.astype(np.uint32)])[order]
