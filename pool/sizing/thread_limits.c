/* SPDX-License-Identifier: MIT
 *
 * The limits of thread_limits.h.
 */
#include "sizing/thread_limits.h"

static int32_t lesser(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t greater(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

void thread_limits_init(struct thread_limits *limits, const struct thread_limits_start *start)
{
    bool contradict = start->forced_minimum > 0 && start->forced_maximum > 0 &&
                      start->forced_minimum > start->forced_maximum;
    *limits = (struct thread_limits){
        .possible = start->possible,
        .forced_minimum = contradict ? 0 : start->forced_minimum,
        .forced_maximum = contradict ? 0 : start->forced_maximum,
    };
    int32_t minimum = limits->forced_minimum > 0 ? limits->forced_minimum : start->minimum;
    int32_t maximum = limits->forced_maximum > 0 ? limits->forced_maximum : start->maximum;
    minimum = lesser(minimum, start->possible);
    maximum = greater(lesser(maximum, start->possible), minimum);
    limits->minimum = (struct pilfer_limits){minimum, THREAD_LIMITS_COMPLETION_MIN};
    limits->maximum = (struct pilfer_limits){maximum, THREAD_LIMITS_COMPLETION_MAX};
}

bool thread_limits_set_minimum(struct thread_limits *limits, struct pilfer_limits minimum, int32_t *goal)
{
    if (minimum.workers < 0 || minimum.completion_threads < 0 || minimum.workers > limits->maximum.workers ||
        minimum.completion_threads > limits->maximum.completion_threads)
        return false;
    if (limits->forced_minimum > 0 && minimum.workers != limits->forced_minimum)
        return false;
    limits->minimum.workers = greater(minimum.workers, 1);
    limits->minimum.completion_threads = greater(minimum.completion_threads, 1);
    *goal = greater(*goal, limits->minimum.workers);
    return true;
}

bool thread_limits_set_maximum(struct thread_limits *limits, struct pilfer_limits maximum, int32_t *goal)
{
    if (maximum.workers < limits->minimum.workers || /* which are 1 at least */
        maximum.completion_threads < limits->minimum.completion_threads)
        return false;
    if (limits->forced_maximum > 0 && maximum.workers != limits->forced_maximum)
        return false;
    limits->maximum.workers = lesser(maximum.workers, limits->possible);
    limits->maximum.completion_threads = lesser(maximum.completion_threads, PILFER_WORKERS_MAX);
    *goal = lesser(*goal, limits->maximum.workers);
    return true;
}

int32_t thread_limits_goal_left(const struct thread_limits *limits, int32_t goal, int32_t existing)
{
    int32_t floor = lesser(goal, limits->minimum.workers);
    return greater(floor, lesser(existing, goal));
}
