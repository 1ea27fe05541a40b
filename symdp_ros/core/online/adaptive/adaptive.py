# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The adaptive policy: each draw is fitted to what is publicly believed of the true symbol.

Let f(m, s) = P[m_{t+1} = m, s_t = s | o_1…o_{t−1}], by Bayes from what was published: s_t moves by
the public models P_m and the hidden switch T between them (`core.models`), o_t is drawn as below,
and m_{t+1} is the model of the move to s_{t+1}:

    f'(m', s')  ∝  Σ_m T(m'|m)·Σ_s P_m(s'|s)·P[o_t | s, o_1…o_{t−1}]·f(m, s)

is f for the next symbol. Let f(s) = Σ_m f(m, s). Before s_t is looked at, a set T ⊆ C(o_{t−1}) is
chosen for a large

    Σ_s f(s)·[ a/T·Σ_{x ∈ T} X(s, x) + (b−a)/T·max_{x ∈ T} X(s, x) ],                           (1)

and for every symbol s its target, the x ∈ T of largest X(s, x), the first of `successors` where
several come within 10⁻¹² of it; none (uniform on T) where no match is ever to be had, and for an
unknown symbol. Then o_t is drawn on T about the target of s_t, in the integers a, b of |T|
(`core.online.response`). X is the value of the planned policy, with Σ_m q(m)·P_m
and γ = 0.9 (`core.online.planned`): how many matches are expected, this one and the discounted
later ones.

T grows one state at a time, each the one that makes (1) largest. Of these sets the one is taken
that promises most one step ahead: the chance of a match, plus γ times the largest (1) of the next
step, averaged over what may be drawn (s_t being followed by s_{t+1} with probability
Σ_m f(m, s_t)·P_m(s_{t+1}|s_t) / f(s_t), as o_t depends on s_t, not on the model). So a set may
also be taken for what its output will show.
Where more than 8 states can follow, and on large chains, the set of largest (1) is taken; where
more than 16 can, they join in the order of Σ_s f(s)·X(s, x). States with f(s) < 10⁻⁹ are left out.

**Privacy.** Fix the outputs o_1…o_{t−1}. f, T and all targets are functions of them and of public
data, so every symbol's row is a randomized response on the same T, about some target or about
none: for any two symbols the probability of one output differs by at most e^{ε/k}
(`core.online.response`, Claim), and what lies outside T has probability 0 for both. P[o_1…o_n | w]
is the product of these rows along o; for adjacent words at most k factors differ: the ratio is at
most e^ε. It holds for any f, so also where f was forgotten on the way (`reset`).

**The same everywhere.** All sums are in a fixed order and no function but + − × ÷ and max is used,
so two mechanisms that published the same have the same f, bit by bit, on every machine.

**Memory.** X for all pairs of states, 8 bytes each; above `targets.DENSE_STATES` states, for the
pairs within the radius of the guided policy: others count as never matched. A step takes
O(models·edges + N²·edges + states·N⁴) time at N ≤ 8, else O(models·edges + states·N²). (All models
have room beside each other, however few there are.)
"""
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints, RandomBits
from symdp_ros.core.chain import Chain
from symdp_ros.core.compiled.vectors import in_lanes, lane_sum, LANES
from symdp_ros.core.draws.randomness import MOST_INTEGERS, RandomIntegers
from symdp_ros.core.online import planned, targets
from symdp_ros.core.online.guided import near_pairs
from symdp_ros.core.online.response import Response
from symdp_ros.errors import ChainError, UnknownSymbolError

_TOLERANCE, _NEAR_TOLERANCE = 1e-3, 1e-2  # matches, out of at most 10


class AdaptiveTables:
    """
    What is known before the first symbol, shared by all words.

    :param chain: one that stores its edges.
    :param trust: the weight of P among the models.
    :param others, gain: as `OnlineMechanism.weights`.
    :param responses: the `Response` for each number of states from 1 to the largest N.

    `radius` and `nbytes` are as those of `core.online.targets`.
    """

    def __init__(self, chain: Chain, trust: float, others: Floats, gain: Floats,
                 responses: dict[int, Response]):
        from symdp_ros.core.online.adaptive.adaptive_kernel import DISCOUNT

        n = len(chain)
        models = chain.models(trust)
        sparse = None if n <= targets.DENSE_STATES else near_pairs(chain)
        first, symbols = np.arange(n + 1, dtype=np.int64) * n, np.empty(0, np.int32)
        if sparse is not None:
            first, symbols, _ = sparse.pairs()
        self.radius = None if sparse is None else sparse.radius
        tolerance = _TOLERANCE if sparse is None else _NEAR_TOLERANCE
        X, work = planned.values(chain, first, symbols, others, gain, models.mean, DISCOUNT,
                                 tolerance)
        match = work[3]  # X(c, c), whether or not that is a pair
        self.most = max(responses)
        self.columns = -(-self.most // LANES) * LANES
        shares = np.zeros((3, self.most + 1))  # of |T|: a/T, b/T, 1/|T|
        for count, response in responses.items():
            shares[:, count] = (response.a / response.total, response.b / response.total,
                                1 / count)
        offsets, successors = chain.csr()
        self.shares, self.prior = shares, models.prior
        switch = np.stack([np.full(len(models), models.keep), models.prior, models.switch])
        self.arrays = (offsets, successors, in_lanes(models.weights.T), in_lanes(switch), first,
                       symbols, X, match, shares)
        self.nbytes = sum(array.nbytes for array in self.arrays)


class AdaptiveWord:
    """
    One word: what its outputs so far make of the next draw, and the draw.

    :param tables: of the mechanism.
    :param random: as `OnlineMechanism`.

    """

    def __init__(self, chain: Chain, tables: AdaptiveTables, responses: dict[int, Response],
                 width: int, random: RandomBits | None = None):
        n = len(chain)
        # Copies: were a label the caller's own object, its type would show that, and its time too.
        self._labels = [''.join(list(state)) for state in chain.states]
        self._index: dict[str | None, int] = {None: n}
        self._index.update(chain.state_index)
        self._tables, self._responses, (self._advance, self._draw) = tables, responses, _loops()
        self._width, self._random, self._previous = width, random, -1
        self._initial = chain.state_index[chain.initial_state]
        self._draws_of: dict[int, RandomIntegers] = {}
        # What `draw` pops: for each size of T, 2·(number of a state) + hit, how many of them are
        # left, and of which filling of the buffer they are.
        self._drawn = np.empty((tables.most + 1, MOST_INTEGERS), np.int32)
        self._left, self._fills = np.zeros((2, tables.most + 1), np.int64)
        self._joint, self._believed = np.zeros((n, LANES)), np.zeros(n)
        codes, self._subset = np.zeros(n + 1, np.uint32), np.zeros(tables.most, np.int64)
        self._codes = memoryview(codes.data)  # of each symbol, the place of its target in T
        self._near = [0]  # room for a state that is drawn, and T, as positions
        self._work = (*tables.arrays, self._joint, self._believed, codes, self._subset,
                      np.zeros((3, n)), np.zeros_like(self._joint), np.zeros(chain.edge_count),
                      np.zeros((n, tables.columns)), np.zeros((n, LANES)),
                      np.zeros((3, n), np.int64), np.zeros((4, tables.columns)))
        self.reset(chain.initial_state)

    @property
    def previous(self) -> str:
        """Return the last output; before the first one, the state that the word was begun from."""
        return self._labels[self._previous]

    @property
    def belief(self) -> Floats:
        """Return f, model after model: float64, shape (models·states,)."""
        found: Floats = self._joint[:, :len(self._tables.prior)].T.flatten()
        return found

    def reset(self, previous: str, belief: Floats | None = None) -> None:
        """
        Begin where the last output is some state, and f is `belief`.

        None: f is what the models say after `previous`, each of them as likely as at the start.

        :raises ChainError: it is no state, or f no such distribution; nothing changes.
        """
        position = self._index.get(previous)
        if previous is None or position is None:
            raise ChainError(f'{previous!r} is not a state of the chain', state=previous)
        models = len(self._tables.prior)
        if belief is None:
            self._joint[:], self._believed[:] = 0.0, 0.0
            self._joint[position, :models], self._believed[position] = self._tables.prior, 1.0
            self._take(position, 0)
        elif (belief.shape == (models * len(self._joint),) and ((belief >= 0) & (belief < 2)).all()
              and abs(belief.sum() - 1) < 1e-6):
            self._joint[:, :models] = belief.reshape(models, -1).T
            self._believed[:] = lane_sum(self._joint.T)
            self._take(position, -1)
        else:
            raise ChainError('the belief is no probability for each state of the chain, by each '
                             'of its models')

    def advance(self, output: str) -> None:
        """
        Go on as if this output had been drawn.

        :raises ChainError: it cannot have been; nothing changes.
        """
        position = self._index.get(output)
        if output is None or position not in self._near[1:]:
            raise ChainError(f'{output!r} cannot have been drawn after {self.previous!r} and what '
                             'was published before', state=output)
        self._take(position, self._size)

    def step(self, symbol: str | None) -> str:
        """Draw, as `OnlineMechanism.step`: all but what follows the draw is ready before it."""
        try:
            number, hit = self._draws.buffer.pop()
            near = self._near
            near[0] = near[number]
            position = (near[0], near[self._codes[self._index[symbol]]])[hit]
        except (IndexError, KeyError):
            pass
        else:
            self._take(position, self._size)
            return self._labels[position]
        if symbol not in self._index:
            raise UnknownSymbolError
        self._draws.fill()
        return self.step(symbol)

    def draw(self, symbols: Ints, begins: Booleans) -> Ints:
        """
        Draw a private symbol for each sensitive one, as so many `step` do, in one compiled loop.

        :param symbols: int64, shape (total,): positions of states, −1: unknown.
        :param begins: same shape: where a new word begins, from the initial state.
        :return: positions of states, same shape and type.
        """
        outputs, at = np.empty(len(symbols), np.int64), 0
        while at < len(symbols):
            self._draws.fill()
            for size, draws in self._draws_of.items():
                self._left[size] = len(draws.buffer)
                if self._fills[size] != draws.fills:
                    self._fills[size] = draws.fills
                    self._drawn[size, :len(draws.buffer)] = [
                        2 * number + hit for number, hit in draws.buffer]
            at, position, size = self._draw(
                at, self._previous, self._size, symbols, begins, self._initial, outputs,
                self._drawn, self._left, *self._work)
            for some, draws in self._draws_of.items():
                del draws.buffer[self._left[some]:]
            self._stand(position, size)
        return outputs

    def _take(self, position: int, size: int) -> None:
        """Take in an output: what it costs depends on what was published alone."""
        self._stand(position, self._advance(position, size, *self._work))

    def _stand(self, position: int, size: int) -> None:
        """Take note of the last output and of the size of T."""
        self._previous, self._size = position, size
        self._near = [0, *self._subset[:size].tolist()]
        if size not in self._draws_of:
            response = self._responses[size]
            self._draws_of[size] = RandomIntegers(self._width, response.limit, self._random,
                                                  response.reader())
        self._draws = self._draws_of[size]

    def exact_distribution(self, symbol: str | None) -> dict[str, Fraction]:
        """Return the next row, exactly: of T, in the order of the chain's successors."""
        if symbol not in self._index:
            raise UnknownSymbolError
        near, response = self._near[1:], self._responses[self._size]
        code = self._codes[self._index[symbol]]
        if not code:
            return {self._labels[x]: Fraction(1, response.count) for x in near}
        return {self._labels[x]: Fraction(response.b if place == code else response.a,
                                          response.total) for place, x in enumerate(near, 1)}

    def likelihood(self, output: str) -> Floats:
        """Return the probability of the next output for each s_t: shape (states,)."""
        position, near = self._index.get(output), self._near[1:]
        codes = np.asarray(self._codes)[:-1]
        if output is None or position not in near:
            return np.zeros(len(codes))
        other, aimed, uniform = self._tables.shares[:, self._size]
        found: Floats = np.where(codes == 1 + near.index(position), aimed,
                                 np.where(codes == 0, uniform, other))
        return found


@cache
def _loops() -> tuple[Callable[..., int], Callable[..., tuple[int, int, int]]]:
    from symdp_ros.core.online.adaptive.adaptive_kernel import advance, draw

    return advance, draw
