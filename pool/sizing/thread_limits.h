/* SPDX-License-Identifier: MIT
 *
 * The limits of the published pool and its two calls that change them, SetMinThreads and SetMaxThreads.
 *
 * How it works. Each call gives two numbers, for workers and for I/O completion threads. On Unix there are no such
 * threads: their numbers are checked, kept and given back, and have no other effect; but a call that they make wrong is
 * refused as a whole. Raising the minimum lifts the goal at once; lowering it leaves the goal where it is. Lowering the
 * maximum cuts the goal at once. So the order of calls matters: (1, 1) as maximum is refused while the minimum is 12.
 *
 * Plain functions on a plain struct; the caller serialises its calls.
 *
 * Source. dotnet/runtime 8.0, PortableThreadPool (constructor, SetMinThreads, SetMaxThreads).
 */
#ifndef PILFER_POOL_SIZING_THREAD_LIMITS_H
#define PILFER_POOL_SIZING_THREAD_LIMITS_H

#include "pilfer.h"

enum { THREAD_LIMITS_COMPLETION_MIN = 1, THREAD_LIMITS_COMPLETION_MAX = 1000 };

struct thread_limits {
    struct pilfer_limits minimum, maximum;
    int32_t possible;                     /* workers that can exist: no maximum is above it */
    int32_t forced_minimum, forced_maximum; /* the only values that the calls may give; 0: any */
};

/* What to begin with. */
struct thread_limits_start {
    int32_t minimum, maximum; /* workers */
    int32_t possible;
    /* 0: not forced; ignored, both, if they contradict each other; above possible: cut to it (pilfer_open refuses) */
    int32_t forced_minimum, forced_maximum;
};

void thread_limits_init(struct thread_limits *limits, const struct thread_limits_start *start);

/* The two calls. False: refused, nothing has changed. *goal: the goal in force, adjusted. */
bool thread_limits_set_minimum(struct thread_limits *limits, struct pilfer_limits minimum, int32_t *goal);
bool thread_limits_set_maximum(struct thread_limits *limits, struct pilfer_limits maximum, int32_t *goal);

/* The goal after a worker has ended for want of work and so many are left. */
int32_t thread_limits_goal_left(const struct thread_limits *limits, int32_t goal, int32_t existing);

#endif
