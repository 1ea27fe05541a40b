# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
r"""
Zero-concentrated differential privacy (zCDP): releases add up to less than the sum of their ε.

M is ρ-zCDP when D_α(M(w) ‖ M(w')) ≤ ρ·α for all adjacent words and all α > 1, with D_α the Rényi
divergence (Bun & Steinke 2016, arXiv 1605.02065, Definition 1.1). ρ adds over releases, later ones
may depend on earlier outputs, and what is computed from outputs alone costs nothing (Lemma 2.3).

**Lemma** (bounded range: Dong, Durfee & Rogers 2020; Cesar & Rogers 2021, arXiv 2004.07223). Let
f(o) = ln P[o|w] − ln P[o|w'] lie in an interval of length η for all o. Then D_α ≤ α·η²/8.

*Proof.* Let ψ(s) = ln E[e^{s·f(o)}], o drawn for w'. ψ(0) = 0; ψ(1) = 0, as E[e^f] = Σ P[o|w] = 1.
So ψ(α) = α·(α−1)·ψ''(ξ)/2 for some ξ in (0, α) (the remainder of interpolation). ψ''(ξ) is the
variance of f under a tilted law, at most η²/4 (Popoviciu). D_α = ψ(α)/(α−1) ≤ α·η²/8. ∎

With x = ε/k, for words that differ in j symbols (j is not k: ρ never converts linearly):

* 'range': P[o|w] = h(o)·R^{matches(w, o)}/Z(w), 2·ln R ≤ x (`core.offline.backward`). matches
  changes by at most j, h(o) not at all, and Z(w)/Z(w') is one number for all o: f lies in an
  interval of length 2j·ln R. Rounding adds at most 4.02·n·(N + 4M + 12)·2⁻⁵³ to it (equation (5)
  there), which is less than what R leaves of x: η ≤ j·x. ρ = (j·x)²/8.
* 'symbols': each o_t is drawn given o_1…o_{t−1} and w_t alone, and two symbols in place of w_t
  change no probability by more than e^{±x} (`core.online`): f lies in [−x, x], η = 2x, and each of
  the j changed symbols costs x²/2; the others cost 0. They add up as releases do: ρ = j·x²/2.
  This is live and causal, and the exponent ε/k where all words are feasible, whose
  positions are independent.
* 'pure': whatever is e^{j·x}-private: f in [−j·x, j·x], ρ = (j·x)²/2. Permute-and-flip, learned
  chains, and releases of which nothing else is known.

From ρ to (ε, δ): for every α > 1 (Canonne, Kamath & Steinke 2020, arXiv 2004.00010, Corollary 13),

    ε = α·ρ + ln(1 − 1/α) + ln(1/(α·δ)) / (α − 1).                                          (1)

The smallest of (1) over fixed α is taken, so it grows with ρ; it is less than ρ + 2·√(ρ·ln(1/δ))
(Bun & Steinke, Proposition 1.3). Whatever α is, (1) holds: floats only choose α.

**A budget** B at δ allows a release if afterwards the sum of all ε, or (1), is at most B, even if
the operator chose it by looking at earlier outputs. *Proof.* Let A be the outputs after which the
sum is at most B, and S any outputs. P[S ∩ A] ≤ e^B·P'[S ∩ A], as for a ledger that stops at the
sum B. After other outputs ρ is at most the largest for which (1) is B, as for one that stops at
this ρ (Feldman & Zrnic 2021, arXiv 2008.11193): P[S \ A] ≤ e^B·P'[S \ A] + δ. Both together are
e^B·P'[S] + δ. ∎
"""
from dataclasses import dataclass
from decimal import Context, Decimal, ROUND_CEILING
from fractions import Fraction
from functools import lru_cache

import numpy as np

BOUNDS = ('range', 'symbols', 'pure')

_EXACT = Context(prec=60)
_SLACK = Decimal('1e-30')  # far above the rounding of (1), relative and absolute
_UNIT = 10**6              # ε is rounded up to a multiple of 1/10⁶
_STEPS = 128               # α − 1 = 2^{i/128}, so that ε is at most 10⁻⁵ of it too large
_FIRST, _LAST = -40 * _STEPS, 60 * _STEPS

_LESS = np.exp2(np.arange(_FIRST, _LAST + 1) / _STEPS)  # α − 1
_LOGS = -np.log1p(1 / _LESS)                            # ln(1 − 1/α)
_LOG_ALPHAS = np.log1p(_LESS)


@dataclass(frozen=True)
class Concentrated:
    """
    The ρ of releases, for any number j of changed symbols: linear·j + quadratic·j².

    Sums are exact.
    """

    linear: Fraction = Fraction(0)
    quadratic: Fraction = Fraction(0)

    @classmethod
    def of(cls, bound: str, per_symbol: Fraction, times: int = 1) -> 'Concentrated':
        """
        Return the ρ of some releases that are alike.

        :param bound: of `BOUNDS` (see the module).
        :param per_symbol: x = ε/k of each.
        :param times: how many they are.
        """
        squared = times * per_symbol**2
        if bound == 'symbols':
            return cls(linear=squared / 2)
        return cls(quadratic=squared / (8 if bound == 'range' else 2))

    def __add__(self, other: 'Concentrated') -> 'Concentrated':
        return Concentrated(self.linear + other.linear, self.quadratic + other.quadratic)

    @lru_cache(maxsize=10_000)  # of many robots, most spend alike
    def repeated(self, times: int) -> 'Concentrated':
        """Return the same where the words differ in so many times as many symbols."""
        return Concentrated(self.linear * times, self.quadratic * times**2)

    @lru_cache(maxsize=10_000)
    def rho(self, symbols: int) -> Fraction:
        """Return ρ for words that differ in this many symbols."""
        return self.linear * symbols + self.quadratic * symbols**2


@lru_cache(maxsize=1000)
def epsilon_at(rho: Fraction, delta: Fraction) -> Fraction:
    """
    Return an ε so that ρ-zCDP is (ε, δ)-differentially private: (1), rounded up.

    :param rho: ρ ≥ 0.
    :param delta: δ, 0 < δ < 1.
    """
    if rho == 0:
        return Fraction(0)
    # Only the choice of α is in floats.
    rough = float(min(rho, Fraction(10**15)))
    log_delta = float(_decimal(delta).ln(_EXACT))
    best = int(np.argmin((1 + _LESS) * rough + _LOGS - (log_delta + _LOG_ALPHAS) / _LESS))
    return min(_epsilon(rho, delta, i + _FIRST)
               for i in range(max(best - 2, 0), min(best + 3, len(_LESS))))


def _epsilon(rho: Fraction, delta: Fraction, step: int) -> Fraction:
    """Return (1) for one α, rounded up; at least 0."""
    c = _EXACT
    less = c.power(Decimal(2), c.divide(Decimal(step), Decimal(_STEPS)))
    alpha = c.add(1, less)
    log_alpha = alpha.ln(c)
    value = c.add(c.multiply(alpha, _decimal(rho)), c.subtract(less.ln(c), log_alpha))
    value = c.subtract(value, c.divide(c.add(_decimal(delta).ln(c), log_alpha), less))
    value = c.add(value, c.multiply(_SLACK, c.add(1, c.add(value.copy_abs(), less))))
    above = c.multiply(value, _UNIT).to_integral_value(ROUND_CEILING)
    return max(Fraction(int(above), _UNIT), Fraction(0))


def _decimal(number: Fraction) -> Decimal:
    return _EXACT.divide(Decimal(number.numerator), Decimal(number.denominator))
