# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Integer noise, drawn exactly: the discrete Laplace distribution.

P[x] = (1 − α)/(1 + α)·α^|x| for integers x, α = e^{−1/scale}: two-sided geometric.
Added to counts whose L1 distance between adjacent data is at most Δ, noise of scale Δ/ε keeps ε,
exactly: α^{|y − c|} and α^{|y − c'|} differ by at most the factor e^{|c − c'|/scale}.

The draws follow Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy"
(2020), Algorithms 1 and 2: only integers are compared, so nothing is rounded.
"""
from fractions import Fraction
from math import exp, sqrt

from symdp_ros.core.annotations import RandomBits
from symdp_ros.core.draws.exact_draw import draw_below


def draw_discrete_laplace(scale: Fraction, random: RandomBits) -> int:
    """
    Return an integer x with probability proportional to e^{−|x|/scale}.

    :param scale: > 0, exact.
    """
    s, t = scale.denominator, scale.numerator  # e^{−|x|·s/t}
    while True:
        remainder = draw_below(t, random)
        if not _bernoulli_exp(Fraction(remainder, t), random):
            continue
        quotient = 0
        while _bernoulli_exp(Fraction(1), random):
            quotient += 1
        magnitude = (remainder + t * quotient) // s
        negative = draw_below(2, random)
        if magnitude or not negative:  # else zero would come twice as often
            return -magnitude if negative else magnitude


def discrete_laplace_deviation(scale: Fraction) -> float:
    """Return the standard deviation √(2α)/(1 − α); √2·scale where α rounds to 1."""
    alpha = exp(-1 / float(scale))
    return sqrt(2 * alpha) / (1 - alpha) if alpha < 1 else sqrt(2) * float(scale)


def _bernoulli_exp(gamma: Fraction, random: RandomBits) -> bool:
    """Return True with probability e^{−gamma}, exactly; 0 ≤ gamma ≤ 1."""
    k = 1
    while draw_below(gamma.denominator * k, random) < gamma.numerator:
        k += 1
    return k % 2 == 1
