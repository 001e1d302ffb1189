/* SPDX-License-Identifier: MIT
 *
 * The published figures of the finding, embedded from experiments/published/lambda-dispatch-high-cpu.csv at build time.
 */
#ifndef PILFER_EXPERIMENTS_CLI_PUBLISHED_H
#define PILFER_EXPERIMENTS_CLI_PUBLISHED_H

#include <stdbool.h>
#include <stddef.h>

#define PUBLISHED_WORD_SIZE   16
#define PUBLISHED_FIGURES_MAX 64

/* One published row. Numbers are NaN where none was published. */
struct published_figure {
    char max_workers[PUBLISHED_WORD_SIZE]; /* a number or "default" */
    char max_io[PUBLISHED_WORD_SIZE];
    char spin_limit[PUBLISHED_WORD_SIZE];
    double rps, router_cpu_percent_low, router_cpu_percent_high, extension_cpu_percent;
};

struct published_figures {
    char source[512]; /* the comment at the head of the file: where the figures come from */
    struct published_figure rows[PUBLISHED_FIGURES_MAX];
    size_t count;
};

/* Reads the embedded text. */
void published_read(struct published_figures *out);

/* The row of a setting: with the default I/O threads if there is one, else any. NULL if it was not published. */
const struct published_figure *published_find(const struct published_figures *figures, const char *max_workers,
                                              const char *spin_limit);

/* The embedded file, for those who read a path: a descriptor, to be closed, and its path. -1 where that cannot be had.
 */
int published_open(char *path, size_t size);

#endif
