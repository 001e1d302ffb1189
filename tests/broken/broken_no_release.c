/* SPDX-License-Identifier: MIT
 *
 * Broken idle policy: now and then a submit engages a worker and wakes none (eager, one wake in 64 lost). Convicted by
 * S3.
 */
#include "idle/announce.h"
#include "idle/semaphore.h"
#include "rarely.h"

struct broken_no_release {
    struct semaphore semaphore;
    struct shared_u64 engaged; /* counter only */
};

static void broken_no_release_release(struct pool *pool, struct worker *self)
{
    struct broken_no_release *state = pool->idle_state;
    semaphore_release(&state->semaphore, pool, self);
}

static void broken_no_release_submitted(struct pool *pool, struct worker *self, uint32_t wakes)
{
    struct broken_no_release *state = pool->idle_state;
    announce_published();
    for (; wakes > 0 && pool_engage(pool, self); wakes--)
        if (!rarely(&state->engaged, 64))
            broken_no_release_release(pool, self);
}

static void broken_no_release_nothing(struct worker *worker)
{
}

static bool broken_no_release_found_nothing(struct worker *worker, bool missed)
{
    return missed || announce_idle(worker) == ANNOUNCED_ENGAGED;
}

static bool broken_no_release_wait(struct worker *worker)
{
    struct broken_no_release *state = worker->pool->idle_state;
    return semaphore_wait(&state->semaphore, worker, worker->idle_state, 0, PLATFORM_FOREVER) ==
           SEMAPHORE_TOOK;
}

static void broken_no_release_stop(struct pool *pool)
{
    struct broken_no_release *state = pool->idle_state;
    semaphore_stop(&state->semaphore);
}

const struct idle_policy idle_broken_no_release = {
    .name = "broken-no-release",
    .summary = "loses one wake in 64",
    .pool_state_size = sizeof(struct broken_no_release),
    .worker_state_size = sizeof(struct semaphore_waiter),
    .submitted = broken_no_release_submitted,
    .dispatch_begin = broken_no_release_nothing,
    .got_first = broken_no_release_nothing,
    .found_nothing = broken_no_release_found_nothing,
    .wait = broken_no_release_wait,
    .release = broken_no_release_release,
    .stop = broken_no_release_stop,
};
