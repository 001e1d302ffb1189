/* SPDX-License-Identifier: MIT
 *
 * Broken: next waits for a task instead of saying that there is none. Convicted by S5.
 */
#include "honest.h"

static enum next_result broken_blocking_next(struct worker *worker, struct pilfer_task **out)
{
    enum next_result result;
    while ((result = honest_next(worker, out)) != NEXT_TASK && !pool_is_stopping(worker->pool))
        platform_yield();
    return result;
}

const struct scheduler scheduler_broken_blocking = {
    .name = "broken-blocking",
    .summary = "waits in next until there is a task",
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .pool_state_size = sizeof(struct honest),
    .submit = honest_submit,
    .next = broken_blocking_next,
    .pending = honest_pending,
    .drain = honest_drain,
};
