/* SPDX-License-Identifier: MIT
 *
 * Broken idle policy: a worker that found nothing leaves without a second look (eager without announce_idle). Convicted
 * by S3.
 */
#include "idle/announce.h"
#include "idle/semaphore.h"

static void broken_no_look_release(struct pool *pool, struct worker *self)
{
    semaphore_release(pool->idle_state, pool, self);
}

static void broken_no_look_submitted(struct pool *pool, struct worker *self, uint32_t wakes)
{
    announce_published();
    for (; wakes > 0 && pool_engage(pool, self); wakes--)
        semaphore_release(pool->idle_state, pool, self);
}

static void broken_no_look_nothing(struct worker *worker)
{
}

static bool broken_no_look_found_nothing(struct worker *worker, bool missed)
{
    if (!missed)
        pool_disengage(worker);
    return missed;
}

static bool broken_no_look_wait(struct worker *worker)
{
    return semaphore_wait(worker->pool->idle_state, worker, worker->idle_state, 0, PLATFORM_FOREVER) == SEMAPHORE_TOOK;
}

static void broken_no_look_stop(struct pool *pool)
{
    semaphore_stop(pool->idle_state);
}

const struct idle_policy idle_broken_no_look = {
    .name = "broken-no-look",
    .summary = "leaves without a second look",
    .pool_state_size = sizeof(struct semaphore),
    .worker_state_size = sizeof(struct semaphore_waiter),
    .submitted = broken_no_look_submitted,
    .dispatch_begin = broken_no_look_nothing,
    .got_first = broken_no_look_nothing,
    .found_nothing = broken_no_look_found_nothing,
    .wait = broken_no_look_wait,
    .release = broken_no_look_release,
    .stop = broken_no_look_stop,
};
