/* SPDX-FileCopyrightText: 2026 The symdp_ros authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of NumPy in the compiled loops: how they are taken, and what is checked of them.
 *
 * A loop gives the same bits as its twin in NumPy, on every machine: the same additions in the
 * same order (setup.py asks for no fused or reordered ones). Before it runs, it checks that no
 * index can leave its array: a mistake in Python raises.
 */
#ifndef SYMDP_ARRAYS_H
#define SYMDP_ARRAYS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0
#error "sums of doubles are kept in more digits here: NumPy has to do it"
#endif

/* Loops that gain by wider registers are compiled twice, where the loader can choose. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) \
    && !defined(__SANITIZE_ADDRESS__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

/* Numbers side by side; where they begin, no more is asked than of one of them. */
typedef double Two __attribute__((vector_size(16), aligned(8), may_alias));
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t Masks __attribute__((vector_size(32), aligned(8), may_alias));

#define MOST_ARRAYS 24

/* What a function has taken; it begins as {0}, and ends with `let_go`. */
typedef struct {
    Py_buffer views[MOST_ARRAYS];
    int count;
} Arrays;

/* Return the letter of a type as `struct` has it, with 'q' and 'Q' for integers of 64 bits. */
static inline char letter_of(const Py_buffer *view)
{
    char letter = view->format == NULL ? 'B' : view->format[0];
    if (letter != '\0' && view->format != NULL && view->format[1] != '\0')
        return '?';
    if (letter == 'l')
        return view->itemsize == 8 ? 'q' : 'i';
    if (letter == 'L')
        return view->itemsize == 8 ? 'Q' : 'I';
    return letter;
}

/* Take a contiguous array: set `start` to its first number, and its lengths; false: raised. */
static inline bool take(Arrays *taken, PyObject *array, const char *name, char letter, int axes,
                        bool is_written, void *start, Py_ssize_t *lengths)
{
    Py_buffer *view = &taken->views[taken->count];
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (is_written ? PyBUF_WRITABLE : 0);
    if (taken->count == MOST_ARRAYS || PyObject_GetBuffer(array, view, flags) < 0)
        return false;
    taken->count++;
    if (letter_of(view) != letter || view->ndim != axes) {
        PyErr_Format(PyExc_TypeError, "%s must be an array of type '%c' with %d axes", name,
                     letter, axes);
        return false;
    }
    memcpy(start, &view->buf, sizeof view->buf);
    memcpy(lengths, view->shape, (size_t)axes * sizeof *lengths);
    return true;
}

/* Take an array with one axis; false: raised. */
static inline bool take_row(Arrays *taken, PyObject *array, const char *name, char letter,
                            bool is_written, void *start, Py_ssize_t *length)
{
    return take(taken, array, name, letter, 1, is_written, start, length);
}

static inline void let_go(Arrays *taken)
{
    while (taken->count > 0)
        PyBuffer_Release(&taken->views[--taken->count]);
}

/* Raise where arrays do not fit together. */
static inline bool fits(bool holds, const char *what)
{
    if (!holds)
        PyErr_Format(PyExc_ValueError, "arrays do not fit together: %s", what);
    return holds;
}

#endif
