# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The pass over a word, compiled (`core.offline.passes`): import only where it is about to run."""
from math import frexp, ldexp

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, Numbers, ShortInts, Weights
from symdp_ros.core.compiled.compiling import compiled, ONE, ZERO
from symdp_ros.core.offline.passes import FAR, NEVER, PassWord, POWERS, TOP
from symdp_ros.core.offline.reachable import Moves

TOGETHER = 32  # words of a batch that are swept side by side
_ONE, _LANES = np.uint64(1), np.uint64(8)  # unsigned indices need not be looked at for their sign


@compiled
def _gather_one(begin: int, end: int, after_begin: int, offsets: Ints, targets: Numbers,
                weights: Weights, after: Floats, here: Floats) -> None:
    """here[s] = Σ h(s'|s)·after[s'] for the states s from begin on, with one model."""
    e, first = np.uint64(offsets[begin]), np.uint64(after_begin)
    for s in range(begin, end):
        last, total = np.uint64(offsets[s + 1]), 0.0
        while e < last:
            total += after[np.uint64(targets[e]) - first] * weights[e]
            e += _ONE
        here[s - begin] = total


@compiled
def _gather_models(begin: int, end: int, after_begin: int, moves: Moves, weights: Weights,
                   after: Floats, here: Floats) -> None:
    """
    here[s, m] = keep·V(m) + Σ_m' switch[m']·V(m'), V(m) = Σ P_m(s'|s)·after[s', m].

    A sum in each variable: the compiler adds them side by side.
    """
    offsets, targets, keep, switch = moves.offsets, moves.targets, moves.keep, moves.switch
    e, first = np.uint64(offsets[begin]), np.uint64(after_begin)
    for s in range(begin, end):
        last = np.uint64(offsets[s + 1])
        v0 = v1 = v2 = v3 = v4 = v5 = v6 = v7 = 0.0
        while e < last:
            i, j = (np.uint64(targets[e]) - first) * _LANES, e * _LANES
            v0 += after[i] * weights[j]
            v1 += after[i + np.uint64(1)] * weights[j + np.uint64(1)]
            v2 += after[i + np.uint64(2)] * weights[j + np.uint64(2)]
            v3 += after[i + np.uint64(3)] * weights[j + np.uint64(3)]
            v4 += after[i + np.uint64(4)] * weights[j + np.uint64(4)]
            v5 += after[i + np.uint64(5)] * weights[j + np.uint64(5)]
            v6 += after[i + np.uint64(6)] * weights[j + np.uint64(6)]
            v7 += after[i + np.uint64(7)] * weights[j + np.uint64(7)]
            e += _ONE
        mixed = (((v0 * switch[0] + v4 * switch[4]) + (v2 * switch[2] + v6 * switch[6]))
                 + ((v1 * switch[1] + v5 * switch[5]) + (v3 * switch[3] + v7 * switch[7])))
        i = np.uint64(s - begin) * _LANES
        here[i] = keep * v0 + mixed
        here[i + np.uint64(1)] = keep * v1 + mixed
        here[i + np.uint64(2)] = keep * v2 + mixed
        here[i + np.uint64(3)] = keep * v3 + mixed
        here[i + np.uint64(4)] = keep * v4 + mixed
        here[i + np.uint64(5)] = keep * v5 + mixed
        here[i + np.uint64(6)] = keep * v6 + mixed
        here[i + np.uint64(7)] = keep * v7 + mixed


@compiled
def _rescale(here: Floats) -> int:
    """Bring the largest weight to just below 2^TOP, and return the exponent taken out."""
    highest = 0.0
    for i in range(len(here)):
        highest = max(highest, here[i])
    exponent = frexp(highest)[1] - TOP
    factor = ldexp(1.0, -exponent)
    for i in range(len(here)):
        here[i] *= factor
    return exponent


@compiled
def _fill_wide(t: int, word: PassWord, moves: Moves, after: Floats, after_exponents: ShortInts,
               here: Floats, exponents: ShortInts) -> None:
    """Fill a row from the next, each state with its largest lane in [1, 2) and an exponent."""
    lanes, first, last = len(moves.switch), word.begins[t + 1], word.ends[t + 1]
    for s in range(word.begins[t], word.ends[t]):
        place, highest = s - word.begins[t], NEVER
        begin = place * lanes
        for e in range(moves.offsets[s], moves.offsets[s + 1]):
            there = np.int64(moves.targets[e])
            if first <= there < last:
                highest = max(highest, after_exponents[there - first])
        for m in range(lanes):
            here[begin + m] = 0.0
        exponents[place] = highest
        if highest == NEVER:
            continue
        for e in range(moves.offsets[s], moves.offsets[s + 1]):
            there = np.int64(moves.targets[e])
            if first <= there < last:
                power = POWERS[min(highest - after_exponents[there - first], FAR)]
                for m in range(lanes):
                    here[begin + m] += (after[(there - first) * lanes + m] * moves.weights[e, m]
                                        * power)
        v, switch, mixed = here[begin:begin + lanes], moves.switch, 0.0
        if lanes > 1:  # in the order of `_gather_models`
            mixed = (((v[0] * switch[0] + v[4] * switch[4])
                      + (v[2] * switch[2] + v[6] * switch[6]))
                     + ((v[1] * switch[1] + v[5] * switch[5])
                        + (v[3] * switch[3] + v[7] * switch[7])))
        largest = 0.0
        for m in range(lanes):
            here[begin + m] = moves.keep * here[begin + m] + mixed
            largest = max(largest, here[begin + m])
        exponent = frexp(largest)[1] - 1
        for m in range(lanes):
            here[begin + m] *= ldexp(1.0, -exponent)
        exponents[place] += exponent


@compiled
def sweep(first: int, last: int, word: PassWord, moves: Moves, W: Floats, E: ShortInts) -> int:
    """
    Fill rows 0…last−first−1 of W (and E): of places first…last−1 of the word.

    Row last − first has place `last`, but where that is the end. Return the sum of the powers of
    two by which these rows were divided.
    """
    lanes, flat, total = len(moves.switch), moves.weights.reshape(-1), ZERO
    for t in range(last - 1, first - 1, -1):
        row, begin, end = t - first, word.begins[t], word.ends[t]
        here = W[row]
        if t == len(word.symbols) - 1:
            for i in range((end - begin) * lanes):
                here[i] = 1.0
            if word.rescale_every == 0:
                for i in range(end - begin):
                    E[row, i] = 0
        elif word.rescale_every == 0:
            _fill_wide(t, word, moves, W[row + 1], E[row + 1], here, E[row])
        else:
            if lanes == 1:
                _gather_one(begin, end, word.begins[t + 1], moves.offsets, moves.targets, flat,
                            W[row + 1], here)
            else:
                _gather_models(begin, end, word.begins[t + 1], moves, flat, W[row + 1], here)
            if t % word.rescale_every == 0:
                total += _rescale(here[:(end - begin) * lanes])
        if begin <= word.symbols[t] < end:
            for i in range((word.symbols[t] - begin) * lanes,
                           (word.symbols[t] + 1 - begin) * lanes):
                here[i] *= word.ratio
    return int(total)


@compiled
def choose(lengths: Floats, many: int, bits: np.uint64) -> int:
    """
    Return which of intervals the point bits/2⁶⁴ falls on, or −1 where 53 bits are not enough.

    They lie side by side, the first `many` of `lengths`. Whatever was rounded or left out moves
    an end by less than `margin`, and so do the bits not looked at. No branch depends on the bits.
    """
    total = right = 0.0
    for i in range(many):
        total += lengths[i]
    unit = total * 2.0**-53
    point, margin = np.float64(bits >> np.uint64(11)) * unit, (4 * many + 8) * unit
    below, above = point - margin, point + margin
    passed = unsure = 0
    for i in range(many - 1):
        right += lengths[i]
        passed += right <= below
        unsure += right < above
    return passed if unsure == passed else -1


@compiled
def _join_exponents(targets: Numbers, begin: int, end: int, exponents: ShortInts,
                    lengths: Floats) -> None:
    """Bring lengths, over the exponents of states, to the largest of these."""
    highest = NEVER
    for j in range(len(targets)):
        if begin <= targets[j] < end:
            highest = max(highest, exponents[targets[j] - begin])
    for j in range(len(targets)):
        if begin <= targets[j] < end:
            lengths[j] *= POWERS[min(highest - exponents[targets[j] - begin], FAR)]


@compiled
def learn(model: Floats, edge: int, moves: Moves) -> None:
    """Take a move in: how likely each model is for the next one."""
    total = 0.0
    for m in range(len(model)):
        model[m] *= moves.weights[edge, m]
        total += model[m]
    for m in range(len(model)):
        model[m] = moves.keep * (model[m] / total) + moves.switch[m]


@compiled
def walk(position: int, first: int, last: int, state: int, word: PassWord, bits: Numbers,
         moves: Moves, widest: int, W: Floats, E: ShortInts, model: Floats,
         out: Ints) -> tuple[int, int]:
    """
    Walk from a state, over place `position` of the word and those after it, before `last`.

    widest: the most moves of a state. W, E: what `sweep` filled, from place `first` on. bits,
    uint64 (n,): 64 random bits for each place. out, int64 (n,): the states walked; `model` is
    taken on with them. Return (position, state): where that is not `last`, 53 bits do not tell
    the next state.
    """
    lengths, lanes, is_wide = np.empty(widest), len(model), word.rescale_every == 0
    offsets, targets, weights = moves.offsets, moves.targets, moves.weights.reshape(-1)
    begins, ends = word.begins, word.ends
    for t in range(position, last):
        begin, end, there = begins[t], ends[t], W[t - first]
        edge, many = offsets[state], offsets[state + 1] - offsets[state]
        for j in range(many):
            s, total = np.int64(targets[edge + j]), 0.0
            if begin <= s < end:
                if lanes == 1:
                    total = weights[edge + j] * there[s - begin]
                else:
                    for m in range(lanes):
                        total += (model[m] * weights[(edge + j) * lanes + m]
                                  * there[(s - begin) * lanes + m])
            lengths[j] = total
        if is_wide:
            _join_exponents(targets[edge:edge + many], begin, end, E[t - first], lengths)
        chosen = choose(lengths, many, bits[t])
        if chosen < 0:
            return t, state
        if lanes > 1:
            learn(model, edge + chosen, moves)
        state = np.int64(targets[edge + chosen])
        out[t] = state
    return last, state


@compiled
def draw_words(index: int, position: int, state: int, all_words: PassWord, lengths: Ints,
               ratios: Floats, bits: Numbers, moves: Moves, widest: int, W: Floats, E: ShortInts,
               model: Floats, out: Ints) -> tuple[int, int, int]:
    """
    Draw words from one on, which is swept already where the position is above 0.

    all_words: with the symbols of all, one after another, and the begins and ends of the longest.
    bits, out: of all words, as `walk`; lengths, ratios: of each. Return (index, position, state)
    where 53 bits are not enough, at the end with the number of words as `index`.
    """
    begin = lengths[:index].sum()
    while index < len(lengths):
        n = lengths[index]
        word = PassWord(all_words.symbols[begin:begin + n], all_words.begins[:n],
                        all_words.ends[:n], ratios[index], all_words.rescale_every)
        if position == 0:
            sweep(ZERO, n, word, moves, W, E)
            state = ONE
            model[:] = moves.prior
        position, state = walk(position, ZERO, n, state, word, bits[begin:begin + n], moves,
                               widest, W, E, model, out[begin:begin + n])
        if position < n:
            return index, position, state
        begin, position, index = begin + n, ZERO, index + 1
    return index, ZERO, state


@compiled
def _sweep_together(n: int, symbols: Ints, ratios: Floats, words: PassWord, moves: Moves,
                    W: Floats) -> None:
    """
    Fill rows 0…n−1 of W, of words that end together, with one model: `sweep` in each lane.

    symbols (n, TOGETHER); W (·, states, TOGETHER): of state s in place s − 1.
    """
    offsets, targets, weights = moves.offsets, moves.targets, moves.weights.reshape(-1)
    for t in range(n - 1, -1, -1):
        here, states = W[t], words.ends[t] - 1
        for s in range(states):
            for lane in range(TOGETHER):
                here[s, lane] = 1.0 if t == n - 1 else 0.0
        if t < n - 1:
            after = W[t + 1]
            for s in range(states):
                last = offsets[s + 2] - 1
                for e in range(offsets[s + 1], last + 1, 4):  # four moves at a time
                    a, b = targets[e] - 1, targets[min(e + 1, last)] - 1
                    c, d = targets[min(e + 2, last)] - 1, targets[min(e + 3, last)] - 1
                    u, v = weights[e], weights[e + 1] if e + 1 <= last else 0.0
                    w = weights[e + 2] if e + 2 <= last else 0.0
                    x = weights[e + 3] if e + 3 <= last else 0.0
                    for lane in range(TOGETHER):
                        here[s, lane] = (here[s, lane] + after[a, lane] * u + after[b, lane] * v
                                         + after[c, lane] * w + after[d, lane] * x)
            if t % words.rescale_every == 0:
                for lane in range(TOGETHER):
                    _rescale(here[:states, lane])
        for lane in range(TOGETHER):
            if 1 <= symbols[t, lane] <= states:
                here[symbols[t, lane] - 1, lane] *= ratios[lane]


@compiled
def draw_together(first: int, at: Ints, states: Ints, words: PassWord, lengths: Ints,
                  ratios: Floats, bits: Numbers, moves: Moves, widest: int, W: Floats,
                  out: Ints) -> int:
    """
    As `draw_words`, of ascending lengths and with one model: TOGETHER words are swept at a time.

    first: the first word of a group. at, states, int64 (TOGETHER,): how many symbols of each of
    its words are drawn, −1: it is not swept yet; and the last of them. Return the first word of
    the group in which 53 bits were not enough for some: it goes on from there. The row that such a
    word is drawn by is as far from that of the end of the group's longest as it is from its end.
    """
    symbols, own_ratios = np.zeros((len(W), TOGETHER), np.int64), np.ones(TOGETHER)
    begins, weights = np.zeros(TOGETHER, np.int64), moves.weights.reshape(-1)
    choices, offsets, targets = np.empty(widest), moves.offsets, moves.targets
    begin = lengths[:first].sum()
    while first < len(lengths):
        many = min(TOGETHER, len(lengths) - first)
        n = lengths[first + many - 1]
        if at[0] < 0:
            symbols[:] = 0
        for i in range(many):
            begins[i] = begin
            begin += lengths[first + i]
            own_ratios[i] = ratios[first + i]
            if at[0] < 0:
                for t in range(lengths[first + i]):
                    symbols[n - lengths[first + i] + t, i] = words.symbols[begins[i] + t]
        if at[0] < 0:
            _sweep_together(n, symbols, own_ratios, words, moves, W)
            at[:], states[:] = 0, 1
        for t in range(n):
            there = W[t]
            for i in range(many):
                place = t - n + lengths[first + i]
                if place != at[i]:
                    continue
                edge = offsets[states[i]]
                count = offsets[states[i] + 1] - edge
                for j in range(count):
                    choices[j] = weights[edge + j] * there[targets[edge + j] - ONE, i]
                chosen = choose(choices, count, bits[begins[i] + place])
                if chosen >= 0:
                    states[i] = targets[edge + chosen]
                    out[begins[i] + place] = states[i]
                    at[i] += 1
        for i in range(many):
            if at[i] < lengths[first + i]:
                return first
        at[0], first = -1, first + many
    return first
