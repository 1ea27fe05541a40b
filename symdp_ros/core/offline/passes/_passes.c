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
    rows->E_width = exponents[1];
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
    int64_t e = offsets[begin];
    for (int64_t s = begin; s < end; s++) {
        double total = 0.0;
        for (int64_t last = offsets[s + 1]; e < last; e++)
            total += after[(int64_t)targets[e] - first] * (double)weights[e];
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

/* Fill the row of place t, of a word with n symbols, from the next one; return what `sweep` adds. */
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

PyDoc_STRVAR(sweep_doc, "sweep(first, last, word, moves, W, E)\n--\n\n\
Fill rows 0…last−first−1 of W (and E): of places first…last−1 of the word.\n\n\
Row last − first has place `last`, but where that is the end. Return the sum of the powers of\n\
two by which these rows were divided.");

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

PyDoc_STRVAR(choose_doc, "choose(lengths, bits)\n--\n\n\
Return which of intervals the point bits/2⁶⁴ falls on, or −1 where 53 bits are not enough.");

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

static PyMethodDef functions[] = {
    {"sweep", sweep, METH_VARARGS, sweep_doc},
    {"choose", choose, METH_VARARGS, choose_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_passes",
    .m_doc = "The pass over a word, compiled (`core.offline.passes`).", .m_methods = functions,
};

PyMODINIT_FUNC PyInit__passes(void)
{
    return PyModuleDef_Init(&definition);
}
