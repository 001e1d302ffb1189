/* SPDX-License-Identifier: MIT
 *
 * Broken idle policy: eager without the worker's fence @F announce.1. Its second look may see the queues as they were
 * before it left the counts. On x86 the read-modify-write before it is a full fence, so that only the explorer shows
 * it: S3, in the model ra.
 */
#include "idle/announce.h"
#include "idle/semaphore.h"

static void broken_no_fence_release(struct pool *pool, struct worker *self)
{
    semaphore_release(pool->idle_state, pool, self);
}

static void broken_no_fence_submitted(struct pool *pool, struct worker *self, uint32_t wakes)
{
    announce_published();
    for (; wakes > 0 && pool_engage(pool, self); wakes--)
        semaphore_release(pool->idle_state, pool, self);
}

static void broken_no_fence_nothing(struct worker *worker)
{
}

static bool broken_no_fence_found_nothing(struct worker *worker, bool missed)
{
    if (missed)
        return true;
    pool_disengage(worker);
    return worker->pool->scheduler->pending(worker->pool) && pool_engage_self(worker);
}

static bool broken_no_fence_wait(struct worker *worker)
{
    return semaphore_wait(worker->pool->idle_state, worker, worker->idle_state, 0, PLATFORM_FOREVER) == SEMAPHORE_TOOK;
}

static void broken_no_fence_stop(struct pool *pool)
{
    semaphore_stop(pool->idle_state);
}

const struct idle_policy idle_broken_no_fence = {
    .name = "broken-no-fence",
    .summary = "looks a second time without a fence",
    .pool_state_size = sizeof(struct semaphore),
    .worker_state_size = sizeof(struct semaphore_waiter),
    .submitted = broken_no_fence_submitted,
    .dispatch_begin = broken_no_fence_nothing,
    .got_first = broken_no_fence_nothing,
    .found_nothing = broken_no_fence_found_nothing,
    .wait = broken_no_fence_wait,
    .release = broken_no_fence_release,
    .stop = broken_no_fence_stop,
};
