/* SPDX-License-Identifier: MIT
 *
 * Broken: made for four workers; the fifth and later ones find nothing. Convicted by S9.
 */
#include "honest.h"

static enum next_result broken_few_workers_next(struct worker *worker, struct pilfer_task **out)
{
    return worker->index < 4 ? honest_next(worker, out) : NEXT_EMPTY;
}

const struct scheduler scheduler_broken_few_workers = {
    .name = "broken-few-workers",
    .summary = "made for four workers",
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .pool_state_size = sizeof(struct honest),
    .submit = honest_submit,
    .next = broken_few_workers_next,
    .pending = honest_pending,
    .drain = honest_drain,
};
