/* SPDX-License-Identifier: MIT
 *
 * The measurement window: one absolute interval [start, end] of the monotonic clock, the same for every process.
 *
 * How it works. Each process sleeps until an edge and reads its own figures there; whoever wakes late notes when it
 * really read, and rates are taken over the time between the two readings. Elapsed time is checked against the plan and
 * against a second clock, which also shows a suspension: the boot clock goes on while the machine sleeps, the monotonic
 * one stands still.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_WINDOW_H
#define PILFER_EXPERIMENTS_RUNNER_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct window {
    uint64_t start_ns, end_ns; /* monotonic clock */
};

/* When an edge was really read. */
struct window_edge {
    uint64_t monotonic_ns, boot_ns;
};

uint64_t window_now_ns(void);
struct window_edge window_edge_now(void);

/* Largest relative difference between elapsed time and plan that a valid cell may have. */
#define WINDOW_TOLERANCE 0.01
/* Differences up to this are late wake-ups of a busy machine, not wrong clocks. */
#define WINDOW_LATE_NS 20000000

/* Time during which the machine was suspended between two edges. */
uint64_t window_suspended_ns(const struct window_edge *first, const struct window_edge *last);

/* True if time went on and both clocks agree how far, suspension aside; else reason says what is wrong. */
bool window_clocks_agree(const struct window_edge *first, const struct window_edge *last, char *reason, size_t size);

/* window_clocks_agree, and the edges fit the plan. */
bool window_is_sane(const struct window *window, const struct window_edge *first, const struct window_edge *last,
                    char *reason, size_t size);

#endif
