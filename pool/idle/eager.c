/* SPDX-License-Identifier: MIT
 *
 * Idle policy eager: every submit that wants a wake engages a worker, as far as the goal allows.
 *
 * How it works. No state beyond the counts word: a burst of n submits engages up to n workers. An idle worker spins on
 * the LIFO semaphore, then parks: on a futex, unless the scheduler has the tunable park-on-conditions, then as that
 * says (semaphore.h). The plain alternative against which throttled wakes are compared.
 *
 * Worst case. With more workers than work, almost every submit is a system call and almost every engaged worker finds
 * the task gone.
 */
#include "idle/announce.h"
#include "idle/semaphore.h"
#include "idle/spin.h"

struct eager {
    struct semaphore semaphore;
};

static int eager_init(struct pool *pool)
{
    struct eager *eager = pool->idle_state;
    semaphore_configure(&eager->semaphore, pool, false);
    return 0;
}

static void eager_release(struct pool *pool, struct worker *self)
{
    struct eager *eager = pool->idle_state;
    semaphore_release(&eager->semaphore, pool, self);
}

static void eager_submitted(struct pool *pool, struct worker *self, uint32_t wakes)
{
    announce_published();
    for (; wakes > 0 && pool_engage(pool, self); wakes--)
        eager_release(pool, self);
}

static void eager_nothing(struct worker *worker)
{
    (void)worker; /* no state follows a worker's turn */
}

static bool eager_found_nothing(struct worker *worker, bool missed)
{
    if (missed) {
        spin_after_miss();
        return true;
    }
    enum announced announced = announce_idle(worker);
    /* Nobody renews a wake here. If this worker was engaged for another task meanwhile, the one that it has seen needs
     * a worker of its own. */
    if (announced == ANNOUNCED_FULL && pool_engage(worker->pool, worker))
        eager_release(worker->pool, worker);
    return announced == ANNOUNCED_ENGAGED;
}

static bool eager_wait(struct worker *worker)
{
    struct eager *eager = worker->pool->idle_state;
    return semaphore_wait(&eager->semaphore, worker, worker->idle_state, spin_steps(worker->pool), PLATFORM_FOREVER) ==
           SEMAPHORE_TOOK;
}

static void eager_stop(struct pool *pool)
{
    struct eager *eager = pool->idle_state;
    semaphore_stop(&eager->semaphore);
}

const struct idle_policy idle_eager = {
    .name = "eager",
    .summary = "a wake for every submit, as far as the goal allows; spins, then parks",
    .spins = true,
    .pool_state_size = sizeof(struct eager),
    .worker_state_size = sizeof(struct semaphore_waiter),
    .init = eager_init,
    .submitted = eager_submitted,
    .dispatch_begin = eager_nothing,
    .got_first = eager_nothing,
    .found_nothing = eager_found_nothing,
    .wait = eager_wait,
    .release = eager_release,
    .stop = eager_stop,
};
