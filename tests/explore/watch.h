/* SPDX-License-Identifier: MIT
 *
 * What goes on beside a long exploration: signals that end it, and a line of progress.
 *
 * How it works. A first SIGINT or SIGTERM is noted, and the exploration ends after the run in progress, so that what
 * has been found is printed; a second one ends the program at once. On a terminal (standard error) a line is rewritten
 * a few times a second, once a second has passed; elsewhere nothing is written.
 */
#ifndef PILFER_TESTS_EXPLORE_WATCH_H
#define PILFER_TESTS_EXPLORE_WATCH_H

#include <signal.h>
#include <stdint.h>

void watch_begin(void);
void watch_end(void);

/* Seconds of a monotonic clock. */
double watch_now_s(void);

/* The signal that came, 0: none. */
int watch_signal(void);

/* After each run. total: 0 if nobody knows. */
void watch_step(uint64_t runs, uint64_t total, uint32_t kinds);

#endif
