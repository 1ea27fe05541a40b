# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The paper's statements on accuracy, as functions named after them, with corrections.

The paper is B. Chen, K. Leahy, A. Jones, M. Hale, "Differential Privacy for Symbolic Systems with
Application to Markov Chains" (Automatica 2023). Its formulas are given here, each with when it
holds; d = d(w, o). What is exact for a given chain and word: `analysis.accuracy`.
"""
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, floor, inf, log, log1p

import numpy as np
from symdp_ros.core.chain import Chain
from symdp_ros.core.privacy import Privacy


@dataclass(frozen=True)
class BinomialErrors:
    """d as the sum of n independent errors, each of probability p."""

    n: int    # ≥ 0
    p: float  # in [0, 1]

    @property
    def mean(self) -> float:
        """E[d] = np."""
        return self.n * self.p

    @property
    def variance(self) -> float:
        """Var[d] = np(1−p)."""
        return self.n * self.p * (1 - self.p)

    def tail(self, deviation: float) -> float:
        """Return P[|d − E[d]| ≥ deviation] exactly (up to rounding), for a deviation > 0."""
        from scipy.stats import binom

        # A distance that is `deviation` off but for rounding counts: the tail may only grow.
        slack = 1e-12 * max(1.0, self.mean)
        below = floor(self.mean - deviation + slack)
        above = ceil(self.mean + deviation - slack)
        return float(binom.cdf(below, self.n, self.p) + binom.sf(above - 1, self.n, self.p))


@dataclass(frozen=True)
class Bounds:
    """A lower and an upper bound of E[d], as claimed: see the function for which one holds."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Tails:
    """Upper bounds of P[d > (1+η)·E[d]] and of P[d < (1−η)·E[d]]."""

    above: float
    below: float


def theorem_2(symbols: int, privacy: Privacy, length: int) -> BinomialErrors:
    """
    Theorem 2, offline over an alphabet: E[d] = nq and Var[d] = nq(1−q), q = (m−1)B/((m−1)B + 1).

    Holds for the mechanism as published, B = e^{−ε/2k}, on the complete chain of m symbols, and
    for words without unknown symbols: Z = Π_t (1 + (m−1)B) factors, so d is Binomial(n, q). (In
    the paper's Appendix B the term E[ℓ²] lacks its denominator [(m−1)B + 1]².)

    As Z does not depend on w, P[o|w] = B^d/Z changes by B^{−k} = e^{ε/2} at most: that mechanism
    is (ε/2)-private. `OfflineMechanism` uses B = e^{−ε/k} on the complete chain, which keeps ε; d
    is then as in `theorem_4`.

    :param symbols: m ≥ 1.
    :param length: n ≥ 0.
    """
    ratio = (symbols - 1) * exp(-float(privacy.epsilon_per_symbol) / 2)
    return BinomialErrors(length, ratio / (ratio + 1))


def theorem_2_concentration(length: int, deviation: float) -> float:
    """
    Return 2·exp(−2η²/n²), Theorem 2's bound on P[|d − E[d]| > η], for 0 < η < ½.

    It holds, but says nothing: it is above 2·exp(−1/2n²), which is 1.213 at n = 1 and 1.995 at
    n = 14. For n independent errors the exponent may be −2η²/n, and η any
    (`hoeffding_concentration`).
    """
    return 2 * exp(-2 * deviation**2 / length**2)


def hoeffding_concentration(length: int, deviation: float) -> float:
    """
    Return 2·exp(−2η²/n), at most 1: bounds P[|d − E[d]| ≥ η] where errors are independent; η > 0.

    Hoeffding's inequality for n indicators: holds on the complete chain, offline and online, not
    on a chain in general.
    """
    return min(1.0, 2 * exp(-2 * deviation**2 / length))


def theorem_4(symbols: int, privacy: Privacy, length: int) -> BinomialErrors:
    """
    Theorem 4, online over an alphabet: d is Binomial(n, 1−τ), τ = 1/((m−1)e^{−ε/k} + 1).

    Holds on the complete chain of m symbols, for words without unknown symbols. What is drawn
    (`core.online.response`) falls short of τ by at most 10⁻¹⁰ for m up to 3,796, whatever ε is,
    and by at most 8m²·2⁻⁶⁰ for more.

    :param symbols: m ≥ 1.
    :param length: n ≥ 0.
    """
    ratio = (symbols - 1) * exp(-float(privacy.epsilon_per_symbol))
    return BinomialErrors(length, ratio / (ratio + 1))


def theorem_4_tails(errors: BinomialErrors, share: float) -> Tails:
    """
    Theorem 4's Chernoff bounds: e^{−η²E/(2+η)} on P[d > (1+η)E], e^{−η²E/2} on P[d < (1−η)E].

    E = E[d]. Both hold for every sum of independent errors: on the complete chain.

    :param share: η, between 0 and 1.
    """
    return Tails(above=exp(-share**2 * errors.mean / (2 + share)),
                 below=exp(-share**2 * errors.mean / 2))


def theorem_6(chain: Chain, privacy: Privacy, word: Sequence[str]) -> Bounds:
    """
    Theorem 6, offline on a chain: bounds of E[d] by the smallest and the largest N(s).

    With S(x) = Σ_ℓ ℓ·C(n, ℓ)·(xB)^ℓ = nxB(1 + xB)^{n−1}, B = e^{−ε/2k} and Z = Σ_ℓ m_ℓ B^ℓ,

        S(N_min − 1)/Z  ≤  E[d]  ≤  S(N_max)/Z.

    The upper bound holds for every word: at most N_max moves can be made at each of the ℓ errors,
    and one elsewhere, so m_ℓ ≤ C(n, ℓ)·N_max^ℓ. It often exceeds n. With N_max − 1 it would not
    hold: after an error w_t may be out of reach, and then all N moves are errors.

    **The lower bound is false**: it takes m_ℓ ≥ C(n, ℓ)·(N_min − 1)^ℓ, as if a word could leave
    the route and be back at the next symbol. With C(i) = {i+1, i+2 mod 4}, w = 1,2,3,0,1, s_0 = 0,
    ε = 2, k = 1: m = 1, 1, 2, 6, 11, 11, E[d] = 1.348, "lower bound" 2.910. On the complete chain,
    where N − 1 errors are possible at each position, it is E[d] itself.

    :param word: of n ≥ 1 symbols, none of them unknown.
    """
    log_b = -float(privacy.epsilon_per_symbol) / 2
    log_z = _log_normalizer(chain, word, log_b)
    n, degrees = len(word), chain.out_degrees()

    def bound(moves: int) -> float:
        if moves == 0:
            return 0.0
        log_x = log(moves) + log_b
        log_sum = log(n) + log_x + (n - 1) * log1p(exp(log_x))
        return exp(log_sum - log_z) if log_sum - log_z < 700 else inf

    return Bounds(bound(int(degrees.min()) - 1), bound(int(degrees.max())))


def _log_normalizer(chain: Chain, word: Sequence[str], log_b: float) -> float:
    """Return ln Σ_o B^{d(w, o)}, backward."""
    sums = np.zeros(len(chain))  # ln, of what can follow each state
    for symbol in reversed(word):
        sums += log_b
        sums[chain.state_index[symbol]] -= log_b
        if chain.stores_edges:
            offsets, targets = chain.csr()
            sums = np.logaddexp.reduceat(sums[targets], offsets[:-1])
        else:
            sums = np.full(len(chain), np.logaddexp.reduce(sums))
    return float(sums[chain.state_index[chain.initial_state]])


def variance_bound(length: int) -> float:
    """
    Return n²/4 ≥ Var[d], of Theorem 6 and the remark after Theorem 7.

    Holds for every chain, word and mechanism: Popoviciu's inequality for a d between 0 and n.

    :param length: n ≥ 0.
    """
    return length**2 / 4


def remark_after_theorem_7(chain: Chain, privacy: Privacy, length: int) -> Bounds:
    """
    Return the bounds of the remark after Theorem 7, online on a chain.

    It puts N_min or N_max for N into τ: n(1 − τ(N_min)) ≤ E[d] ≤ n(1 − τ(N_max)).

    τ(N) = 1/((N−1)e^{−ε/k} + 1). **The upper bound fails** as soon as the output leaves the route:
    where w_t is not feasible the error is certain, whatever N is (the numbers of the paper's
    Table 1 imply it). The lower bound holds for every word and policy: no state is ever drawn with
    more than τ(N(o_{t−1})) ≤ τ(N_min). The two are equal on the complete chain, where both hold.

    :param length: n ≥ 0.
    """
    degrees = chain.out_degrees()
    return Bounds(*(theorem_4(int(count), privacy, length).mean
                    for count in (degrees.min(), degrees.max())))
