/* SPDX-License-Identifier: MIT
 *
 * What tests of real pools share: a task that holds its worker until it is let go, one that ends at once, and a counter
 * of an executor.
 */
#ifndef PILFER_TESTS_HELD_H
#define PILFER_TESTS_HELD_H

#include "account.h"
#include "pilfer.h"
#include "platform.h"

struct held {
    struct pilfer_task task;
    struct pilfer_latch latch;       /* opens when the task ends */
    struct shared_u32 runs, may_end; /* of one that is held: set by the task, by the test */
};

static inline void run_short(struct pilfer_task *task)
{
    pilfer_latch_arrive(&((struct held *)task)->latch);
}

static inline void run_held(struct pilfer_task *task)
{
    struct held *held = (struct held *)task;
    shared_u32_store_release(&held->runs, 1);
    while (shared_u32_load_acquire(&held->may_end) == 0)
        platform_yield();
    pilfer_latch_arrive(&held->latch);
}

/* Before it is submitted; run: one of the two above. */
static inline void held_init(struct held *held, void (*run)(struct pilfer_task *task))
{
    *held = (struct held){.task.run = run};
    pilfer_latch_init(&held->latch, 1);
}

static inline void held_await(struct held *held)
{
    while (shared_u32_load_acquire(&held->runs) == 0)
        platform_yield();
}

static inline void held_let_go(struct held *held)
{
    shared_u32_store_release(&held->may_end, 1);
}

/* Of all threads of the executor together. */
static inline uint64_t count_of(struct pilfer_executor *executor, enum counter counter)
{
    struct account_totals totals;
    pilfer_totals(executor, &totals);
    return totals.counters[counter];
}

#endif
