/* SPDX-FileCopyrightText: 2026 The symdp_ros authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The loops of the pass over words (`loops.c`), for `_passes.c`.
 */
#ifndef SYMDP_PASSES_LOOPS_H
#define SYMDP_PASSES_LOOPS_H

#include "arrays.h"

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

/* What a walk reads and writes besides; choices: room for the moves of a state, `widest`. */
typedef struct {
    const uint64_t *bits;
    int64_t *out;
    double *model, *choices;
    Py_ssize_t widest;
} Draw;

/* Words that are swept side by side, and end together; n: symbols of the longest. */
typedef struct {
    Py_ssize_t many, n, begins[TOGETHER], lengths[TOGETHER];
    double ratios[TOGETHER];
} Group;

long long sweep_rows(Py_ssize_t first, Py_ssize_t last, Py_ssize_t n, const Word *word,
                     const Moves *moves, const Rows *rows);

Py_ssize_t choose_one(const double *lengths, Py_ssize_t many, uint64_t bits);

Py_ssize_t walk_rows(Py_ssize_t position, Py_ssize_t first, Py_ssize_t last,
                     int64_t *state, const Word *word, const Moves *moves,
                     const Rows *rows, const Draw *draw);

void sweep_together(const Group *group, const Word *words, const Moves *moves,
                    Py_ssize_t width, double *W);

bool step_together(Py_ssize_t t, const Group *group, const Word *words,
                   const Moves *moves, Py_ssize_t width, const double *W, int64_t *at,
                   int64_t *states, const Draw *draw);

#endif
