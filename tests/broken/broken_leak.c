/* SPDX-License-Identifier: MIT
 *
 * Broken: drain gives all tasks but the last. Convicted by S8.
 */
#include "honest.h"

static struct pilfer_task *broken_leak_drain(struct pool *pool)
{
    struct honest *honest = pool->queueing;
    return task_fifo_depth(&honest->tasks) > 1 ? honest_drain(pool) : NULL;
}

const struct scheduler scheduler_broken_leak = {
    .name = "broken-leak",
    .summary = "keeps a task at the end",
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .pool_state_size = sizeof(struct honest),
    .submit = honest_submit,
    .next = honest_next,
    .pending = honest_pending,
    .drain = broken_leak_drain,
};
