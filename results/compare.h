/* SPDX-License-Identifier: MIT
 *
 * Comparing two sweeps: the same cells measured twice, before and after a change, or on two schedulers' versions.
 *
 * How it works. Cells are matched by cell_id. For each the ratio of medians (second to first) with its interval is
 * given for CPU per request, requests per second and, paced, the 99th percentile of latency. The A/A spread says how
 * far two measurements of the same thing lie apart: the 95th percentile over the cells of |ratio - 1| between the first
 * sweep and a repetition of it, or, without one, between the odd and the even repeats of each sweep (half as many
 * repeats, hence rather too wide). A regression is an interval that lies wholly beyond 1 + spread on the bad side, or
 * beyond a threshold.
 *
 * Source. Kalibera and Jones 2013; google/benchmark and hyperfine compare without a spread, and flag noise.
 */
#ifndef PILFER_RESULTS_COMPARE_H
#define PILFER_RESULTS_COMPARE_H

#include "statistics.h"

#include <stdio.h>

/* X(name, column, words, more is better) */
#define COMPARE_NUMBERS(X)                                        \
    X(CPU, CELL_CPU_US, "CPU per request", false) \
    X(RPS, "rps", "RPS", true)                                    \
    X(P99, "latency_us_p99", "p99 latency", false)

enum compare_number {
#define COMPARE_ENUM(name, column, words, more) COMPARE_##name,
    COMPARE_NUMBERS(COMPARE_ENUM)
#undef COMPARE_ENUM
        COMPARE_NUMBER_COUNT
};

struct compare_side {
    const char *name; /* how the user calls it */
    const struct result_set *set;
};

struct compare_options {
    size_t width;                   /* of lines, in characters; 0: 100 */
    const struct result_set *again; /* a repetition of the first sweep, or NULL */
    bool has_threshold;
    double threshold; /* 0.1: regressed beyond 10 %; replaces the spread */
};

struct compare_verdict {
    size_t matched;      /* cells in both */
    size_t regressed;    /* cells with a regression in any number */
    size_t improved;     /* cells with an improvement and no regression */
    size_t not_measured; /* matched, but one side has no valid, undisturbed repeat */
    size_t only_first, only_second;
    double spread[COMPARE_NUMBER_COUNT]; /* 0.04: 4 %; NaN where it cannot be told */
};

/* Writes the comparison and fills *out. The program's exit status is 1 if anything regressed. 0, or -1 if the stream
 * reported an error. */
int compare_write(FILE *stream, const struct compare_side *first, const struct compare_side *second,
                  const struct compare_options *options, struct compare_verdict *out);

#endif
