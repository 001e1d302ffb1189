/* SPDX-License-Identifier: MIT
 *
 * Samples of the goal; see goal_watch.h.
 */
#include "goal_watch.h"

#include <stdlib.h>
#include <string.h>

void goal_history_add(struct goal_history *history, uint32_t goal)
{
    history->goals[history->count++ % (2 * GOAL_HALF)] = goal;
}

static int compare_goals(const void *a, const void *b)
{
    uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
    return (first > second) - (first < second);
}

/* Twice the median of GOAL_HALF samples, the first of which is the index-th ever. */
static uint32_t median_from(const struct goal_history *history, uint32_t index)
{
    uint32_t sorted[GOAL_HALF];
    for (uint32_t i = 0; i < GOAL_HALF; i++)
        sorted[i] = history->goals[(index + i) % (2 * GOAL_HALF)];
    qsort(sorted, GOAL_HALF, sizeof sorted[0], compare_goals);
    return sorted[GOAL_HALF / 2 - 1] + sorted[GOAL_HALF / 2];
}

bool goal_history_is_steady(const struct goal_history *history)
{
    if (history->count < 2 * GOAL_HALF)
        return false;
    uint32_t middle = history->count - GOAL_HALF;
    return median_from(history, middle) == median_from(history, middle - GOAL_HALF);
}

void goal_watch_init(struct goal_watch *watch, struct pilfer_executor *executor)
{
    struct pilfer_limit_values limits;
    memset(watch, 0, sizeof *watch);
    watch->executor = executor;
    watch->moves = pilfer_read_limits(executor, &limits) == 0;
}

static void take_goal(void *context, const char *name, double value)
{
    uint32_t *goal = context;
    if (strcmp(name, "goal") == 0 && value >= 0 && value <= PILFER_WORKERS_MAX)
        *goal = (uint32_t)value;
}

static uint32_t goal_now(const struct goal_watch *watch)
{
    uint32_t goal = 0;
    pilfer_extras(watch->executor, take_goal, &goal);
    return goal;
}

void goal_watch_warm_up(struct goal_watch *watch)
{
    if (watch->moves)
        goal_history_add(&watch->history, goal_now(watch));
}

void goal_watch_window(struct goal_watch *watch)
{
    struct pilfer_limit_values limits;
    if (!watch->moves || pilfer_read_limits(watch->executor, &limits) != 0)
        return;
    uint32_t engaged = (uint32_t)(limits.maximum.workers - limits.available.workers);
    watch->counts[goal_now(watch)]++;
    watch->samples++;
    watch->engaged_sum += engaged;
    if (engaged > watch->engaged_max)
        watch->engaged_max = engaged;
}

void goal_watch_summary(const struct goal_watch *watch, struct goal_summary *out)
{
    uint32_t below = 0;
    *out = (struct goal_summary){
        .engaged_mean = (double)watch->engaged_sum / watch->samples,
        .engaged_max = watch->engaged_max,
    };
    for (uint32_t goal = 0; goal <= PILFER_WORKERS_MAX; goal++) {
        if (watch->counts[goal] == 0)
            continue;
        if (below == 0)
            out->min = goal;
        if (below <= (watch->samples - 1) / 2)
            out->median = goal; /* the lower one of two */
        out->max = goal;
        below += watch->counts[goal];
    }
}
