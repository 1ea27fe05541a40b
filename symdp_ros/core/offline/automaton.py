# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The modified Hamming-distance automaton of the paper, with exact path counts and policy."""
from collections.abc import Iterable, Iterator
from fractions import Fraction
from random import SystemRandom
from typing import NamedTuple

from symdp_ros.core.annotations import RandomBits
from symdp_ros.core.chain import Chain
from symdp_ros.core.draws.exact_draw import draw_index
from symdp_ros.core.mechanism import listed_word
from symdp_ros.errors import ConfigurationError
from symdp_ros.settings import is_whole


class AutomatonState(NamedTuple):
    """A state (q_{position, errors}, state) of the product automaton."""

    position: int  # symbols read, 0…n
    errors: int    # of them different from the word's, 0…ℓ
    state: str     # of the chain: the last symbol read, at position 0 the initial state


class AutomatonEdge(NamedTuple):
    """A move of the product automaton, labelled with the symbol `target.state`."""

    source: AutomatonState
    target: AutomatonState
    probability: Fraction  # under the policy

    @property
    def is_error(self) -> bool:
        """Return whether the symbol differs from the word's."""
        return self.target.errors > self.source.errors


class HammingAutomaton:
    """
    Accepts the feasible words at one Hamming distance ℓ from a word, and draws them uniformly.

    The paper's MNFA times the chain: from (t, e, s), each symbol s' ∈ C(s) leads to (t+1, e, s')
    where s' = w_{t+1}, else to (t+1, e+1, s'); the states (n, ℓ, ·) accept. V counts the words
    accepted from a state, backwards from the accepting ones, by the sum over all (successor,
    symbol) pairs: on the complete chain the sum is over symbols, not over the paper's states q, of
    which several symbols reach the same (Algorithm 1 leaves them out). The P-MNFA moves on with
    probability V(next) / V(here), so every word has probability 1/V(start).

    Integers and fractions throughout: this is the reference, in O(n·ℓ·|E|) additions of long
    integers. `OfflineMechanism` draws from the same distributions without it.

    :param chain: the public chain.
    :param word: w_1…w_n, sensitive; it need not be feasible; None: unlike every symbol.
    :param distance: ℓ, 0…n.
    :raises ChainError: something else is passed as chain.
    :raises UnknownSymbolError: a symbol is no state.
    :raises ConfigurationError: the distance is not an integer in 0…n; the word is no list.
    """

    def __init__(self, chain: Chain, word: Iterable[str | None], distance: int):
        index: dict[str | None, int | None] = {None: None}
        index.update(Chain.check(chain).state_index)
        word = listed_word(word, index)
        if not (is_whole(distance, 0) and distance <= len(word)):
            raise ConfigurationError(f'distance must be an integer from 0 to {len(word)}, the '
                                     f'length of the word, not {distance!r}', setting='distance')
        self._chain, self._distance = chain, int(distance)
        self._word = [index[symbol] for symbol in word]
        self._successors = [[chain.state_index[s] for s in chain.successors(state)]
                            for state in (chain.states if chain.stores_edges else [])]
        self._counts: list[dict[int, list[int]]] = [{} for _ in word]
        self._counts.append({self._distance: [1] * len(chain)})
        for position in reversed(range(len(word))):
            self._counts[position] = {
                errors: self._sums(self._following(position, errors))
                for errors in range(max(0, self._distance - len(word) + position),
                                    min(position, self._distance) + 1)}

    def __repr__(self) -> str:
        return (f'<HammingAutomaton: words of length {len(self._word)} at distance '
                f'{self._distance}, {self._chain}>')

    @property
    def word_count(self) -> int:
        """Return m_ℓ, the number of feasible words at the distance."""
        return self.count(0, 0, self._chain.initial_state)

    def count(self, position: int, errors: int, state: str) -> int:
        """
        Return V(position, errors, state), the number of ways to go on that are accepted.

        It is 0 where there are more errors than symbols were read.

        :raises ChainError: unknown state.
        :raises ConfigurationError: no such position or errors.
        """
        self._chain.successors(state)
        if not (0 <= position < len(self._counts) and 0 <= errors <= self._distance):
            raise ConfigurationError(
                f'position must be in 0…{len(self._word)} and errors in 0…{self._distance}')
        counts = self._counts[position].get(errors)
        return counts[self._chain.state_index[state]] if counts else 0

    def policy(self, position: int, errors: int, state: str) -> dict[str, Fraction]:
        """
        Return the probability of each next symbol; they sum to exactly 1.

        :return: symbols that lead to no accepted word are left out.
        :raises ChainError: unknown state.
        :raises ConfigurationError: no such position or errors; an accepting state; one from which
            no word is accepted.
        """
        total = self.count(position, errors, state)
        if total == 0 or position == len(self._word):
            raise ConfigurationError('no accepted word goes on from this state of the automaton: '
                                     'there is no policy')
        following = self._following(position, errors)
        index = self._chain.state_index
        return {s: Fraction(following[index[s]], total) for s in self._chain.successors(state)
                if following[index[s]]}

    def sample(self, random: RandomBits | None = None) -> list[str]:
        """
        Return one of the words, all equally likely.

        :param random: an object with `getrandbits`, or None: the operating system.
        :raises ConfigurationError: there is none.
        """
        if not self.word_count:
            raise ConfigurationError('no feasible word has this distance: choose another',
                                     setting='distance')
        random = SystemRandom() if random is None else random
        output, errors, state = [], 0, self._chain.initial_state
        for position, symbol in enumerate(self._word):
            successors, index = self._chain.successors(state), self._chain.state_index
            following = self._following(position, errors)
            state = successors[draw_index([following[index[s]] for s in successors], random)]
            errors += index[state] != symbol
            output.append(state)
        return output

    def states(self) -> Iterator[AutomatonState]:
        """Yield the states that lie on the way to an accepted word, by position."""
        yield from dict.fromkeys(state for layer in self._layers() for state in layer)

    def edges(self) -> Iterator[AutomatonEdge]:
        """Yield the moves that lie on the way to an accepted word, by position."""
        for layer in self._layers():
            for source in layer:
                if source.position < len(self._word):
                    yield from self._edges_from(source)

    def _layers(self) -> Iterator[list[AutomatonState]]:
        layer = [AutomatonState(0, 0, self._chain.initial_state)] if self.word_count else []
        while layer:
            yield layer
            if layer[0].position == len(self._word):
                return
            layer = sorted({edge.target for source in layer for edge in self._edges_from(source)},
                           key=lambda s: (s.errors, self._chain.state_index[s.state]))

    def _edges_from(self, source: AutomatonState) -> Iterator[AutomatonEdge]:
        position, errors, state = source
        index, symbol = self._chain.state_index, self._word[position]
        for s, probability in self.policy(position, errors, state).items():
            target = AutomatonState(position + 1, errors + (index[s] != symbol), s)
            yield AutomatonEdge(source, target, probability)

    def _following(self, position: int, errors: int) -> list[int]:
        """Return V after each next symbol: a list over all states, feasible or not."""
        nothing = [0] * len(self._chain)
        after, symbol = self._counts[position + 1], self._word[position]
        following = after.get(errors + 1, nothing)
        if symbol is not None:
            following = following.copy()
            following[symbol] = after.get(errors, nothing)[symbol]
        return following

    def _sums(self, following: list[int]) -> list[int]:
        """Return, for each state, the sum over its successors."""
        if not self._chain.stores_edges:
            return [sum(following)] * len(following)
        value = following.__getitem__
        return [sum(map(value, successors)) for successors in self._successors]
