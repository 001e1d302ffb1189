/* SPDX-License-Identifier: MIT
 *
 * Broken idle policy: eager without the submitter's fence @F announce.1. The submitter may read counts in which the
 * worker is still engaged, from before its publication was visible. Where a lock lies between the two, only the
 * explorer shows it: S3.
 */
#include "idle/announce.h"
#include "idle/semaphore.h"

static void broken_no_announcement_release(struct pool *pool, struct worker *self)
{
    semaphore_release(pool->idle_state, pool, self);
}

static void broken_no_announcement_submitted(struct pool *pool, struct worker *self, uint32_t wakes)
{
    for (; wakes > 0 && pool_engage(pool, self); wakes--)
        semaphore_release(pool->idle_state, pool, self);
}

static void broken_no_announcement_nothing(struct worker *worker)
{
}

static bool broken_no_announcement_found_nothing(struct worker *worker, bool missed)
{
    return missed || announce_idle(worker) == ANNOUNCED_ENGAGED;
}

static bool broken_no_announcement_wait(struct worker *worker)
{
    return semaphore_wait(worker->pool->idle_state, worker, worker->idle_state, 0, PLATFORM_FOREVER) == SEMAPHORE_TOOK;
}

static void broken_no_announcement_stop(struct pool *pool)
{
    semaphore_stop(pool->idle_state);
}

const struct idle_policy idle_broken_no_announcement = {
    .name = "broken-no-announcement",
    .summary = "looks at the sleepers without a fence",
    .pool_state_size = sizeof(struct semaphore),
    .worker_state_size = sizeof(struct semaphore_waiter),
    .submitted = broken_no_announcement_submitted,
    .dispatch_begin = broken_no_announcement_nothing,
    .got_first = broken_no_announcement_nothing,
    .found_nothing = broken_no_announcement_found_nothing,
    .wait = broken_no_announcement_wait,
    .release = broken_no_announcement_release,
    .stop = broken_no_announcement_stop,
};
