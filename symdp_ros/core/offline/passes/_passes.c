/* SPDX-FileCopyrightText: 2026 The symdp_ros authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The pass over a word, compiled (`core.offline.passes`); `in_numpy` is its twin, bit by bit. Here
 * arrays are taken and checked; `loops.c` has the loops.
 */
#include "loops.h"

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
    int64_t low = word->begins[first], high = low, nearest = INT64_MAX, furthest = -1;
    for (Py_ssize_t t = first; t < gathered; t++)
        low = word->begins[t] < low ? word->begins[t] : low;
    int64_t state = low;
    for (Py_ssize_t t = first; t < gathered; t++) {
        high = word->ends[t] > high ? word->ends[t] : high;
        for (; state < high; state++) {
            if (!check_edges(moves, state))
                return false;
            for (int64_t e = moves->offsets[state]; e < moves->offsets[state + 1]; e++) {
                nearest = moves->targets[e] < nearest ? moves->targets[e] : nearest;
                furthest = moves->targets[e] > furthest ? moves->targets[e] : furthest;
            }
        }
        if (!fits(word->rescale_every == 0
                      || (word->begins[t] == low && word->begins[t + 1] == low && nearest >= low
                          && furthest < word->ends[t + 1]), "the target of a move"))
            return false;
    }
    return true;
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

static PyObject *interval_at(PyObject *module, PyObject *arguments)
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
    {"interval_at", interval_at, METH_VARARGS, NULL},
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
