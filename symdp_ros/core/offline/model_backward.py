# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The exponential mechanism with several models: `core.offline.backward`, for h of `core.models`.

The hidden models are summed out as the words are. With U_t(s, m) the weight of all that can follow
s at position t where the move there was by the model m,

    V_{t−1}(s, m) = Σ_{s' ∈ C(s)} P_m(s'|s)·b_t(s')·U_t(s', m),   U_n = 1,
    U_t(s, m) = (1 − ρ)·V_t(s, m) + Σ_m' ρ·q(m')·V_t(s, m'),                              (1)

b_t(s') = R if s' = w_t, else 1. With α_t(m), how likely each model is for move t given
o_1…o_{t−1} under h,

    α_1 = q,   α_{t+1}(m) ∝ (1 − ρ)·y(m) + ρ·q(m)·Σ y,   y(m) = α_t(m)·P_m(o_t|o_{t−1}),  (2)

o_t is drawn with probabilities proportional to

    A_t(s') = Σ_m α_t(m)·P_m(s'|o_{t−1})·b_t(s')·U_t(s', m),   s' ∈ C(o_{t−1}).

No model is drawn. O(n·|E|·M) time; rows are stored and recomputed as with one model.

**Rounding.** V, U, α and A are computed in float64, u = 2⁻⁵³, and o_t is drawn from the computed
Â exactly: P̂[o|w] = Π_t Â_t(o_t) / Σ_{s'} Â_t(s'). All terms are positive, so relative errors add
up. Let N be the largest number of successors and M = `LANES`. V̂ is off its own terms by a product
and at most N − 1 additions, and, with exponents, by what is left out, which is less than a factor
of U; Û by M + 1 more, and b by one; Â by M + 1; α̂ by M + 5. α does not depend on w, and by (1)
and (2)

    A_{t−1}(o_{t−1}) = κ_t(o)·b_{t−1}(o_{t−1})·Σ_{s'} A_t(s'),                            (3)

κ_t the normaliser of (2). So the product telescopes to Π κ·R^{matches} over one number Z(w), times
at most n·(N + 4M + 12) factors of 1±u; since P̂ sums to 1, Z(w) is Σ_o Π κ·R^{matches}, times as
many. As in `core.offline.backward`, equation (3), |ln P̂[o|w] − ln P̂[o|w']| ≤ 2k·ln R +
4.02·n·(N + 4M + 12)·u, for which 5·n·(N + 4M + 12)·2⁻⁵³ of ε are set aside.

**Range.** Û_t(s, ·) are within a factor 1 + 1/min ρ·q of each other, at most 2⁴⁷; lanes without a
model, and models that cannot make a move, only ever add 0. A move of a model m that is positive
everywhere takes at least (1 − ρ)·P_m(s'|s) of what follows, and being in it ρ·q(m). So where all
states reach the same states in r moves, the weights at one position differ by at most (R/((1 −
ρ)·min P_m))^r / (ρ·q(m)), and `_SPREAD` bits more for products and lanes; else each state has an
exponent of its own, for its largest lane. (So it has, too, where the chain has a period.)
"""
from fractions import Fraction
from math import inf, log2, sqrt
from typing import Any

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, RandomBits, ShortInts
from symdp_ros.core.compiled.vectors import in_lanes, LANES
from symdp_ros.core.draws.exact_draw import as_integers, draw_index
from symdp_ros.core.models import Models
from symdp_ros.core.offline.backward import (GROWTH_BITS, match_ratio, ROW_SUMS, SweepPlan,
                                             WordSampler)
from symdp_ros.core.offline.passes.short_models import learn, lengths
from symdp_ros.core.offline.reachable import ReachableChain
from symdp_ros.core.word_arrays import WordBits

_STREAMED = 1 << 24  # bytes: from there on, to fill rows takes longer than to recompute some
_SPACING = 3        # what lies between is then recomputed for the few states that a walk can see
_MOST_IN_NUMPY = 1 << 22  # states and positions, of which NumPy stores all
_SPREAD = 150       # bits between weights for products by α and P_m, and for lanes


class ModelSampler(WordSampler):
    """Draws words from the exponential mechanism (see the module)."""

    _loops = 'model_'

    def __init__(self, chain: ReachableChain, models: Models, epsilon_per_symbol: Fraction,
                 random: RandomBits):
        super().__init__(chain, epsilon_per_symbol, random)
        self._models = models
        self.edges = chain.with_models(models)

    def _draw_some(self, symbols: ShortInts, begins: Ints, lengths: Ints, bits: WordBits,
                   out: ShortInts) -> None:
        from symdp_ros.core.offline.passes import model_kernels

        chain, plan = self._chain, self.plan(int(lengths[-1]))
        if plan.wide or plan.spacing > 1:
            self._draw_each(symbols, begins, lengths, bits, out)
            return
        ratios, ends = self._ratios(lengths), np.cumsum(lengths)
        raw = bits.fill(lengths, np.uint64)
        more: dict[int, RandomBits] = {}  # of words
        places = np.concatenate([np.arange(begin, begin + length) for begin, length in zip(
            begins.tolist(), lengths.tolist(), strict=True)])
        numbers = chain.numbers[symbols[places] + 1].astype(np.int64)
        drawn, model = np.empty(ends[-1], np.int64), self._prior()
        W, E, scale, _ = plan.workspace(int(lengths[-1]))
        word, position, state = 0, 0, 1
        while True:
            word, position, state = model_kernels.words(
                word, position, state, numbers, lengths, raw, self.edges, ratios,
                plan.rescale_every, W, E, scale, self._prior(), model, drawn)
            if word == len(lengths):
                break
            place = int(ends[word] - lengths[word]) + position
            weights = as_integers(*self._drawn_by(W[position + 1], 0, state, model))
            stream = more.setdefault(word, bits.stream(word, 8 * int(lengths[word])))
            state = self._take(draw_index(weights, stream, int(raw[place]) >> 11, 53), state,
                               model)
            drawn[place], position = state, position + 1
        out[places] = chain.positions[drawn]

    def _take(self, chosen: int, state: int, beside: Floats) -> int:
        edge = int(self._chain.offsets[state]) + chosen
        learn(beside, edge, self.edges)
        return int(self._chain.targets[edge])

    def _prior(self) -> Floats:
        model: Floats = in_lanes(self._models.prior[None])[0]
        return model

    def _beside(self, together: Floats) -> Floats:
        return self._prior()

    def _drawn_by(self, W: Floats, E: ShortInts | int, state: int,
                  beside: Floats) -> tuple[Floats, Ints]:
        """Return Â."""
        some = slice(*self._chain.offsets[state:state + 2])
        weights, own = np.frexp(lengths(some, self.edges, W, beside))
        exponents = own.astype(np.int64)
        return weights, exponents + (E if isinstance(E, int) else E[self._chain.targets[some]])

    def _way(self, plan: SweepPlan) -> tuple[Any, ...]:
        return plan.ratio, plan.spacing

    def _numpy_seconds(self, length: int, plan: SweepPlan) -> float:
        if (length + 1) * plan.shape[1] > _MOST_IN_NUMPY:
            return inf
        each = 1e-5 + 6e-8 * plan.shape[1]
        return length * (6e-5 + self._chain.most_successors * each) * (2 if plan.wide else 1)

    def _make_plan(self, length: int) -> SweepPlan:
        chain, models = self._chain, self._models
        reserve = Fraction(5 * length * (chain.most_successors + 4 * LANES + 12), 2**53)
        ratio = match_ratio(self._epsilon_per_symbol, reserve)
        growth = log2(ROW_SUMS * ratio)  # bits, in one move
        allowed = chain.sizes.spread_bits - _SPREAD
        least = self.edges[3][:, :len(models)].min(axis=0)
        wide = min(
            growth * length,
            *((growth - log2(models.keep * p)) * chain.mixing_moves - log2(share)
              for p, share in zip(least.tolist(), models.switch.tolist(), strict=True)
              if p > 0 and chain.mixing_moves is not None and chain.period == 1), inf) > allowed
        width = chain.reached(length) + 1
        most_rows = chain.sizes.stored_bytes // (width * (8 * LANES + (4 if wide else 0)))
        spacing, rows = 1, length + 1
        if rows > min(most_rows, _STREAMED // (width * 8 * LANES)):
            spacings = np.arange(_SPACING, max(_SPACING, round(sqrt(length) / 2)) + 1)
            counts = -(-length // spacings) + 1 + np.maximum(2, spacings - 1)
            i = int(np.argmax(counts <= most_rows)) if (counts <= most_rows).any() else -1
            spacing, rows = int(spacings[i]), int(counts[i])
        rescale_every = max(1, int(GROWTH_BITS / growth)) if growth else length + 1
        return SweepPlan(ratio, wide, 1, rescale_every, spacing, 0, (rows, width, LANES))
