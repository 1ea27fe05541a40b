# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the policy adaptive knows before the first symbol, shared by all words."""
from functools import cached_property
from itertools import pairwise
from math import exp
from typing import NamedTuple

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints, Numbers, RandomBits
from symdp_ros.core.chain import Chain
from symdp_ros.core.loops import loops
from symdp_ros.core.neighbours import Neighbours
from symdp_ros.core.online import targets
from symdp_ros.core.online.adaptive import expected_matches
from symdp_ros.core.online.adaptive.matches import Matches, NearMatches
from symdp_ros.core.online.adaptive.moves import Moves
from symdp_ros.core.online.counts import CountResponse, response_of
from symdp_ros.core.online.guided import near_pairs
from symdp_ros.core.online.response import Response, responses
from symdp_ros.core.privacy import Privacy

DISCOUNT = 0.9
CELLS = 12          # up to which every number of cells is tried; after them only the largest
MOST_CELLS = 1024
LONGEST = 6         # symbols of a block
BLOCKS = (*((length, more) for more in (1, 2) for length in (2, 3, 4, 6)),
          (2, 3), (3, 3), (4, 3))  # (L, m): tried
FEW_REPORTS = 10    # for one signal: more lie beyond what X looks ahead (1/(1 − γ) reports)

_MOST_OF_BLOCKS = 5  # ε/k: above it, a signal about one symbol tells nearly all
_TOLERANCE, _NEAR_TOLERANCE = 1e-3, 1e-2  # matches, out of at most 10


class Shares(NamedTuple):
    """What a signal tells, by its number of cells m: each of shape (most cells + 1,)."""

    other: Floats    # a/T, the chance of each other cell
    own: Floats      # b/T
    uniform: Floats  # 1/m
    minus_entropy: Floats  # Σ_z P log P of a symbol that has a cell


def shares_of(responses: dict[int, Response], most: int) -> Shares:
    """Return what the signals of some numbers of cells, up to `most`, tell."""
    shares = Shares(*np.zeros((4, most + 1)))
    for count, response in responses.items():
        other, own = response.a / response.total, response.b / response.total
        shares.other[count], shares.own[count] = other, own
        shares.uniform[count] = 1 / count
        shares.minus_entropy[count] = own * np.log(own) + (count - 1) * other * np.log(other)
    return shares


class BlockLaws(NamedTuple):
    """The laws of all kinds of blocks, one after another."""

    sizes: Ints   # L, m, and where in `laws` each has its own: (kinds, 3)
    laws: Floats  # the chance of what is drawn by what was counted, and Σ_z P log P


def blocks_of(privacy: Privacy) -> dict[tuple[int, int], list[CountResponse]]:
    """Return of each block (L, m) the responses, if it is cut short after 1, 2, … L symbols."""
    blocks = dict[tuple[int, int], list[CountResponse]]()
    if privacy.epsilon_per_symbol <= _MOST_OF_BLOCKS:
        for length, more in BLOCKS:
            some = [response_of(symbols, more + 1, privacy) for symbols in range(1, length + 1)]
            there = [each for each in some if each is not None]
            if len(there) == length:
                blocks[length, more] = there
    return blocks


def worth_of_nat(privacy: Privacy) -> float:
    """Return how many matches a nat is worth in the choice of a block."""
    return min(1.0, 0.5 / max(0.5, float(privacy.epsilon_per_symbol)))


class AdaptiveTables:
    """
    What is known before the first symbol, shared by all words.

    :param chain: of reports; one that stores its edges. What is known of the robot moves by its
        single ticks (`Chain.single`).
    :param privacy: ε and k.
    :param trust: the weight of P among the models.
    :param reports: ≥ 1, how many there are for each signal.
    :param learns: whether each word learns how its robot moves (`OwnMoves`).

    `radius` and `nbytes` are as those of `core.online.targets`; `responses` has the `Response` for
    each number of cells that can be taken, `width` is that of their draws; `blocks` is as of
    `blocks_of`, `worth` of `worth_of_nat`.
    """

    blocks: dict[tuple[int, int], list[CountResponse]]
    worth: float

    def __init__(self, chain: Chain, privacy: Privacy, trust: float, reports: int,
                 learns: bool):
        n, degrees = len(chain), chain.out_degrees()
        self.states = n
        self.most = min(n, max(CELLS, min(MOST_CELLS, int(degrees.max()))))
        counts = {*range(1, CELLS + 1), self.most, *degrees.tolist()}
        #: the number of each state's zone; None: there are no zones
        self.zones, self.zone_of = privacy.zones, None
        if privacy.zones is not None:
            self.zone_of = privacy.zones.numbers(chain)
            counts = {*range(1, int(np.bincount(self.zone_of).max()) + 1)}
        self.width, self.responses = responses(
            {count for count in counts if count <= self.most}, privacy)
        self.shares = shares_of(self.responses, self.most)
        self.blocks, self.worth = {}, worth_of_nat(privacy)
        if n <= targets.DENSE_STATES:
            self.blocks = blocks_of(privacy)
        self.models, self.learns = chain.single.models(trust), learns
        #: η of what a word learns (`core.online.adaptive.own_moves`)
        self.eta = min(2.0, max(1.0, float(privacy.epsilon_per_symbol)))
        self.moves = Moves(self.models)
        sparse = None if n <= targets.DENSE_STATES else near_pairs(chain)
        self.radius = None if sparse is None else sparse.radius
        mean = chain.models(trust).mean
        weights = *_aims(chain, privacy, mean), mean, DISCOUNT
        if sparse is None:
            self.X = Matches(expected_matches.of_all_pairs(chain, *weights, _TOLERANCE))
        else:
            first, symbols, _ = sparse.pairs()
            self.X = NearMatches(*expected_matches.of_some_pairs(
                chain, first, symbols, *weights, _NEAR_TOLERANCE), sparse)
        #: the moves from one report to the next, as `Chain.csr`
        self.offsets, self.targets = chain.csr()
        self.routes = Neighbours(self.offsets, self.targets)
        if self.zone_of is not None:
            #: by state: whether the next report can be in the same zone
            self.can_stay = np.zeros(n, np.bool_)
            sources = np.repeat(np.arange(n), degrees)
            self.can_stay[sources[self.zone_of[sources] == self.zone_of[self.targets]]] = True
        place = np.arange(degrees.max())
        #: (states, most successors): those of each state; −1 after them
        self.successors = np.where(
            place < degrees[:, None],
            self.targets[np.minimum(self.offsets[:-1, None] + place, len(self.targets) - 1)], -1
        ).astype(np.int32)
        #: ticks from one report to the next, from one signal to the next, and from one row of
        #: what signals told to the next: as signals, with zones as reports
        self.report, self.signal = chain.ticks, chain.ticks * reports
        self.row = self.signal if self.zones is None else self.report
        #: reports from one symbol to the next
        self.stride = self.row // self.report
        #: of the place of a successor among those of a state
        self.place_type = np.uint8 if degrees.max() < 2**8 else np.uint32
        self.nbytes = (self.X.nbytes + self.moves.nbytes + self.routes.nbytes
                       + self.successors.nbytes)

    def draws(self, symbols: int, random: RandomBits) -> Ints:
        """Return integers of `width` bits, for so many symbols or nearly as many."""
        count, (dtype, shift) = symbols + symbols // 8 + 8, {30: ('<u4', 2), 60: ('<u8', 4)}[
            self.width]
        size = count * np.dtype(dtype).itemsize
        raw = np.frombuffer(random.getrandbits(8 * size).to_bytes(size, 'little'), dtype)
        return (raw >> shift).astype(np.int64)

    def fast_cells(self, f: Floats, inside: Booleans | None, previous: Ints,
                   at_once: bool) -> tuple[Ints, Ints, Numbers] | None:
        """
        Return the cells of `best_cells`, by the loops in C; None: NumPy must find them.

        :param f, inside: shape (words, states).
        """
        if loops is None or self.X.rows is None:
            return None
        words, states = f.shape
        founders, sizes = np.empty((self.most, words), np.int64), np.empty(words, np.int64)
        codes = np.empty((states, words), np.uint16)
        longest = loops.choose(self.X.rows, f, inside, previous, self.successors,
                               self.shares.other.base, at_once, founders, sizes, codes, states,
                               words, self.successors.shape[1], self.most)
        return sizes, founders[:longest], codes

    @cached_property
    def laws(self) -> BlockLaws:
        """Return what the compiled choice of a block needs of `blocks`."""
        sizes, laws = list[tuple[int, int, int]](), list[Floats]()
        for (length, more), drawn in self.blocks.items():
            sizes.append((length, more, sum(map(len, laws))))
            laws += [drawn[-1].chances.ravel(), drawn[-1].minus_entropy]
        return BlockLaws(np.array(sizes, np.int64), np.concatenate(laws))

    def longest(self, delay: int | None) -> int:
        """Return how many symbols a block can have: 1 where there are none."""
        most = LONGEST if delay is None else min(LONGEST, delay + 1)
        return max((length for length, _ in self.blocks if length <= most), default=1)

    def reports_at_once(self, delay: int | None) -> bool:
        """Return whether cells are chosen by what is reported at once, too."""
        return delay == 0 and self.signal <= FEW_REPORTS * self.report

    def can_follow(self, within: Booleans) -> Booleans:
        """
        Return what can follow some states.

        :param within: booleans, shape (states, words).
        :return: the same shape.
        """
        following = np.zeros_like(within)
        for word in range(within.shape[1]):
            moves = np.repeat(within[:, word], np.diff(self.offsets))
            following[self.targets[moves], word] = True
        return following


def _aims(chain: Chain, privacy: Privacy, moves: Floats) -> tuple[Floats, Floats]:
    """Return for each state o what equation (2) gives every state, and the target besides."""
    ratio = exp(min(float(privacy.epsilon_per_symbol), 64.0))
    others, gain = np.zeros(len(chain)), np.ones(len(chain))
    for o, (begin, end) in enumerate(pairwise(chain.csr()[0].tolist())):
        if end - begin > 1:
            largest = np.cumsum(np.sort(moves[begin:end])[::-1])
            most = (ratio / (ratio + np.arange(end - begin)) * largest).max()
            others[o] = (1 - most) / (end - begin - 1)
            gain[o] = most - others[o]
    return others, gain
