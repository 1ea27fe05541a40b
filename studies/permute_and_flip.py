# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Permute-and-flip over words, in floats: for comparison alone.

Permute-and-flip (McKenna & Sheldon 2020; for words: Benvenuti, Rao & Hale 2026, arXiv 2603.28903)
releases the word o of the largest −d(w, o)·ln R + X_o, with independent unit exponentials X_o and
R = e^{ε/2k} (Ding et al. 2021). There are m_ℓ words at distance ℓ; with p_ℓ = R^{−(ℓ−ℓ_min)}, each
has the probability

    P[o] = p_ℓ ∫₀¹ (1 − p_ℓ x)^{m_ℓ−1} Π_{j≠ℓ} (1 − p_j x)^{m_j} dx,                            (1)

and all of them are equally likely. They are counted backward: M_t(s, e) ways lead on from state s
at position t with e errors to come, in O(n²·edges) time.
"""
from math import ceil, exp, log
from random import Random

import numpy as np
from symdp_ros.core.annotations import Floats, Ints
from symdp_ros.core.chain import Chain
from symdp_ros.core.privacy import Privacy

_NEGLIGIBLE = 50.0  # e⁻⁵⁰
_STRAIGHT = -36.0   # ln v of a v for which −ln(1 − v) is v, in floats


class PermuteAndFlip:
    """Draws words of a chain that stores its edges; words are positions of states."""

    def __init__(self, chain: Chain, privacy: Privacy, random: Random):
        self._offsets, self._targets = chain.csr()
        self._start, self._random = chain.state_index[chain.initial_state], random
        self._log_ratio = float(privacy.epsilon_per_symbol) / 2
        #: R
        self.ratio = exp(self._log_ratio)

    def distance_distribution(self, word: Ints) -> Floats:
        """Return P[d(w, o) = ℓ]: shape (n + 1,)."""
        return self._by_distance(self._tables(word)[0][self._start])

    def draw(self, word: Ints) -> Ints:
        """Return a private word."""
        tables, state = self._tables(word), self._start
        [errors] = self._random.choices(range(len(word) + 1),
                                        self._by_distance(tables[0][state]).tolist())
        output = np.empty(len(word), np.int64)
        for t, symbol in enumerate(word):
            able = self._targets[self._offsets[state]:self._offsets[state + 1]].astype(np.int64)
            after = errors - (able != symbol)
            logs = np.where(after >= 0, tables[t + 1][able, after], -np.inf)
            [i] = self._random.choices(range(len(able)), np.exp(logs - logs.max()).tolist())
            state, errors = int(able[i]), int(after[i])
            output[t] = state
        return output

    def _tables(self, word: Ints) -> list[Floats]:
        """Return ln M_0, …, ln M_n: each of shape (states, n + 1)."""
        last = np.full((len(self._offsets) - 1, len(word) + 1), -np.inf)
        last[:, 0] = 0
        tables = [last]
        for symbol in word[::-1]:
            shifted = np.full_like(last, -np.inf)
            shifted[:, 1:] = tables[-1][:, :-1]
            shifted[symbol] = tables[-1][symbol]
            tables.append(np.logaddexp.reduceat(shifted[self._targets], self._offsets[:-1]))
        return tables[::-1]

    def _by_distance(self, log_counts: Floats) -> Floats:
        """Return m_ℓ·P[o] by equation (1), with x = e^y, by Gauss–Legendre quadrature."""
        found = np.flatnonzero(log_counts > -np.inf)
        log_m, log_p = log_counts[found], -self._log_ratio * (found - found[0])
        others = log_m.copy()  # but for one word at the least distance
        others[0] = log(np.expm1(others[0])) if 1e-9 < others[0] < 30 else (
            others[0] if others[0] >= 30 else -np.inf)
        low = min(0.0, -np.logaddexp.reduce(log_m + log_p)) - _NEGLIGIBLE
        high = min(0.0, log(_NEGLIGIBLE) - np.logaddexp.reduce(others + log_p))
        panels = ceil(2 * (high - low))
        nodes, weights = np.polynomial.legendre.leggauss(16)
        half = (high - low) / panels / 2
        y = (low + half * (2 * np.arange(panels)[:, None] + 1 + nodes)).ravel()
        v = y[:, None] + log_p
        with np.errstate(over='ignore', divide='ignore'):
            one_less = np.where(v < -0.7, np.log1p(-np.exp(v)), np.log(-np.expm1(v)))
            hazards = np.exp(log_m + np.where(v < _STRAIGHT, v, np.log(-one_less)))
        logs = (np.log(np.tile(weights * half, panels)) + y - hazards.sum(axis=1))[:, None] \
            - one_less
        chances = np.zeros(len(log_counts))
        total = log_m + log_p + np.logaddexp.reduce(logs, axis=0)
        chances[found] = np.exp(total - np.logaddexp.reduce(total))
        return chances
