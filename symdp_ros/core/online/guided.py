# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The guided policy: aim at the feasible state from which the true one is reached in fewest moves.

The target of s after o is the c ∈ C(o) from which the fewest further moves lead to s, the first
of `successors(o)` where several do. So it is s itself where s ∈ C(o), and there is none where s
cannot be reached. Up to `targets.DENSE_STATES` states all pairs are kept, one byte each (more
where a state has over 255 successors). Above that, only pairs within a radius: s at most `radius`
moves from o, the largest radius (at least 1) for which no more than `targets.MOST_PAIRS` pairs
are needed. It depends on the chain alone, so it is public.
"""
from array import array

import numpy as np
from symdp_ros.core.annotations import Booleans, Ints
from symdp_ros.core.chain import Chain
from symdp_ros.core.neighbours import edges_of
from symdp_ros.core.online import targets
from symdp_ros.core.online.targets import DenseTargets, SparseTargets

_CANDIDATES = 1_000_000  # pairs looked at together: bounds the memory of the search


def guided_targets(chain: Chain) -> DenseTargets | SparseTargets:
    """Return the targets of the guided policy (see the module)."""
    return _all_pairs(chain) if len(chain) <= targets.DENSE_STATES else near_pairs(chain)


def _all_pairs(chain: Chain) -> DenseTargets:
    """
    Breadth-first from every state at once, with sets of symbols as the bits of integers.

    `at_distance[c]` holds the symbols that are d moves from c; in the order of C(o), each c gives
    its own to the symbols that o has no target for yet.
    """
    n = len(chain)
    offsets, followers = chain.csr()
    successors = [row.tolist() for row in np.split(followers, offsets[1:-1])]
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


def _put(row: 'bytearray | array[int]', symbols: int, code: int) -> None:
    """Set the code of every symbol whose bit is set."""
    while symbols:
        lowest = symbols & -symbols
        row[lowest.bit_length() - 1] = code
        symbols ^= lowest


def near_pairs(chain: Chain) -> SparseTargets:
    """
    Return the targets of the pairs within the radius.

    Breadth-first, backwards: the pairs (o, s) at distance d+1 are those of the predecessors of
    some c with (c, s) at distance d, that are not nearer. A pair is the integer o·states + s; with
    its code, that · 2^`bits` + code.
    """
    n, bits = len(chain), int(chain.out_degrees().max()).bit_length()
    offsets, followers = chain.csr()
    degrees = np.diff(offsets)
    sources = np.repeat(np.arange(n, dtype=np.int64), degrees)
    edge_codes = 1 + np.arange(len(followers)) - np.repeat(offsets[:-1], degrees)
    by_target = np.argsort(followers, kind='stable')
    predecessors, their_codes = sources[by_target], edge_codes[by_target]
    first = np.concatenate([[0], np.cumsum(np.bincount(followers, minlength=n))])
    known = last = _least_codes((sources * n + followers << bits) + edge_codes, bits)
    radius = 1
    while len(last):
        nearer, farther, pairs = known >> bits, last[:0], last >> bits
        counts = np.diff(first)[pairs // n]
        for part in np.split(pairs, np.flatnonzero(np.diff(np.cumsum(counts) // _CANDIDATES)) + 1):
            if len(nearer) + len(farther) > targets.MOST_PAIRS:
                break
            here, symbols = np.divmod(part, n)
            edges = edges_of(first, here)
            candidates = predecessors[edges] * n + np.repeat(symbols, np.diff(first)[here])
            new = ~_holds(nearer, candidates)
            candidates = (candidates[new] << bits) + their_codes[edges[new]]
            farther = _least_codes(np.concatenate([farther, candidates]), bits)
        last = farther
        if len(nearer) + len(last) > targets.MOST_PAIRS:
            break
        known = np.sort(np.concatenate([known, last]), kind='stable')
        radius += 1
    codes = (known & (1 << bits) - 1).astype(np.uint32)
    return SparseTargets(known >> bits, codes, n, radius)


def _least_codes(coded: Ints, bits: int) -> Ints:
    """Return the different pairs, ascending, each with its smallest code."""
    coded = np.sort(coded, kind='stable')  # of parts that are sorted
    first = np.ones(len(coded), bool)
    first[1:] = coded[1:] >> bits != coded[:-1] >> bits
    return coded[first]


def _holds(ascending: Ints, pairs: Ints) -> Booleans:
    """Return for each of some pairs whether it is among others."""
    place = np.minimum(np.searchsorted(ascending, pairs), len(ascending) - 1)
    is_there: Booleans = ascending[place] == pairs
    return is_there
