# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The exponential mechanism on a chain: words drawn by one backward and one forward pass.

With R = 1/B ≥ 1, the mechanism draws a feasible word o of length n with probability
h(o)·R^{matches(w, o)} / Z(w), where matches = n − d(w, o), and h(o) = Π_t h(o_t|o_{t−1}) is a
public base measure: h = 1, which counts words (paper, Mechanism 3, divided by B^n), or a P of
floats (`core.models`; for several of them, `core.offline.model_backward`). Instead of the
automaton with its error coordinate, the weights are summed out position by position:

    V_n(s) = 1,  V_{t−1}(s) = Σ_{s' ∈ C(s)} h(s'|s)·W_t(s'),  W_t(s') = b_t(s')·V_t(s'),       (1)

b_t(s') = R if s' = w_t, else 1; then o_t is drawn from C(o_{t−1}) with probabilities proportional
to U_t(o_t|o_{t−1}) = h(o_t|o_{t−1})·W_t(o_t). O(n·|E|) time. As many W_t are kept as take
`LoopSizes.stored_bytes`, or 2.5·√n of them. Those between are computed again, in the same order of
additions, so that not a bit differs: for the states that the walk can still reach, or, where that
is soon nearly all, for several segments at a time.

**Rounding.** W, U and V are computed in float64, u = 2⁻⁵³; o_t is drawn from the computed Û_t
exactly, in as many random bits as it takes. Then for every feasible o

    P̂[o|w] = Π_t Û_t(o_t|o_{t−1}) / Σ_{s' ∈ C(o_{t−1})} Û_t(s'|o_{t−1}).                       (2)

Let N be the largest number of successors. A computed sum V̂_{t−1} is off its own terms Û_t by at
most N−1 additions and one omission (terms below 2⁻¹⁵⁰ of the largest), Ŵ_t(w_t) = R·V̂_t(w_t) by
one product, and Û_t = h·Ŵ_t by another, which h = 1 does without; whatever floats are used as h,
and as R, they are h and R exactly. So (2) telescopes to h(o)·R^{matches} / V̂_0(s_0), times
n·(N+2) factors of 1±u at the most; n·(N+1) where h = 1. In the same way V̂_0(s_0) = Z(w), times as
many. For adjacent words h(o) is the same, R^{matches} differs by R^k at most, and so does Z;
ln((1+u)/(1−u)) < 2.01·u. Altogether

    |ln P̂[o|w] − ln P̂[o|w']| ≤ 2k·ln R + 4.02·n·(N+2)·u ≤ ε,                                 (3)

since R is chosen with ln R ≤ (ε/k − 5·n·(N+2)·2⁻⁵³) / 2, in rational arithmetic (N+1 where h = 1).
Where that is not positive, R = 1: W then does not depend on w in any bit, the loss is exactly 0,
and words are drawn by h alone. R is at most 2⁴⁰ (B ≥ 2⁻⁴⁰), which is more private. As neither
weights nor products round to zero, every feasible o has a positive probability.

**Range.** So that no float overflows, either the weights at one position are known to be within a
factor of 2¹⁷⁰⁰ of each other, or each state has an exponent of its own. Which of the two depends
on the chain, h, R and n alone. Let the sums of rows of h be at most D and at least 1: D =
N where h = 1. That of a chain has D ≤ 1 + 2⁻²⁰ after a division by its least row, which leaves the
law as it is, and is not carried out: sums are at least 1 − 2⁻²³. Then from V_n = 1 on, V_t(s) is
between 1 and (D·R)^{n−t}. Besides, if all states reach the same states in exactly r moves
(`ReachableChain.mixing_moves`), and h_min ≤ 1 is the least h, V_t(s) ≤ (D·R)^r·max V_{t+r} and
V_t(s') ≥ h_min^r·max V_{t+r}: one path leads to the largest. Where walks come back to a state
after multiples of a period alone (a map of two colours, on which the robot never stays), this
holds among the states that t moves can lead to, and only those have a W_t. Their largest weight is
brought to 2⁸⁰⁰ before it can have grown by 2¹⁶⁰; meanwhile none falls by more than 2²⁰ (as many
sums of 1 − 2⁻²³), and a product with h by 2⁴¹ more: between 2⁸⁰⁰⁻¹⁷⁰⁰⁻⁶¹ and 2⁸⁰⁰⁺¹⁶⁰·D·R, all are
normal.
"""
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, log, log2, nextafter, prod, sqrt
from typing import Any

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, RandomBits, ShortInts, Weights
from symdp_ros.core.compiled.vectors import aligned
from symdp_ros.core.draws.exact_draw import as_integers, draw_index
from symdp_ros.core.offline.passes import loops
from symdp_ros.core.offline.reachable import ReachableChain
from symdp_ros.core.online.response import exp_lower_bound
from symdp_ros.core.word_arrays import chunks, WordBits

LARGEST_RATIO = 2.0**40

_SEGMENTS = 4          # as in `core.offline.passes.kernels`, which only a route imports
_NO_SEGMENTS: Floats = np.zeros((0, 1, _SEGMENTS))
GROWTH_BITS = 160    # from one rescaling to the next: 2⁸⁰⁰⁻¹⁷⁰⁰ and 2⁸⁰⁰⁺¹⁶⁰·R·N both fit
ROW_SUMS = 1 + 2.0**-20  # D, where moves have weights
_CHUNK = 1 << 18       # symbols drawn together: what they need stays in the cache


def match_ratio(epsilon_per_symbol: Fraction, reserve: Fraction) -> float:
    """
    Return the largest float R ≥ 1 (nearly) with ln R ≤ (ε/k − reserve)/2 and R ≤ 2⁴⁰.

    :param epsilon_per_symbol: ε/k ≥ 0.
    :param reserve: ≥ 0, set aside for rounding.
    """
    exact = exp_lower_bound(max(Fraction(0), (epsilon_per_symbol - reserve) / 2))
    ratio = float(min(exact, Fraction(LARGEST_RATIO)))
    return ratio if Fraction(ratio) <= exact else nextafter(ratio, 0.0)


def rounding_reserve(length: int, chain: ReachableChain, weighted: bool = False) -> Fraction:
    """Return 5·n·(N+1)·2⁻⁵³, more than equation (3) loses by rounding; N+2 where h is not 1."""
    return Fraction(5 * length * (chain.most_successors + 1 + weighted), 2**53)


@dataclass(frozen=True)
class SweepPlan:
    """What is decided for words of one length, from public data."""

    ratio: float
    wide: bool           # one exponent for each state
    period: int          # above 1: at each position, the states that a walk can be in there alone
    rescale_every: int   # moves, where not wide
    spacing: int         # positions from one stored row to the next
    alone: int           # 0, or positions of a segment that are recomputed for it alone
    shape: tuple[int, ...]  # of W: (rows, ·), with several models (rows, ·, lanes)

    def workspace(self, length: int) -> tuple[Floats, ShortInts, ShortInts, Floats]:
        """Return arrays (W, E, scale, together) for the kernels."""
        together: Floats = _NO_SEGMENTS
        if self.alone:
            together = aligned((self.spacing - self.alone, self.shape[1], _SEGMENTS))
            together[:] = 0.0
        W = aligned(self.shape) if len(self.shape) > 2 else np.empty(self.shape)
        return (W, np.empty(self.shape[:2] if self.wide else (1, 1), np.int32),
                np.empty(length + 1, np.int32), together)


class WordSampler:
    """
    What samplers of the exponential mechanism share: a plan for each length, a sweep, a walk.

    Words are lists of state numbers of the `ReachableChain`; 0 is a symbol that no state matches.

    :param chain: the public chain.
    :param epsilon_per_symbol: ε/k ≥ 0.
    :param random: an object with `getrandbits`.
    """

    #: what the names of its loops begin with (`core.offline.passes.loops`)
    _loops: str
    #: what its loops read
    edges: Any

    def __init__(self, chain: ReachableChain, epsilon_per_symbol: Fraction, random: RandomBits):
        self._chain, self._epsilon_per_symbol, self._random = chain, epsilon_per_symbol, random
        self._plans: dict[int, SweepPlan] = {}

    def ratio(self, length: int) -> float:
        """Return R for words of this length, in [1, 2⁴⁰]."""
        return self.plan(length).ratio

    def plan(self, length: int) -> SweepPlan:
        """Return what is decided for words of one length."""
        plan = self._plans.get(length)
        if plan is None:
            if len(self._plans) > 1_000:
                self._plans.clear()
            plan = self._plans[length] = self._make_plan(length)
        return plan

    def draw(self, word: Sequence[int], random: RandomBits | None = None) -> list[int]:
        """Return a private word; `random`: in place of the sampler's own."""
        if len(word) == 0:
            return []
        n, plan, random = len(word), self.plan(len(word)), random or self._random
        bits = np.frombuffer(random.getrandbits(64 * n).to_bytes(8 * n, 'little'), np.uint64)
        W, E, scale, together = plan.workspace(n)
        numbers, out, beside = np.array(word, np.int64), np.empty(n, np.int64), self._beside(
            together)
        seconds, way = self._numpy_seconds(n, plan), self._way(plan)
        position, state, row = loops.run(
            f'{self._loops}route', seconds, numbers, bits, self.edges, *way, plan.rescale_every,
            plan.wide, W, E, scale, beside, out)
        while position < n:  # 53 bits were not enough: once in 2⁴⁰ symbols or so
            weights = as_integers(*self._drawn_by(W[row], E[row] if plan.wide else 0, state,
                                                  beside))
            chosen = draw_index(weights, random, int(bits[position]) >> 11, 53)
            out[position] = state = self._take(chosen, state, beside)
            position, state, row = loops.run(
                f'{self._loops}walk', seconds, position + 1, state, numbers, bits, self.edges,
                *way, plan.wide, W, E, scale, beside, out)
        route: list[int] = out.tolist()
        return route

    def draw_many(self, symbols: ShortInts, offsets: Ints, bits: WordBits) -> ShortInts:
        """As `core.online.online_batch.OnlineBatch.draw`: words of like length together."""
        lengths, out = np.diff(offsets), np.empty(len(symbols), np.int32)
        order = np.argsort(lengths, kind='stable')
        order = order[lengths[order] > 0]
        for some in chunks(np.concatenate([[0], np.cumsum(lengths[order])]), _CHUNK):
            self._draw_some(symbols, offsets[order[some]], lengths[order[some]],
                            bits[order[some]], out)
        return out

    def log_normalizer(self, word: list[int]) -> float:
        """Return ln Z(w) = ln Σ_o h(o)·R^{matches(w, o)} over the feasible words o."""
        if not word:
            return 0.0
        plan = self.plan(len(word))
        W, E, row, exponent = self._swept(word, plan)
        weights, exponents = self._drawn_by(W[row], E[row] if plan.wide else 0, 1,
                                            self._beside(_NO_SEGMENTS))
        highest = exponents.max()
        total = float(np.ldexp(weights, exponents - highest).sum())
        return log(total) + int(highest + exponent) * log(2)

    def probabilities(self, word: list[int], outputs: Sequence[list[int]]) -> list[Fraction]:
        """Return P̂[o|w] of feasible words, exactly; for inspection: every weight is stored."""
        W, E, plan = self._all_rows(word)
        drawn = dict[tuple[int, ...], list[int]]()  # what an output begins with → what comes next
        found = []
        for output in outputs:
            chance, state, beside = Fraction(1), 1, self._beside(_NO_SEGMENTS)
            for t, after in enumerate(output, 1):
                if (begin := tuple(output[:t - 1])) not in drawn:
                    drawn[begin] = as_integers(*self._drawn_by(
                        W[t], E[t] if plan.wide else 0, state, beside))
                weights, chosen = drawn[begin], self._chain.successors(state).tolist().index(after)
                chance *= Fraction(weights[chosen], sum(weights))
                state = self._take(chosen, state, beside)
            found.append(chance)
        return found

    def _make_plan(self, length: int) -> SweepPlan:
        raise NotImplementedError

    def _numpy_seconds(self, length: int, plan: SweepPlan) -> float:
        """Return about how long the loops in NumPy take for a word; inf: they cannot."""
        raise NotImplementedError

    def _way(self, plan: SweepPlan) -> tuple[Any, ...]:
        """Return what loops take of a plan; a sweep takes the first three."""
        raise NotImplementedError

    def _beside(self, together: Floats) -> Floats:
        """Return what a walk from s_0 changes besides W and E."""
        raise NotImplementedError

    def _drawn_by(self, W: Floats, E: ShortInts | int, state: int,
                  beside: Floats) -> tuple[Floats, Ints]:
        """
        Return what the moves from a state are drawn by, as float64 and exponents of two.

        :param W, E: of all states at the next position; E is 0 where there are no exponents.
        """
        raise NotImplementedError

    def _take(self, chosen: int, state: int, beside: Floats) -> int:
        """Take the move of a place among the successors, and return the next state."""
        raise NotImplementedError

    def _draw_some(self, symbols: ShortInts, begins: Ints, lengths: Ints, bits: WordBits,
                   out: ShortInts) -> None:
        """Draw the words of ascending lengths that begin at `begins`."""
        raise NotImplementedError

    def _draw_each(self, symbols: ShortInts, begins: Ints, lengths: Ints, bits: WordBits,
                   out: ShortInts) -> None:
        """Draw the same words one by one."""
        for i, (begin, length) in enumerate(zip(begins.tolist(), lengths.tolist(), strict=True)):
            here = slice(begin, begin + length)
            word = self._chain.numbers[symbols[here] + 1].tolist()
            out[here] = self._chain.positions[self.draw(word, bits.stream(i))]

    def _ratios(self, lengths: Ints) -> Floats:
        """Return R for words of these lengths."""
        different, which = np.unique(lengths, return_inverse=True)
        return np.array([self.ratio(length) for length in different.tolist()])[which]

    def _all_rows(self, word: Sequence[int]) -> tuple[Floats, ShortInts, SweepPlan]:
        plan = self.plan(len(word))
        plan = replace(plan, spacing=1, alone=0, shape=(len(word) + 1, *plan.shape[1:]))
        W, E, _, _ = self._swept(word, plan)
        return W, E, plan

    def _swept(self, word: Sequence[int], plan: SweepPlan) -> tuple[Floats, ShortInts, int, int]:
        W, E, scale, _ = plan.workspace(len(word))
        exponent, row = loops.run(
            f'{self._loops}sweep', self._numpy_seconds(len(word), plan), np.array(word, np.int64),
            self.edges, *self._way(plan)[:3], plan.rescale_every, plan.wide, W, E, scale)
        return W, E, row, exponent


class BackwardSampler(WordSampler):
    """
    Draws words from the exponential mechanism (see the module).

    :param weights: h of each move in the order of `chain.targets`, in (2⁻⁴¹, 1], the rows summing
        to 1 within 2⁻²³ (`core.models`); None: h = 1.
    """

    _loops = ''

    def __init__(self, chain: ReachableChain, epsilon_per_symbol: Fraction, random: RandomBits,
                 weights: Weights | None = None):
        super().__init__(chain, epsilon_per_symbol, random)
        self._weights = weights
        self.edges = chain.edges if weights is None else chain.weighted(weights)

    def _drawn_by(self, W: Floats, E: ShortInts | int, state: int,
                  beside: Floats) -> tuple[Floats, Ints]:
        """Return fl(h·Ŵ)."""
        successors = self._chain.successors(state)
        weights: Floats = W[successors]
        if self._weights is not None:
            weights = weights * self._weights[slice(*self._chain.offsets[state:state + 2])]
        weights, own = np.frexp(weights)
        return weights, own.astype(np.int64) + (E if isinstance(E, int) else E[successors])

    def _take(self, chosen: int, state: int, beside: Floats) -> int:
        return int(self._chain.successors(state)[chosen])

    def _beside(self, together: Floats) -> Floats:
        return together

    def _way(self, plan: SweepPlan) -> tuple[Any, ...]:
        return plan.period, plan.ratio, plan.spacing, plan.alone

    def _draw_some(self, symbols: ShortInts, begins: Ints, lengths: Ints, bits: WordBits,
                   out: ShortInts) -> None:
        from symdp_ros.core.offline.passes import kernels

        chain, longest = self._chain, int(lengths[-1])
        plan, lanes = self.plan(longest), kernels.LANES
        shape = longest, chain.reached(longest) + 1, lanes
        if plan.wide or plan.period > 1 or 8 * prod(shape) > chain.sizes.lanes_bytes:
            self._draw_each(symbols, begins, lengths, bits, out)
            return
        ratios, drawn = self._ratios(lengths), np.concatenate([[0], np.cumsum(lengths)])
        raw = bits.fill(lengths, np.uint64)
        more: dict[int, RandomBits] = {}  # of words
        W = np.empty(shape)
        group, groups = 0, -(-len(begins) // lanes)
        at, states = np.full(lanes, -1), np.ones(lanes, np.int64)
        while True:
            group = kernels.exponential(
                symbols, begins, lengths, ratios, drawn, raw, chain.numbers, chain.positions,
                self.edges, plan.rescale_every, W, group, at, states, out)
            if group == groups:
                return
            some = slice(group * lanes, (group + 1) * lanes)
            for lane, (begin, length, place) in enumerate(zip(
                    begins[some].tolist(), lengths[some].tolist(), drawn[some].tolist(),
                    strict=False)):
                if at[lane] < length:  # 53 bits were not enough: once in 2⁴⁰ symbols or so
                    i = int(at[lane])
                    row = int(lengths[some][-1]) - length + i
                    weights = as_integers(*self._drawn_by(W[row, :, lane], 0, states[lane], W))
                    word = group * lanes + lane
                    stream = more.setdefault(word, bits.stream(word, 8 * length))
                    chosen = draw_index(weights, stream, int(raw[place + i]) >> 11, 53)
                    states[lane] = chain.successors(states[lane])[chosen]
                    out[begin + i] = chain.positions[states[lane]]
                    at[lane] += 1

    def _numpy_seconds(self, length: int, plan: SweepPlan) -> float:
        if plan.spacing > 1:
            return inf
        each = 5e-6 + 1e-8 * plan.shape[1]
        return length * (3e-5 + self._chain.most_successors * each) * (3 if plan.wide else 1)

    def _make_plan(self, length: int) -> SweepPlan:
        chain, row_sums, least = self._chain, float(self._chain.most_successors), 1.0
        if self._weights is not None:
            row_sums, least = ROW_SUMS, float(self._weights.min())
        reserve = rounding_reserve(length, chain, self._weights is not None)
        ratio = match_ratio(self._epsilon_per_symbol, reserve)
        growth = log2(row_sums * ratio)  # bits, in one move
        wide, period = growth * length > chain.sizes.spread_bits, 1
        if wide and chain.mixing_moves is not None and (
                (growth - log2(least)) * chain.mixing_moves <= chain.sizes.spread_bits):
            wide, period = False, chain.period
        width = chain.reached(length) + 1
        most_rows = chain.sizes.stored_bytes // (width * (12 if wide else 8))
        alone = 0
        if not wide and period == 1 and len(chain.columns):
            alone = max(1, int(np.argmax(chain.reach > width // 8)) - 1)
        spacing, alone, rows = _spacing(length, most_rows, alone)
        rescale_every = int(GROWTH_BITS / growth) if growth else length + 1
        return SweepPlan(ratio, wide, period, rescale_every, spacing, alone, (rows, width))


def _spacing(length: int, most_rows: int, alone: int) -> tuple[int, int, int]:
    """
    Return (spacing, alone, rows of W), with the least spacing that needs no more rows; or √n/2.

    :param alone: moves after which a walk can be in about an eighth of all states; 0: segments are
        never recomputed together.
    """
    if length + 1 <= most_rows:
        return 1, 0, length + 1
    spacings = np.arange(2, max(2, round(sqrt(length) / 2)) + 1)
    rows = -(-length // spacings) + 1 + np.maximum(2, spacings - 1)
    i = int(np.argmax(rows <= most_rows)) if (rows <= most_rows).any() else len(rows) - 1
    plain = int(spacings[i]), 0, int(rows[i])
    spacings = spacings[spacings > alone + 1]
    rows = -(-length // spacings) + 1 + max(2, alone)
    fitting = np.flatnonzero(rows + _SEGMENTS * (spacings - alone) <= most_rows)
    if alone == 0 or not len(fitting):
        return plain
    together = int(spacings[fitting[0]]), alone, int(rows[fitting[0]])
    # The part of all positions recomputed for nearly all states; together in half the time.
    apart, joint = (1 - (alone + 1) / spacing for spacing in (plain[0], together[0]))
    return together if joint / 2 < apart - 0.1 else plain
