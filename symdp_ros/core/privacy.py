# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The privacy parameters: ε, the adjacency k, and zones."""
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING

from symdp_ros.core.zones import Zones
from symdp_ros.errors import PrivacyError


@dataclass(frozen=True)
class Privacy:
    """
    Word ε-differential privacy for words that differ in at most k symbols.

    A mechanism M keeps it when P[M(w) ∈ L] ≤ e^ε · P[M(w') ∈ L] for all sets L of outputs and
    all words w, w' of one length whose Hamming distance is at most k (paper, Definition 3). With
    zones, of all those whose symbols lie, at each place, in one zone (`core.zones`).

    :param epsilon: ε, finite and ≥ 0 (0: the output does not depend on the word at all; with
        zones, on nothing but the zones of its symbols).
    :param adjacency: k, an integer ≥ 1. (The paper's text allows 0, which divides by zero.)
    :param zones: zone → its states, a partition of the states of the chain: which zone is told
        exactly. None: all states are in one.
    :raises PrivacyError: for anything else; booleans, strings and NaN included. A mechanism raises
        it where zones do not partition its chain.
    """

    epsilon: float
    adjacency: int = 1
    if TYPE_CHECKING:
        zones: Zones | None = None

        def __init__(self, epsilon: float, adjacency: int = 1,
                     zones: Mapping[str, Iterable[str]] | None = None): ...
    else:
        zones: Mapping[str, Iterable[str]] | None = None

    def __post_init__(self) -> None:
        epsilon, adjacency = self.epsilon, self.adjacency
        if isinstance(epsilon, bool) or not isinstance(epsilon, (float, Real)):
            raise PrivacyError(f'epsilon must be a number, not {epsilon!r}', setting='epsilon')
        try:
            value = float(epsilon)
        except OverflowError:
            value = float('inf')
        if not (isfinite(value) and 0.0 <= value):
            raise PrivacyError(f'epsilon must be finite and at least 0, not {value!r}',
                               setting='epsilon')
        if isinstance(adjacency, bool) or not isinstance(adjacency, (int, Integral)):
            raise PrivacyError(f'adjacency must be an integer, not {adjacency!r}',
                               setting='adjacency')
        if not 1 <= adjacency:
            raise PrivacyError(f'adjacency must be at least 1, not {adjacency!r}',
                               setting='adjacency')
        object.__setattr__(self, 'epsilon', abs(value))  # -0.0 becomes 0.0
        object.__setattr__(self, 'adjacency', int(adjacency))
        if self.zones is not None and not isinstance(self.zones, Zones):
            object.__setattr__(self, 'zones', Zones(self.zones))

    def __repr__(self) -> str:
        more = '' if self.zones is None else f', zones={self.zones!r}'
        return f'Privacy(epsilon={self.epsilon!r}, adjacency={self.adjacency!r}{more})'

    @classmethod
    def check(cls, privacy: 'Privacy') -> 'Privacy':
        """
        Return what was passed as ε and k of a mechanism.

        :raises PrivacyError: it is something else, such as a bare ε.
        """
        if isinstance(privacy, cls):
            return privacy
        if isinstance(privacy, Real) and not isinstance(privacy, bool):
            raise PrivacyError(f'privacy is the number {privacy!r}: pass Privacy({privacy!r})',
                               setting='privacy')
        raise PrivacyError(f'privacy is of type {type(privacy).__name__}: pass Privacy(epsilon), '
                           'or Privacy(epsilon, adjacency)', setting='privacy')

    def for_length(self, length: int) -> 'Privacy':
        """
        Return ε and min(k, n): the same promise for words of n symbols, with fewer errors.

        *Proof.* Two words of n symbols differ in at most n. So they differ in at most k symbols if
        and only if they differ in at most min(k, n): on words of length n, the adjacencies k and
        min(k, n) are one relation, and what is ε-private for one of them is for the other. ∎

        A changed symbol then costs ε/min(k, n) instead of ε/k, so this is for a word that is
        charged by itself. Where k symbols may change in several words together, as in the pieces
        of one log, n counts the symbols of all of them.

        :param length: n ≥ 0; it is public. (For n = 0, which has no other words, k is 1.)
        """
        return replace(self, adjacency=min(self.adjacency, max(length, 1)))

    @property
    def epsilon_per_symbol(self) -> Fraction:
        """
        ε/k as a fraction: the loss that a change of one symbol may cause.

        A float such as 0.1 stands for a decimal and for a slightly different binary fraction;
        the smaller of the two is taken, so that the promise holds as either is read.
        """
        written = Fraction(Decimal(repr(self.epsilon)))
        return min(written, Fraction(self.epsilon)) / self.adjacency
