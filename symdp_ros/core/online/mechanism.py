# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The online mechanism: one private symbol for each sensitive one, as it comes."""
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from symdp_ros.core.chain import Chain
from symdp_ros.core.errors import ChainError, ConfigurationError, UnknownSymbolError
from symdp_ros.core.online.guided import guided_targets
from symdp_ros.core.online.planned import planned_targets
from symdp_ros.core.online.response import responses
from symdp_ros.core.online.targets import DENSE_STATES, feasible_row
from symdp_ros.core.policies import DEFAULT_POLICY, POLICIES
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.randomness import RandomIntegers


def _guided(chain, privacy, weights):
    return None if chain.is_complete else guided_targets(chain)


def _planned(chain, privacy, weights):
    everything_follows = chain.edge_count == len(chain)**2
    return None if everything_follows else planned_targets(chain, privacy, *weights)


#: policy → its table of targets, or None where every target is the symbol itself. On a complete
#: chain every symbol is feasible: there is nothing to guide or to plan.
_TARGETS = {'guided': _guided, 'planned': _planned, 'paper': lambda *_: None}


class OnlineMechanism:
    """
    Word ε-differentially private symbols, each a move that the chain allows.

    The private symbol o_t is drawn from μ(· | s_t, o_{t−1}) (paper, Algorithm 4): with N feasible
    states C(o_{t−1}), the target of s_t has probability τ = 1 / ((N−1)·e^{−ε/k} + 1), each other
    (1−τ)/(N−1), as close as integers come to it from the private side (`core.online.response`);
    where s_t has no target, each has 1/N.

    policy='guided' (the default): the target is s_t itself where it is feasible, and else the
    feasible state from which s_t can be reached in the fewest moves (`core.online.targets`).
    policy='paper': the target is s_t itself, where it is feasible; else there is none (Theorem 7).
    policy='planned': the target, where s_t is feasible too, is the feasible state that lets the
    fewest errors be expected in the long run, by the chain's P (`core.online.planned`).

    **Privacy.** Fix the previous private symbol o. For any two sensitive symbols, the probability
    of one output differs by a factor of at most e^{ε/k} (`core.online.response`, Claim), whatever
    the targets are, as long as they are fixed by public data. P[o_1…o_n | w] is the product of
    μ(o_t | w_t, o_{t−1}); for adjacent words at most k factors differ: the ratio is at most e^ε.
    Changing j symbols costs at most j·ε/k.

    A step takes O(1) time; the mechanism O(states + edges) memory, the table of targets apart. One
    mechanism carries one word: use it from one thread, and `another` for each further word.

    :param chain: the public chain.
    :param privacy: ε and k.
    :param policy: 'guided', 'paper' or 'planned'.
    :param random: an object with `getrandbits`, for tests; None: the operating system.
    :raises ChainError, PrivacyError: something else is passed as chain or privacy.
    :raises ConfigurationError: unknown policy.
    """

    def __init__(self, chain: Chain, privacy: Privacy, *, policy: str = DEFAULT_POLICY,
                 random=None):
        if policy not in POLICIES:
            raise ConfigurationError(f'policy must be one of {", ".join(POLICIES)}, '
                                     f'not {policy!r}')
        self._chain, self._privacy = Chain.check(chain), Privacy.check(privacy)
        self._policy = policy
        self._index = {**chain.state_index, None: len(chain)}
        self._random, self._batch = random, None
        self._width, self._responses = responses(set(chain.out_degrees().tolist()), privacy)
        self._targets = _TARGETS[policy](chain, privacy, self.weights())
        self._carry_a_word()

    def _carry_a_word(self):
        # A closure: a sixth faster than a method whose state is in self.
        self.step, self._carry_on, self._previous = _stepper(
            self._chain, self._targets, self._responses, self._width, self._random)
        self.reset()

    def another(self) -> 'OnlineMechanism':
        """Return a mechanism that carries a word of its own and shares this one's tables."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        other._carry_a_word()
        return other

    @property
    def chain(self) -> Chain:
        """The chain."""
        return self._chain

    @property
    def privacy(self) -> Privacy:
        """ε and k."""
        return self._privacy

    @property
    def policy(self) -> str:
        """'paper', 'guided' or 'planned'."""
        return self._policy

    @property
    def targets(self):
        """The table of targets (`core.online.targets`); None where every target is s_t itself."""
        return self._targets

    @property
    def previous(self) -> str:
        """The last private symbol; before the first one, the initial state."""
        return self._previous()

    def reset(self, previous: str | None = None) -> None:
        """
        Begin a new word, or carry on one whose last private symbol is `previous`.

        :raises ChainError: `previous` is no state.
        """
        self._carry_on(self._chain.initial_state if previous is None else previous)

    def step(self, symbol: str | None) -> str:
        """
        Draw the next private symbol.

        :param symbol: the sensitive symbol s_t; None: unknown, drawn uniformly.
        :return: o_t ∈ C(o_{t−1}).
        :raises UnknownSymbolError: the symbol is no state; the word then goes on as before.
        """
        raise NotImplementedError('__init__ puts the step of the policy here')

    def privatize(self, word: Iterable[str | None]) -> list[str]:
        """
        Return a private word for a whole sensitive word, from the initial state.

        The mechanism is left as after `reset()`.

        :raises UnknownSymbolError: a symbol is no state; checked before anything is drawn.
        """
        word = list(word)
        self._check_symbols(word)
        self.reset()
        try:
            step = self.step
            return [step(symbol) for symbol in word]
        finally:
            self.reset()

    def privatize_many(self, symbols: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """
        Return private words for many sensitive words at once, each from the initial state.

        The word that `step` carries goes on as before. Compiled on first use (numba); other
        threads may run meanwhile.

        :param symbols: integers, shape (total,): positions in `chain.states`, −1: unknown; not to
            be written to meanwhile.
        :param offsets: integers, shape (words + 1,): word i is symbols[offsets[i]:offsets[i+1]].
        :return: int32, shape (total,): positions in `chain.states`.
        :raises UnknownSymbolError: a symbol is none of these; checked before anything is drawn.
        :raises ConfigurationError: arrays of another kind or shape.
        """
        from symdp_ros.core.batch import checked
        from symdp_ros.core.online.batch import OnlineBatch

        symbols, offsets = checked(symbols, offsets, len(self._chain))
        if self._batch is None:
            self._batch = OnlineBatch(self._chain, self._targets, self._width, self._responses)
        return self._batch.draw(symbols, offsets, self._random)

    def target(self, symbol: str | None, previous: str) -> str | None:
        """
        Return the state that is aimed at, or None where the draw is uniform.

        :raises UnknownSymbolError: `symbol` is no state.
        :raises ChainError: `previous` is no state.
        """
        self._check_symbols([symbol])
        successors = self._chain.successors(previous)
        if self._targets is None:
            if symbol is None or not self._chain.is_complete and symbol not in successors:
                return None
            return self._chain.states[self._index[symbol]]
        code = self._targets.row(self._index[previous])[self._index[symbol]]
        return successors[code - 1] if code else None

    def target_positions(self, symbol: str | None) -> np.ndarray:
        """
        Return the position in `states` of the target of a symbol for each previous state.

        :return: int64, shape (states,); −1 where there is none.
        :raises UnknownSymbolError: `symbol` is no state.
        :raises ChainError: on a complete chain, where the target is the symbol itself.
        """
        self._check_symbols([symbol])
        offsets, successors = self._chain.csr()
        column = self._index[symbol]
        found = np.full(len(self._chain), -1, np.int64)
        if self._targets is None:
            found[np.searchsorted(offsets, np.flatnonzero(successors == column), 'right') - 1] = \
                column
        else:
            codes = self._targets.column(column).astype(np.int64)
            aimed = codes > 0
            found[aimed] = successors[offsets[:-1][aimed] + codes[aimed] - 1]
        return found

    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        """
        Return (a/T, (b−a)/T) for each previous state: what a state other than the target gets,
        and what the target gets beyond that. Shapes (states,).
        """
        responses = [self._responses[count] for count in self._chain.out_degrees().tolist()]
        return (np.array([r.a / r.total for r in responses]),
                np.array([(r.b - r.a) / r.total for r in responses]))

    def exact_distribution(self, symbol: str | None, previous: str) -> dict[str, Fraction]:
        """
        Return μ(· | symbol, previous) as it is drawn, exactly: it sums to 1.

        :return: the probability of each feasible state, in the order of `successors`.
        :raises UnknownSymbolError: `symbol` is no state.
        :raises ChainError: `previous` is no state.
        """
        target = self.target(symbol, previous)
        successors = self._chain.successors(previous)
        response = self._responses[len(successors)]
        if target is None:
            return dict.fromkeys(successors, Fraction(1, response.count))
        distribution = dict.fromkeys(successors, Fraction(response.a, response.total))
        distribution[target] = Fraction(response.b, response.total)
        return distribution

    def distribution(self, symbol: str | None, previous: str) -> dict[str, float]:
        """Return `exact_distribution` as floats."""
        exact = self.exact_distribution(symbol, previous)
        return {state: float(chance) for state, chance in exact.items()}

    def likelihood(self, output: str, previous: str) -> np.ndarray:
        """
        Return μ(output | s, previous) for every state s in order: float64, shape (states,).

        All are positive where `output` can follow `previous`, all 0 where it cannot. O(states).

        :raises ChainError: `previous` is no state.
        """
        successors = self._chain.successors(previous)
        if output not in successors:
            return np.zeros(len(self._chain))
        response = self._responses[len(successors)]
        uniform, other = 1 / response.count, response.a / response.total
        aimed = response.b / response.total
        if self._targets is not None:
            codes = self._targets.row(self._index[previous])
            codes = np.asarray(memoryview(codes))[:-1]  # without the unknown symbol
            aimed_at = codes == 1 + successors.index(output)
            return np.where(aimed_at, aimed, np.where(codes == 0, uniform, other))
        if self._chain.is_complete:
            found = np.full(len(self._chain), other)
        else:
            found = np.full(len(self._chain), uniform)
            found[[self._index[state] for state in successors]] = other
        found[self._index[output]] = aimed
        return found

    def __reduce_ex__(self, protocol):
        raise TypeError('an online mechanism carries a word: make another one, do not copy it')

    def _check_symbols(self, word):
        if not all(symbol in self._index for symbol in word):
            raise UnknownSymbolError


def _stepper(chain, targets, responses, width, random):
    """
    Return the functions (step, carry_on, previous) of one word.

    Each state has a row, a list: its label, and, once a word has been there, what a step from it
    needs: the draws for its number of successors, the rows of these from place 1 on, and for each
    symbol the place of its target, 0 where there is none.

    A step does the same for every symbol, and whether or not it takes the target: it draws a row
    uniformly, puts it into place 0, looks up that of the target, and takes one of the two.
    """
    # Copies: were a label the caller's own object, its type would show that, and its time too.
    rows = {state: [''.join(list(state))] for state in chain.states}
    complete = [None, *rows.values()] if chain.is_complete else None
    index = {**chain.state_index, None: len(chain)}
    if complete:  # the place of the target itself
        index = {**{state: place for place, state in enumerate(rows, 1)}, None: 0}
    draws = {}  # for each number of successors: RandomIntegers
    made = []
    row = None

    def make_ready(symbol):
        """
        Provide what a step from here has found missing.

        :raises UnknownSymbolError: that is the symbol.
        """
        if symbol not in index:
            raise UnknownSymbolError
        if len(row) == 1:
            make(row)
        draws[len(row[2]) - 1].fill()

    def make(row):
        """Append to the row of a state what steps from it need."""
        state = row[0]
        near = complete or [None, *[rows[successor] for successor in chain.successors(state)]]
        places = None
        if targets is not None:
            if len(made) == targets.kept_rows:
                for other in made:
                    del other[1:]
                made.clear()
            made.append(row)
            places = targets.row(index[state])
        elif not complete:
            successors = [index[successor[0]] for successor in near[1:]]
            places = (feasible_row(successors, len(chain)) if len(chain) <= DENSE_STATES
                      else {position: place for place, position in enumerate(successors, 1)})
        count = len(near) - 1
        if count not in draws:
            response = responses[count]
            draws[count] = RandomIntegers(width, response.limit, random, response.reader())
        row += (draws[count].buffer.pop, near, places)

    # Three times the same step, as a call from one to another would take as long again. How the
    # last line is put makes no difference to what it does; these differ least in time.

    def step_to_any(symbol):
        nonlocal row
        try:
            _, pop, near, _ = row
            number, hit = pop()
            near[0] = near[number]
            row = near[(0, index[symbol])[hit]]
            return row[0]
        except (IndexError, KeyError, ValueError):
            pass
        make_ready(symbol)
        return step_to_any(symbol)

    def step_to_target(symbol):
        nonlocal row
        try:
            _, pop, near, places = row
            number, hit = pop()
            near[0] = near[number]
            row = (near[0], near[places[index[symbol]]])[hit]
            return row[0]
        except (IndexError, KeyError, ValueError):
            pass
        make_ready(symbol)
        return step_to_target(symbol)

    def step_to_feasible(symbol):
        nonlocal row
        try:
            _, pop, near, places = row
            number, hit = pop()
            near[0] = near[number]
            row = (near[0], near[places.get(index[symbol], 0)])[hit]
            return row[0]
        except (IndexError, KeyError, ValueError):
            pass
        make_ready(symbol)
        return step_to_feasible(symbol)

    def carry_on(previous):
        nonlocal row
        if previous is None or previous not in rows:
            raise ChainError(f'{previous!r} is not a state of the chain')
        row = rows[previous]

    step = (step_to_any if complete else
            step_to_feasible if targets is None and len(chain) > DENSE_STATES else step_to_target)
    return step, carry_on, lambda: row[0]
