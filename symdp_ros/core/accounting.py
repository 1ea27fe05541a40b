# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
r"""
Zero-concentrated differential privacy (zCDP): releases add up to less than the sum of their ε.

M is ρ-zCDP when D_α(M(w) ‖ M(w')) ≤ ρ·α for all adjacent words and all α > 1, with D_α the Rényi
divergence (Bun & Steinke 2016, arXiv 1605.02065, Definition 1.1). ρ adds over releases, later ones
may depend on earlier outputs, and what is computed from outputs alone costs nothing (Lemma 2.3).

**Lemma 1** (bounded range: Dong, Durfee & Rogers 2020; Cesar & Rogers 2021, arXiv 2004.07223).
Let f(o) = ln P[o|w] − ln P[o|w'] lie in an interval of length η for all o. Then D_α ≤ α·η²/8.

*Proof.* Let ψ(s) = ln E[e^{s·f(o)}], o drawn for w'. ψ(0) = 0; ψ(1) = 0, as E[e^f] = Σ P[o|w] = 1.
So ψ(α) = α·(α−1)·ψ''(ξ)/2 for some ξ in (0, α) (the remainder of interpolation). ψ''(ξ) is the
variance of f under a tilted law, at most η²/4 (Popoviciu). D_α = ψ(α)/(α−1) ≤ α·η²/8. ∎

A *response* on m values gives its own value the probability e^y/(e^y+m−1), and each other one
1/(e^y+m−1). Let ρ_m(y) be the least ρ for two of its values: the supremum of D_α/α over α > 1.

**Lemma 2.** ρ_m(y) is as follows. With v = (α−½)², c = (m−2)·e^{−y/2} and
h(v) = ln(2·cosh(y·√v)+c), D_α/α is the slope of h between ¼ and v. h is convex up to some v* ≥ 0
and concave after it. So if ¼ ≥ v*, ρ_m(y) is h'(¼), which is the divergence of Kullback and
Leibler, α → 1: y·(e^y−1)/(e^y+m−1). Else it is h'(v) at the one v > v* where this is the slope
between ¼ and v.

*Proof.* For o drawn for one value, f is y, −y or 0, so E[e^{αf}] =
(e^{αy}+e^{(1−α)y}+m−2) / (e^y+m−1) = (2·cosh(y·√v)+c) / (2·cosh(y/2)+c), and D_α/α is its
logarithm over α·(α−1) = v−¼.
With t = y·√v, h' = y²·sinh t / (t·(2·cosh t+c)). Its derivative in t has the sign of
c·(t·cosh t−sinh t) + 2t − sinh 2t = Σ_{i ≥ 1} (2i·c−2·4^i)·t^{2i+1}/(2i+1)!. As i/4^i falls, these
coefficients change their sign at most once, from + to −, and so does the sum, by Descartes. Where
h is concave, the slope between ¼ and v falls with v; else it grows until it meets the falling h',
and falls from there. ∎

So ρ_2(y) = y·tanh(y/2), as c = 0 gives v* = 0. ρ_m(y) falls with m, since a larger c lowers every
slope, and grows with y: a response at a smaller y is one at y, mixed with a uniform draw.

**Lemma 3.** ρ_2(y) is the least ρ for all that is y-private: f in [−y, y].

*Proof.* Whatever is y-private for two words is a response on two values, of whose answer the
output is drawn (Kairouz, Oh & Viswanath 2015, arXiv 1311.0776). For two words with P and P':
e^y·P−P' and e^y·P'−P are at least 0, and sum up to e^y−1. Over it, they are the two laws of the
output; the response chooses the first for w with probability e^y/(e^y+1). Drawing from its answer
raises no D_α, and the response is y-private itself. ∎

With x = ε/k, for words that differ in j symbols (j is not k: ρ never converts linearly):

* 'range': P[o|w] = h(o)·R^{matches(w, o)}/Z(w), 2·ln R ≤ x (`core.offline.backward`). matches
  changes by at most j, h(o) not at all, and Z(w)/Z(w') is one number for all o: f lies in an
  interval of length 2j·ln R. Rounding adds at most 4.02·n·(N + 4M + 12)·2⁻⁵³ to it (equation (5)
  there), which is less than what R leaves of x: η ≤ j·x. ρ = (j·x)²/8, or ρ_2(j·x) where that is
  less: 0 lies in the interval, as no law is larger everywhere.
* 'symbols': each o_t is drawn given o_1…o_{t−1} and w_t alone, and two symbols in place of w_t
  change no probability by more than e^{±x} (`core.online`): each of the j changed symbols costs
  ρ_2(x); the others cost 0. They add up as releases do: ρ = j·ρ_2(x). This is live and causal, and
  the exponent ε/k where all words are feasible, whose positions are independent. (There, in zones,
  weights are floats, whose rounding depends on later symbols: an unchanged position costs at most
  β²/2, β = 4.02·K·2⁻⁵³, K = N + 4M + 12, and a changed one ρ_2(ln R + β). The reserve of R,
  5n·K·2⁻⁵³ of x, is more than all of that.) Where each o_t is
  a response on at least m values (`core.online.response`), ρ = j·ρ_m(x): an unknown symbol has
  the mean of all its laws, and D_α is convex in its second and quasi-convex in its first argument.
* 'blocks': each signal is drawn given those before and at most L symbols, and i changed ones of
  these change no probability by more than e^{±i·x}: it costs ρ_2(i·x) (lemma 3). The i of all
  blocks add up to j, whatever the blocks are, which may depend on earlier signals. ρ_2 is convex
  and ρ_2(0) = 0, so the sum is at most that of ⌊j/L⌋ blocks with i = L and one with the rest:
  ρ = ⌊j/L⌋·ρ_2(L·x) + ρ_2((j mod L)·x). It adds up as releases do that are chosen by earlier
  outputs (Feldman & Zrnic 2021). This is the policy adaptive where a signal may be about several
  symbols; in zones, given all zones that are told, which are equal for both words.
* 'pure': whatever is e^{j·x}-private: ρ = ρ_2(j·x). Learned chains, what earlier versions released
  by permute-and-flip, and releases of which nothing else is known.

Charges of before (rule 1) keep what they were charged: x²/2 in place of ρ_2(x), and (j·x)²/8.

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
from decimal import Context, Decimal, ROUND_CEILING
from fractions import Fraction
from functools import lru_cache

import numpy as np

BOUNDS = ('range', 'symbols', 'blocks', 'pure')
#: By which the ρ of a new charge is counted.
RULE = 2

_EXACT = Context(prec=60)
_SEARCH = Context(prec=120)
_HALVINGS = 120            # of less than 2⁸
_LARGEST = 500             # y, above which ρ_m(y) counts as y
_FINEST = 10**30           # the denominator of ρ_m(y)
_SLACK = Decimal('1e-30')  # far above the rounding of (1) and of ρ_m(y), relative and absolute
_UNIT = 10**6              # ε is rounded up to a multiple of 1/10⁶
_STEPS = 128               # α − 1 = 2^{i/128}, so that ε is at most 10⁻⁵ of it too large
_FIRST, _LAST = -40 * _STEPS, 60 * _STEPS

_LESS = np.exp2(np.arange(_FIRST, _LAST + 1) / _STEPS)  # α − 1
_LOGS = -np.log1p(1 / _LESS)                            # ln(1 − 1/α)
_LOG_ALPHAS = np.log1p(_LESS)


def rho_of(bound: str, per_symbol: Fraction, symbols: int, values: int = 2,
           rule: int = RULE) -> Fraction:
    """
    Return the ρ of a release, for words that differ in some symbols.

    :param bound: of `BOUNDS` (see the module).
    :param per_symbol: x = ε/k.
    :param symbols: j ≥ 0.
    :param values: m ≥ 2, with 'symbols': each symbol is a response on at least so many values; L
        with 'blocks'.
    :param rule: by which it is counted: `RULE`, or 1 (see the module).
    """
    if bound == 'blocks':
        whole, rest = divmod(symbols, values)
        return (whole * response_rho(per_symbol * values)
                + response_rho(per_symbol * rest))
    loss = per_symbol if bound == 'symbols' else per_symbol * symbols
    rho = loss**2 / (8 if bound == 'range' else 2)
    if rule != 1:
        rho = min(rho, response_rho(loss, values if bound == 'symbols' else 2))
    return rho * symbols if bound == 'symbols' else rho


@lru_cache(maxsize=10_000)
def response_rho(loss: Fraction, values: int = 2) -> Fraction:
    """
    Return ρ_m(y) of lemma 2, rounded up.

    Where the search ends, t is off by less than 10⁻³⁰, and h' by no greater share: the derivative
    of its logarithm, coth t − 1/t − 2·sinh t/(2·cosh t+c), lies in (−1, 1).

    :param loss: y ≥ 0.
    :param values: m ≥ 2.
    """
    if loss > _LARGEST:  # ρ_m(y) ≤ y, as D_α ≤ y
        return loss
    if loss == 0:
        return Fraction(0)
    c = _SEARCH
    y = c.divide(Decimal(loss.numerator), Decimal(loss.denominator))
    start = c.divide(y, 2)
    if values == 2:
        rho = _slope(y, Decimal(0), start)
    else:
        rest = c.multiply(Decimal(values - 2), c.exp(c.minus(start)))
        least, greatest = start, c.add(start, 1)
        while not _is_beyond(y, rest, greatest):
            greatest = c.multiply(greatest, 2)
        for _ in range(_HALVINGS):
            middle = c.divide(c.add(least, greatest), 2)
            if _is_beyond(y, rest, middle):
                greatest = middle
            else:
                least = middle
        rho = _slope(y, rest, least)
    above = c.multiply(c.multiply(rho, 1 + _SLACK), _FINEST).to_integral_value(ROUND_CEILING)
    return Fraction(int(above), _FINEST)


def _slope(y: Decimal, rest: Decimal, t: Decimal) -> Decimal:
    """Return h' at t = y·√v > 0."""
    c, (cosh, sinh) = _SEARCH, _double_hyperbolic(t)
    return c.divide(c.multiply(c.multiply(y, y), sinh),
                    c.multiply(c.multiply(2, t), c.add(cosh, rest)))


def _is_beyond(y: Decimal, rest: Decimal, t: Decimal) -> bool:
    """Return whether h' at t > y/2 is less than the slope of h from v = ¼."""
    c, start = _SEARCH, _SEARCH.divide(y, 2)
    rise = c.ln(c.divide(c.add(_double_hyperbolic(t)[0], rest),
                         c.add(_double_hyperbolic(start)[0], rest)))
    run = c.divide(c.multiply(c.subtract(t, start), c.add(t, start)), c.multiply(y, y))
    return c.multiply(_slope(y, rest, t), run) < rise


def _double_hyperbolic(t: Decimal) -> tuple[Decimal, Decimal]:
    """Return 2·cosh t and 2·sinh t."""
    up = _SEARCH.exp(t)
    down = _SEARCH.divide(1, up)
    return _SEARCH.add(up, down), _SEARCH.subtract(up, down)


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
