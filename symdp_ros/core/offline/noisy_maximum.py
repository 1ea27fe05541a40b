# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Permute-and-flip over words, by distances: its draw, and its probabilities in closed form.

Permute-and-flip (McKenna & Sheldon 2020; for words: Benvenuti, Rao & Hale 2026, arXiv 2603.28903)
equals reporting the noisy maximum with exponential noise (Ding et al. 2021): word o wins if its
−d(w, o)·ln R + X_o is the largest, with independent unit exponentials X_o; R = e^{ε/2k}. All words
at one distance ℓ share a utility, so the largest of m_ℓ unit exponentials stands for them all,

    X_ℓ = −ln(1 − U^{1/m_ℓ}),  U uniform in (0, 1),                                           (1)

and a uniform word at the winning distance is released. With p_ℓ = R^{−(ℓ−ℓ_min)}, a word at ℓ has

    P[o] = p_ℓ ∫₀¹ (1 − p_ℓ x)^{m_ℓ−1} Π_{j≠ℓ} (1 − p_j x)^{m_j} dx.                            (2)

**Rounding.** The m̂_ℓ that are drawn with, and the draw at a distance, are off m_ℓ, and off the
uniform, by θ each in the logarithm (n·(N+1)·2⁻⁵³, on an alphabet 2⁻⁵¹: `core.offline.distances`);
the winner for the given m̂ and R is decided exactly. Let F(s) be ln P[o] with all m scaled by s in
e^{−sH(x)}, H = −Σ m_j ln(1 − p_j x): convex and decreasing in s, F(1/2) ≤ ln ∫ (1−x)^{−1/2} dx =
ln 2, and F(1) ≥ −L with L = n·(ln N + ln R), as o may come first among the ≤ N^n words and is then
taken with p_ℓ ≥ R^{−n}. So |F(s) − F(1)| ≤ |s − 1|·(ln 2 + L)/(1/2 − |s − 1|), and with |s − 1| ≤
e^θ − 1, the words' ratio is off by less than 2θ + 4.1·θ·(0.7 + L) < 5·θ·(1 + L) in the logarithm:
`rounding_reserve`. R is chosen with 2k·ln R ≤ ε − reserve; where that is not positive, R = 1, all
feasible words are equally likely, and they are drawn without looking at the word.
"""
from collections.abc import Callable, Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil, inf, log

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, RandomBits
from symdp_ros.core.offline.distances import Counts

_LARGEST_LOG_RATIO = 28  # R ≤ 2⁴⁰ < e²⁸
_DRAWN_BITS = 32         # of each U to begin with
_NEGLIGIBLE = 45.0       # e⁻⁴⁵ < 10⁻¹⁹: integrands are cut off that far below their peak
_STRAIGHT = -36.0        # ln v of a v for which −ln(1 − v) is v, in floats
_PANEL = 0.5             # width in ln x of the panels of quadrature
_CHUNK = 2**20


def rounding_reserve(rounding: Fraction, length: int, most_successors: int,
                     epsilon_per_symbol: Fraction) -> Fraction:
    """Return 5·θ·(1 + L) or a little more (see the module); `rounding` is θ."""
    largest_loss = length * (most_successors.bit_length()
                             + min(epsilon_per_symbol / 2, Fraction(_LARGEST_LOG_RATIO)))
    return 5 * rounding * (1 + largest_loss)


def draw_distance(counts: Counts, ratio: float, random: RandomBits) -> int:
    """
    Draw the distance of permute-and-flip, exactly for the given counts and ratio.

    Each score lies between those of the two ends of what is known of its U. While the intervals
    of the best ones overlap, more bits of their U are drawn, with twice the digits. Distances that
    are more than 1 behind in floats are left out beforehand.

    :param counts: m̂_ℓ, at least one of them positive.
    :param ratio: R ≥ 1.
    """
    width = _DRAWN_BITS
    drawn: dict[int, int] = {d: random.getrandbits(width) for d in counts.present.tolist()}
    least, most = _rough_scores(counts, ratio, np.array([*drawn.values()]))
    kept = (most > least.max() - 1).tolist()
    drawn = {d: u for (d, u), stays in zip(drawn.items(), kept, strict=True) if stays}
    while len(drawn) > 1:
        with localcontext() as context:
            context.prec = 2 * width
            lowest, highest = _scores(counts, ratio, drawn, width)
        best = max(lowest.values())
        drawn = {d: u for d, u in drawn.items() if highest[d] >= best}
        if len(drawn) > 1:
            drawn = {d: u << width | random.getrandbits(width) for d, u in drawn.items()}
            width *= 2
    return next(iter(drawn))


def _rough_scores(counts: Counts, ratio: float, drawn: Ints) -> tuple[Floats, Floats]:
    """Return the scores of `_scores` in floats, off by far less than 1/2."""
    with np.errstate(divide='ignore'):
        ends = np.array([drawn, drawn + 1]) / 2**_DRAWN_BITS
        log_z = np.log(-np.log(ends)) - counts.log
        largest = np.where(log_z < -40, -log_z, -np.log(-np.expm1(-np.exp(log_z))))
    least, most = largest - counts.present * log(ratio)
    return least, most


def _scores(counts: Counts, ratio: float, drawn: Mapping[int, int],
            width: int) -> tuple[dict[int, Decimal], dict[int, Decimal]]:
    """
    Return the least and the largest score of each distance, U being in [u, u+1]/2^width.

    With 2·width digits and correctly rounded ln and exp, what is computed is off by less than
    `slack`: ln U, ln m̂ and ln R are good to more than 1.9·width digits, and 1 − e^{−z} loses at
    most another `width` of them, as z ≥ 10^{−width} there. Where z is smaller, −ln z is taken: it
    is off by less than z.
    """
    slack = Decimal(10)**(4 - width)
    log_two, log_ratio = Decimal(2).ln(), Decimal(ratio).ln()
    lowest, highest = {}, {}
    for distance, u in drawn.items():
        log_count = (Decimal(float(counts.mantissa[distance])).ln()
                     + int(counts.exponent[distance]) * log_two)
        utility = -distance * log_ratio
        lowest[distance] = utility + _largest(u, width, log_count) - slack
        highest[distance] = utility + _largest(u + 1, width, log_count) + slack
    return lowest, highest


def _largest(u: int, width: int, log_count: Decimal) -> Decimal:
    """Return −ln(1 − U^{1/m}) for U = u / 2^width: of 0, it is 0; of 1, infinity."""
    log_z = (-(Decimal(u) / (1 << width)).ln()).ln() - log_count  # U^{1/m} = e^{−z}
    if log_z < -width * Decimal(10).ln():  # z < 10^{−width}; z − z²/2 < 1 − e^{−z} < z
        return -log_z
    return -(1 - (-log_z.exp()).exp()).ln()


def log_probabilities(counts: Counts, ratio: float) -> np.ndarray:
    """
    Return ln P[o] for one word o at each distance, by equation (2), to a relative error of 10⁻⁹.

    With x = e^y, the integrand e^{y − H(e^y)} is log-concave and entire in y: composite Gauss–
    Legendre quadrature between the points where it is negligible. Up to the last of them,
    −ln(1 − p_j x) is p_j x to 16 digits for most j, for all where there are many words: these j
    count together, by Σ m_j p_j.

    :return: float64, shape (n+1,); −inf where there is no word.
    """
    distances, log_counts = counts.present, counts.log
    log_p = -(distances - distances[0]) * log(ratio)
    scale = log_counts + log_p
    one_less = log_counts.copy()
    one_less[0] = -inf
    if counts.exponent[distances[0]] > 52:
        one_less[0] = log_counts[0]
    elif (first := np.ldexp(counts.mantissa[distances[0]], counts.exponent[distances[0]])) > 1:
        one_less[0] = log(first - 1)

    start = min(0.0, -np.logaddexp.reduce(scale)) - 1
    floor = start - float(np.exp(log_counts + _log_hazard(start + log_p)).sum()) - _NEGLIGIBLE
    # Where the integrand is not negligible, Σ (m_j − [j first]) p_j e^y ≤ H(e^y) < −floor.
    highest = min(0.0, log(-floor) - np.logaddexp.reduce(one_less + log_p))
    curved = highest + log_p >= _STRAIGHT
    if not curved.any():  # so H is straight, and the integral 1/Σ m_j p_j
        result = np.full(len(counts.mantissa), -inf)
        result[distances] = log_p - np.logaddexp.reduce(scale)
        return result

    def hazard(y: Floats, logs: Floats) -> Floats:
        """Return H(e^y), same shape as y."""
        straight = np.logaddexp.reduce((logs + log_p)[~curved], initial=-inf)
        with np.errstate(over='ignore'):
            found: Floats = np.exp(y + straight) + np.exp(
                logs[curved] + _log_hazard(y[:, None] + log_p[curved])).sum(axis=1)
        return found

    low, high = floor, _last_above(floor, start, lambda y: y - hazard(np.array([y]), one_less)[0])
    panels = ceil((high - low) / _PANEL)
    nodes, weights = np.polynomial.legendre.leggauss(16)
    half = (high - low) / panels / 2
    y = (low + half * (2 * np.arange(panels)[:, None] + 1 + nodes)).ravel()
    log_weights = np.log(np.tile(weights * half, panels))
    sums, of_straight = np.full(curved.sum(), -inf), -inf
    together = max(1, _CHUNK // (1 + len(sums)))
    for begin in range(0, len(y), together):
        some = slice(begin, begin + together)
        shared = log_weights[some] + y[some] - hazard(y[some], log_counts)
        own = -_log_one_minus_exp(y[some, None] + log_p[curved])
        sums = np.logaddexp(sums, np.logaddexp.reduce(shared[:, None] + own, axis=0))
        of_straight = np.logaddexp(of_straight, np.logaddexp.reduce(shared))
    result = np.full(len(counts.mantissa), -inf)
    result[distances] = log_p + of_straight
    result[distances[curved]] = log_p[curved] + sums
    return result


def _last_above(floor: float, start: float, function: Callable[[float], float]) -> float:
    """Return the last y ≤ 0 with function(y) ≥ floor, for one that falls from `start` on."""
    if function(-1e-300) >= floor:
        return 0.0
    low, high = start, 0.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) >= floor else (low, middle)
    return high


def _log_one_minus_exp(v: Floats) -> Floats:
    """Return ln(1 − e^v) for v < 0."""
    with np.errstate(divide='ignore'):
        return np.where(v < -0.7, np.log1p(-np.exp(v)), np.log(-np.expm1(v)))


def _log_hazard(v: Floats) -> Floats:
    """Return ln(−ln(1 − e^v)) for v < 0."""
    with np.errstate(divide='ignore'):
        return np.where(v < -36, v, np.log(-_log_one_minus_exp(v)))
