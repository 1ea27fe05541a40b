# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The exponential mechanism on a chain: words drawn by one backward and one forward pass.

With R = 1/B ≥ 1, the mechanism draws a word o of length n with probability
h(o)·R^{matches(w, o)} / Z(w), where matches = n − d(w, o), among the feasible words whose t-th
state is in a public set A_t: all states; with zones, those of the zone told (`core.zones`), and
matches counts the positions that have a zone. h is a public base measure (`core.models`): a hidden
switch between models P_m, one model, or h = 1 (one model whose moves all weigh 1), which counts
words (paper, Mechanism 3, divided by B^n).

Instead of the automaton with its error coordinate, errors and hidden models are summed out
position by position. Let b_t(s) = R if s = w_t, 1 elsewhere in A_t, and 0 outside. With U_t(s, m)
the weight of all that can follow s at position t, where the move there was by the model m,

    V_{t−1}(s, m) = Σ_{s' ∈ C(s)} P_m(s'|s)·b_t(s')·U_t(s', m),   U_n = 1,
    U_t(s, m) = (1 − ρ)·V_t(s, m) + Σ_m' ρ·q(m')·V_t(s, m')   (U = V where there is one).   (1)

With α_t(m), how likely each model is for move t given o_1…o_{t−1} under h,

    α_1 = q,   α_{t+1}(m) ∝ (1 − ρ)·y(m) + ρ·q(m)·Σ y,   y(m) = α_t(m)·P_m(o_t|o_{t−1}),  (2)

o_t is drawn with probabilities proportional to

    A_t(s') = Σ_m α_t(m)·P_m(s'|o_{t−1})·b_t(s')·U_t(s', m),   s' ∈ C(o_{t−1}).           (3)

No model is drawn. O(n·|E|·M) time, of the moves into A_t alone. (On `Chain.complete` it is
O(n·N·M): P_m(s'|s) is one number for s' = s, and another one for all others, whose b_t·U_t are
added up from those before s and those after s: N − 2 additions, no difference. Products come after
the sum, which makes no factor more.) Where all rows b_t·U_t take more than
`LoopSizes.stored_bytes`, every √n-th is kept, and those between are computed a second time, in the
same order of additions, so that not a bit differs.

**Rounding.** V, U, α and A are computed in float64, u = 2⁻⁵³, and o_t is drawn from the computed
Â exactly, in as many random bits as it takes: P̂[o|w] = Π_t Â_t(o_t) / Σ_{s'} Â_t(s'). Whatever
floats are used as P_m, R, ρ and q, they are these numbers exactly. All terms are positive or an
exact 0, so relative errors add up. Let N be the largest number of successors, and M the lanes, of
one model 1 and of several `MODEL_LANES`. V̂ is off its own terms by a product, at most N − 1
additions, and what is left out where states have exponents (terms below 2⁻²⁵⁰ of the largest),
which is less than a factor; Û by M + 1 more, and b by one; Â by M + 1; α̂ by M + 5. α does not
depend on w, and by (1) and (2)

    A_{t−1}(o_{t−1}) = κ_t(o)·b_{t−1}(o_{t−1})·Σ_{s'} A_t(s'),                            (4)

κ_t the normaliser of (2). So the product telescopes to Π κ·R^{matches} over one number Z(w), times
at most n·(N + 4M + 12) factors of 1±u; since P̂ sums to 1, Z(w) is Σ_o Π κ·R^{matches}, times as
many. For adjacent words Π κ = h(o) is the same, A_t is, R^{matches} differs by R^k at most, and so
does Z; ln((1+u)/(1−u)) < 2.01·u. Altogether

    |ln P̂[o|w] − ln P̂[o|w']| ≤ 2k·ln R + 4.02·n·(N + 4M + 12)·u ≤ ε,                       (5)

since R is chosen with ln R ≤ (ε/k − 5·n·(N + 4M + 12)·2⁻⁵³) / 2, in rational arithmetic. (Where
each symbol is randomized response by itself, k·ln R stands for 2k·ln R in (5), and R is chosen
with ln R ≤ ε/k − 5·n·(N + 4M + 12)·2⁻⁵³.) Where that is not positive, R = 1: rows then do not
depend on w in any bit, the loss is exactly 0, and words are drawn by h alone. R is at most 2⁴⁰
(B ≥ 2⁻⁴⁰), which is more private. As neither weights nor products round to zero, every word that
can be drawn has a positive probability. A state from which no route has the zones to come has
weight 0, and is never drawn; there is always one that has a weight, as each state of R_t follows
one of R_{t−1} (`core.zones`).

**Range.** So that no float overflows, either the weights at one position are known to be within a
factor of 2¹⁷⁰⁰ of each other, or each state has an exponent of its own, for its largest lane.
Which of the two depends on the chain, h, R and n alone; with zones it is the latter. Let the sums
of rows of P_m be at most D ≥ 1: N where h = 1. Those of a chain have D ≤ 1 + 2⁻²⁰ after a division
by their least row, which leaves the law as it is, and is not carried out: sums are at least 1 −
2⁻²³. Then from U_n = 1 on, V_t is between 1 and (D·R)^{n−t}. Besides, a move of a model m that is
positive everywhere takes at least (1 − ρ)·min P_m of what follows, and being in it ρ·q(m) (1 and 1
with one model). So where all states reach the same states in exactly r moves
(`ReachableChain.mixing_moves`), weights at one position differ by at most (D·R/((1 − ρ)·min
P_m))^r / (ρ·q(m)). 150 bits more are for products and lanes: Û_t(s, ·) are within a factor 1 +
1/min ρ·q ≤ 2⁴⁷ of each other, and lanes without a model, and models that cannot make a move, only
ever add 0. The largest weight is brought to 2⁸⁰⁰ before it can have grown by 2¹⁶⁰; meanwhile none
falls by more than 2²⁰ (as many sums of 1 − 2⁻²³), and a product with h by 2⁴¹ more: between
2⁸⁰⁰⁻¹⁷⁰⁰⁻⁶¹ and 2⁸⁰⁰⁺¹⁶⁰·D·R, all are normal.
"""
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, log, log2, nextafter, sqrt

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, Numbers, RandomBits, ShortInts
from symdp_ros.core.draws.exact_draw import as_integers, draw_index
from symdp_ros.core.models import Models
from symdp_ros.core.offline import passes
from symdp_ros.core.offline.passes import in_numpy, NEVER, PassWord
from symdp_ros.core.offline.reachable import ReachableChain
from symdp_ros.core.online.response import exp_lower_bound
from symdp_ros.core.word_arrays import chunks, WordBits

LARGEST_RATIO = 2.0**40

_GROWTH_BITS = 160       # from one rescaling to the next: 2⁸⁰⁰⁻¹⁷⁰⁰ and 2⁸⁰⁰⁺¹⁶⁰·R·N both fit
_ROW_SUMS = 1 + 2.0**-20  # D of a chain's P
_CHUNK = 1 << 18         # symbols drawn together: what they need stays in the cache
_NO_EXPONENTS: ShortInts = np.empty((1, 1), np.int32)


def match_ratio(epsilon_per_symbol: Fraction, reserve: Fraction) -> float:
    """
    Return the largest float R ≥ 1 (nearly) with ln R ≤ (ε/k − reserve)/2 and R ≤ 2⁴⁰.

    :param epsilon_per_symbol: ε/k ≥ 0.
    :param reserve: ≥ 0, set aside for rounding.
    """
    exact = exp_lower_bound(max(Fraction(0), (epsilon_per_symbol - reserve) / 2))
    ratio = float(min(exact, Fraction(LARGEST_RATIO)))
    return ratio if Fraction(ratio) <= exact else nextafter(ratio, 0.0)


def rounding_reserve(length: int, most_successors: int, lanes: int) -> Fraction:
    """Return 5·n·(N + 4M + 12)·2⁻⁵³, more than equation (5) loses by rounding."""
    return Fraction(5 * length * (most_successors + 4 * lanes + 12), 2**53)


@dataclass(frozen=True)
class Plan:
    """How words of one length are computed; it follows from public data. R is in [1, 2⁴⁰]."""

    ratio: float
    rescale_every: int  # positions; 0: each state has an exponent of its own


class WordSampler:
    """
    Draws words from the exponential mechanism (see the module).

    It may be used from several threads at once.

    :param chain: the public chain; one made with zones draws words that have some.
    :param models: of h.
    :param epsilon_per_symbol: ε/k ≥ 0.
    :param random: an object with `getrandbits`.
    :param is_response: each symbol is randomized response by itself, so that ln R ≤ ε/k will do.
    """

    def __init__(self, chain: ReachableChain, models: Models, epsilon_per_symbol: Fraction,
                 random: RandomBits, is_response: bool = False):
        self._chain, self._models, self._random = chain, models, random
        self._epsilon_per_symbol, self._is_response = epsilon_per_symbol, is_response
        self.moves = chain.moves(models)
        self._is_zoned = chain.zone_starts is not None
        #: the pass in C; None: NumPy does it
        self.compiled = passes.compiled if len(self.moves.offsets) else None
        self._tables = in_numpy.Tables(
            self.moves, None if self._is_zoned else range(1, len(chain) + 1))
        #: how words of one length are computed
        self.plan = lru_cache(maxsize=1_000)(self._make_plan)

    def word(self, numbers: Sequence[int] | Ints | Numbers, zones: Ints | None = None) -> PassWord:
        """
        Return a word as the pass reads it.

        :param numbers: of its symbols; 0 matches no state.
        :param zones: of each position, −1 where there is none; None: there are no zones.
        """
        n, plan = len(numbers), self.plan(len(numbers))
        symbols = np.array(numbers, np.int64)
        if zones is None:
            begins, ends = self._reached(n)
        else:
            starts, some = self._chain.zone_starts, zones >= 0
            assert starts is not None
            begins = np.where(some, starts[zones], 1)
            ends = np.where(some, starts[zones + 1], len(self._chain) + 1)
            symbols[~some] = 0
        return PassWord(symbols, begins, ends, plan.ratio, plan.rescale_every)

    def draw(self, word: PassWord, random: RandomBits | None = None) -> Ints:
        """Return the numbers of a private word; `random`: in place of the sampler's own."""
        n, random = len(word.symbols), random or self._random
        out, model = np.empty(n, np.int64), self.moves.prior.copy()
        if n == 0:
            return out
        bits = np.frombuffer(random.getrandbits(64 * n).to_bytes(8 * n, 'little'),
                             np.uint64).copy()
        rows, position, state = _Rows(self, word), 0, self._chain.initial
        walk = (self.compiled or in_numpy).walk
        for first, last, W, E in rows:
            while position < last:
                position, state = walk(position, first, last, state, word, bits, self.moves,
                                       self._chain.most_successors, W, E, model, out)
                if position < last:  # 53 bits were not enough: once in 2⁴⁰ symbols or so
                    row = position - first
                    state = out[position] = self._draw_move(
                        self._weights(word, position, W[row], E[row:row + 1], state, model),
                        random, int(bits[position]) >> 11, state, model)
                    position += 1
        return out

    def draw_many(self, symbols: ShortInts, offsets: Ints, bits: WordBits) -> ShortInts:
        """As `core.online.online_batch.OnlineBatch.draw`: words of like length together."""
        lengths, out = np.diff(offsets), np.empty(len(symbols), np.int32)
        order = np.argsort(lengths, kind='stable')
        order = order[lengths[order] > 0]
        for some in chunks(np.concatenate([[0], np.cumsum(lengths[order])]), _CHUNK):
            self._draw_some(symbols, offsets[order[some]], lengths[order[some]],
                            bits[order[some]], out)
        return out

    def log_normalizer(self, word: PassWord) -> float:
        """Return ln Z(w) = ln Σ_o h(o)·R^{matches(w, o)}."""
        if not len(word.symbols):
            return 0.0
        rows = _Rows(self, word)
        _, _, W, E = next(iter(rows))
        weights, exponents = self._weights(word, 0, W[0], E[:1], self._chain.initial,
                                           self.moves.prior)
        highest = int(exponents.max())
        total = float(np.ldexp(weights, exponents - highest).sum())
        return log(total) + (highest + rows.exponent) * log(2)

    def probabilities(self, word: PassWord, outputs: Sequence[Sequence[int]]) -> list[Fraction]:
        """Return P̂[o|w] of feasible words, exactly; for tests: it stores all rows."""
        rows = [(W[t].copy(), E[t:t + 1].copy()) for first, last, W, E in _Rows(self, word)
                for t in range(last - first)]
        drawn = dict[tuple[int, ...], list[int]]()  # what an output begins with → what comes next
        chances = []
        for output in outputs:
            chance, state, model = Fraction(1), self._chain.initial, self.moves.prior.copy()
            for t, after in enumerate(output):
                if (begin := tuple(output[:t])) not in drawn:
                    drawn[begin] = as_integers(*self._weights(word, t, *rows[t], state, model))
                weights, chosen = drawn[begin], self._chain.successors(state).tolist().index(after)
                chance *= Fraction(weights[chosen], sum(weights))
                if not chance:
                    break
                state = in_numpy.take(chosen, state, self.moves, model)
            chances.append(chance)
        return chances

    def block(self, length: int, width: int) -> int:
        """Return how many positions have rows at once: all, or √n of them."""
        each = width * (8 * self.moves.lanes + (0 if self.plan(length).rescale_every else 4))
        return length if each * length <= self._chain.sizes.stored_bytes else ceil(sqrt(length))

    def _reached(self, length: int) -> tuple[Ints, Ints]:
        """Return the begins and ends of positions where there are no zones."""
        reach = self._chain.reach
        ends = 1 + reach[np.minimum(np.arange(1, length + 1), len(reach) - 1)]
        return np.ones(length, np.int64), ends

    def _weights(self, word: PassWord, t: int, W: Floats, E: ShortInts, state: int,
                 model: Floats) -> tuple[Floats, Ints]:
        """
        Return the weights by which a move is drawn, as float64 and exponents of two.

        :param W, E: the row of place t, to which they lead; E has shape (1, ·).
        """
        lengths, places, inside = in_numpy.lengths(state, word, t, self.moves, W, model)
        values, exponents = np.frexp(lengths)
        exponents = exponents.astype(np.int64)
        if word.rescale_every == 0:
            exponents += np.where(inside, E[0][places], NEVER)
        return values, np.where(values > 0, exponents, exponents.max())

    def _draw_move(self, weights: tuple[Floats, Ints], random: RandomBits, drawn: int, state: int,
                   model: Floats) -> int:
        """Draw a move exactly, by its first 53 bits and more, and take it."""
        return in_numpy.take(draw_index(as_integers(*weights), random, drawn, 53), state,
                             self.moves, model)

    def _draw_some(self, symbols: ShortInts, starts: Ints, lengths: Ints, bits: WordBits,
                   out: ShortInts) -> None:
        """Draw the words of ascending lengths that begin at `starts`."""
        chain, longest = self._chain, int(lengths[-1])
        plans = self.plan(int(lengths[0])), self.plan(longest)
        compiled, width = self.compiled, chain.reached(longest)
        if compiled is None or self.block(longest, width) < longest or not all(
                plan.rescale_every for plan in plans):
            for i, (begin, length) in enumerate(zip(starts.tolist(), lengths.tolist(),
                                                    strict=True)):
                here = slice(begin, begin + length)
                word = self.word(chain.numbers[symbols[here] + 1])
                out[here] = chain.positions[self.draw(word, bits.stream(i))]
            return
        different, which = np.unique(lengths, return_inverse=True)
        ratios = np.array([self.plan(length).ratio for length in different.tolist()])[which]
        ends = np.cumsum(lengths)
        raw = bits.fill(lengths, np.uint64)
        more: dict[int, RandomBits] = {}  # of words
        places = np.repeat(starts - ends + lengths, lengths) + np.arange(ends[-1])
        numbers = chain.numbers[symbols[places] + 1].astype(np.int64)
        drawn, model = np.empty(ends[-1], np.int64), self.moves.prior.copy()
        word = PassWord(numbers, *self._reached(longest), plans[1].ratio,
                        min(plan.rescale_every for plan in plans))

        def go_on(i: int, position: int, row: Floats, state: int, model: Floats) -> int:
            """Draw the next symbol of word i, where 53 bits were not enough."""
            place = int(ends[i] - lengths[i]) + position
            stream = more.setdefault(i, bits.stream(i, 8 * int(lengths[i])))
            weights = self._weights(word, position, row, _NO_EXPONENTS, state, model)
            drawn[place] = state = self._draw_move(weights, stream, int(raw[place]) >> 11, state,
                                                   model)
            return state

        if self.moves.lanes == 1 and 8 * compiled.TOGETHER * longest * width <= (
                chain.sizes.side_by_side_bytes):
            W = np.empty((longest, width, compiled.TOGETHER))
            at, states = np.full(compiled.TOGETHER, -1), np.ones(compiled.TOGETHER, np.int64)
            first = 0
            while (first := compiled.draw_together(
                    first, at, states, word, lengths, ratios, raw, self.moves,
                    chain.most_successors, W, drawn)) < len(lengths):
                group = lengths[first:first + compiled.TOGETHER]
                for i in np.flatnonzero(at[:len(group)] < group).tolist():
                    row = W[int(group[-1] - group[i] + at[i]), :, i].copy()
                    states[i] = go_on(first + i, int(at[i]), row, int(states[i]), model)
                    at[i] += 1
        else:
            W, E = self.rows(longest, width, plans[1])
            i, position, state = 0, 0, chain.initial
            while (undecided := compiled.draw_words(
                    i, position, state, word, lengths, ratios, raw, self.moves,
                    chain.most_successors, W, E, model, drawn))[0] < len(lengths):
                i, position, state = undecided
                state, position = go_on(i, position, W[position], state, model), position + 1
        out[places] = chain.positions[drawn]

    def _make_plan(self, length: int) -> Plan:
        chain, moves, models = self._chain, self.moves, self._models
        left = self._epsilon_per_symbol - rounding_reserve(length, chain.most_successors,
                                                           moves.lanes)
        ratio = match_ratio((1 + self._is_response) * left, Fraction(0))
        row_sums = moves.most_in_a_row(len(chain))
        growth = log2(max(_ROW_SUMS, row_sums) * ratio)  # bits, in one move
        most, allowed = growth * length, chain.sizes.spread_bits
        if not self._is_zoned and most > allowed and (mixing := chain.mixing_moves) is not None:
            shares = models.switch.tolist() if len(models) > 1 else [1.0]
            least = moves.weights[:, :len(models)].min(axis=0).tolist()
            most = min((growth - log2(models.keep * p)) * mixing - log2(share)
                       for p, share in zip(least, shares, strict=True) if p > 0)
        rescale_every = max(1, int(_GROWTH_BITS / growth))
        if self._is_zoned or most > allowed and len(moves.offsets):
            rescale_every = 0
        return Plan(ratio, rescale_every)

    def rows(self, count: int, width: int, plan: Plan) -> tuple[Floats, ShortInts]:
        """Return W and E with so many rows, to be filled."""
        return (np.empty((count, width * self.moves.lanes)),
                np.empty((1, 1) if plan.rescale_every else (count, width), np.int32))


class _Rows:
    """
    The rows of a word: computed backward, then iterated forward in blocks.

    Each block is (first, last, W, E), as `core.offline.passes.in_numpy.sweep` fills them.
    """

    def __init__(self, sampler: WordSampler, word: PassWord):
        n = len(word.symbols)
        self._sampler, self._word = sampler, word
        width = int((word.ends - word.begins).max(initial=0))
        self._block = sampler.block(n, width)
        self._W, self._E = sampler.rows(min(n, self._block + 1), width, sampler.plan(n))
        self._firsts = range(0, n, max(1, self._block))
        self._checkpoints: dict[int, tuple[Floats, ShortInts]] = {}
        #: the power of two by which the first row was divided
        self.exponent = 0
        for first in reversed(self._firsts):
            self.exponent += self._sweep(first)
            if first:
                self._checkpoints[first] = self._W[0].copy(), self._E[0].copy()

    def __iter__(self) -> Iterator[tuple[int, int, Floats, ShortInts]]:
        for first in self._firsts:
            if first:
                self._sweep(first)
            yield first, min(first + self._block, len(self._word.symbols)), self._W, self._E

    def _sweep(self, first: int) -> int:
        last, sampler = min(first + self._block, len(self._word.symbols)), self._sampler
        if last < len(self._word.symbols):
            row, exponents = self._checkpoints[last]
            self._W[last - first] = row
            self._E[min(last - first, len(self._E) - 1)] = exponents
        if sampler.compiled is not None:
            total: int = sampler.compiled.sweep(first, last, self._word, sampler.moves, self._W,
                                                self._E)
            return total
        return in_numpy.sweep(first, last, self._word, sampler.moves, sampler._tables, self._W,
                              self._E)
