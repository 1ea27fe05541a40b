# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The loops of the adaptive policy (`core.online.adaptive`): import only where one is about to run.

offsets, successors   the chain's edges (`Chain.csr`)
weights    (edges, LANES)   P_m; 0 in lanes without a model
switch     (3, LANES)  by model: 1 − ρ, q, ρ·q (`core.models`)
first, symbols, X, match   as in `core.online.planned`
shares     (3, ·)      by |T|: a/T, b/T, 1/|T|
joint      (states, LANES)   f
belief     (states,)   f(s), the sum over the models
moves      (edges,)    Σ_m f(m, s)·P_m(s'|s), of the states that count
codes      (states,)   of each symbol, the place of its target in T, from 1; 0 for none
joined     (·,)        of each successor, the round in which it joined the set
"""
import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints, ShortInts, Weights
from symdp_ros.core.compiled.compiling import compiled, ZERO
from symdp_ros.core.compiled.vectors import LANES
from symdp_ros.core.online.adaptive.lanes import add, cover, expect, follow, switch_models
from symdp_ros.core.online.targets import Codes

DISCOUNT = 0.9

_LEAST = 1e-9          # probability of a state that counts in the choice of a set
_IMPOSSIBLE = 1e-200   # a probability that counts as 0
_TIE = 1e-12
_ALL_TRIED = 16        # states that can follow, up to which all are tried in every round
_LOOKED_AHEAD = LANES  # states that can follow, up to which what comes next is looked at


@compiled
def _begin_at(state: int, switch: Floats, joint: Floats, belief: Floats) -> None:
    """Believe that the robot is at a state, before a move, by a model of probability q."""
    joint.fill(0.0)
    belief.fill(0.0)
    joint[state] = switch[1]
    belief[state] = 1.0


@compiled
def _likely(beliefs: Floats, place: int, least: float, some: Ints) -> int:
    """Put the states that are believed in more than `least` into `some`; return how many."""
    n = 0
    for s in range(len(beliefs)):
        some[n] = s
        n += int(beliefs[s, place] > least)  # without a branch
    return n


@compiled
def _move(joint: Floats, belief: Floats, some: Ints, place: int, size: int, codes: Codes,
          shares: Floats, offsets: Ints, successors: ShortInts, weights: Weights, switch: Floats,
          after: Floats) -> None:
    """
    Take in the output at a place of T, a move, and the switch: f(m, s) of what comes next.

    some: the states that count. size: of T; 0: there is no output, and the belief is that of
    s_{t−1} already.
    """
    after.fill(0.0)
    total = 0.0
    for s in some:
        likely = 1.0
        if size > 0:
            code = np.int64(codes[s])
            likely = shares[2, size] if code == 0 else shares[1 if code == place else 0, size]
        total += belief[s] * likely
        for m in range(LANES):
            joint[s, m] *= likely
        for e in range(offsets[s], offsets[s + 1]):
            follow(after, np.int64(np.uint32(successors[e])), joint, s, weights, e)
    for s in range(len(after)):
        belief[s] = switch_models(joint, after, s, switch, total)


@compiled
def _expected_moves(joint: Floats, some: Ints, offsets: Ints, weights: Weights,
                    moves: Floats) -> None:
    """Put into `moves` how likely each move from some states is to be the next one."""
    for s in some:
        for e in range(offsets[s], offsets[s + 1]):
            moves[e] = expect(joint, s, weights, e)


@compiled
def _look_ahead(some: Ints, size: int, codes: Codes, shares: Floats, offsets: Ints,
                successors: ShortInts, moves: Floats, ahead: Floats) -> None:
    """
    Look at what may be believed next: f(s), times its probability, after each output.

    What follows the output at place p of T is put in ahead[:, p − 1]. The output depends on s_t
    alone, so it leaves the models of s_t as likely as they are.
    """
    ahead.fill(0.0)
    for s in some:
        lane = np.int64(codes[s]) - 1
        other, aimed = shares[2 if lane < 0 else 0, size], shares[1, size]
        for e in range(offsets[s], offsets[s + 1]):
            add(ahead, np.int64(np.uint32(successors[e])), other, aimed, lane, moves[e])


@compiled
def _grow(output: int, beliefs: Floats, place: int, some: Ints, offsets: Ints,
          successors: ShortInts, first: Ints, symbols: ShortInts, X: Floats, match: Floats,
          shares: Floats, joined: Floats, means: Floats, covered: Floats, known: Floats,
          best: Floats, spread: Floats, near: Floats, begins: Ints) -> tuple[float, int]:
    """
    Return the largest value (1) of the sets that grow state by state, and that one's size.

    some: the states that count; f is beliefs[:, place].
    """
    begin = offsets[output]
    count = offsets[output + 1] - begin
    n = len(some)
    for i in range(n):
        known[i] = beliefs[some[i], place]
        best[i] = 0.0
    if len(symbols) == 0:  # near[i, j] is X of the states that count
        for j in range(count):
            joined[j] = 0.0
            begins[j] = first[successors[begin + j]]
        for i in range(n):
            s = some[i]
            for j in range(count):
                near[i, j] = X[np.uint64(begins[j] + s)]
    else:
        for j in range(count):
            joined[j] = 0.0
            c = np.int64(successors[begin + j])
            for i in range(first[c], first[c + 1]):
                spread[symbols[i]] = X[i]
            spread[c] = match[c]
            for i in range(n):
                near[i, j] = spread[some[i]]
            for i in range(first[c], first[c + 1]):
                spread[symbols[i]] = 0.0
            spread[c] = 0.0
    for j in range(0, count, LANES):
        cover(known, best, near, n, -1, j, means)  # what round 1 covers, too, as X ≥ 0
    largest, chosen, together, which = -1.0, 0, 0.0, -1
    for m in range(1, count + 1):
        last, value, which = which, -1.0, 0
        if count > _ALL_TRIED:
            for j in range(count):
                if joined[j] == 0.0 and means[j] > value + _TIE:
                    value, which = means[j], j
        for j in range(0, count, LANES):
            if last >= 0 and (count <= _ALL_TRIED or j == which - which % LANES):
                cover(known, best, near, n, last, j, covered)
        for j in range(count):
            if joined[j] == 0.0 and (count <= _ALL_TRIED or j == which):
                found = (shares[0, m] * (together + means[j])
                         + (shares[1, m] - shares[0, m]) * (means if m == 1 else covered)[j])
                if count > _ALL_TRIED or found > value + _TIE:
                    value, which = found, j
        joined[which] = m
        together += means[which]
        if value > largest + _TIE:
            largest, chosen = value, m
    return largest, chosen


@compiled
def _aim(output: int, rounds: int, joined: Floats, offsets: Ints, successors: ShortInts,
         first: Ints, symbols: ShortInts, X: Floats, match: Floats, codes: Codes, subset: Ints,
         best: Floats) -> int:
    """Put the set of so many rounds into `subset`, its targets into `codes`; return its size."""
    for s in range(len(best)):
        best[s] = 0.0
        codes[s] = 0
    begin, size = offsets[output], 0
    for j in range(offsets[output + 1] - begin):
        if joined[j] > rounds:
            continue
        c = np.int64(successors[begin + j])
        subset[size] = c
        size += 1
        if len(symbols) == 0:
            row = X[first[c]:first[c + 1]]
            for s in range(len(best)):  # without a branch: several at a time
                better = row[s] > best[s] + _TIE
                best[s] = row[s] if better else best[s]
                codes[s] = np.uint32(size) if better else codes[s]
        else:
            for i in range(first[c], first[c + 1]):
                s = np.int64(symbols[i])
                if s != c and X[i] > best[s] + _TIE:
                    best[s] = X[i]
                    codes[s] = size
            if match[c] > best[c] + _TIE:
                best[c] = match[c]
                codes[c] = size
    return size


@compiled
def advance(output: int, size: int, offsets: Ints, successors: ShortInts, weights: Weights,
            switch: Floats, first: Ints, symbols: ShortInts, X: Floats, match: Floats,
            shares: Floats, joint: Floats, belief: Floats, codes: Codes, subset: Ints,
            work: Floats, after: Floats, moves: Floats, near: Floats, ahead: Floats, some: Ints,
            sums: Floats) -> int:
    """
    Take an output in: move the belief, choose set and targets; return the size of the set.

    size is that of the set which the output was drawn from. 0: it was not drawn, and the belief is
    that of s_{t−1} already; −1: it is that of s_t, and stays.
    """
    place = ZERO
    for i in range(size):
        if subset[i] == output:
            place = i + 1
    known, best, spread = work[0], work[1], work[2]
    joined, joined_later, means, covered = sums[0], sums[1], sums[2], sums[3]
    here, there, begins = some[0], some[1], some[2]
    beliefs = belief.reshape((len(belief), 1))
    if size >= 0:
        n = _likely(beliefs, ZERO, _IMPOSSIBLE, here)
        _move(joint, belief, here[:n], place, size, codes, shares, offsets, successors, weights,
              switch, after)
    here = here[:_likely(beliefs, ZERO, _LEAST, here)]
    _, chosen = _grow(output, beliefs, ZERO, here, offsets, successors, first, symbols, X, match,
                      shares, joined, means, covered, known, best, spread, near, begins)
    count = offsets[output + 1] - offsets[output]
    if len(symbols) == 0 and 1 < count <= _LOOKED_AHEAD:
        largest = -1.0
        _expected_moves(joint, here, offsets, weights, moves)
        for m in range(1, count + 1):
            _aim(output, m, joined, offsets, successors, first, symbols, X, match, codes, subset,
                 best)
            _look_ahead(here, m, codes, shares, offsets, successors, moves, ahead)
            value = 0.0
            for place in range(1, m + 1):
                c = subset[place - 1]
                code = np.int64(codes[c])
                value += belief[c] * (shares[2, m] if code == 0 else
                                      shares[1 if code == place else 0, m])
                n = _likely(ahead, place - 1, _LEAST, there)
                later, _ = _grow(c, ahead, place - 1, there[:n], offsets, successors, first,
                                 symbols, X, match, shares, joined_later, means, covered, known,
                                 best, spread, near, begins)
                value += DISCOUNT * later
            if value > largest + _TIE:
                largest, chosen = value, m
    return _aim(output, chosen, joined, offsets, successors, first, symbols, X, match, codes,
                subset, best)


@compiled
def draw(at: int, output: int, size: int, drawn_for: Ints, begins: Booleans, initial: int,
         outputs: Ints, drawn: ShortInts, left: Ints, offsets: Ints, successors: ShortInts,
         weights: Weights, switch: Floats, first: Ints, symbols: ShortInts, X: Floats,
         match: Floats, shares: Floats, joint: Floats, belief: Floats, codes: Codes, subset: Ints,
         work: Floats, after: Floats, moves: Floats, near: Floats, ahead: Floats, some: Ints,
         sums: Floats) -> tuple[int, int, int]:
    """
    Draw `outputs` for the symbols `drawn_for`, from position `at` on, until draws are missing.

    output, size: the last output, and the size of the set that is drawn from next. drawn[m] holds
    draws for sets of m states, popped from its end at left[m]: 2·(number of a state, from 1), and
    1 more where the target is taken, if there is one. Return (at, output, size) at the end.
    """
    while at < len(drawn_for):
        if begins[at]:
            _begin_at(initial, switch, joint, belief)
            output = initial
            size = advance(output, ZERO, offsets, successors, weights, switch, first, symbols, X,
                           match, shares, joint, belief, codes, subset, work, after, moves, near,
                           ahead, some, sums)
        if left[size] == 0:
            break
        left[size] -= 1
        pair, target = np.int64(drawn[size, left[size]]), np.int64(codes[drawn_for[at]])
        output = subset[(target if pair % 2 == 1 and target > 0 else pair // 2) - 1]
        outputs[at] = output
        at += 1
        size = advance(output, size, offsets, successors, weights, switch, first, symbols, X,
                       match, shares, joint, belief, codes, subset, work, after, moves, near,
                       ahead, some, sums)
    return at, output, size
