/* SPDX-FileCopyrightText: 2026 The symdp_ros authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The pass over a word, compiled (`core.offline.passes`); `in_numpy` is its twin, bit by bit.
 */
#include "arrays.h"
#include <math.h>

#define FAR 255            /* weights further apart than 2^-255 are left out of a sum */
#define TOP 800            /* rescaled rows have their largest weight just below 2^800 */
#define NEVER (-(1 << 30)) /* the exponent of zero */
#define LANES 8            /* of several models */
#define TOGETHER 32        /* words of a batch that are swept side by side */

/* As `core.offline.reachable.Moves`; states: those that have a number, 0 among them. */
typedef struct {
    const int64_t *offsets;
    const uint32_t *targets;
    const float *weights;
    double keep;
    const double *to, *prior;
    Py_ssize_t states, count, lanes;
} Moves;

/* As `core.offline.passes.PassWord`; places: of `begins` and `ends`. */
typedef struct {
    const int64_t *symbols, *begins, *ends;
    double ratio;
    long long rescale_every;
    Py_ssize_t length, places;
} Word;

/* W and E; width: how many states have room in a row. */
typedef struct {
    double *W;
    int32_t *E;
    Py_ssize_t count, width, lanes, E_width;
} Rows;

static bool take_moves(Arrays *taken, PyObject *given, Moves *moves)
{
    PyObject *offsets, *targets, *weights, *to, *prior;
    Py_ssize_t length, shape[2], others[2];
    if (!PyTuple_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "moves must be a tuple");
        return false;
    }
    if (!PyArg_ParseTuple(given, "OOOdOO", &offsets, &targets, &weights, &moves->keep, &to,
                          &prior)
        || !take_row(taken, offsets, "offsets", 'q', false, &moves->offsets, &length)
        || !take_row(taken, targets, "targets", 'I', false, &moves->targets, &moves->count)
        || !take(taken, weights, "weights", 'f', 2, false, &moves->weights, shape)
        || !take_row(taken, to, "switch", 'd', false, &moves->to, &others[0])
        || !take_row(taken, prior, "prior", 'd', false, &moves->prior, &others[1]))
        return false;
    moves->states = length - 1;
    moves->lanes = shape[1];
    return fits(length > 0 && shape[0] == moves->count
                    && (shape[1] == 1 || shape[1] == LANES) && others[0] == shape[1]
                    && others[1] == shape[1], "moves");
}

static bool take_word(Arrays *taken, PyObject *given, Word *word)
{
    PyObject *symbols, *begins, *ends;
    Py_ssize_t length;
    if (!PyTuple_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "word must be a tuple");
        return false;
    }
    if (!PyArg_ParseTuple(given, "OOOdL", &symbols, &begins, &ends, &word->ratio,
                          &word->rescale_every)
        || !take_row(taken, symbols, "symbols", 'q', false, &word->symbols, &word->length)
        || !take_row(taken, begins, "begins", 'q', false, &word->begins, &word->places)
        || !take_row(taken, ends, "ends", 'q', false, &word->ends, &length))
        return false;
    return fits(length == word->places && word->rescale_every >= 0, "word");
}

static bool take_rows(Arrays *taken, PyObject *W, PyObject *E, const Word *word,
                      const Moves *moves, bool are_written, Rows *rows)
{
    Py_ssize_t shape[2], exponents[2];
    if (!take(taken, W, "W", 'd', 2, are_written, &rows->W, shape)
        || !take(taken, E, "E", 'i', 2, are_written, &rows->E, exponents))
        return false;
    rows->count = shape[0];
    rows->lanes = shape[1];
    rows->width = shape[1] / moves->lanes;
    rows->E_width = word->rescale_every == 0 ? exponents[1] : 0;
    return fits(word->rescale_every != 0
                    || (exponents[0] >= shape[0] && exponents[1] >= rows->width), "W and E");
}

/* Check places first…last−1 of a word: which states stand there, and that rows have room. */
static bool check_places(Py_ssize_t first, Py_ssize_t last, const Word *word, const Moves *moves,
                         Py_ssize_t width)
{
    for (Py_ssize_t t = first; t < last; t++) {
        int64_t begin = word->begins[t], end = word->ends[t];
        if (!fits(0 <= begin && begin <= end && end <= moves->states && end - begin <= width,
                  "the states of a place"))
            return false;
    }
    return true;
}

/* Check that the moves of a state are moves. */
static bool check_edges(const Moves *moves, int64_t state)
{
    return fits(0 <= moves->offsets[state]
                    && moves->offsets[state] <= moves->offsets[state + 1]
                    && moves->offsets[state + 1] <= moves->count, "the moves of a state");
}

/*
 * Check what `sweep_rows` reads for places first…last−1 of a word with n symbols.
 *
 * Without exponents of states, all moves from a place must lead to states of the next one: the
 * states of all places begin at the same one, and end at the same one or later.
 */
static bool check_sweep(Py_ssize_t first, Py_ssize_t last, Py_ssize_t n, const Word *word,
                        const Moves *moves, Py_ssize_t count, Py_ssize_t width)
{
    Py_ssize_t stop = last < n ? last + 1 : last, gathered = last < n ? last : n - 1;
    if (!fits(0 <= first && first <= last && last <= n && n <= word->places
                  && stop - first <= count, "places and rows")
        || !check_places(first, stop, word, moves, width))
        return false;
    if (first >= gathered)
        return true;
    int64_t low = word->begins[first], state = low, furthest = -1;
    for (Py_ssize_t t = first; t < gathered; t++) {
        if (word->rescale_every == 0) {
            if (word->begins[t] < low || word->ends[t] > state) {
                low = word->begins[t] < low ? word->begins[t] : low;
                state = word->ends[t] > state ? word->ends[t] : state;
            }
            continue;
        }
        for (; state < word->ends[t]; state++) {
            if (!check_edges(moves, state))
                return false;
            for (int64_t e = moves->offsets[state]; e < moves->offsets[state + 1]; e++) {
                furthest = moves->targets[e] > furthest ? moves->targets[e] : furthest;
                if (!fits(moves->targets[e] >= low, "the target of a move"))
                    return false;
            }
        }
        if (!fits(word->begins[t] == low && word->begins[t + 1] == low
                      && furthest < word->ends[t + 1], "the target of a move"))
            return false;
    }
    for (; word->rescale_every == 0 && low < state; low++)
        if (!check_edges(moves, low))
            return false;
    return true;
}

/* here[s] = Σ h(s'|s)·after[s'] for the states s from begin on, with one model. */
static void gather_one(int64_t begin, int64_t end, int64_t first, const Moves *moves,
                       const double *after, double *here)
{
    const int64_t *offsets = moves->offsets;
    const uint32_t *targets = moves->targets;
    const float *weights = moves->weights;
    /* of state 0, which may be before the row */
    const double *there = (const double *)((uintptr_t)after - (uintptr_t)first * sizeof *after);
    int64_t e = offsets[begin];
    for (int64_t s = begin; s < end; s++) {
        int64_t last = offsets[s + 1];
        double total = 0.0;
        for (; e + 4 <= last; e += 4) /* the loop itself takes as long as a move */
            total = (((total + there[targets[e]] * (double)weights[e])
                      + there[targets[e + 1]] * (double)weights[e + 1])
                     + there[targets[e + 2]] * (double)weights[e + 2])
                + there[targets[e + 3]] * (double)weights[e + 3];
        for (; e < last; e++)
            total += there[targets[e]] * (double)weights[e];
        here[s - begin] = total;
    }
}

/* Turn V into U: the sum over models as `in_numpy._mix` adds it. */
static inline double mixed_of(const double *v, const double *to)
{
    return ((v[0] * to[0] + v[4] * to[4]) + (v[2] * to[2] + v[6] * to[6]))
        + ((v[1] * to[1] + v[5] * to[5]) + (v[3] * to[3] + v[7] * to[7]));
}

/* here[s, m] = keep·V(m) + Σ_m' switch[m']·V(m'), V(m) = Σ P_m(s'|s)·after[s', m]. */
WIDE static void gather_models(int64_t begin, int64_t end, int64_t first, const Moves *moves,
                               const double *after, double *here)
{
    const int64_t *offsets = moves->offsets;
    const Four *both = (const Four *)after, low_to = *(const Four *)moves->to,
               high_to = *(const Four *)(moves->to + 4);
    const FourFloats *weights = (const FourFloats *)moves->weights;
    Four *found = (Four *)here;
    int64_t e = offsets[begin];
    for (int64_t s = begin; s < end; s++) {
        Four low = {0.0}, high = {0.0};
        for (int64_t last = offsets[s + 1]; e < last; e++) {
            int64_t i = 2 * ((int64_t)moves->targets[e] - first);
            low += both[i] * __builtin_convertvector(weights[2 * e], Four);
            high += both[i + 1] * __builtin_convertvector(weights[2 * e + 1], Four);
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
                    const Moves *moves, const Rows *rows)
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
    (moves->lanes == 1 ? gather_one : gather_models)(begin, end, word->begins[t + 1], moves,
                                                     after, here);
    return t % word->rescale_every == 0 ? rescale(here, count * moves->lanes) : 0;
}

/* As `sweep`, of a word with n symbols, after `check_sweep`. */
static long long sweep_rows(Py_ssize_t first, Py_ssize_t last, Py_ssize_t n, const Word *word,
                            const Moves *moves, const Rows *rows)
{
    long long total = 0;
    for (Py_ssize_t t = last - 1; t >= first; t--) {
        total += fill_row(t, t - first, n, word, moves, rows);
        int64_t place = word->symbols[t] - word->begins[t];
        if (word->begins[t] <= word->symbols[t] && word->symbols[t] < word->ends[t])
            for (Py_ssize_t m = 0; m < moves->lanes; m++)
                rows->W[(t - first) * rows->lanes + place * moves->lanes + m] *= word->ratio;
    }
    return total;
}

/* As `in_numpy.sweep`, which has the arguments; so are the others, and those in `_passes.pyi`. */
static PyObject *sweep(PyObject *module, PyObject *arguments)
{
    (void)module;
    Py_ssize_t first, last;
    PyObject *given, *edges, *W, *E, *found = NULL;
    Arrays taken = {0};
    Word word;
    Moves moves;
    Rows rows;
    if (PyArg_ParseTuple(arguments, "nnOOOO", &first, &last, &given, &edges, &W, &E)
        && take_word(&taken, given, &word) && take_moves(&taken, edges, &moves)
        && take_rows(&taken, W, E, &word, &moves, true, &rows)
        && check_sweep(first, last, word.length, &word, &moves, rows.count, rows.width)) {
        long long total;
        Py_BEGIN_ALLOW_THREADS
        total = sweep_rows(first, last, word.length, &word, &moves, &rows);
        Py_END_ALLOW_THREADS
        found = PyLong_FromLongLong(total);
    }
    let_go(&taken);
    return found;
}

/*
 * Return which of intervals the point bits/2^64 falls on, or −1 where 53 bits are not enough.
 *
 * They lie side by side. Whatever was rounded or left out moves an end by less than `margin`, and
 * so do the bits not looked at. No branch depends on the bits.
 */
static Py_ssize_t choose_one(const double *lengths, Py_ssize_t many, uint64_t bits)
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

static PyObject *choose(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *given, *found = NULL;
    unsigned long long bits;
    Arrays taken = {0};
    double *lengths;
    Py_ssize_t many;
    if (PyArg_ParseTuple(arguments, "OK", &given, &bits)
        && take_row(&taken, given, "lengths", 'd', false, &lengths, &many))
        found = PyLong_FromSsize_t(choose_one(lengths, many, bits));
    let_go(&taken);
    return found;
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

/* What a walk reads and writes besides; choices: room for the moves of a state, `widest`. */
typedef struct {
    const uint64_t *bits;
    int64_t *out;
    double *model, *choices;
    Py_ssize_t widest;
} Draw;

/* Return whether a state has moves, and no more than there is room for. */
static bool has_moves(int64_t state, const Moves *moves, Py_ssize_t widest)
{
    return 0 <= state && state < moves->states && 0 <= moves->offsets[state]
        && moves->offsets[state] <= moves->offsets[state + 1]
        && moves->offsets[state + 1] <= moves->count
        && moves->offsets[state + 1] - moves->offsets[state] <= widest;
}

/* As `walk`: return the position, −1 where a state has no such moves; `state` is taken on. */
static Py_ssize_t walk_rows(Py_ssize_t position, Py_ssize_t first, Py_ssize_t last,
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

/* Take what a walk reads and writes, of so many symbols; false: raised. */
static bool take_draw(Arrays *taken, PyObject *bits, PyObject *model, PyObject *out,
                      Py_ssize_t symbols, const Moves *moves, Draw *draw)
{
    Py_ssize_t counts[3] = {0, 0, moves->lanes};
    if (!take_row(taken, bits, "bits", 'Q', false, &draw->bits, &counts[0])
        || !take_row(taken, out, "out", 'q', true, &draw->out, &counts[1])
        || (model != NULL && !take_row(taken, model, "model", 'd', true, &draw->model,
                                       &counts[2]))
        || !fits(counts[0] >= symbols && counts[1] >= symbols && counts[2] == moves->lanes
                     && draw->widest >= 0, "bits, model and out"))
        return false;
    draw->widest = draw->widest < moves->count ? draw->widest : moves->count;
    draw->choices = PyMem_Malloc(((size_t)draw->widest + 1) * sizeof *draw->choices);
    if (draw->choices == NULL)
        PyErr_NoMemory();
    return draw->choices != NULL;
}

static PyObject *walk(PyObject *module, PyObject *arguments)
{
    (void)module;
    Py_ssize_t position, first, last;
    long long given_state;
    PyObject *given, *bits, *edges, *W, *E, *model, *out, *found = NULL;
    Arrays taken = {0};
    Draw draw = {0};
    Word word;
    Moves moves;
    Rows rows;
    if (PyArg_ParseTuple(arguments, "nnnLOOOnOOOO", &position, &first, &last, &given_state,
                         &given, &bits, &edges, &draw.widest, &W, &E, &model, &out)
        && take_word(&taken, given, &word) && take_moves(&taken, edges, &moves)
        && take_rows(&taken, W, E, &word, &moves, false, &rows)
        && fits(0 <= first && first <= position && position <= last && last <= word.length
                    && last <= word.places && last - first <= rows.count, "places and rows")
        && check_places(position, last, &word, &moves, rows.width)
        && take_draw(&taken, bits, model, out, last, &moves, &draw)) {
        int64_t state = given_state;
        Py_BEGIN_ALLOW_THREADS
        position = walk_rows(position, first, last, &state, &word, &moves, &rows, &draw);
        Py_END_ALLOW_THREADS
        if (fits(position >= 0, "the moves of a state"))
            found = Py_BuildValue("nL", position, (long long)state);
    }
    PyMem_Free(draw.choices);
    let_go(&taken);
    return found;
}

/* Of many words: what each has. */
typedef struct {
    const int64_t *lengths;
    const double *ratios;
    Py_ssize_t count;
} Words;

/* Take lengths and ratios of words; false: raised. Set the longest, and the sum of all. */
static bool take_words(Arrays *taken, PyObject *lengths, PyObject *ratios, const Word *all,
                       Words *words, Py_ssize_t *longest, Py_ssize_t *symbols)
{
    Py_ssize_t count;
    if (!take_row(taken, lengths, "lengths", 'q', false, &words->lengths, &words->count)
        || !take_row(taken, ratios, "ratios", 'd', false, &words->ratios, &count)
        || !fits(count == words->count, "lengths and ratios"))
        return false;
    *longest = *symbols = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        int64_t length = words->lengths[i];
        if (!fits(0 <= length && length <= all->places && length <= all->length - *symbols,
                  "the length of a word"))
            return false;
        *symbols += (Py_ssize_t)length;
        *longest = length > *longest ? (Py_ssize_t)length : *longest;
    }
    return true;
}

/* Return how many symbols the words before one have. */
static Py_ssize_t begin_of(Py_ssize_t index, const Words *words)
{
    Py_ssize_t begin = 0;
    for (Py_ssize_t i = 0; i < index; i++)
        begin += (Py_ssize_t)words->lengths[i];
    return begin;
}

/* As `draw_words`, whose numbers are taken on; false: a state has no such moves. */
static bool draw_rows(Py_ssize_t *index, Py_ssize_t *position, int64_t *state, const Word *all,
                      const Words *words, const Moves *moves, const Rows *rows, Draw draw)
{
    Py_ssize_t begin = begin_of(*index, words);
    draw.bits += begin;
    draw.out += begin;
    Word word = *all;
    word.symbols += begin;
    for (; *index < words->count; (*index)++) {
        Py_ssize_t n = (Py_ssize_t)words->lengths[*index];
        word.ratio = words->ratios[*index];
        if (*position == 0) {
            sweep_rows(0, n, n, &word, moves, rows);
            *state = 1;
            memcpy(draw.model, moves->prior, (size_t)moves->lanes * sizeof *draw.model);
        }
        *position = walk_rows(*position, 0, n, state, &word, moves, rows, &draw);
        if (*position < n)
            return *position >= 0;
        word.symbols += n;
        draw.bits += n;
        draw.out += n;
        *position = 0;
    }
    return true;
}

static PyObject *draw_words(PyObject *module, PyObject *arguments)
{
    (void)module;
    Py_ssize_t index, position, longest, symbols;
    long long given_state;
    PyObject *given, *lengths, *ratios, *bits, *edges, *W, *E, *model, *out, *found = NULL;
    Arrays taken = {0};
    Draw draw = {0};
    Word word;
    Words words;
    Moves moves;
    Rows rows;
    if (PyArg_ParseTuple(arguments, "nnLOOOOOnOOOO", &index, &position, &given_state, &given,
                         &lengths, &ratios, &bits, &edges, &draw.widest, &W, &E, &model, &out)
        && take_word(&taken, given, &word) && take_moves(&taken, edges, &moves)
        && take_words(&taken, lengths, ratios, &word, &words, &longest, &symbols)
        && take_rows(&taken, W, E, &word, &moves, true, &rows)
        && check_sweep(0, longest, longest, &word, &moves, rows.count, rows.width)
        && fits(0 <= index && index <= words.count && 0 <= position
                    && (index == words.count || position <= words.lengths[index]),
                "the first word")
        && take_draw(&taken, bits, model, out, symbols, &moves, &draw)) {
        int64_t state = given_state;
        bool drawn;
        Py_BEGIN_ALLOW_THREADS
        drawn = draw_rows(&index, &position, &state, &word, &words, &moves, &rows, draw);
        Py_END_ALLOW_THREADS
        if (fits(drawn, "the moves of a state"))
            found = Py_BuildValue("nnL", index, position, (long long)state);
    }
    PyMem_Free(draw.choices);
    let_go(&taken);
    return found;
}

/* Words that are swept side by side, and end together; n: symbols of the longest. */
typedef struct {
    Py_ssize_t many, n, begins[TOGETHER], lengths[TOGETHER];
    double ratios[TOGETHER];
} Group;

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
static void sweep_together(const Group *group, const Word *words, const Moves *moves,
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
static bool step_together(Py_ssize_t t, const Group *group, const Word *words,
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

/* Take the words from one on together; return how many symbols they have. */
static Py_ssize_t gather_group(Py_ssize_t first, Py_ssize_t begin, const Words *words,
                               Group *group)
{
    group->many = words->count - first < TOGETHER ? words->count - first : TOGETHER;
    group->n = 0;
    Py_ssize_t end = begin;
    for (Py_ssize_t i = 0; i < group->many; i++) {
        group->begins[i] = end;
        group->lengths[i] = (Py_ssize_t)words->lengths[first + i];
        group->ratios[i] = words->ratios[first + i];
        group->n = group->lengths[i] > group->n ? group->lengths[i] : group->n;
        end += group->lengths[i];
    }
    return end - begin;
}

/* As `draw_together`; −1: a state has no such moves. */
static Py_ssize_t draw_groups(Py_ssize_t first, int64_t *at, int64_t *states, const Word *all,
                              const Words *words, const Moves *moves, Py_ssize_t width,
                              double *W, const Draw *draw)
{
    Py_ssize_t begin = begin_of(first, words);
    while (first < words->count) {
        Group group;
        begin += gather_group(first, begin, words, &group);
        if (at[0] < 0) {
            sweep_together(&group, all, moves, width, W);
            for (int i = 0; i < TOGETHER; i++)
                at[i] = 0, states[i] = 1;
        }
        for (Py_ssize_t t = 0; t < group.n; t++)
            if (!step_together(t, &group, all, moves, width, W, at, states, draw))
                return -1;
        for (Py_ssize_t i = 0; i < group.many; i++)
            if (at[i] < group.lengths[i])
                return first;
        at[0] = -1;
        first += group.many;
    }
    return first;
}

static PyObject *draw_together(PyObject *module, PyObject *arguments)
{
    (void)module;
    Py_ssize_t first, longest, symbols, counts[2], shape[3];
    PyObject *ats, *froms, *given, *lengths, *ratios, *bits, *edges, *rows, *out, *found = NULL;
    Arrays taken = {0};
    Draw draw = {0};
    Word word;
    Words words;
    Moves moves;
    int64_t *at, *states;
    double *W;
    if (PyArg_ParseTuple(arguments, "nOOOOOOOnOO", &first, &ats, &froms, &given, &lengths,
                         &ratios, &bits, &edges, &draw.widest, &rows, &out)
        && take_word(&taken, given, &word) && take_moves(&taken, edges, &moves)
        && take_words(&taken, lengths, ratios, &word, &words, &longest, &symbols)
        && take_row(&taken, ats, "at", 'q', true, &at, &counts[0])
        && take_row(&taken, froms, "states", 'q', true, &states, &counts[1])
        && take(&taken, rows, "W", 'd', 3, true, &W, shape)
        && fits(counts[0] == TOGETHER && counts[1] == TOGETHER && shape[2] == TOGETHER
                    && 0 <= first && first <= words.count && moves.lanes == 1
                    && word.rescale_every > 0 && (longest == 0 || word.begins[0] == 1),
                "words side by side")
        && check_sweep(0, longest, longest, &word, &moves, shape[0], shape[1])
        && take_draw(&taken, bits, NULL, out, symbols, &moves, &draw)) {
        Py_BEGIN_ALLOW_THREADS
        first = draw_groups(first, at, states, &word, &words, &moves, shape[1], W, &draw);
        Py_END_ALLOW_THREADS
        if (fits(first >= 0, "the moves of a state"))
            found = PyLong_FromSsize_t(first);
    }
    PyMem_Free(draw.choices);
    let_go(&taken);
    return found;
}

/* TOGETHER, for who makes W. */
static int add_numbers(PyObject *module)
{
    return PyModule_AddIntMacro(module, TOGETHER);
}

static PyMethodDef functions[] = {
    {"sweep", sweep, METH_VARARGS, NULL},
    {"choose", choose, METH_VARARGS, NULL},
    {"walk", walk, METH_VARARGS, NULL},
    {"draw_words", draw_words, METH_VARARGS, NULL},
    {"draw_together", draw_together, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, add_numbers},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_passes",
    .m_doc = "The pass over a word, compiled (`core.offline.passes`).", .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__passes(void)
{
    return PyModuleDef_Init(&definition);
}
