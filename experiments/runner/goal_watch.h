/* SPDX-License-Identifier: MIT
 *
 * The goal of a sizing that moves: when it has become steady, and what it was in the window.
 *
 * How it works. Whoever runs the executor takes a sample each GOAL_PERIOD_NS. The goal is steady when the median of the
 * samples of the last five seconds equals that of the five before: a climber goes on trying one more and one fewer for
 * ever, so the goal itself need not stand still. In the window, samples are counted by goal.
 *
 * One thread.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_GOAL_WATCH_H
#define PILFER_EXPERIMENTS_RUNNER_GOAL_WATCH_H

#include "pilfer.h"

#include <stdbool.h>
#include <stdint.h>

#define GOAL_PERIOD_NS 50000000
#define GOAL_HALF      100 /* samples in five seconds */

struct goal_history {
    uint32_t goals[2 * GOAL_HALF]; /* a ring */
    uint32_t count;                /* samples ever */
};

void goal_history_add(struct goal_history *history, uint32_t goal);
/* False before it is full. */
bool goal_history_is_steady(const struct goal_history *history);

struct goal_watch {
    struct pilfer_executor *executor; /* borrowed */
    bool moves;                       /* false: a sizing whose goal is constant; nothing is sampled */
    struct goal_history history;
    uint32_t counts[PILFER_WORKERS_MAX + 1]; /* samples of the window by goal */
    uint32_t samples;
    uint32_t engaged_max;
    uint64_t engaged_sum;
};

void goal_watch_init(struct goal_watch *watch, struct pilfer_executor *executor);
void goal_watch_warm_up(struct goal_watch *watch); /* takes a sample for the history */
void goal_watch_window(struct goal_watch *watch);  /* takes a sample of the window */

/* Of the window's samples; samples must not be 0. */
struct goal_summary {
    uint32_t median, min, max;
    double engaged_mean;
    uint32_t engaged_max;
};
void goal_watch_summary(const struct goal_watch *watch, struct goal_summary *out);

#endif
