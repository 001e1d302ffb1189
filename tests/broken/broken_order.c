/* SPDX-License-Identifier: MIT
 *
 * Broken: declares FIFO_GLOBAL, and hands out the newest of the first two tasks now and then. Convicted by S6.
 */
#include "honest.h"
#include "rarely.h"

struct broken_order {
    struct honest honest;
    struct shared_u64 taken; /* counter only */
};

static enum next_result broken_order_next(struct worker *worker, struct pilfer_task **out)
{
    struct broken_order *state = worker->pool->queueing;
    enum next_result result = honest_next(worker, out);
    if (result != NEXT_TASK || !rarely(&state->taken, 100))
        return result;
    struct pilfer_task *second;
    if (honest_next(worker, &second) == NEXT_TASK) { /* the first one goes to the end of the list */
        task_fifo_push(&state->honest.tasks, *out);
        *out = second;
    }
    return NEXT_TASK;
}

const struct scheduler scheduler_broken_order = {
    .name = "broken-order",
    .summary = "declares an order that it does not keep",
    .caps = SCHEDULER_FIFO_GLOBAL,
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .pool_state_size = sizeof(struct broken_order),
    .submit = honest_submit,
    .next = broken_order_next,
    .pending = honest_pending,
    .drain = honest_drain,
};
