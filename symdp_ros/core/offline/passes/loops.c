/* SPDX-FileCopyrightText: 2026 The symdp_ros authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The loops of the pass over words: what they index was checked in `_passes.c`.
 */
#include "loops.h"
#include <math.h>

/* Fills `here` for the states from begin on, from the row `after`, whose states begin at first. */
typedef void Gather(int64_t begin, int64_t end, int64_t first, const Moves *moves,
                    const double *after, double *here);

/* What a move adds to the sum of its state. */
static inline double term(int64_t e, const Moves *moves, const double *there, bool counts)
{
    double after = there[moves->targets[e]];
    return counts ? after : after * (double)moves->weights[e];
}

/* here[s] = Σ h(s'|s)·after[s'], with one model; counts: each h is 1. */
static inline __attribute__((always_inline)) void gather_lane(
    int64_t begin, int64_t end, int64_t first, const Moves *moves, const double *after,
    double *here, bool counts)
{
    Moves m = *moves;
    /* of state 0, which may be before the row */
    const double *there = (const double *)((uintptr_t)after - (uintptr_t)first * sizeof *after);
    int64_t e = m.offsets[begin];
    for (int64_t s = begin; s < end; s++) {
        int64_t last = m.offsets[s + 1];
        double total = 0.0;
        for (; e + 4 <= last; e += 4) /* the loop itself takes as long as a move */
            total = (((total + term(e, &m, there, counts)) + term(e + 1, &m, there, counts))
                     + term(e + 2, &m, there, counts)) + term(e + 3, &m, there, counts);
        for (; e < last; e++)
            total += term(e, &m, there, counts);
        here[s - begin] = total;
    }
}

static void gather_one(int64_t begin, int64_t end, int64_t first, const Moves *moves,
                       const double *after, double *here)
{
    gather_lane(begin, end, first, moves, after, here, false);
}

static void gather_counting(int64_t begin, int64_t end, int64_t first, const Moves *moves,
                            const double *after, double *here)
{
    gather_lane(begin, end, first, moves, after, here, true);
}

/* Return whether each move from places first…last−1 weighs 1: no more moves are read. */
static bool each_weighs_one(Py_ssize_t first, Py_ssize_t last, const Word *word,
                            const Moves *moves)
{
    int64_t begin = moves->states, end = begin;
    for (Py_ssize_t t = first; t < last; t++) {
        begin = word->begins[t] < begin || t == first ? word->begins[t] : begin;
        end = word->ends[t] > end || t == first ? word->ends[t] : end;
    }
    bool holds = true;
    for (int64_t e = moves->offsets[begin]; holds && e < moves->offsets[end]; e++)
        holds = moves->weights[e] == 1.0f;
    return holds;
}

/* Turn V into U: the sum over models as `in_numpy._mix` adds it. */
static inline double mixed_of(const double *v, const double *to)
{
    return ((v[0] * to[0] + v[4] * to[4]) + (v[2] * to[2] + v[6] * to[6]))
        + ((v[1] * to[1] + v[5] * to[5]) + (v[3] * to[3] + v[7] * to[7]));
}

/* Four floats, widened: one instruction; of `__builtin_convertvector` GCC makes seven. */
#define AS_DOUBLES(of) \
    ((Four){(double)(of)[0], (double)(of)[1], (double)(of)[2], (double)(of)[3]})

/* here[s, m] = keep·V(m) + Σ_m' switch[m']·V(m'), V(m) = Σ P_m(s'|s)·after[s', m]. */
WIDE static void gather_models(int64_t begin, int64_t end, int64_t first, const Moves *moves,
                               const double *after, double *here)
{
    const int64_t *offsets = moves->offsets;
    const Four *both = (const Four *)after, low_to = *(const Four *)moves->to,
               high_to = *(const Four *)(moves->to + 4);
    const float *weights = moves->weights;
    Four *found = (Four *)here;
    int64_t e = offsets[begin];
    for (int64_t s = begin; s < end; s++) {
        Four low = {0.0}, high = {0.0};
        for (int64_t last = offsets[s + 1]; e < last; e++) {
            int64_t i = 2 * ((int64_t)moves->targets[e] - first);
            low += both[i] * AS_DOUBLES(weights + LANES * e);
            high += both[i + 1] * AS_DOUBLES(weights + LANES * e + 4);
        }
        Four sums = low * low_to + high * high_to;
        double mixed = (sums[0] + sums[2]) + (sums[1] + sums[3]);
        found[2 * (s - begin)] = moves->keep * low + mixed;
        found[2 * (s - begin) + 1] = moves->keep * high + mixed;
    }
}

/* Bring the largest weight to just below 2^TOP, and return the exponent taken out. */
static int rescale(double *here, Py_ssize_t count)
{
    double highest = 0.0;
    int exponent;
    for (Py_ssize_t i = 0; i < count; i++)
        highest = here[i] > highest ? here[i] : highest;
    frexp(highest, &exponent);
    exponent -= TOP;
    double factor = ldexp(1.0, -exponent);
    for (Py_ssize_t i = 0; i < count; i++)
        here[i] *= factor;
    return exponent;
}

static inline double power_of(int64_t apart)
{
    return apart < FAR ? ldexp(1.0, (int)-apart) : 0.0;
}

static inline bool is_inside(uint32_t target, int64_t begin, int64_t end)
{
    return begin <= (int64_t)target && (int64_t)target < end;
}

/* Fill the place of one state: its largest lane in [1, 2), and an exponent. */
static void fill_state(int64_t state, int64_t first, int64_t last, const Moves *moves,
                       const double *after, const int32_t *after_exponents, double *here,
                       int32_t *exponent)
{
    Py_ssize_t lanes = moves->lanes;
    int64_t begin = moves->offsets[state], end = moves->offsets[state + 1], highest = NEVER;
    for (int64_t e = begin; e < end; e++)
        if (is_inside(moves->targets[e], first, last)) {
            int64_t there = after_exponents[moves->targets[e] - first];
            highest = there > highest ? there : highest;
        }
    for (Py_ssize_t m = 0; m < lanes; m++)
        here[m] = 0.0;
    *exponent = (int32_t)highest;
    if (highest == NEVER)
        return;
    for (int64_t e = begin; e < end; e++)
        if (is_inside(moves->targets[e], first, last)) {
            int64_t there = moves->targets[e] - first;
            double power = power_of(highest - after_exponents[there]);
            for (Py_ssize_t m = 0; m < lanes; m++)
                here[m] += after[there * lanes + m] * (double)moves->weights[e * lanes + m]
                    * power;
        }
    double mixed = lanes > 1 ? mixed_of(here, moves->to) : 0.0, largest = 0.0;
    for (Py_ssize_t m = 0; m < lanes; m++) {
        here[m] = moves->keep * here[m] + mixed;
        largest = here[m] > largest ? here[m] : largest;
    }
    int own;
    frexp(largest, &own);
    double factor = ldexp(1.0, 1 - own);
    for (Py_ssize_t m = 0; m < lanes; m++)
        here[m] *= factor;
    *exponent = (int32_t)(highest + own - 1);
}

/* Fill the row of place t, of a word with n symbols; return the power taken out. */
static int fill_row(Py_ssize_t t, Py_ssize_t row, Py_ssize_t n, const Word *word,
                    const Moves *moves, Gather *gather, const Rows *rows)
{
    int64_t begin = word->begins[t], end = word->ends[t];
    Py_ssize_t count = (Py_ssize_t)(end - begin);
    double *here = rows->W + row * rows->lanes, *after = here + rows->lanes;
    int32_t *exponents = rows->E + row * rows->E_width;
    if (t == n - 1) {
        for (Py_ssize_t i = 0; i < count * moves->lanes; i++)
            here[i] = 1.0;
        if (word->rescale_every == 0)
            memset(exponents, 0, (size_t)count * sizeof *exponents);
        return 0;
    }
    if (word->rescale_every == 0) {
        for (int64_t s = begin; s < end; s++)
            fill_state(s, word->begins[t + 1], word->ends[t + 1], moves, after,
                       exponents + rows->E_width, here + (s - begin) * moves->lanes,
                       exponents + (s - begin));
        return 0;
    }
    gather(begin, end, word->begins[t + 1], moves, after, here);
    return t % word->rescale_every == 0 ? rescale(here, count * moves->lanes) : 0;
}

/* As `sweep`, of a word with n symbols, after `check_sweep`. */
long long sweep_rows(Py_ssize_t first, Py_ssize_t last, Py_ssize_t n, const Word *word,
                     const Moves *moves, const Rows *rows)
{
    long long total = 0;
    Gather *gather = moves->lanes > 1 ? gather_models : gather_one;
    if (moves->lanes == 1 && word->rescale_every > 0
        && each_weighs_one(first, last < n ? last : n - 1, word, moves))
        gather = gather_counting;
    for (Py_ssize_t t = last - 1; t >= first; t--) {
        total += fill_row(t, t - first, n, word, moves, gather, rows);
        int64_t place = word->symbols[t] - word->begins[t];
        if (word->begins[t] <= word->symbols[t] && word->symbols[t] < word->ends[t])
            for (Py_ssize_t m = 0; m < moves->lanes; m++)
                rows->W[(t - first) * rows->lanes + place * moves->lanes + m] *= word->ratio;
    }
    return total;
}

/*
 * Return which of intervals the point bits/2^64 falls on, or −1 where 53 bits are not enough.
 *
 * They lie side by side. Whatever was rounded or left out moves an end by less than `margin`, and
 * so do the bits not looked at. No branch depends on the bits.
 */
Py_ssize_t choose_one(const double *lengths, Py_ssize_t many, uint64_t bits)
{
    double total = 0.0, right = 0.0;
    for (Py_ssize_t i = 0; i < many; i++)
        total += lengths[i];
    double unit = total * 0x1p-53, point = (double)(bits >> 11) * unit,
           margin = (double)(4 * many + 8) * unit, below = point - margin,
           above = point + margin;
    Py_ssize_t passed = 0, unsure = 0;
    for (Py_ssize_t i = 0; i < many - 1; i++) {
        right += lengths[i];
        passed += right <= below;
        unsure += right < above;
    }
    return unsure == passed ? passed : -1;
}

/* Take a move in: how likely each model is for the next one. */
static void learn(double *model, int64_t edge, const Moves *moves)
{
    double total = 0.0;
    for (Py_ssize_t m = 0; m < moves->lanes; m++) {
        model[m] *= (double)moves->weights[edge * moves->lanes + m];
        total += model[m];
    }
    for (Py_ssize_t m = 0; m < moves->lanes; m++)
        model[m] = moves->keep * (model[m] / total) + moves->to[m];
}

/* Set `choices` to what the moves from a state to place t are drawn by, on one row. */
static void weigh(int64_t state, Py_ssize_t t, const Word *word, const Moves *moves,
                  const double *there, const int32_t *exponents, const double *model,
                  double *choices)
{
    int64_t begin = word->begins[t], end = word->ends[t], highest = NEVER;
    int64_t first = moves->offsets[state], last = moves->offsets[state + 1];
    Py_ssize_t lanes = moves->lanes;
    for (int64_t e = first; e < last; e++) {
        double total = 0.0;
        if (is_inside(moves->targets[e], begin, end)) {
            int64_t place = moves->targets[e] - begin;
            const float *weights = moves->weights + e * lanes;
            if (lanes == 1)
                total = (double)weights[0] * there[place];
            else
                for (Py_ssize_t m = 0; m < lanes; m++)
                    total += model[m] * (double)weights[m] * there[place * lanes + m];
            if (word->rescale_every == 0 && exponents[place] > highest)
                highest = exponents[place];
        }
        choices[e - first] = total;
    }
    if (word->rescale_every == 0)
        for (int64_t e = first; e < last; e++)
            if (is_inside(moves->targets[e], begin, end))
                choices[e - first] *= power_of(highest - exponents[moves->targets[e] - begin]);
}

/* Return whether a state has moves, and no more than there is room for. */
static bool has_moves(int64_t state, const Moves *moves, Py_ssize_t widest)
{
    return 0 <= state && state < moves->states && 0 <= moves->offsets[state]
        && moves->offsets[state] <= moves->offsets[state + 1]
        && moves->offsets[state + 1] <= moves->count
        && moves->offsets[state + 1] - moves->offsets[state] <= widest;
}

/* As `walk`: return the position, −1 where a state has no such moves; `state` is taken on. */
Py_ssize_t walk_rows(Py_ssize_t position, Py_ssize_t first, Py_ssize_t last,
                     int64_t *state, const Word *word, const Moves *moves,
                     const Rows *rows, const Draw *draw)
{
    for (Py_ssize_t t = position; t < last; t++) {
        if (!has_moves(*state, moves, draw->widest))
            return -1;
        int64_t edge = moves->offsets[*state];
        weigh(*state, t, word, moves, rows->W + (t - first) * rows->lanes,
              rows->E + (t - first) * rows->E_width, draw->model, draw->choices);
        Py_ssize_t chosen = choose_one(draw->choices, moves->offsets[*state + 1] - edge,
                                       draw->bits[t]);
        if (chosen < 0)
            return t;
        if (moves->lanes > 1)
            learn(draw->model, edge + chosen, moves);
        *state = draw->out[t] = moves->targets[edge + chosen];
    }
    return last;
}

/* Fill the row of a place from the next one, in each word's lane. */
WIDE static void gather_together(Py_ssize_t states, const Moves *moves, const double *after,
                                 double *here)
{
    const Four *there = (const Four *)after;
    Four *found = (Four *)here;
    for (Py_ssize_t s = 0; s < states; s++) {
        Four a = {0.0}, b = a, c = a, d = a, e = a, f = a, g = a, h = a;
        for (int64_t i = moves->offsets[s + 1]; i < moves->offsets[s + 2]; i++) {
            const Four *row = there + (TOGETHER / 4) * ((int64_t)moves->targets[i] - 1);
            double weight = (double)moves->weights[i];
            a += row[0] * weight;
            b += row[1] * weight;
            c += row[2] * weight;
            d += row[3] * weight;
            e += row[4] * weight;
            f += row[5] * weight;
            g += row[6] * weight;
            h += row[7] * weight;
        }
        Four *row = found + (TOGETHER / 4) * s;
        row[0] = a, row[1] = b, row[2] = c, row[3] = d;
        row[4] = e, row[5] = f, row[6] = g, row[7] = h;
    }
}

/* `rescale` in each lane. */
static void rescale_together(Py_ssize_t states, double *here)
{
    double factors[TOGETHER] = {0.0};
    for (Py_ssize_t s = 0; s < states; s++)
        for (int lane = 0; lane < TOGETHER; lane++)
            if (here[s * TOGETHER + lane] > factors[lane])
                factors[lane] = here[s * TOGETHER + lane];
    for (int lane = 0; lane < TOGETHER; lane++) {
        int exponent;
        frexp(factors[lane], &exponent);
        factors[lane] = ldexp(1.0, TOP - exponent);
    }
    for (Py_ssize_t s = 0; s < states; s++)
        for (int lane = 0; lane < TOGETHER; lane++)
            here[s * TOGETHER + lane] *= factors[lane];
}

/*
 * Fill rows of W for words that end together, with one model: `sweep` in each lane.
 *
 * W (·, width, TOGETHER): of state s in place s − 1.
 */
void sweep_together(const Group *group, const Word *words, const Moves *moves,
                    Py_ssize_t width, double *W)
{
    for (Py_ssize_t t = group->n - 1; t >= 0; t--) {
        double *here = W + t * width * TOGETHER;
        Py_ssize_t states = (Py_ssize_t)words->ends[t] - 1;
        if (t == group->n - 1) {
            for (Py_ssize_t i = 0; i < states * TOGETHER; i++)
                here[i] = 1.0;
        } else {
            gather_together(states, moves, here + width * TOGETHER, here);
            if (t % words->rescale_every == 0)
                rescale_together(states, here);
        }
        for (Py_ssize_t lane = 0; lane < group->many; lane++) {
            Py_ssize_t place = t - group->n + group->lengths[lane];
            int64_t symbol = place < 0 ? 0 : words->symbols[group->begins[lane] + place];
            if (1 <= symbol && symbol <= states)
                here[(symbol - 1) * TOGETHER + lane] *= group->ratios[lane];
        }
    }
}

/* Draw the symbols of row t, of the words that have come to it; false: a move does not fit. */
bool step_together(Py_ssize_t t, const Group *group, const Word *words,
                   const Moves *moves, Py_ssize_t width, const double *W, int64_t *at,
                   int64_t *states, const Draw *draw)
{
    const double *there = W + t * width * TOGETHER;
    for (Py_ssize_t i = 0; i < group->many; i++) {
        Py_ssize_t place = t - group->n + group->lengths[i];
        if (place != at[i] || place < 0)
            continue;
        if (!has_moves(states[i], moves, draw->widest))
            return false;
        int64_t edge = moves->offsets[states[i]];
        Py_ssize_t count = (Py_ssize_t)(moves->offsets[states[i] + 1] - edge);
        for (Py_ssize_t j = 0; j < count; j++) {
            if (!is_inside(moves->targets[edge + j], 1, words->ends[t]))
                return false;
            draw->choices[j] = (double)moves->weights[edge + j]
                * there[((int64_t)moves->targets[edge + j] - 1) * TOGETHER + i];
        }
        Py_ssize_t here = group->begins[i] + place;
        Py_ssize_t chosen = choose_one(draw->choices, count, draw->bits[here]);
        if (chosen >= 0) {
            states[i] = draw->out[here] = moves->targets[edge + chosen];
            at[i]++;
        }
    }
    return true;
}
