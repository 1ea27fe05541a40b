/* SPDX-FileCopyrightText: 2026 The symdp_ros authors
   SPDX-License-Identifier: Apache-2.0

   The loops of the policy adaptive, and sums over neighbours: what `core.neighbours` and
   `core.online.adaptive` compute with NumPy where this extension is not built, in the same order
   of additions. Arrays are contiguous, words in step with one another innermost.
   Every buffer is checked for its type and size before a loop runs. */

#include "arrays.h"
#include <math.h>
#include <stdlib.h>

typedef Py_ssize_t Size;

#define INLINE static inline __attribute__((always_inline))

/* Numbers that NumPy's twins have, too, under the names in `CONSTANTS`, in modules of
   `core.online.adaptive`: a test compares them. */
#define CELLS 12
#define LEAST 1e-9
#define TIE 1e-12
#define INFORMATION 0.1
#define BETTER 1e-9
#define MOST_STATES 64
#define FEWEST_STATES 16
#define REST 1e-3
#define LIKELY 8
#define AT_END 0.4
#define LESS 0.05
#define DIGITS 1e12

static const struct { const char *name; double value; } CONSTANTS[] = {
    {"tables.CELLS", CELLS}, {"cells.LEAST", LEAST}, {"cells.TIE", TIE},
    {"cells.INFORMATION", INFORMATION}, {"blocks._BETTER", BETTER},
    {"blocks._MOST_STATES", MOST_STATES}, {"blocks._FEWEST_STATES", FEWEST_STATES},
    {"blocks._REST", REST}, {"blocks._LIKELY", LIKELY}, {"blocks._AT_END", AT_END},
    {"blocks._LESS", LESS}, {"blocks._DIGITS", DIGITS}};

/* ---- Arrays ---- */

/* Return the numbers of an array that has so many of a type: 'd', 'f', 'q', 'i', 'H' or '?'.
   NULL: raised. */
static void *numbers(Arrays *all, PyObject *array, char letter, Size count, int written) {
    Py_buffer *view = &all->views[all->count];
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (written ? PyBUF_WRITABLE : 0);
    if (all->count == MOST_ARRAYS || PyObject_GetBuffer(array, view, flags)) return NULL;
    all->count++;
    if (letter_of(view) == letter && view->len == count * view->itemsize) return view->buf;
    PyErr_Format(PyExc_ValueError, "arrays do not fit together: %zd numbers of type %c, not %zd "
                 "of %c", count, letter, view->len / view->itemsize, letter_of(view));
    return NULL;
}

#define TAKE(type, name, array, letter, count, written) \
    type *name = numbers(&all, array, letter, count, written); \
    if (name == NULL) goto failed

#define TAKE_IF(type, name, array, letter, count, written) \
    type *name = NULL; \
    if ((array) != Py_None && !(name = numbers(&all, array, letter, count, written))) goto failed

/* Return room for so many numbers; NULL: raised. */
static double *numbers_for(Size count) {
    double *room = malloc((count ? count : 1) * sizeof *room);
    if (!room) PyErr_NoMemory();
    return room;
}

/* Whether offsets of `rows` rows ascend from 0 to `edges`, and targets are below `most`. */
static int are_edges(const int64_t *offsets, Size rows, const int32_t *targets, Size edges,
                     Size most) {
    int fine = rows >= 0 && offsets[0] == 0 && offsets[rows] == edges;
    for (Size s = 0; s < rows; s++) fine &= offsets[s] <= offsets[s + 1];
    if (fine) for (Size e = 0; e < edges; e++) fine &= targets[e] >= 0 && targets[e] < most;
    if (!fine) PyErr_SetString(PyExc_ValueError, "these are no edges of a chain");
    return fine;
}

/* ---- Edges: checked once, kept with what they weigh ---- */

typedef struct {
    PyObject_HEAD
    Size rows, most, edges, models;
    int is_full;      /* whether each row has an edge */
    int64_t *offsets;
    int32_t *targets;
    double *weights;  /* (models, edges) */
} Edges;

static void edges_free(Edges *self) {
    free(self->offsets);
    free(self->targets);
    free(self->weights);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static void *copy_of(const void *numbers, size_t bytes) {
    void *found = malloc(bytes ? bytes : 1);
    if (found) memcpy(found, numbers, bytes);
    else PyErr_NoMemory();
    return found;
}

static PyObject *edges_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    (void)keywords;
    Arrays all = {.count = 0};
    PyObject *offsets_, *targets_, *weights_;
    Size rows, edges, most, models;
    if (!PyArg_ParseTuple(args, "OOOnnnn", &offsets_, &targets_, &weights_, &rows, &edges, &most,
                          &models)) return NULL;
    Edges *self = NULL;
    TAKE(int64_t, offsets, offsets_, 'q', rows + 1, 0);
    TAKE(int32_t, targets, targets_, 'i', edges, 0);
    TAKE(double, weights, weights_, 'd', models * edges, 0);
    if (!are_edges(offsets, rows, targets, edges, most)) goto failed;
    self = (Edges *)type->tp_alloc(type, 0);
    if (!self) goto failed;
    self->rows = rows, self->most = most, self->edges = edges, self->models = models;
    self->is_full = 1;
    for (Size s = 0; s < rows; s++) self->is_full &= offsets[s] < offsets[s + 1];
    if (!(self->offsets = copy_of(offsets, (rows + 1) * sizeof *offsets))
        || !(self->targets = copy_of(targets, edges * sizeof *targets))
        || !(self->weights = copy_of(weights, models * edges * sizeof *weights)))
        Py_CLEAR(self);
failed:
    let_go(&all);
    return (PyObject *)self;
}

static PyObject *edges_nbytes(Edges *self, void *unused) {
    (void)unused;
    return PyLong_FromSsize_t(8 * (self->rows + 1) + (4 + 8 * self->models) * self->edges);
}

static PyGetSetDef edges_properties[] = {
    {"nbytes", (getter)edges_nbytes, NULL, "The memory in bytes.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyTypeObject EdgesType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "symdp_ros.core._loops.Edges",
    .tp_doc = "Edges(offsets, targets, weights, rows, edges, most, models): by row, checked.",
    .tp_basicsize = sizeof(Edges),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = edges_new,
    .tp_dealloc = (destructor)edges_free,
    .tp_getset = edges_properties,
};

static int are_of(const Edges *edges, Size rows, Size most, Size models) {
    if (edges->rows == rows && edges->most <= most && edges->models == models) return 1;
    PyErr_SetString(PyExc_ValueError, "these edges are of another chain");
    return 0;
}

static int are_full(const Edges *edges) {
    if (edges->is_full) return 1;
    PyErr_SetString(PyExc_ValueError, "from a state of these edges no move leads");
    return 0;
}

/* Whether the first `own` models have weights in `edges`, and the others move along `others`. */
static int are_models(const Edges *edges, const Edges *others, Size own, Size models, Size states,
                      Size words) {
    if (!are_of(edges, states, states, own) || !are_of(others, states, states, 0)) return 0;
    if (own <= models && models > 0 && words > 0) return 1;
    PyErr_SetString(PyExc_ValueError, "there are no such models or words");
    return 0;
}

/* ---- Sums over neighbours ---- */

/* out = Σ over the neighbours of one row, one after another. `weights` may be NULL; rows of values
   are so far apart. */
INLINE void gather(const int64_t *offsets, const int32_t *targets, const double *weights, Size row,
                   const double *values, Size apart, Size words, double *restrict out) {
    int64_t begin = offsets[row], end = offsets[row + 1];
    Size w = 0;
    if (begin == end) {
        memset(out, 0, words * sizeof *out);
        return;
    }
#define THERE(Numbers, e) (*(const Numbers *)(values + targets[e] * apart + w) \
                           * (weights ? weights[e] : 1.0))
#define SUM(Numbers, wide) \
    for (; w + wide <= words; w += wide) { \
        Numbers sum = THERE(Numbers, begin); \
        for (int64_t e = begin + 1; e < end; e++) sum += THERE(Numbers, e); \
        *(Numbers *)(out + w) = sum; \
    }
    SUM(Four, 4)
    SUM(Two, 2)
    SUM(double, 1)
#undef THERE
#undef SUM
}

static WIDE void add_all(const Edges *edges, const double *values, double *out, Size models,
                         Size height, Size rows, Size words) {
    const double *weights = edges->models ? edges->weights : NULL;
    for (Size m = 0; m < models; m++)
        for (Size s = 0; s < rows; s++) {
            const double *here = values + m * height * words;
            double *to = out + (m * rows + s) * words;
            if (words == 1) gather(edges->offsets, edges->targets, weights, s, here, 1, 1, to);
            else gather(edges->offsets, edges->targets, weights, s, here, words, words, to);
        }
}

/* add(edges, values, out, models, rows of values, rows, words) */
static PyObject *add(PyObject *module, PyObject *args) {
    (void)module;
    Arrays all = {.count = 0};
    PyObject *values_, *out_, *found = NULL;
    Edges *edges;
    Size models, height, rows, words;
    if (!PyArg_ParseTuple(args, "O!OOnnnn", &EdgesType, &edges, &values_, &out_, &models, &height,
                          &rows, &words)) return NULL;
    if (!are_of(edges, rows, height, edges->models)) return NULL;
    TAKE(double, values, values_, 'd', models * height * words, 0);
    TAKE(double, out, out_, 'd', models * rows * words, 1);
    Py_BEGIN_ALLOW_THREADS
    add_all(edges, values, out, models, height, rows, words);
    Py_END_ALLOW_THREADS
    found = Py_NewRef(Py_None);
failed:
    let_go(&all);
    return found;
}

INLINE void largest_in(const Edges *edges, const double *values, double *restrict out,
                       int64_t *restrict places, double margin, Size rows, Size words) {
    for (Size s = 0; s < rows; s++) {
        int64_t begin = edges->offsets[s], end = edges->offsets[s + 1];
        double *here = out + s * words;
        for (int64_t e = begin; e < end; e++) {
            const double *there = values + edges->targets[e] * words;
            for (Size w = 0; w < words; w++)
                here[w] = e == begin || there[w] > here[w] ? there[w] : here[w];
        }
        if (places) for (Size w = 0; w < words; w++) {
            double least = here[w] - margin, found = values[edges->targets[end - 1] * words + w];
            int64_t first = end - 1;
            for (int64_t e = end - 2; e >= begin; e--) {
                double there = values[edges->targets[e] * words + w];
                first = there >= least ? e : first;
                found = there >= least ? there : found;
            }
            places[s * words + w] = first - begin;
            here[w] = found;
        }
    }
}

static WIDE void largest_all(const Edges *edges, const double *values, double *out,
                             int64_t *places, double margin, Size rows, Size words) {
    if (words == 1) largest_in(edges, values, out, places, margin, rows, 1);
    else largest_in(edges, values, out, places, margin, rows, words);
}

/* largest(edges, values, out, places or None, margin, rows, words): of each row's neighbours;
   with places, the first within the margin of it, and which one that is. Each row has a
   neighbour. */
static PyObject *largest(PyObject *module, PyObject *args) {
    (void)module;
    Arrays all = {.count = 0};
    PyObject *values_, *out_, *places_, *found = NULL;
    Edges *edges;
    double margin;
    Size rows, words;
    if (!PyArg_ParseTuple(args, "O!OOOdnn", &EdgesType, &edges, &values_, &out_, &places_, &margin,
                          &rows, &words)) return NULL;
    if (!are_of(edges, rows, rows, edges->models) || !are_full(edges)) return NULL;
    TAKE(double, values, values_, 'd', rows * words, 0);
    TAKE(double, out, out_, 'd', rows * words, 1);
    TAKE_IF(int64_t, places, places_, 'q', rows * words, 1);
    Py_BEGIN_ALLOW_THREADS
    largest_all(edges, values, out, places, margin, rows, words);
    Py_END_ALLOW_THREADS
    found = Py_NewRef(Py_None);
failed:
    let_go(&all);
    return found;
}

/* ---- What is known of the robot ---- */

/* The sum of numbers in NumPy's order: pairwise, in blocks of 128, eight at a time. */
static double pairwise(const double *a, Size n) {
    if (n < 8) {
        double sum = -0.0;
        for (Size i = 0; i < n; i++) sum += a[i];
        return sum;
    }
    if (n <= 128) {
        double r[8];
        Size i;
        memcpy(r, a, sizeof r);
        for (i = 8; i < n - n % 8; i += 8) for (int j = 0; j < 8; j++) r[j] += a[i + j];
        double sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
        for (; i < n; i++) sum += a[i];
        return sum;
    }
    Size half = n / 2;
    half -= half % 8;
    return pairwise(a, half) + pairwise(a + half, n - half);
}

#define FEW_WORDS 4 /* of fewer, all models without weights move together */
#define STRIP 64    /* states that are worked on one after another, model by model */

INLINE Size together(Size models, Size words) {
    return words < FEW_WORDS && models > 0 ? models : 1;
}

/* So many numbers, and as many more as make fours of them. */
INLINE Size in_fours(Size count) { return (count + 3) / 4 * 4; }

/* How many numbers `gather_models` has room for. */
INLINE Size room_of(Size models, Size states, Size words) {
    return words < FEW_WORDS ? (states + 1) * in_fours(together(models, words) * words) : 0;
}

/* Σ over the neighbours of each state, by some models: (models, height, words) → (models, states,
   words). Of few words, all that is of one state is put side by side. */
INLINE void gather_models(const Edges *edges, const double *values, Size height, double *out,
                          Size models, Size states, Size words, double *room) {
    if (words >= FEW_WORDS) {
        for (Size m = 0; m < models; m++)
            for (Size s = 0; s < states; s++)
                gather(edges->offsets, edges->targets, NULL, s, values + m * height * words, words,
                       words, out + (m * states + s) * words);
        return;
    }
    Size wide = in_fours(models * words);
    double *row = room + states * wide;
    for (Size s = 0; s < states; s++) {
        double *to = room + s * wide;
        for (Size m = 0; m < models; m++)
            for (Size w = 0; w < words; w++) *to++ = values[(m * height + s) * words + w];
        while (to < room + (s + 1) * wide) *to++ = 0.0;
    }
    for (Size s = 0; s < states; s++) {
        gather(edges->offsets, edges->targets, NULL, s, room, wide, wide, row);
        for (Size m = 0; m < models; m++)
            for (Size w = 0; w < words; w++)
                out[(m * states + s) * words + w] = row[m * words + w];
    }
}

/* The belief of one model after a signal and the switch. */
INLINE void mix(const double *f, const double *factor, double share, const double *chances,
                double *restrict mixed, Size count) {
    for (Size i = 0; i < count; i++) mixed[i] = f[i] * factor[i] + share * chances[i];
}

INLINE void
predict_all(const Edges *edges, const Edges *others, const double *joint, const double *likelihood,
            double *after, double keep, const int64_t *groups, Size grouped,
            const double *switches, Size own, const double *stay, const double *leave, Size models,
            Size states, Size words, double *room) {
    Size each = states * words, group = together(models - own, words);
    double *chances = room, *factor = chances + each, *mixed = factor + each;
    double *moving = mixed + group * each, *column = moving + group * each;
    double *sums = column + states, *rows = sums + words;
    for (Size i = 0; i < states * words; i++) chances[i] = joint[i];
    for (Size m = 1; m < models; m++)
        for (Size i = 0; i < states * words; i++) chances[i] += joint[m * states * words + i];
    if (likelihood) for (Size i = 0; i < states * words; i++) chances[i] *= likelihood[i];
    for (Size w = 0; w < words; w++) {
        for (Size s = 0; s < states; s++) column[s] = chances[s * words + w];
        sums[w] = pairwise(column, states);
    }
    for (Size g = 0; g < grouped; g++) {
        double all = pairwise(sums + groups[g], groups[g + 1] - groups[g]);
        for (Size w = groups[g]; w < groups[g + 1]; w++) sums[w] = all;
    }
    for (Size w = 0; w < words; w++) sums[w] = 1.0 / sums[w];
    for (Size s = 0; s < states; s++)
        for (Size w = 0; w < words; w++) {
            Size i = s * words + w;
            chances[i] = chances[i] * sums[w];
            factor[i] = keep * (likelihood ? likelihood[i] * sums[w] : sums[w]);
        }
    for (Size m = 0; m < own; m++) {
        mix(joint + m * each, factor, switches ? switches[m] : 0.0, chances, mixed, each);
        for (Size s = 0; s < states; s++)
            gather(edges->offsets, edges->targets, edges->weights + m * edges->edges, s, mixed,
                   words, words, after + m * each + s * words);
    }
    for (Size begin = own; begin < models; begin += group) {
        for (Size g = 0; g < group; g++) {
            Size m = begin + g;
            double *here = mixed + g * each, *restrict to = moving + g * each;
            mix(joint + m * each, factor, switches ? switches[m] : 0.0, chances, here, each);
            for (Size s = 0; s < states; s++)
                for (Size w = 0; w < words; w++)
                    to[s * words + w] = leave[m * states + s] * here[s * words + w];
        }
        gather_models(others, moving, states, after + begin * each, group, states, words, rows);
        double *came = after + begin * each;
        for (Size s = 0; s < group * states; s++)
            for (Size w = 0; w < words; w++)
                came[s * words + w] += stay[begin * states + s] * mixed[s * words + w];
    }
}

/* Do it for a number of words, or of counts in a block, that the compiler knows. */
#define FOR_KNOWN(words, DO) \
    switch (words) { \
        case 1: DO(1); break; \
        case 2: DO(2); break; \
        case 3: DO(3); break; \
        case 4: DO(4); break; \
        case 5: DO(5); break; \
        case 6: DO(6); break; \
        case 10: DO(10); break; \
        case 15: DO(15); break; \
        case 20: DO(20); break; \
        case 21: DO(21); break; \
        default: DO(words); \
    }

static WIDE void
predict_words(const Edges *edges, const Edges *others, const double *joint,
              const double *likelihood, double *after, double keep, const int64_t *groups,
              Size grouped, const double *switches, Size own, const double *stay,
              const double *leave, Size models, Size states, Size words, double *room) {
#define DO(count) predict_all(edges, others, joint, likelihood, after, keep, groups, grouped, \
                              switches, own, stay, leave, models, states, count, room)
    FOR_KNOWN(words, DO)
#undef DO
}

/* predict(edges, others, joint, likelihood or None, after, keep, groups or None, switch or None,
   own, stay, leave, models, states, words, groups): `Moves.forward` into `after`. Edges lead to
   each state: `edges` have weights of the first `own` models; `others`, from other states alone,
   are for the other models. `groups`: where the columns of each word begin, and end. */
static PyObject *predict(PyObject *module, PyObject *args) {
    (void)module;
    Arrays all = {.count = 0};
    PyObject *joint_, *likelihood_, *after_, *groups_, *switch_, *stay_, *leave_, *found = NULL;
    Edges *edges, *others;
    double keep, *room = NULL;
    Size own, models, states, words, grouped;
    if (!PyArg_ParseTuple(args, "O!O!OOOdOOnOOnnnn", &EdgesType, &edges, &EdgesType, &others,
                          &joint_, &likelihood_, &after_, &keep, &groups_, &switch_, &own, &stay_,
                          &leave_, &models, &states, &words, &grouped)) return NULL;
    if (!are_models(edges, others, own, models, states, words)) return NULL;
    Size each = states * words;
    TAKE(double, joint, joint_, 'd', models * each, 0);
    TAKE_IF(double, likelihood, likelihood_, 'd', each, 0);
    TAKE(double, after, after_, 'd', models * each, 1);
    TAKE_IF(int64_t, groups, groups_, 'q', grouped + 1, 0);
    TAKE_IF(double, switches, switch_, 'd', models, 0);
    TAKE(double, stay, stay_, 'd', models * states, 0);
    TAKE(double, leave, leave_, 'd', models * states, 0);
    if (!groups) grouped = 0;
    for (Size g = 0; g < grouped; g++)
        if (groups[g] < 0 || groups[g] > groups[g + 1] || groups[g + 1] > words) {
            PyErr_SetString(PyExc_ValueError, "these are no columns of words");
            goto failed;
        }
    if (!(room = numbers_for((2 + 2 * together(models - own, words)) * each + states + words
                             + room_of(models - own, states, words)))) goto failed;
    Py_BEGIN_ALLOW_THREADS
    predict_words(edges, others, joint, likelihood, after, keep, groups, grouped, switches, own,
                  stay, leave, models, states, words, room);
    Py_END_ALLOW_THREADS
    found = Py_NewRef(Py_None);
failed:
    free(room);
    let_go(&all);
    return found;
}

INLINE void
back_all(const Edges *edges, const Edges *others, double *after, const double *factor,
         const double *by_word, const double *more, Size own, const double *stay,
         const double *leave, Size models, Size states, Size words, double *room) {
    Size each = states * words, height = each + words;
    double *total = room + models * each, *rows = total + STRIP * words;
    for (Size m = 0; m < own; m++)
        for (Size s = 0; s < states; s++)
            gather(edges->offsets, edges->targets, edges->weights + m * edges->edges, s,
                   after + m * height, words, words, room + m * each + s * words);
    gather_models(others, after + own * height, states + 1, room + own * each, models - own,
                  states, words, rows);
    for (Size first = 0, count; first < states; first += count) {
        count = states - first < STRIP ? states - first : STRIP;
        Size begin = first * words, some = count * words;
        for (Size m = own; m < models; m++) {
            const double *later = after + m * height + begin;
            double *here = room + m * each + begin;
            for (Size s = 0; s < count; s++)
                for (Size w = 0; w < words; w++) {
                    Size i = s * words + w, state = m * states + first + s;
                    here[i] = here[i] * leave[state] + stay[state] * later[i];
                }
        }
        for (Size i = 0; i < some; i++) total[i] = more ? more[0] * room[begin + i] : 0.0;
        for (Size m = 1; more && m < models; m++)
            for (Size i = 0; i < some; i++) total[i] += more[m] * room[m * each + begin + i];
        for (Size m = 0; m < models; m++) {
            double *to = after + m * height + begin;
            const double *here = room + m * each + begin;
            if (more) for (Size i = 0; i < some; i++) to[i] = here[i] + total[i];
            else for (Size i = 0; i < some; i++) to[i] = here[i];
            if (factor) for (Size i = 0; i < some; i++) to[i] *= factor[begin + i];
            if (by_word) for (Size s = 0; s < count; s++)
                for (Size w = 0; w < words; w++) to[s * words + w] *= by_word[w];
        }
    }
}

static WIDE void
back_words(const Edges *edges, const Edges *others, double *after, const double *factor,
           const double *by_word, const double *more, Size own, const double *stay,
           const double *leave, Size models, Size states, Size words, double *room) {
#define DO(count) back_all(edges, others, after, factor, by_word, more, own, stay, leave, models, \
                           states, count, room)
    FOR_KNOWN(words, DO)
#undef DO
}

/* backward(edges, others, after, factor (states, words) or None, (words,) or None, more or None,
   own, stay, leave, models, states, words): `Moves.backward`. Edges as of `predict`, but they lead
   from each state. */
static PyObject *backward(PyObject *module, PyObject *args) {
    (void)module;
    Arrays all = {.count = 0};
    PyObject *after_, *factor_, *by_word_, *more_, *stay_, *leave_, *found = NULL;
    Edges *edges, *others;
    double *room = NULL;
    Size own, models, states, words;
    if (!PyArg_ParseTuple(args, "O!O!OOOOnOOnnn", &EdgesType, &edges, &EdgesType, &others,
                          &after_, &factor_, &by_word_, &more_, &own, &stay_, &leave_, &models,
                          &states, &words)) return NULL;
    if (!are_models(edges, others, own, models, states, words)) return NULL;
    TAKE(double, after, after_, 'd', models * (states + 1) * words, 1);
    TAKE_IF(double, factor, factor_, 'd', states * words, 0);
    TAKE_IF(double, by_word, by_word_, 'd', words, 0);
    TAKE_IF(double, more, more_, 'd', models, 0);
    TAKE(double, stay, stay_, 'd', models * states, 0);
    TAKE(double, leave, leave_, 'd', models * states, 0);
    if (!(room = numbers_for((models * states + STRIP) * words
                             + room_of(models - own, states, words)))) goto failed;
    Py_BEGIN_ALLOW_THREADS
    back_words(edges, others, after, factor, by_word, more, own, stay, leave, models, states,
               words, room);
    Py_END_ALLOW_THREADS
    found = Py_NewRef(Py_None);
failed:
    free(room);
    let_go(&all);
    return found;
}

/* ---- Blocks ---- */

#define MOST_MORE 3     /* cells besides the default one */
#define MOST_LENGTH 8   /* symbols of a block */
#define MOST_VECTORS 45 /* of so many in so many cells */
#define MOST_PAIRS 225  /* of vectors of some of these symbols, and of the others */

/* How many count vectors of so many symbols there are in 1 + more cells, more being 1 to 3. */
INLINE Size number_of_vectors(Size length, Size more) {
    return more == 1 ? length + 1 : more == 2 ? (length + 1) * (length + 2) / 2
        : (length + 1) * (length + 2) * (length + 3) / 6;
}

static int is_block(Size length, Size more) {
    return length >= 1 && length <= MOST_LENGTH && more >= 1 && more <= MOST_MORE
        && number_of_vectors(length, more) <= MOST_VECTORS;
}

/* How many symbols are in the first cells: the last one has the rest. */
typedef struct { uint8_t cells[MOST_MORE]; } Vector;

/* All of them, in ascending order. */
static void all_vectors(Size length, Size more, Vector *found) {
    for (Size x = 0; x <= length; x++)
        for (Size y = 0; y <= (more > 1 ? length - x : 0); y++)
            for (Size z = 0; z <= (more > 2 ? length - x - y : 0); z++)
                *found++ = (Vector){{(uint8_t)x, (uint8_t)y, (uint8_t)z}};
}

/* Which one of them it is. */
static Size place_of(Size length, Size more, Vector vector) {
    Size place = 0, left = length;
    for (Size i = 0; i < more; i++) {
        Size cells = more - i;  /* that are left, besides the last one */
        place += number_of_vectors(left, cells)
            - number_of_vectors(left - vector.cells[i], cells);
        left -= vector.cells[i];
    }
    return place;
}

/* By how many symbols there are, and cells besides the default one: by the cell, which vector
   follows each by one more symbol; and which one two make together, of some of the symbols and of
   the others. */
static uint8_t FOLLOWS[MOST_LENGTH][MOST_MORE + 1][MOST_MORE + 1][MOST_VECTORS];
static uint8_t TOGETHER[MOST_LENGTH + 1][MOST_MORE + 1][MOST_LENGTH][MOST_PAIRS];

static void make_follows(Size length, Size more) {
    Vector some[MOST_VECTORS];
    all_vectors(length, more, some);
    for (Size cell = 0; cell <= more; cell++)
        for (Size i = 0; i < number_of_vectors(length, more); i++) {
            Vector then = some[i];
            if (cell < more) then.cells[cell]++;
            FOLLOWS[length][more][cell][i] = (uint8_t)place_of(length + 1, more, then);
        }
}

static void make_together(Size length, Size more, Size some) {
    Vector before[MOST_VECTORS], after[MOST_VECTORS];
    Size first = number_of_vectors(some, more), second = number_of_vectors(length - some, more);
    all_vectors(some, more, before);
    all_vectors(length - some, more, after);
    for (Size b = 0; b < second; b++)
        for (Size c = 0; c < first; c++) {
            Vector both = after[b];
            for (Size i = 0; i < more; i++) both.cells[i] += before[c].cells[i];
            TOGETHER[length][more][some][b * first + c] = (uint8_t)place_of(length, more, both);
        }
}

static void make_tables(void) {
    for (Size length = 1; length <= MOST_LENGTH; length++)
        for (Size more = 1; more <= MOST_MORE && is_block(length, more); more++) {
            make_follows(length - 1, more);
            for (Size some = 0; some < length; some++) make_together(length, more, some);
        }
}

/* Of one word: what is known moves to the counts that follow; or is weighed by these, where they
   have weights, and summed. `to`: those that follow each count, by the cell. Rows of `joint` and
   `out` are so far apart. */
INLINE void turn_forth(const double *joint, const uint8_t *codes,
                       const uint8_t to[][MOST_VECTORS], const double *weights,
                       double *restrict out, Size models, Size states, Size from_next,
                       Size to_next, Size number, Size more) {
    Size before = number_of_vectors(number, more), counts = number_of_vectors(number + 1, more);
    for (Size m = 0; m < models; m++)
        for (Size s = 0; s < states; s++, joint += from_next, out += to_next) {
            const uint8_t *then = to[codes[s]];
            if (weights) {
                double sum = joint[0] * weights[then[0]];
                for (Size c = 1; c < before; c++) sum += joint[c] * weights[then[c]];
                *out = sum;
                continue;
            }
            for (Size c = 0; c < counts; c++) out[c] = 0.0;
            for (Size c = 0; c < before; c++) out[then[c]] = joint[c];
        }
}

/* Back, from one number where there are weights; the last state is 0. */
INLINE void turn_back(const double *later, const uint8_t *codes,
                      const uint8_t to[][MOST_VECTORS], const double *weights,
                      double *restrict out, Size models, Size states, Size from_next,
                      Size to_next, Size number, Size more) {
    Size before = number_of_vectors(number, more);
    for (Size m = 0; m < models; m++) {
        for (Size s = 0; s < states; s++, later += from_next, out += to_next) {
            const uint8_t *then = to[codes[s]];
            if (weights) for (Size c = 0; c < before; c++) out[c] = later[0] * weights[then[c]];
            else for (Size c = 0; c < before; c++) out[c] = later[then[c]];
        }
        for (Size c = 0; c < before; c++) out[c] = 0.0;
        later += from_next, out += to_next;
    }
}

static WIDE void turn_known(int forward, const double *from, const uint8_t *codes,
                            const uint8_t to[][MOST_VECTORS], const double *weights,
                            double *out, Size models, Size states, Size from_next, Size to_next,
                            Size number, Size more) {
#define DO(n, m) \
    if (forward) \
        turn_forth(from, codes, to, weights, out, models, states, from_next, to_next, n, m); \
    else turn_back(from, codes, to, weights, out, models, states, from_next, to_next, n, m)
#define OF(n, m) case 4 * n + m: DO(n, m); break
    switch (4 * number + more) {
        OF(0, 1); OF(1, 1); OF(2, 1); OF(3, 1); OF(4, 1); OF(5, 1);
        OF(0, 2); OF(1, 2); OF(2, 2); OF(3, 2); OF(4, 2); OF(5, 2);
        OF(0, 3); OF(1, 3); OF(2, 3); OF(3, 3);
        default: DO(number, more);
    }
#undef OF
#undef DO
}

/* turn(forward, from, kinds, codes, weights, out, models, states, words, columns, columns of
   out): `Turns.forward` and `Turns.backward`. `kinds`: of each word, the number of its symbol in
   the block, from 0, how many cells there are besides the default one, and where it has weights,
   or −1; 0, 0, 0 where it is in no block. */
static PyObject *turn(PyObject *module, PyObject *args) {
    (void)module;
    Arrays all = {.count = 0};
    PyObject *from_, *kinds_, *codes_, *weights_, *out_, *found = NULL;
    int forward, fine = 1;
    Size models, states, words, columns, width;
    if (!PyArg_ParseTuple(args, "pOOOOOnnnnn", &forward, &from_, &kinds_, &codes_, &weights_,
                          &out_, &models, &states, &words, &columns, &width)) return NULL;
    Size height = forward ? states : states + 1, before = 0, after = 0;
    TAKE(double, from, from_, 'd', models * height * columns, 0);
    TAKE(int64_t, kinds, kinds_, 'q', 3 * words, 0);
    TAKE(uint8_t, codes, codes_, 'B', words * states, 0);
    TAKE(double, out, out_, 'd', models * height * width, 1);
    Size weighed = PySequence_Size(weights_);
    if (weighed < 0) goto failed;
    TAKE(double, weights, weights_, 'd', weighed, 0);
    for (Size w = 0; w < words; w++) {
        Size number = kinds[3 * w], more = kinds[3 * w + 1], at = kinds[3 * w + 2];
        fine = fine && (more == 0 || (number >= 0 && is_block(number + 1, more)));
        if (!fine) break;
        Size counts = more ? number_of_vectors(number + 1, more) : 1;
        fine = at < 0 || !more || at + counts <= weighed;
        before += more ? number_of_vectors(number, more) : 1;
        after += at < 0 ? counts : 1;
        for (Size s = 0; s < states; s++) fine &= codes[w * states + s] <= more;
    }
    if (!fine || (forward ? before : after) != columns || (forward ? after : before) != width) {
        PyErr_SetString(PyExc_ValueError, "these are no counts of a block");
        goto failed;
    }
    Py_BEGIN_ALLOW_THREADS
    for (Size w = 0; w < words; w++) {
        Size number = kinds[3 * w], more = kinds[3 * w + 1], at = kinds[3 * w + 2];
        if (more)
            turn_known(forward, from, codes + w * states, FOLLOWS[number][more],
                       at < 0 ? NULL : weights + at, out, models, states, columns, width, number,
                       more);
        else for (Size i = 0; i < models * height; i++) out[i * width] = from[i * columns];
        Size shorter = more ? number_of_vectors(number, more) : 1;
        Size longer = more && at < 0 ? number_of_vectors(number + 1, more) : 1;
        from += forward ? shorter : longer, out += forward ? longer : shorter;
    }
    Py_END_ALLOW_THREADS
    found = Py_NewRef(Py_None);
failed:
    let_go(&all);
    return found;
}

/* How a robot moves, by the mean of the models at each state. */
typedef struct {
    const Edges *edges;
    const double *joint, *belief, *prior;
} Means;

/* The chances of what can follow a state. */
INLINE void mean_of(const Means *means, Size s, double *restrict found) {
    const Edges *edges = means->edges;
    Size begin = edges->offsets[s], count = edges->offsets[s + 1] - begin;
    for (Size j = 0; j < count; j++) found[j] = 0.0;
    for (Size m = 0; m < edges->models; m++) {
        const double *chances = edges->weights + m * edges->edges + begin;
        double likely = means->belief[s] > 0
            ? means->joint[m * edges->rows + s] / means->belief[s] : means->prior[m];
        for (Size j = 0; j < count; j++) found[j] += likely * chances[j];
    }
}

/* Moves between some states, by row. */
typedef struct {
    int64_t offsets[MOST_STATES + 1];
    int32_t targets[MOST_STATES * MOST_STATES];
    double weights[MOST_STATES * MOST_STATES];
} Some;

/* What is known of a robot from some states on: how likely, and how they lead to each other. */
typedef struct {
    Size count, ticks;         /* states; from one symbol to the next */
    int64_t states[MOST_STATES];
    double f[MOST_STATES];
    Some from, into;           /* moves in a tick from each state, and to each */
} Local;

/* Find the most probable states, the first of equals; each has its `place` among them, others
   −1. */
static void some_states(Local *local, const double *belief, Size states, int64_t *place) {
    Size count = 0, some = 0;
    double all = 0.0, found = 0.0;
    for (Size s = 0; s < states; s++) {
        all += belief[s];
        if (count == MOST_STATES && !(belief[s] > belief[local->states[count - 1]])) continue;
        Size at = count < MOST_STATES ? count++ : MOST_STATES - 1;
        for (; at && belief[s] > belief[local->states[at - 1]]; at--)
            local->states[at] = local->states[at - 1];
        local->states[at] = s;
    }
    while (some < count && (some < FEWEST_STATES || !(found >= all * (1 - REST))))
        found += belief[local->states[some++]];
    for (Size s = 0; s < states; s++) place[s] = -1;
    for (Size i = 0; i < some; i++) place[local->states[i]] = 0;
    for (Size s = 0, at = 0; at < some; s++)  /* ascending */
        if (place[s] == 0) local->states[at] = s, place[s] = at++;
    local->count = some;
}

/* Find how they lead to each other in one tick. `row` has room for what can follow one. */
static void some_moves(Local *local, const Means *means, const int64_t *place, double *row) {
    const Edges *all = means->edges;
    Some *from = &local->from, *into = &local->into;
    Size edges = 0;
    memset(into->offsets, 0, sizeof into->offsets);
    for (Size i = 0; i < local->count; i++) {
        Size s = local->states[i];
        local->f[i] = means->belief[s], from->offsets[i] = edges;
        mean_of(means, s, row);
        for (int64_t e = all->offsets[s]; e < all->offsets[s + 1]; e++) {
            int64_t there = place[all->targets[e]];
            if (there < 0) continue;
            from->targets[edges] = (int32_t)there, into->offsets[there + 1]++;
            from->weights[edges++] = row[e - all->offsets[s]];
        }
    }
    from->offsets[local->count] = edges;
    for (Size i = 0; i < local->count; i++) into->offsets[i + 1] += into->offsets[i];
    int64_t next[MOST_STATES];
    memcpy(next, into->offsets, sizeof next);
    for (Size i = 0; i < local->count; i++)
        for (int64_t e = from->offsets[i]; e < from->offsets[i + 1]; e++) {
            int64_t at = next[from->targets[e]]++;
            into->targets[at] = (int32_t)i, into->weights[at] = from->weights[e];
        }
}

INLINE void lead_tick(const Some *moves, Size count, const double *from, double *restrict to,
                      Size columns) {
    for (Size i = 0; i < count; i++)
        gather(moves->offsets, moves->targets, moves->weights, i, from, columns, columns,
               to + i * columns);
}

/* Values (states, columns) one symbol later, or before; `spare` has as much room. How many columns
   there are is said again where there often are so many: the loops are then unrolled. */
static WIDE void lead(const Local *local, const double *values, double *out, double *spare,
                      Size columns, int back) {
    const Some *moves = back ? &local->from : &local->into;
    for (Size tick = 0; tick < local->ticks; tick++) {
        const double *from = tick == 0 ? values : (local->ticks - tick) & 1 ? spare : out;
        double *to = (local->ticks - tick) & 1 ? out : spare;
#define COLUMNS(n) case n: lead_tick(moves, local->count, from, to, n); break;
        switch (columns) {
            COLUMNS(1) COLUMNS(2) COLUMNS(3) COLUMNS(4) COLUMNS(5) COLUMNS(6) COLUMNS(10)
            COLUMNS(15) COLUMNS(20) COLUMNS(21)
        default:
            lead_tick(moves, local->count, from, to, columns);
        }
#undef COLUMNS
    }
}

/* What is compared. */
INLINE double digits(double value) { return rint(value * DIGITS); }

/* Which of some places founds a cell: it then has the key −1. */
INLINE Size likeliest(double *keys, Size count) {
    double most = -1.0;
    Size best = 0;
    for (Size s = 0; s < count; s++) if (keys[s] > most) most = keys[s], best = s;
    keys[best] = -1.0;
    return best;
}

/* The cell of a state at the last symbol of a block. `founders` are states. */
INLINE uint8_t joined(const float *X, Size states, const int64_t *founders, Size cells, Size s) {
    Size best = 1;
    for (Size i = 2; i < cells; i++)
        if (X[founders[i] * states + s] > X[founders[best] * states + s]) best = i;
    return s == founders[0] ? 0 : (uint8_t)best;
}

INLINE uint8_t largest_of(const double *E, Size cells) {
    double most = digits(E[0]);
    Size best = 0;
    for (Size c = 1; c < cells; c++) {
        double here = digits(E[c]);
        if (here > most) most = here, best = c;
    }
    return (uint8_t)best;
}

/* The cells of a block of some length at each of its symbols, of the states of `local`. */
INLINE void some_cells(const Local *local, const float *X, Size states, Size length, Size more,
                       int64_t *founders, uint8_t *codes, double *one, double *other,
                       double *spare) {
    Size count = local->count, cells = more + 1;
    memcpy(one, local->f, count * sizeof *one);
    for (Size i = 1; i < length; i++) {
        lead(local, one, other, spare, 1, 0);
        double *swap = one;
        one = other, other = swap;
    }
    for (Size s = 0; s < count; s++) one[s] = digits(one[s]);
    for (Size i = 0; i < cells; i++) founders[i] = local->states[likeliest(one, count)];
    uint8_t *last = codes + (length - 1) * count;
    for (Size s = 0; s < count; s++) {
        last[s] = joined(X, states, founders, cells, local->states[s]);
        for (Size c = 0; c < cells; c++) one[s * cells + c] = c == last[s];
    }
    for (Size number = length - 2; number >= 0; number--) {
        lead(local, one, other, spare, cells, 1);
        double *swap = one;
        one = other, other = swap;
        for (Size s = 0; s < count; s++)
            codes[number * count + s] = largest_of(one + s * cells, cells);
    }
}

/* The same of all states. `E` and `next` have room for (states, cells). */
static void all_cells(const Means *means, const float *X, Size length, Size more, Size ticks,
                      const int64_t *founders, uint8_t *codes, double *moves, double *E,
                      double *next) {
    const Edges *edges = means->edges;
    Size states = edges->rows, cells = more + 1;
    uint8_t *last = codes + (length - 1) * states;
    for (Size s = 0; s < states; s++) {
        mean_of(means, s, moves + edges->offsets[s]);
        last[s] = joined(X, states, founders, cells, s);
        for (Size c = 0; c < cells; c++) E[s * cells + c] = c == last[s];
    }
    for (Size number = length - 2; number >= 0; number--) {
        for (Size tick = 0; tick < ticks; tick++) {
            for (Size s = 0; s < states; s++) {
                double sums[MOST_MORE + 1] = {0};
                for (int64_t e = edges->offsets[s]; e < edges->offsets[s + 1]; e++)
                    for (Size c = 0; c < cells; c++)
                        sums[c] += moves[e] * E[edges->targets[e] * cells + c];
                memcpy(next + s * cells, sums, cells * sizeof *sums);
            }
            double *swap = E;
            E = next, next = swap;
        }
        for (Size s = 0; s < states; s++)
            codes[number * states + s] = largest_of(E + s * cells, cells);
    }
}

typedef struct { double told, matches, last, there; } Worth;

/* What a block tells, H(z) − H(z|c), and the matches of its best marginals given z; those of its
   last symbol, and how likely the robot is still there. `law`: the chances (drawn, counted), and
   Σ_z P log P by what was counted; `known`: room for MOST_STATES·counts at each symbol, `room`
   three times as much. */
INLINE Worth worth_of(const Local *local, const uint8_t *codes, Size length, Size more,
                      const double *law, double *known, Size each, double *room) {
    Size count = local->count, widest = number_of_vectors(length, more);
    double *one = room, *other = room + each, *spare = other + each;
    memcpy(known, local->f, count * sizeof *known);
    for (Size number = 0, before = 1; number < length; number++) {
        Size after = number_of_vectors(number + 1, more);
        double *here = known + number * each;
        if (number) lead(local, one, here, other, before, 0);
        for (Size i = 0; i < count * after; i++) one[i] = 0.0;
        for (Size s = 0; s < count; s++) {
            const uint8_t *then = FOLLOWS[number][more][codes[number * count + s]];
            for (Size c = 0; c < before; c++) one[s * after + then[c]] = here[s * before + c];
        }
        before = after;
    }
    double all = 0.0, counted[MOST_VECTORS] = {0};
    Worth found = {0.0, 0.0, 0.0, 1.0};
    for (Size s = 0; s < count; s++)
        for (Size c = 0; c < widest; c++) counted[c] += one[s * widest + c];
    for (Size c = 0; c < widest; c++) all += counted[c];
    found.there = all;
    for (Size z = 0; z < widest; z++) {
        double sum = 0.0;
        for (Size c = 0; c < widest; c++) sum += law[z * widest + c] * (counted[c] / all);
        found.told -= sum > 0 ? sum * log(sum) : 0.0;
    }
    for (Size c = 0; c < widest; c++)
        found.told += law[widest * widest + c] * (counted[c] / all);
    /* Back: one is the chance of the counts from a symbol on, by its state. */
    Four by_state[MOST_VECTORS][LIKELY / 4], first[MOST_VECTORS][LIKELY / 4];
    for (Size number = length - 1; number >= 0; number--) {
        Size later = number_of_vectors(length - number - 1, more);
        Size from = number_of_vectors(length - number, more);
        if (number < length - 1) lead(local, one, other, spare, later, 1);
        else for (Size s = 0; s < count; s++) other[s] = 1.0;
        for (Size i = 0; i < count * from; i++) one[i] = 0.0;
        for (Size s = 0; s < count; s++) {
            const uint8_t *then =
                FOLLOWS[length - number - 1][more][codes[number * count + s]];
            for (Size c = 0; c < later; c++) one[s * from + then[c]] = other[s * later + c];
        }
        const double *here = known + number * each;
        Size before = number_of_vectors(number, more), some = 0;
        int64_t likely[LIKELY];
        double chances[LIKELY];
        for (Size s = 0; s < count; s++) {
            double chance = 0.0;
            for (Size c = 0; c < before; c++) chance += here[s * before + c];
            chance = digits(chance);
            if (some == LIKELY && !(chance > chances[some - 1])) continue;
            Size at = some < LIKELY ? some++ : LIKELY - 1;
            for (; at && chance > chances[at - 1]; at--)
                chances[at] = chances[at - 1], likely[at] = likely[at - 1];
            chances[at] = chance, likely[at] = s;
        }
        for (Size c = 0; c < before; c++)
            for (Size i = 0; i < LIKELY; i++)
                first[c][i / 4][i % 4] = i < some ? here[likely[i] * before + c] : 0.0;
        const uint8_t *pairs = TOGETHER[length][more][number];
        memset(by_state, 0, widest * sizeof *by_state);
        for (Size b = 0; b < from; b++) {
            Four chance[LIKELY / 4] = {{0.0}};
            for (Size i = 0; i < LIKELY; i++)
                chance[i / 4][i % 4] = i < some ? one[likely[i] * from + b] : 0.0;
            for (Size c = 0; c < before; c++) {
                Four *sum = by_state[pairs[b * before + c]];
                for (Size i = 0; i < LIKELY / 4; i++) sum[i] += first[c][i] * chance[i];
            }
        }
        for (Size z = 0; z < widest; z++) {
            Four sums[LIKELY / 4] = {{0.0}};
            double best = 0.0;
            for (Size c = 0; c < widest; c++)
                for (Size i = 0; i < LIKELY / 4; i++)
                    sums[i] += law[z * widest + c] * by_state[c][i];
            for (Size i = 0; i < LIKELY; i++)
                best = sums[i / 4][i % 4] > best ? sums[i / 4][i % 4] : best;
            found.matches += best;
        }
        if (number == length - 1) found.last = found.matches;
    }
    return found;
}

/* The same of a signal about one symbol: `blocks._worth_of_single`. `shares`: those of so many
   cells; `mass` and `best` have room for 1 + size. */
static Worth worth_of_single(const double *belief, const uint16_t *codes, Size states, Size size,
                             const double shares[4], double *mass, double *best) {
    double other = shares[0], own = shares[1], uniform = shares[2], some = 0.0;
    Worth found = {0.0, 0.0, 0.0, 1.0};
    Size first = 1;
    for (Size z = 0; z <= size; z++) mass[z] = best[z] = 0.0;
    for (Size s = 0; s < states; s++) {
        mass[codes[s]] += belief[s];
        if (belief[s] > best[codes[s]]) best[codes[s]] = belief[s];
    }
    for (Size z = 1; z <= size; z++) some += mass[z], first = best[z] > best[first] ? z : first;
    double second = 0.0;
    for (Size z = 1; z <= size; z++)
        if (z != first && best[z] > second) second = best[z];
    found.told = shares[3] * some + mass[0] * log(uniform);
    for (Size z = 1; z <= size; z++) {
        double chance = uniform * mass[0] + other * some + (own - other) * mass[z];
        double guess = own * best[z], away = other * (z == first ? second : best[first]);
        found.told -= chance * log(chance);
        guess = away > guess ? away : guess;
        found.matches += uniform * best[0] > guess ? uniform * best[0] : guess;
    }
    found.last = found.matches;
    return found;
}

/* What that is worth for each of so many symbols: a nat is worth some matches. */
INLINE double worth_each(Worth worth, double nat, double most, Size length) {
    return (worth.matches + nat * worth.told + AT_END * (worth.last - worth.there * most))
        / (double)length;
}

/* Which block is worth the most of those that tell more than the single signal for each symbol:
   its number; −1: none is worth more than that signal. */
static WIDE Size best_block(const Local *local, const float *X, Size states, const int64_t *sizes,
                            Size kinds, const double *laws, double nat, Size longest, Worth single,
                            int64_t *founders, double *room) {
    double most = 0.0, before = 0.0;
    for (Size i = 0; i < local->count; i++) most = local->f[i] > most ? local->f[i] : most;
    double alone = worth_each(single, nat, most, 1), least = alone;
    Size best = -1, ended = 0, each = MOST_STATES * MOST_VECTORS;
    for (Size i = 0; i < kinds; i++) {
        Size length = sizes[3 * i], more = sizes[3 * i + 1];
        int64_t some[MOST_MORE + 1];
        uint8_t codes[MOST_LENGTH * MOST_STATES];
        if (length > longest || more >= local->count || more == ended) continue;
        if (!i || sizes[3 * i - 2] != more) before = alone;
        some_cells(local, X, states, length, more, some, codes, room, room + each,
                   room + 2 * each);
        Worth worth = worth_of(local, codes, length, more, laws + sizes[3 * i + 2],
                               room + 3 * each, each, room);
        double value = worth_each(worth, nat, most, length);
        if (!(value > before - LESS)) ended = more;
        before = value;
        if (!(worth.told / (double)length > single.told + BETTER && value > least + BETTER))
            continue;
        best = i, least = value;
        memcpy(founders, some, sizeof some);
    }
    return best;
}

static WIDE int are_at_most(const uint16_t *numbers, Size count, Size most) {
    int fine = 1;
    for (Size i = 0; i < count; i++) fine &= numbers[i] <= most;
    return fine;
}

/* block(edges, joint, belief, prior, X, sizes, laws, matches of a nat, single, cells, shares,
   longest, best, codes, words, ticks, kinds, numbers of laws, of shares): which block of each word
   is worth more than a signal about one symbol: its number in `sizes` is put into `best`; −1:
   none. The cells of its symbols are put into `codes` (words, longest, states). `edges` have
   weights of all models; `joint` (words, models, states) and `belief` (words, states) are of one
   word after another. `sizes`: L, m, and where in `laws` each has its own, as of `worth_of`;
   `single` (words, states) and `cells`: the cells of the signal about one symbol, and how many;
   `shares`: `Shares`. */
static PyObject *block(PyObject *module, PyObject *args) {
    (void)module;
    Arrays all = {.count = 0};
    PyObject *joint_, *belief_, *prior_, *X_, *sizes_, *laws_, *single_, *cells_, *shares_;
    PyObject *best_, *codes_, *found = NULL;
    Edges *edges;
    double *room = NULL;
    int64_t *place = NULL, founders[MOST_MORE + 1];
    Local *local = NULL;
    Size longest, words, ticks, kinds, law_size, wide, size = 0;
    double nat;
    if (!PyArg_ParseTuple(args, "O!OOOOOOdOOOnOOnnnnn", &EdgesType, &edges, &joint_, &belief_,
                          &prior_, &X_, &sizes_, &laws_, &nat, &single_, &cells_, &shares_,
                          &longest, &best_, &codes_, &words, &ticks, &kinds, &law_size, &wide))
        return NULL;
    Size states = edges->rows, models = edges->models;
    if (!are_of(edges, states, states, models)) return NULL;
    TAKE(double, joint, joint_, 'd', words * models * states, 0);
    TAKE(double, belief, belief_, 'd', words * states, 0);
    TAKE(double, prior, prior_, 'd', models, 0);
    TAKE(float, X, X_, 'f', states * states, 0);
    TAKE(int64_t, sizes, sizes_, 'q', 3 * kinds, 0);
    TAKE(double, laws, laws_, 'd', law_size, 0);
    TAKE(uint16_t, single, single_, 'H', words * states, 0);
    TAKE(int64_t, cells, cells_, 'q', words, 0);
    TAKE(double, shares, shares_, 'd', 4 * wide, 0);
    TAKE(int64_t, best, best_, 'q', words, 1);
    TAKE(uint8_t, codes, codes_, 'B', words * longest * states, 1);
    Means means = {.edges = edges, .prior = prior};
    int fine = ticks > 0 && longest > 0;
    for (Size i = 0; i < kinds; i++) {
        Size length = sizes[3 * i], more = sizes[3 * i + 1];
        fine = fine && is_block(length, more);
        Size counts = fine ? number_of_vectors(length, more) : 0;
        fine = fine && sizes[3 * i + 2] >= 0
               && sizes[3 * i + 2] + counts * (counts + 1) <= law_size;
    }
    for (Size w = 0; w < words; w++) {
        fine &= cells[w] > 0 && cells[w] < wide;
        fine &= are_at_most(single + w * states, states, cells[w]);
        size = cells[w] > size ? cells[w] : size;
    }
    if (!fine) {
        PyErr_SetString(PyExc_ValueError, "these are no cells or counts of a chain");
        goto failed;
    }
    if ((local = malloc(sizeof *local))) local->ticks = ticks;
    place = malloc(states * sizeof *place);
    Size numbers = (MOST_LENGTH + 3) * MOST_STATES * MOST_VECTORS;
    Size wider = states * (MOST_MORE + 1);
    numbers += edges->edges + 2 * wider + 2 * (size + 1);
    room = malloc(numbers * sizeof *room);
    if (!local || !place || !room) {
        PyErr_NoMemory();
        goto failed;
    }
    Py_BEGIN_ALLOW_THREADS
    for (Size w = 0; w < words; w++) {
        means.joint = joint + w * models * states, means.belief = belief + w * states;
        double each[4];
        for (int i = 0; i < 4; i++) each[i] = shares[i * wide + cells[w]];
        Worth worth = worth_of_single(means.belief, single + w * states, states, cells[w], each,
                                      room, room + size + 1);
        some_states(local, means.belief, states, place);
        some_moves(local, &means, place, room);
        best[w] = best_block(local, X, states, sizes, kinds, laws, nat, longest, worth, founders,
                             room);
        if (best[w] >= 0)
            all_cells(&means, X, sizes[3 * best[w]], sizes[3 * best[w] + 1], ticks, founders,
                      codes + w * longest * states, room, room + edges->edges,
                      room + edges->edges + wider);
    }
    Py_END_ALLOW_THREADS
    found = Py_NewRef(Py_None);
failed:
    free(local);
    free(place);
    free(room);
    let_go(&all);
    return found;
}

/* ---- The cells of the next signal ---- */

typedef struct {
    Size states, words, width, most;
    const float *X;             /* (states, states) */
    const double *f;            /* (words, states) */
    const char *inside;         /* (words, states), or NULL */
    const int64_t *previous;    /* (words,) */
    const int32_t *successors;  /* (states, width), −1 after the last */
    const double *other, *own, *uniform, *minus_entropy;  /* of `Shares`, by the number of cells */
    int at_once;
} Question;

typedef struct {               /* of one word */
    double *known;              /* (states,): f that counts */
    double *keys;               /* (most,) */
    int32_t *founders, *sorted; /* (most,) */
    int32_t *joining;           /* (states + 1,): those that join a cell */
    double *matches, *row;      /* (most,), (states,) */
    double *weighed;            /* (states, founders): f(s)·X(c_j, s) */
    double *by_cell;            /* (1 + cells, founders): Σ of that over the states of a cell */
    double *mass;               /* (1 + cells,) */
    double *reach;              /* (founders,) */
    float *nearest;             /* (states,): X of the cell that a state is in */
    uint16_t *cells;            /* (CELLS + 1, states): of each number that was tried */
} Room;

static int make_room(Room *room, Size states, Size most, int at_once) {
    Size wide = at_once ? most : 0;
    memset(room, 0, sizeof *room);
    room->known = malloc(states * sizeof(double));
    room->keys = malloc(most * sizeof(double));
    room->founders = malloc(most * sizeof(int32_t));
    room->sorted = malloc(most * sizeof(int32_t));
    room->joining = malloc((states + 1) * sizeof(int32_t));
    room->matches = malloc(most * sizeof(double));
    room->row = malloc(states * sizeof(double));
    room->weighed = malloc((states * wide + 1) * sizeof(double));
    room->by_cell = malloc(((most + 1) * wide + 1) * sizeof(double));
    room->mass = malloc((most + 1) * sizeof(double));
    room->reach = malloc(most * sizeof(double));
    room->nearest = malloc(states * sizeof(float));
    room->cells = malloc((CELLS + 1) * states * sizeof(uint16_t));
    return room->known && room->keys && room->founders && room->sorted && room->joining
        && room->matches && room->row && room->weighed && room->by_cell && room->mass
        && room->reach && room->nearest && room->cells;
}

static void free_room(Room *room) {
    free(room->known), free(room->keys), free(room->founders), free(room->sorted);
    free(room->joining), free(room->matches), free(room->row), free(room->weighed);
    free(room->by_cell), free(room->mass), free(room->reach), free(room->nearest);
    free(room->cells);
}

/* Keep a state among the `most` of the largest keys, the first of equals first; return how many
   there are. */
INLINE Size keep_largest(Room *room, Size count, Size most, double key, int32_t state) {
    Size at = count;
    if (count == most && !(key > room->keys[most - 1])) return count;
    while (at > 0 && room->keys[at - 1] < key) at--;
    Size moved = (count < most ? count : most - 1) - at;
    memmove(room->keys + at + 1, room->keys + at, moved * sizeof *room->keys);
    memmove(room->founders + at + 1, room->founders + at, moved * sizeof *room->founders);
    room->keys[at] = key, room->founders[at] = state;
    return count < most ? count + 1 : most;
}

/* As `_candidates` for one word: return how many there are. */
INLINE Size candidates(const Question *q, Room *room, const double *f, const char *inside,
                       int64_t previous, int *due) {
    Size count = 0;
    *due = 0;
    if (q->at_once) {
        const int32_t *able = q->successors + previous * q->width;
        for (Size i = 0; i < q->width && able[i] >= 0 && able[i] < q->states; i++)
            if (!inside || inside[able[i]])
                count = keep_largest(room, count, q->most, f[able[i]], able[i]);
        *due = count > 0;
    }
    if (!count)
        for (Size s = 0; s < q->states; s++)
            if (!inside || inside[s]) count = keep_largest(room, count, q->most, f[s], (int32_t)s);
    return count;
}

/* Put first the founders of the most matches, the first of equals first. */
INLINE void by_matches(const Question *q, Room *room, Size count) {
    for (Size j = 0; j < count; j++) {
        const float *near = q->X + room->founders[j] * q->states;
        for (Size s = 0; s < q->states; s++) room->row[s] = near[s] * room->known[s];
        double matches = pairwise(room->row, q->states);
        Size at = j;
        while (at > 0 && room->matches[at - 1] < matches) at--;
        memmove(room->matches + at + 1, room->matches + at, (j - at) * sizeof *room->matches);
        memmove(room->sorted + at + 1, room->sorted + at, (j - at) * sizeof *room->sorted);
        room->matches[at] = matches, room->sorted[at] = room->founders[j];
    }
    memcpy(room->founders, room->sorted, count * sizeof *room->founders);
}

/* Let states join the j-th founder where its X is larger than all before. */
INLINE void join(const Question *q, Room *room, Size j, Size count, int due, uint16_t *cells) {
    const float *near = q->X + room->founders[j] * q->states;
    double *to = room->by_cell + (j + 1) * count, mass = 0.0;
    Size joining = 0;
    if (due) memset(to, 0, count * sizeof *to);
    for (Size s = 0; s < q->states; s++) {
        room->joining[joining] = (int32_t)s;
        joining += near[s] > room->nearest[s];
    }
    for (Size at = 0; at < joining; at++) {
        Size s = room->joining[at];
        double known = room->known[s];
        if (known && due) {
            double *from = room->by_cell + cells[s] * count, *each = room->weighed + s * count;
            for (Size i = 0; i < count; i++) from[i] -= each[i], to[i] += each[i];
        }
        room->mass[cells[s]] -= known, mass += known;
        room->nearest[s] = near[s], cells[s] = (uint16_t)(j + 1);
    }
    room->mass[j + 1] = mass;
}

/* What so many cells are worth: `_values` for one word. */
INLINE double value_of(const Question *q, Room *room, Size size, Size count, int due) {
    double nothing = room->mass[0], some = 0.0, found = 0.0;
    double other = q->other[size], own = q->own[size], uniform = q->uniform[size];
    for (Size z = 1; z <= size; z++) some += room->mass[z];
    double value = q->minus_entropy[size] * some + nothing * log(uniform);
    for (Size z = 1; z <= size; z++) {
        double chance = uniform * nothing + other * some + (own - other) * room->mass[z];
        value -= chance * log(chance);
    }
    if (!due) return value;
    for (Size i = 0; i < count; i++)
        room->reach[i] = other * room->matches[i] + (uniform - other) * room->by_cell[i];
    for (Size z = 1; z <= size; z++) {
        const double *here = room->by_cell + z * count;
        double best = room->reach[0] + (own - other) * here[0];
        for (Size i = 1; i < count; i++) {
            double reached = room->reach[i] + (own - other) * here[i];
            best = reached > best ? reached : best;
        }
        found += best;
    }
    return INFORMATION * value + found;
}

/* Choose the cells of one word: return how many candidates there are. */
static WIDE Size choose_one(const Question *q, Room *room, Size word, int64_t *size,
                            uint16_t **codes) {
    const double *f = q->f + word * q->states;
    const char *inside = q->inside ? q->inside + word * q->states : NULL;
    int due;
    Size states = q->states, tried = 0, best = 0;
    double values[CELLS + 1];
    Size sizes[CELLS + 1];
    Size count = candidates(q, room, f, inside, q->previous[word], &due);
    *size = 0, *codes = room->cells;
    if (!count) return 0;
    room->mass[0] = 0.0;
    for (Size s = 0; s < states; s++) {
        room->known[s] = f[s] > LEAST ? f[s] : 0.0;
        room->mass[0] += room->known[s];
        room->nearest[s] = 0.0f, room->cells[s] = 0;
    }
    if (due) {
        by_matches(q, room, count);
        memset(room->by_cell, 0, count * sizeof *room->by_cell);
        for (Size s = 0; s < states; s++) {
            double known = room->known[s], *each = room->weighed + s * count;
            if (!known) continue;
            for (Size i = 0; i < count; i++) {
                each[i] = q->X[room->founders[i] * states + s] * known;
                room->by_cell[i] += each[i];
            }
        }
    }
    for (Size j = 0; j < count; j++) {
        uint16_t *cells = room->cells + tried * states;
        join(q, room, j, count, due, cells);
        if (j >= CELLS && j + 1 < count) continue;
        sizes[tried] = j + 1;
        values[tried] = value_of(q, room, j + 1, count, due);
        if (values[tried] > values[best]) best = tried;
        if (++tried <= CELLS && j + 1 < count)
            memcpy(room->cells + tried * states, cells, states * sizeof *cells);
    }
    for (Size i = 0; i < tried; i++)
        if (values[i] >= values[best] - TIE) {
            *size = sizes[i], *codes = room->cells + i * states;
            break;
        }
    return count;
}

/* choose(X, f, inside or None, previous, successors, shares, at_once, founders, sizes, codes,
   states, words, width, most) → the most candidates of a word: `cells.best_cells`. */
static PyObject *choose(PyObject *module, PyObject *args) {
    (void)module;
    Arrays all = {.count = 0};
    PyObject *X_, *f_, *inside_, *previous_, *successors_, *shares_, *founders_, *sizes_, *codes_;
    PyObject *found = NULL;
    Question q;
    Room room = {0};
    Size longest = 0;
    if (!PyArg_ParseTuple(args, "OOOOOOpOOOnnnn", &X_, &f_, &inside_, &previous_, &successors_,
                          &shares_, &q.at_once, &founders_, &sizes_, &codes_, &q.states, &q.words,
                          &q.width, &q.most)) return NULL;
    Size states = q.states, words = q.words, most = q.most;
    TAKE(float, X, X_, 'f', states * states, 0);
    TAKE(double, f, f_, 'd', words * states, 0);
    TAKE_IF(char, inside, inside_, '?', words * states, 0);
    TAKE(int64_t, previous, previous_, 'q', words, 0);
    TAKE(int32_t, successors, successors_, 'i', states * q.width, 0);
    TAKE(double, shares, shares_, 'd', 4 * (most + 1), 0);
    TAKE(int64_t, founders, founders_, 'q', most * words, 1);
    TAKE(int64_t, sizes, sizes_, 'q', words, 1);
    TAKE(uint16_t, codes, codes_, 'H', states * words, 1);
    int fine = most > 0 && most < 65535 && states > 0;
    for (Size w = 0; w < words; w++) fine &= previous[w] >= 0 && previous[w] < states;
    if (!fine) {
        PyErr_SetString(PyExc_ValueError, "there are no such states");
        goto failed;
    }
    q.X = X, q.f = f, q.inside = inside, q.previous = previous, q.successors = successors;
    q.other = shares, q.own = shares + most + 1, q.uniform = shares + 2 * (most + 1);
    q.minus_entropy = shares + 3 * (most + 1);
    if (!make_room(&room, states, most, q.at_once)) {
        PyErr_NoMemory();
        goto failed;
    }
    Py_BEGIN_ALLOW_THREADS
    for (Size w = 0; w < words; w++) {
        uint16_t *chosen;
        Size count = choose_one(&q, &room, w, &sizes[w], &chosen);
        longest = count > longest ? count : longest;
        for (Size j = 0; j < most; j++)
            founders[j * words + w] = j < count ? room.founders[j] : -1;
        for (Size s = 0; s < states; s++) codes[s * words + w] = count ? chosen[s] : 0;
    }
    Py_END_ALLOW_THREADS
    found = PyLong_FromSsize_t(longest);
failed:
    free_room(&room);
    let_go(&all);
    return found;
}

/* spread(edges, codes, states, words): states of code 0 take that of the one from which the fewest
   moves lead to them, the first of these: `cells._spread`. `edges` lead from each state. */
static PyObject *spread(PyObject *module, PyObject *args) {
    (void)module;
    Arrays all = {.count = 0};
    PyObject *codes_, *found = NULL;
    Edges *edges;
    int32_t *queue = NULL;
    Size states, words;
    if (!PyArg_ParseTuple(args, "O!Onn", &EdgesType, &edges, &codes_, &states, &words))
        return NULL;
    if (!are_of(edges, states, states, edges->models)) return NULL;
    TAKE(uint16_t, codes, codes_, 'H', states * words, 1);
    if (!(queue = malloc((states + 1) * sizeof *queue))) {
        PyErr_NoMemory();
        goto failed;
    }
    Py_BEGIN_ALLOW_THREADS
    for (Size w = 0; w < words; w++) {
        Size end = 0;
        for (Size s = 0; s < states; s++) if (codes[s * words + w]) queue[end++] = (int32_t)s;
        for (Size at = 0; at < end && end < states; at++)
            for (int64_t e = edges->offsets[queue[at]]; e < edges->offsets[queue[at] + 1]; e++) {
                Size there = edges->targets[e];
                if (codes[there * words + w]) continue;
                codes[there * words + w] = codes[queue[at] * words + w];
                queue[end++] = (int32_t)there;
            }
    }
    Py_END_ALLOW_THREADS
    found = Py_NewRef(Py_None);
failed:
    free(queue);
    let_go(&all);
    return found;
}

/* ---- Expected matches ---- */

static WIDE void expected_all(const void *columns, int is_double, const double *likely,
                              double *out, Size states, Size words, double *sums) {
    for (Size w = 0; w < words; w++) {
        float *less = (float *)sums;
        memset(sums, 0, states * sizeof *sums);
        for (Size s = 0; s < states; s++) {
            double chance = likely[s * words + w];
            float rounded = (float)chance;
            if (!chance) continue;
            if (is_double) {
                const double *row = (const double *)columns + s * states;
                for (Size o = 0; o < states; o++) sums[o] += chance * row[o];
            } else {
                const float *row = (const float *)columns + s * states;
                for (Size o = 0; o < states; o++) less[o] += rounded * row[o];
            }
        }
        for (Size o = 0; o < states; o++)
            out[o * words + w] = is_double ? sums[o] : less[o];
    }
}

/* expected(columns, is_double, likely, out, states, words): Σ_s γ(s)·X(o, s) for each o, in the
   precision of the columns; columns[s, o] = X(o, s). */
static PyObject *expected(PyObject *module, PyObject *args) {
    (void)module;
    Arrays all = {.count = 0};
    PyObject *columns_, *likely_, *out_, *found = NULL;
    int is_double;
    double *sums = NULL;
    Size states, words;
    if (!PyArg_ParseTuple(args, "OpOOnn", &columns_, &is_double, &likely_, &out_, &states, &words))
        return NULL;
    TAKE(void, columns, columns_, is_double ? 'd' : 'f', states * states, 0);
    TAKE(double, likely, likely_, 'd', states * words, 0);
    TAKE(double, out, out_, 'd', states * words, 1);
    if (!(sums = numbers_for(states))) goto failed;
    Py_BEGIN_ALLOW_THREADS
    expected_all(columns, is_double, likely, out, states, words, sums);
    Py_END_ALLOW_THREADS
    found = Py_NewRef(Py_None);
failed:
    free(sums);
    let_go(&all);
    return found;
}

/* expected_next(X, successors, previous, likely, out, states, words, width): the same in double
   precision for the successors of `previous`; 0 for others. */
static PyObject *expected_next(PyObject *module, PyObject *args) {
    (void)module;
    Arrays all = {.count = 0};
    PyObject *X_, *successors_, *previous_, *likely_, *out_, *found = NULL;
    double *room = NULL;
    Size states, words, width;
    if (!PyArg_ParseTuple(args, "OOOOOnnn", &X_, &successors_, &previous_, &likely_, &out_,
                          &states, &words, &width)) return NULL;
    TAKE(float, X, X_, 'f', states * states, 0);
    TAKE(int32_t, successors, successors_, 'i', states * width, 0);
    TAKE(int64_t, previous, previous_, 'q', words, 0);
    TAKE(double, likely, likely_, 'd', states * words, 0);
    TAKE(double, out, out_, 'd', states * words, 1);
    if (!(room = numbers_for(2 * states))) goto failed;
    double *column = room, *terms = room + states;
    memset(out, 0, states * words * sizeof *out);
    for (Size w = 0; w < words; w++) {
        if (previous[w] < 0 || previous[w] >= states) continue;
        for (Size s = 0; s < states; s++) column[s] = likely[s * words + w];
        for (Size i = 0; i < width; i++) {
            int32_t o = successors[previous[w] * width + i];
            if (o < 0 || o >= states) continue;
            const float *row = X + o * states;
            for (Size s = 0; s < states; s++) terms[s] = row[s] * column[s];
            out[o * words + w] = pairwise(terms, states);
        }
    }
    found = Py_NewRef(Py_None);
failed:
    free(room);
    let_go(&all);
    return found;
}

/* ---- The values of all pairs ---- */

#define ROWS 8 /* of U that share what is read of the edges; their columns are put side by side */

/* Numbers that stand side by side; of fewer than four, the first one takes the other places. */
#define TAKE_FOUR(four, from, some) \
    if ((some) == 4) four = *(const Four *)(from); \
    else for (Size i = 0; i < 4; i++) four[i] = (from)[i < (some) ? i : 0]
#define CHOSEN(where, a, b) ((Four)(((Masks)(a) & (where)) | ((Masks)(b) & ~(where))))

typedef struct { Four least, most; } Changes;  /* of U, in each of four places */

/* U of a report and some symbols, at most four. */
INLINE void improve(const Edges *followers, Size o, const double *X, Size n, double other,
                    double gain, double *U, Size some, Changes *changes) {
    int64_t begin = followers->offsets[o], end = followers->offsets[o + 1];
    Four total = {0.0}, there = total, before = total, most;
    TAKE_FOUR(total, X + followers->targets[begin] * n, some);
    most = total;
    for (int64_t e = begin + 1; e < end; e++) {
        TAKE_FOUR(there, X + followers->targets[e] * n, some);
        total += there, most = CHOSEN(there > most, there, most);
    }
    TAKE_FOUR(before, U, some);
    Four found = other * total + gain * most, change = found - before;
    if (some == 4) *(Four *)U = found;
    else for (Size i = 0; i < some; i++) U[i] = found[i];
    changes->least = CHOSEN(change < changes->least, change, changes->least);
    changes->most = CHOSEN(change > changes->most, change, changes->most);
}

/* `room` has ROWS·n numbers. */
static WIDE void sweep_pairs(const Edges *walks, const Edges *followers, const double *others,
                             const double *gain, double discount, double *U, double *X, Size n,
                             double *room, double bounds[2]) {
    for (Size o = 0; o < n; o += ROWS) {
        Size rows = n - o < ROWS ? n - o : ROWS;
        for (Size s = 0; s < n; s++)
            for (Size i = 0; i < ROWS; i++)
                room[ROWS * s + i] = U[(o + (i < rows ? i : 0)) * n + s];
        for (Size s = 0; s < n; s++) {
            double sums[ROWS];
            gather(walks->offsets, walks->targets, walks->weights, s, room, ROWS, ROWS, sums);
            for (Size i = 0; i < rows; i++) X[(o + i) * n + s] = sums[i] * discount;
        }
        for (Size i = 0; i < rows; i++) X[(o + i) * n + o + i] += 1.0;
    }
    Changes changes = {{INFINITY, INFINITY, INFINITY, INFINITY},
                       {-INFINITY, -INFINITY, -INFINITY, -INFINITY}};
    for (Size o = 0; o < n; o++) {
        double *row = U + o * n;
        Size s = 0;
        for (; s + 4 <= n; s += 4)
            improve(followers, o, X + s, n, others[o], gain[o], row + s, 4, &changes);
        if (s < n) improve(followers, o, X + s, n, others[o], gain[o], row + s, n - s, &changes);
    }
    for (Size i = 0; i < 4; i++) {
        bounds[0] = changes.least[i] < bounds[0] ? changes.least[i] : bounds[0];
        bounds[1] = changes.most[i] > bounds[1] ? changes.most[i] : bounds[1];
    }
}

/* sweep(walks, followers, others, gain, discount, U, X, states) → (least, most) change of U: one
   round of `expected_matches.of_all_pairs`. Each state has a follower. */
static PyObject *sweep(PyObject *module, PyObject *args) {
    (void)module;
    Arrays all = {.count = 0};
    PyObject *others_, *gain_, *U_, *X_, *found = NULL;
    Edges *walks, *followers;
    double *room = NULL, discount, bounds[2] = {INFINITY, -INFINITY};
    Size n;
    if (!PyArg_ParseTuple(args, "O!O!OOdOOn", &EdgesType, &walks, &EdgesType, &followers,
                          &others_, &gain_, &discount, &U_, &X_, &n)) return NULL;
    if (!are_of(walks, n, n, 1) || !are_of(followers, n, n, followers->models)
        || !are_full(followers)) return NULL;
    TAKE(double, others, others_, 'd', n, 0);
    TAKE(double, gain, gain_, 'd', n, 0);
    TAKE(double, U, U_, 'd', n * n, 1);
    TAKE(double, X, X_, 'd', n * n, 1);
    if (!(room = numbers_for(ROWS * n))) goto failed;
    Py_BEGIN_ALLOW_THREADS
    sweep_pairs(walks, followers, others, gain, discount, U, X, n, room, bounds);
    Py_END_ALLOW_THREADS
    found = Py_BuildValue("dd", bounds[0], bounds[1]);
failed:
    free(room);
    let_go(&all);
    return found;
}

static PyMethodDef functions[] = {
    {"add", add, METH_VARARGS, "Sums over neighbours."},
    {"largest", largest, METH_VARARGS, "The largest over neighbours."},
    {"predict", predict, METH_VARARGS, "What is known after a signal, the switch and a move."},
    {"backward", backward, METH_VARARGS, "Chances of later signals, one tick before."},
    {"turn", turn, METH_VARARGS, "One symbol of a block."},
    {"block", block, METH_VARARGS, "The block that comes next."},
    {"choose", choose, METH_VARARGS, "The cells of the next signal."},
    {"spread", spread, METH_VARARGS, "A cell for states that have none."},
    {"expected", expected, METH_VARARGS, "Expected matches of each report."},
    {"sweep", sweep, METH_VARARGS, "One round of the values of all pairs."},
    {"expected_next", expected_next, METH_VARARGS, "The same of the successors alone."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_loops", "Loops of the policy adaptive.", -1, functions,
    NULL, NULL, NULL, NULL};

/* Return CONSTANTS by name. */
static PyObject *named_constants(void) {
    PyObject *found = PyDict_New();
    for (size_t i = 0; found && i < sizeof CONSTANTS / sizeof *CONSTANTS; i++) {
        PyObject *value = PyFloat_FromDouble(CONSTANTS[i].value);
        if (!value || PyDict_SetItemString(found, CONSTANTS[i].name, value) < 0) Py_CLEAR(found);
        Py_XDECREF(value);
    }
    return found;
}

PyMODINIT_FUNC PyInit__loops(void) {
    if (PyType_Ready(&EdgesType) < 0) return NULL;
    make_tables();
    PyObject *made = PyModule_Create(&module), *constants = named_constants();
    if (made && (!constants || PyModule_AddObjectRef(made, "CONSTANTS", constants) < 0
                 || PyModule_AddObjectRef(made, "Edges", (PyObject *)&EdgesType) < 0))
        Py_CLEAR(made);
    Py_XDECREF(constants);
    return made;
}
