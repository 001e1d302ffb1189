/* SPDX-License-Identifier: MIT
 *
 * Broken: a submit that fails for want of memory has queued the task already. Convicted by S4.
 */
#include <errno.h>

#include "honest.h"

static int broken_refusal_submit(struct pool *pool, struct worker *worker, struct pilfer_task *task,
                                 enum pilfer_placement placement)
{
    const int wakes = honest_submit(pool, worker, task, placement);
    void *note = platform_alloc(16);
    if (note == NULL)
        return -ENOMEM;
    platform_free(note);
    return wakes;
}

const struct scheduler scheduler_broken_refusal = {
    .name = "broken-refusal",
    .summary = "queues a task and refuses it",
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .pool_state_size = sizeof(struct honest),
    .submit = broken_refusal_submit,
    .next = honest_next,
    .pending = honest_pending,
    .drain = honest_drain,
};
