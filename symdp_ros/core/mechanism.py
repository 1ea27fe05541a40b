# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The base of all mechanisms: a public chain, ε and k, and a law."""
from collections.abc import Container, Iterable
from typing import TypeVar

from symdp_ros.core.annotations import Floats
from symdp_ros.core.chain import Chain
from symdp_ros.core.law import Law
from symdp_ros.core.privacy import Privacy
from symdp_ros.errors import ConfigurationError, UnknownSymbolError

_MOST_STEPS = 10**10  # of a distribution of distances: n²·|E|, on an alphabet n

_Symbol = TypeVar('_Symbol', str, str | None)


def listed_word(word: Iterable[_Symbol],
                known: Container[str | None] | None = None) -> list[_Symbol]:
    """
    Return a word as a list.

    :param known: the symbols that it may have; None: any.
    :raises UnknownSymbolError: it has another.
    :raises ConfigurationError: it is one string, whose letters would be taken for symbols, or
        nothing that can be listed.
    """
    if isinstance(word, str) or not isinstance(word, Iterable):
        kind = 'given as one string' if isinstance(word, str) else f'of type {type(word).__name__}'
        raise ConfigurationError(f'a word is {kind}: pass a list of regions, such as '
                                 "['gate', 'aisle_1']")
    symbols = list(word)
    try:
        are_known = known is None or all(symbol in known for symbol in symbols)
    except TypeError:  # one that has no hash: no string
        are_known = False
    if not are_known:
        raise UnknownSymbolError
    return symbols


class Mechanism:
    """
    The part that the online and the offline mechanism share.

    :raises ChainError, PrivacyError: something else is passed as chain or privacy; zones that do
        not partition the states of the chain.
    """

    _law: Law

    def __init__(self, chain: Chain, privacy: Privacy):
        self._chain, self._privacy = Chain.check(chain), Privacy.check(privacy)
        if privacy.zones is not None:
            privacy.zones.numbers(chain)
        self._index: dict[str | None, int] = {None: len(chain)}
        self._index.update(chain.state_index)

    @property
    def chain(self) -> Chain:
        """Return the chain."""
        return self._chain

    @property
    def privacy(self) -> Privacy:
        """Return ε and k."""
        return self._privacy

    @property
    def law(self) -> Law:
        """Return how whole words are drawn, and how likely each output is."""
        return self._law

    def distance_distribution(self, word: Iterable[str | None]) -> Floats:
        """
        Return P[d(word, output) = ℓ]: float64, shape (n+1,), summing to 1 up to rounding.

        :raises UnknownSymbolError: a symbol of the word is no state.
        :raises ConfigurationError: it would take more than 10¹⁰ steps.
        """
        word = self._checked(word)
        if (steps := self.law.distance_steps(len(word))) > _MOST_STEPS:
            raise ConfigurationError(
                f'the errors of words of length {len(word)}, on a chain of '
                f'{self._chain.edge_count} moves, take {steps:.1e} steps, more than 10¹⁰: shorten '
                'the word')
        return self.law.distance_distribution(word)

    def _checked(self, word: Iterable[str | None]) -> list[str | None]:
        """
        Return a word as a list.

        :raises UnknownSymbolError: a symbol is no state.
        :raises ConfigurationError: the word is no list.
        """
        return listed_word(word, self._index)
