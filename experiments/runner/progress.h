/* SPDX-License-Identifier: MIT
 *
 * Progress of long work: one line that is rewritten on a terminal, plain lines otherwise.
 *
 * How it works. The time left is the estimate of what is left, scaled by how the finished steps compared with theirs.
 * On a terminal the line is cut at its width and removed before anything else is printed; elsewhere one line per tenth
 * of the work is written, so that a log stays short.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_PROGRESS_H
#define PILFER_EXPERIMENTS_RUNNER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
    FILE *stream;
    bool terminal, shown;
    uint32_t done, total, reported;
    double seconds_done, seconds_total; /* estimated, of the steps done and of all */
    double seconds_spent;               /* measured, of the steps done */
};

/* seconds: the estimate of all steps. */
void progress_begin(struct progress *progress, FILE *stream, uint32_t total, double seconds);

/* A step begins. name: the cell. */
void progress_step(struct progress *progress, const char *name);

/* It ended after spent seconds; its estimate was seconds. */
void progress_done(struct progress *progress, double seconds, double spent);

/* "4 min 3 s". */
void progress_format_seconds(double seconds, char *out, size_t size);

/* On a terminal only: the line is now this one, cut at the terminal's width. */
void progress_show(struct progress *progress, const char *line);

/* Removes the line from a terminal, so that a message can be printed. */
void progress_clear(struct progress *progress);

#endif
