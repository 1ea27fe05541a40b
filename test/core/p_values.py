# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The p-values of drawn counts. `scipy.stats` has such, and takes most of a second to import."""
from scipy.special import bdtr, bdtrc, chdtrc


def binomial_p(count, n, chance=0.5):
    """Return the exact p-value of a count out of n: twice the chance of its smaller tail."""
    return min(1.0, 2 * min(bdtr(count, n, chance), bdtrc(count - 1, n, chance)))


def chi_square_p(observed, expected):
    """Return the p-value of counts by the chi-square law; both have the same sum."""
    statistic = sum((o - e)**2 / e for o, e in zip(observed, expected, strict=True))
    return chdtrc(len(observed) - 1, statistic)
