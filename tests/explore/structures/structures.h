/* SPDX-License-Identifier: MIT
 *
 * The structures of pool/ and schedulers/ that are explored by themselves, and the scenarios of those that threads wait
 * on.
 */
#ifndef PILFER_TESTS_EXPLORE_STRUCTURES_STRUCTURES_H
#define PILFER_TESTS_EXPLORE_STRUCTURES_STRUCTURES_H

#include "structures/trial.h"

extern const struct structure structure_deque, structure_deque_from_2147483646, structure_deque_from_4294967294;
extern const struct structure structure_task_fifo, structure_task_channel, structure_library_ring;
extern const struct structure structure_segment_queue, structure_foreign_lock_deque;

/* The body of foreign-lock-deque's own program. */
void foreign_lock_deque_given_back(const struct configuration *configuration);

enum { LOCK_SCENARIOS = 4, LATCH_SCENARIOS = 4, SEMAPHORE_SCENARIOS = 6, TRACE_RING_SCENARIOS = 2 };
extern const struct scenario lock_scenarios[LOCK_SCENARIOS], latch_scenarios[LATCH_SCENARIOS],
    semaphore_scenarios[SEMAPHORE_SCENARIOS], semaphore_on_conditions_scenarios[SEMAPHORE_SCENARIOS],
    trace_ring_scenarios[TRACE_RING_SCENARIOS];

#endif
