/* SPDX-FileCopyrightText: 2026 The symdp_ros authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The loops of the online mechanism; `batch_in_numpy` and `values_in_numpy` have their twins, with
 * the same arguments and the same results, bit by bit.
 */
#include "arrays.h"
#include <math.h>

#define LANES 6 /* words that are walked side by side: one hides the latency of another */

enum { TABLE, IDENTITY, SEARCH };     /* how the target of a symbol is found */
enum { LAST, WEIGHT, CUT, OFFSET, COLUMNS }; /* columns of `rows` */

/* What `draw` is given, and how long it is. */
typedef struct {
    const int32_t *symbols;
    const uint8_t *first;
    const int64_t *segments, *places;
    const void *raw, *again;
    const uint32_t *aims, *starts, *known, *targets;
    const uint64_t *rows;
    uint32_t *out;
    Py_ssize_t total, again_shape[2], aims_count, starts_count, edges, states;
    uint64_t initial;
} Batch;

static inline uint64_t draw_at(const void *draws, Py_ssize_t place, bool is_wide)
{
    return is_wide ? ((const uint64_t *)draws)[place] : ((const uint32_t *)draws)[place];
}

/*
 * Find what is in `aims` for the previous symbol o and s, by bisection of `known`.
 *
 * How many steps it takes depends on o alone. 0: nothing.
 */
static uint64_t search(const Batch *batch, uint64_t o, uint32_t s)
{
    uint64_t low = batch->starts[o], left = batch->starts[o + 1] - low;
    if (left == 0)
        return 0;
    while (left > 1) {
        uint64_t half = left / 2;
        low += half * (uint64_t)(batch->known[low + half - 1] < s);
        left -= half;
    }
    return batch->aims[low] * (uint64_t)(batch->known[low] == s);
}

/* Return the first other draw for a place that is not above a limit, or what is above all. */
static uint64_t draw_again(const Batch *batch, Py_ssize_t x, uint64_t limit, bool is_wide)
{
    Py_ssize_t low = 0, high = batch->again_shape[1], count = high;
    while (low < high) {
        Py_ssize_t middle = low + (high - low) / 2;
        if (batch->places[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < count && batch->places[low] == x)
        for (Py_ssize_t attempt = 0; attempt < batch->again_shape[0]; attempt++) {
            uint64_t drawn = draw_at(batch->again, attempt * count + low, is_wide);
            if (drawn <= limit)
                return drawn;
        }
    return UINT64_MAX;
}

/* Draw symbol x after o, in one width and by one kind of aims; false: something does not fit. */
static inline bool step(const Batch *batch, Py_ssize_t x, uint64_t o, int kind, bool is_wide)
{
    uint32_t s = (uint32_t)batch->symbols[x] + 1u;
    o = kind == IDENTITY ? 0 : o;
    if (o >= (uint64_t)batch->states || (kind == TABLE && s > (uint64_t)batch->states))
        return false;
    uint64_t aim = kind == TABLE ? batch->aims[o * (uint64_t)(batch->states + 1) + s]
        : kind == IDENTITY ? s : search(batch, o, s);
    const uint64_t *row = batch->rows + COLUMNS * o;
    uint64_t drawn = draw_at(batch->raw, x, is_wide);
    if (drawn > row[LAST] && (drawn = draw_again(batch, x, row[LAST], is_wide)) > row[LAST])
        return false;
    /* No branch from here on depends on the symbol: all is drawn at the same cost. */
    uint64_t place = is_wide ? drawn / row[WEIGHT]
        : (uint64_t)((uint32_t)drawn / (uint32_t)row[WEIGHT]);
    uint64_t hit = (uint64_t)(drawn - place * row[WEIGHT] >= row[CUT]) & (uint64_t)(aim != 0);
    uint64_t edge = row[OFFSET] + place;
    edge += hit * (aim - 1 - edge);
    if (edge >= (uint64_t)batch->edges)
        return false;
    batch->out[x] = batch->targets[edge];
    return true;
}

static inline bool walk_lanes(const Batch *batch, int kind, bool is_wide)
{
    uint64_t here[LANES] = {0};
    int64_t most = 0;
    for (int lane = 0; lane < LANES; lane++) {
        int64_t length = batch->segments[lane + 1] - batch->segments[lane];
        most = length > most ? length : most;
    }
    for (int64_t i = 0; i < most; i++)
        for (int lane = 0; lane < LANES; lane++) {
            int64_t x = batch->segments[lane] + i;
            if (x >= batch->segments[lane + 1])
                continue;
            if (!step(batch, x, batch->first[x] ? batch->initial : here[lane], kind, is_wide))
                return false;
            here[lane] = batch->out[x];
        }
    return true;
}

static bool check_batch(const Batch *batch, int kind, bool is_wide)
{
    bool holds = batch->segments[0] == 0 && batch->segments[LANES] == batch->total
        && kind >= TABLE && kind <= SEARCH;
    for (int lane = 0; lane < LANES; lane++)
        holds = holds && batch->segments[lane] <= batch->segments[lane + 1];
    for (Py_ssize_t o = 0; o < batch->states; o++) {
        uint64_t weight = batch->rows[COLUMNS * o + WEIGHT];
        holds = holds && weight > 0 && (is_wide || weight <= UINT32_MAX);
    }
    if (kind == TABLE)
        holds = holds && batch->aims_count == batch->states * (batch->states + 1);
    if (kind == SEARCH) {
        holds = holds && batch->starts_count == batch->states + 1;
        for (Py_ssize_t o = 0; holds && o < batch->states; o++)
            holds = batch->starts[o] <= batch->starts[o + 1]
                && (Py_ssize_t)batch->starts[o + 1] <= batch->aims_count;
    }
    return fits(holds, "words and targets");
}

static bool walk_batch(const Batch *batch, int kind, bool is_wide)
{
    if (kind == TABLE)
        return is_wide ? walk_lanes(batch, TABLE, true) : walk_lanes(batch, TABLE, false);
    if (kind == IDENTITY)
        return is_wide ? walk_lanes(batch, IDENTITY, true) : walk_lanes(batch, IDENTITY, false);
    return is_wide ? walk_lanes(batch, SEARCH, true) : walk_lanes(batch, SEARCH, false);
}

/* As `batch_in_numpy.draw`. */
static PyObject *draw(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *symbols, *first, *segments, *raw, *places, *again, *aims, *starts, *known, *rows,
             *targets, *out, *found = NULL;
    int kind, is_wide;
    unsigned long long initial;
    Py_ssize_t lengths[7], shape[2];
    Arrays taken = {0};
    Batch batch = {0};
    if (!PyArg_ParseTuple(arguments, "OOOpOOOiOOOOOKO", &symbols, &first, &segments, &is_wide,
                          &raw, &places, &again, &kind, &aims, &starts, &known, &rows, &targets,
                          &initial, &out))
        return NULL;
    batch.initial = initial;
    char letter = is_wide ? 'Q' : 'I';
    if (take_row(&taken, symbols, "symbols", 'i', false, &batch.symbols, &batch.total)
        && take_row(&taken, first, "first", 'B', false, &batch.first, &lengths[0])
        && take_row(&taken, segments, "segments", 'q', false, &batch.segments, &lengths[1])
        && take_row(&taken, raw, "raw", letter, false, &batch.raw, &lengths[2])
        && take_row(&taken, places, "places", 'q', false, &batch.places, &lengths[3])
        && take(&taken, again, "again", letter, 2, false, &batch.again, batch.again_shape)
        && take_row(&taken, aims, "aims", 'I', false, &batch.aims, &batch.aims_count)
        && take_row(&taken, starts, "starts", 'I', false, &batch.starts, &batch.starts_count)
        && take_row(&taken, known, "known", 'I', false, &batch.known, &lengths[4])
        && take(&taken, rows, "rows", 'Q', 2, false, &batch.rows, shape)
        && take_row(&taken, targets, "targets", 'I', false, &batch.targets, &batch.edges)
        && take_row(&taken, out, "out", 'I', true, &batch.out, &lengths[5])
        && fits(lengths[0] == batch.total && lengths[1] == LANES + 1 && lengths[2] == batch.total
                    && lengths[3] == batch.again_shape[1]
                    && (lengths[4] == batch.aims_count || kind != SEARCH)
                    && shape[1] == COLUMNS && lengths[5] == batch.total, "words and draws")) {
        bool drawn = false;
        batch.states = shape[0];
        if (check_batch(&batch, kind, is_wide)) {
            Py_BEGIN_ALLOW_THREADS
            drawn = walk_batch(&batch, kind, is_wide);
            Py_END_ALLOW_THREADS
            if (fits(drawn, "symbols, targets and draws"))
                found = Py_NewRef(Py_None);
        }
    }
    let_go(&taken);
    return found;
}

/* Pairs (o, s), as in `values_in_numpy`; moves, others, gain, U and X: where they are given. */
typedef struct {
    const int64_t *first, *offsets;
    const int32_t *symbols, *successors;
    Py_ssize_t states, pairs, edges;
    double *row, *total, *best;
} Pairs;

/* Take the pairs and the edges, checked, and room for rows of numbers; false: raised. */
static bool take_pairs(Arrays *taken, PyObject *first, PyObject *symbols, PyObject *offsets,
                       PyObject *successors, Pairs *pairs)
{
    Py_ssize_t firsts, lengths;
    if (!take_row(taken, first, "first", 'q', false, &pairs->first, &firsts)
        || !take_row(taken, symbols, "symbols", 'i', false, &pairs->symbols, &pairs->pairs)
        || !take_row(taken, offsets, "offsets", 'q', false, &pairs->offsets, &lengths)
        || !take_row(taken, successors, "successors", 'i', false, &pairs->successors,
                     &pairs->edges))
        return false;
    Py_ssize_t states = pairs->states = lengths - 1;
    bool holds = firsts == lengths && states >= 0 && pairs->first[0] == 0
        && pairs->first[states] == pairs->pairs && pairs->offsets[0] == 0
        && pairs->offsets[states] == pairs->edges;
    for (Py_ssize_t s = 0; holds && s < states; s++)
        holds = pairs->first[s] <= pairs->first[s + 1]
            && pairs->first[s + 1] - pairs->first[s] <= states
            && pairs->offsets[s] <= pairs->offsets[s + 1];
    for (Py_ssize_t i = 0; holds && i < pairs->pairs; i++)
        holds = 0 <= pairs->symbols[i] && pairs->symbols[i] < states;
    for (Py_ssize_t e = 0; holds && e < pairs->edges; e++)
        holds = 0 <= pairs->successors[e] && pairs->successors[e] < states;
    if (!fits(holds, "pairs and edges"))
        return false;
    pairs->row = PyMem_Calloc(3 * (size_t)states + 1, sizeof *pairs->row);
    if (pairs->row == NULL) {
        PyErr_NoMemory();
        return false;
    }
    pairs->total = pairs->row + states;
    pairs->best = pairs->total + states;
    return true;
}

/* Spread X(c, ·) out by symbol, in a row that is 0 before. */
static void spread(int64_t c, const Pairs *pairs, const double *X, double match)
{
    for (int64_t i = pairs->first[c]; i < pairs->first[c + 1]; i++)
        pairs->row[pairs->symbols[i]] = X[i];
    pairs->row[c] = match;
}

/* Make the row 0 again. */
static void clear(int64_t c, const Pairs *pairs)
{
    for (int64_t i = pairs->first[c]; i < pairs->first[c + 1]; i++)
        pairs->row[pairs->symbols[i]] = 0.0;
    pairs->row[c] = 0.0;
}

static double later_of(int64_t s, const Pairs *pairs, const double *moves)
{
    double later = 0.0;
    for (int64_t e = pairs->offsets[s]; e < pairs->offsets[s + 1]; e++)
        later += moves[e] * pairs->row[pairs->successors[e]];
    return later;
}

static void earn_pairs(const Pairs *pairs, const double *moves, double discount, const double *U,
                       double *X, double *match)
{
    for (int64_t c = 0; c < pairs->states; c++) {
        for (int64_t i = pairs->first[c]; i < pairs->first[c + 1]; i++)
            pairs->row[pairs->symbols[i]] = U[i];
        match[c] = 1.0 + discount * later_of(c, pairs, moves);
        for (int64_t i = pairs->first[c]; i < pairs->first[c + 1]; i++)
            X[i] = pairs->symbols[i] == c ? match[c]
                : discount * later_of(pairs->symbols[i], pairs, moves);
        clear(c, pairs);
    }
}

static PyObject *earn(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *first, *symbols, *offsets, *successors, *given, *before, *after, *matches,
             *found = NULL;
    double discount, *moves, *U, *X, *match;
    Py_ssize_t lengths[4];
    Arrays taken = {0};
    Pairs pairs = {0};
    if (PyArg_ParseTuple(arguments, "OOOOOdOOO", &first, &symbols, &offsets, &successors, &given,
                         &discount, &before, &after, &matches)
        && take_pairs(&taken, first, symbols, offsets, successors, &pairs)
        && take_row(&taken, given, "moves", 'd', false, &moves, &lengths[0])
        && take_row(&taken, before, "U", 'd', false, &U, &lengths[1])
        && take_row(&taken, after, "X", 'd', true, &X, &lengths[2])
        && take_row(&taken, matches, "match", 'd', true, &match, &lengths[3])
        && fits(lengths[0] == pairs.edges && lengths[1] == pairs.pairs
                    && lengths[2] == pairs.pairs && lengths[3] == pairs.states, "values")) {
        Py_BEGIN_ALLOW_THREADS
        earn_pairs(&pairs, moves, discount, U, X, match);
        Py_END_ALLOW_THREADS
        found = Py_NewRef(Py_None);
    }
    PyMem_Free(pairs.row);
    let_go(&taken);
    return found;
}

static double improve_pairs(const Pairs *pairs, const double *others, const double *gain,
                            double *U, const double *X, const double *match)
{
    double largest = -HUGE_VAL;
    for (int64_t o = 0; o < pairs->states; o++) {
        int64_t begin = pairs->first[o], count = pairs->first[o + 1] - begin;
        memset(pairs->total, 0, (size_t)count * sizeof *pairs->total);
        memset(pairs->best, 0, (size_t)count * sizeof *pairs->best);
        for (int64_t e = pairs->offsets[o]; e < pairs->offsets[o + 1]; e++) {
            int64_t c = pairs->successors[e];
            spread(c, pairs, X, match[c]);
            for (int64_t j = 0; j < count; j++) {
                double x = pairs->row[pairs->symbols[begin + j]];
                pairs->total[j] += x;
                pairs->best[j] = x > pairs->best[j] ? x : pairs->best[j];
            }
            clear(c, pairs);
        }
        for (int64_t j = 0; j < count; j++) {
            double value = others[o] * pairs->total[j] + gain[o] * pairs->best[j];
            double change = value - U[begin + j];
            largest = change > largest ? change : largest;
            U[begin + j] = value;
        }
    }
    return largest;
}

static PyObject *improve(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *first, *symbols, *offsets, *successors, *other, *gains, *before, *after, *matches,
             *found = NULL;
    double *others, *gain, *U, *X, *match, largest;
    Py_ssize_t lengths[5];
    Arrays taken = {0};
    Pairs pairs = {0};
    if (PyArg_ParseTuple(arguments, "OOOOOOOOO", &first, &symbols, &offsets, &successors, &other,
                         &gains, &before, &after, &matches)
        && take_pairs(&taken, first, symbols, offsets, successors, &pairs)
        && take_row(&taken, other, "others", 'd', false, &others, &lengths[0])
        && take_row(&taken, gains, "gain", 'd', false, &gain, &lengths[1])
        && take_row(&taken, before, "U", 'd', true, &U, &lengths[2])
        && take_row(&taken, after, "X", 'd', false, &X, &lengths[3])
        && take_row(&taken, matches, "match", 'd', false, &match, &lengths[4])
        && fits(lengths[0] == pairs.states && lengths[1] == pairs.states
                    && lengths[2] == pairs.pairs && lengths[3] == pairs.pairs
                    && lengths[4] == pairs.states, "values")) {
        Py_BEGIN_ALLOW_THREADS
        largest = improve_pairs(&pairs, others, gain, U, X, match);
        Py_END_ALLOW_THREADS
        found = PyFloat_FromDouble(largest);
    }
    PyMem_Free(pairs.row);
    let_go(&taken);
    return found;
}

/*
 * Return what is at a position among the places of targets, 0 where nothing is; −1: an error.
 *
 * No object that holds 0 is read: how long that takes differs from other numbers.
 */
static Py_ssize_t place_of_target(PyObject *places, PyObject *number)
{
    Py_ssize_t position = PyLong_AsSsize_t(number) - 1, place = -1;
    if (PyDict_Check(places)) {
        PyObject *found = PyDict_GetItemWithError(places, number);
        return found ? PyLong_AsSsize_t(found) : PyErr_Occurred() ? -1 : 0;
    }
    Py_buffer row;
    if (PyObject_GetBuffer(places, &row, PyBUF_SIMPLE) < 0)
        return -1;
    Py_ssize_t size = PyObject_Length(places);
    if (0 <= position && position < size) {
        if (row.len == size)
            place = ((const uint8_t *)row.buf)[position];
        else if (row.len == 4 * size)
            place = ((const uint32_t *)row.buf)[position];
    }
    PyBuffer_Release(&row);
    if (place < 0 && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "follow: a position is out of range");
    return place;
}

/* Read what a step from a row reads first, so that it is near. */
static uintptr_t touch(PyObject *row)
{
    if (!PyList_Check(row) || PyList_GET_SIZE(row) == 0)
        return 0;
    return *(volatile uintptr_t *)PyList_GET_ITEM(row, 0);
}

/* `direct.follow_in_python`, with the same instructions whether the target is taken or not. */
static PyObject *follow(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count != 4 || !PyList_Check(args[0]) || !PyDict_Check(args[1]) ||
        !PyUnicode_Check(args[2])) {
        PyErr_SetString(PyExc_TypeError, "follow takes (row, index, unknown, symbol)");
        return NULL;
    }
    PyObject *row = args[0], *names[2] = {args[3], args[2]}, *name = names[args[3] == Py_None];
    if (PyList_GET_SIZE(row) != 4 || !PyList_Check(PyList_GET_ITEM(row, 2)) ||
        !PyUnicode_Check(name))
        Py_RETURN_NONE;
    PyObject *choices = PyList_GET_ITEM(row, 2), *places = PyList_GET_ITEM(row, 3);
    PyObject *dot = PyUnicode_FromOrdinal('.');
    PyObject *key = dot ? PyUnicode_Concat(name, dot) : NULL;
    Py_XDECREF(dot);
    PyObject *position = key ? PyDict_GetItemWithError(args[1], key) : NULL;
    Py_ssize_t place = position ? place_of_target(places, position) : -1;
    Py_XDECREF(key);
    if (place < 0) {
        if (PyErr_Occurred())
            return NULL;
        Py_RETURN_NONE; /* the symbol is unknown */
    }
    PyObject *pair = PyObject_CallNoArgs(PyList_GET_ITEM(row, 1));
    if (!pair) {
        if (!PyErr_ExceptionMatches(PyExc_IndexError))
            return NULL;
        PyErr_Clear(); /* the buffer is empty */
        Py_RETURN_NONE;
    }
    PyObject *found = NULL;
    if (PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) == 2) {
        PyObject *zero = PyLong_FromLong(0); /* there is one 0 */
        uintptr_t hit = PyTuple_GET_ITEM(pair, 1) != zero;
        Py_XDECREF(zero);
        Py_ssize_t number = PyLong_AsSsize_t(PyTuple_GET_ITEM(pair, 0));
        Py_ssize_t most = PyList_GET_SIZE(choices);
        if (!PyErr_Occurred() && 0 < number && number < most && place < most) {
            PyObject *any = PyList_GET_ITEM(choices, number);
            PyObject *target = PyList_GET_ITEM(choices, place);
            uintptr_t touched = touch(any) ^ touch(target);
            uintptr_t takes = -(hit & (uintptr_t)(place != 0));
            __asm__ volatile("" : "+r"(takes) : "r"(touched)); /* no branch is made of it */
            found = (PyObject *)(((uintptr_t)any & ~takes) | ((uintptr_t)target & takes));
            Py_INCREF(found);
        }
    }
    Py_DECREF(pair);
    if (!found && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "follow: a draw or a target is out of range");
    return found;
}

static PyMethodDef functions[] = {
    {"follow", (PyCFunction)(void (*)(void))follow, METH_FASTCALL, NULL},
    {"draw", draw, METH_VARARGS, NULL},
    {"earn", earn, METH_VARARGS, NULL},
    {"improve", improve, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_online",
    .m_doc = "The loops of the online mechanism, compiled (`core.online`).",
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__online(void)
{
    return PyModuleDef_Init(&definition);
}
