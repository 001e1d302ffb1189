/* SPDX-License-Identifier: MIT
 *
 * Idle policy lifo-semaphore: one outstanding request, and the unfair semaphore with its spin limit.
 *
 * How it works. A submit sets the request flag; only if it was clear does it engage a worker. A worker clears the flag
 * when its turn begins, before it looks into the queues, and sets it again after it has taken its first task, so that
 * the next worker is on its way while this one is busy. When the goal is reached the flag stays set and nobody is
 * woken: a worker that is about to leave sees it and looks again. This is dotnet-handshake, the policy with which the
 * finding was made, without its count of requests and without its worker loop. Workers park on a futex, unless the
 * scheduler has the tunable park-on-conditions: then as that says (semaphore.h).
 *
 * Worst case. An isolated task releases two workers, one of which finds nothing, spins and parks; with the default spin
 * limit that worker calls sched_yield 65 times. That waste is what this project measures.
 *
 * Labels
 *   @F lifo.1  publish the task, then read the flag  |  clear the flag, then read the queues
 *   @F lifo.2  set the flag, then read the counts    |  leave the counts, then read the flag (all four seq_cst)
 *
 * Source. dotnet/runtime 8.0: ThreadPoolWorkQueue.EnsureThreadRequested, MarkThreadRequestSatisfied, and
 * PortableThreadPool.RequestWorker.
 */
#include "idle/semaphore.h"
#include "idle/spin.h"

struct lifo {
    struct semaphore semaphore;
    /* 1: a worker was asked for and has not begun its turn. Written by submitters (CAS) and workers; read by both. */
    _Alignas(CACHE_LINE_SIZE) struct shared_u32 requested;
};

static int lifo_init(struct pool *pool)
{
    struct lifo *lifo = pool->idle_state;
    semaphore_configure(&lifo->semaphore, pool, false);
    return 0;
}

static void lifo_release(struct pool *pool, struct worker *self)
{
    struct lifo *lifo = pool->idle_state;
    semaphore_release(&lifo->semaphore, pool, self);
}

static void ensure_requested(struct pool *pool, struct worker *self)
{
    struct lifo *lifo = pool->idle_state;
    uint32_t expected = 0;
    /* relaxed: ordered by fence @F lifo.1; re-checked by CAS. seq_cst on the CAS: @F lifo.2, before the counts are
     * read (seq_cst too, in pool_engage). With a weaker read, which some processors let overtake the CAS's store, a
     * submitter could find the goal reached by a worker that has found the flag clear. */
    if (shared_u32_load_relaxed(&lifo->requested) != 0 || !shared_u32_cas_seq_cst(&lifo->requested, &expected, 1)) {
        pool_count(pool, self, COUNTER_requests_merged, 1);
        return;
    }
    if (pool_engage(pool, self))
        lifo_release(pool, self);
}

static void lifo_submitted(struct pool *pool, struct worker *self, uint32_t wakes)
{
    (void)wakes; /* one request asks for one worker, which asks for the next */
    /* Partner of @F pool.2 as well (a worker that blocks). @F lifo.1: the task is published, then the flag is read.
     * Without it the submitter could see a flag that a worker is just clearing, and that worker's look into the queues
     * miss the task. */
    ordered_fence_seq_cst();
    ensure_requested(pool, self);
}

static void lifo_dispatch_begin(struct worker *worker)
{
    struct lifo *lifo = worker->pool->idle_state;
    shared_u32_store_relaxed(&lifo->requested, 0); /* ordered by fence @F lifo.1 */
    /* @F lifo.1: the flag is cleared, then the queues are read. See lifo_submitted. */
    ordered_fence_seq_cst();
}

static void lifo_got_first(struct worker *worker)
{
    ensure_requested(worker->pool, worker);
}

static bool lifo_found_nothing(struct worker *worker, bool missed)
{
    struct lifo *lifo = worker->pool->idle_state;
    if (missed) {
        spin_after_miss();
        return true;
    }
    if (shared_u32_load_relaxed(&lifo->requested) != 0) /* a hint; the look below decides */
        return true;
    pool_disengage(worker);
    /* @F lifo.2: the counts were left (seq_cst), then the flag is read (seq_cst). Otherwise a submitter that found the
     * goal reached and this worker that found the flag clear could both do nothing. */
    return shared_u32_load_seq_cst(&lifo->requested) != 0 && pool_engage_self(worker);
}

static bool lifo_wait(struct worker *worker)
{
    struct lifo *lifo = worker->pool->idle_state;
    uint32_t steps = spin_steps(worker->pool);
    return semaphore_wait(&lifo->semaphore, worker, worker->idle_state, steps, PLATFORM_FOREVER) == SEMAPHORE_TOOK;
}

static void lifo_stop(struct pool *pool)
{
    struct lifo *lifo = pool->idle_state;
    semaphore_stop(&lifo->semaphore);
}

const struct idle_policy idle_lifo_semaphore = {
    .name = "lifo-semaphore",
    .summary = "one request at a time, renewed by the first task; spins, parks LIFO",
    .spins = true,
    .pool_state_size = sizeof(struct lifo),
    .worker_state_size = sizeof(struct semaphore_waiter),
    .init = lifo_init,
    .submitted = lifo_submitted,
    .dispatch_begin = lifo_dispatch_begin,
    .got_first = lifo_got_first,
    .found_nothing = lifo_found_nothing,
    .wait = lifo_wait,
    .release = lifo_release,
    .stop = lifo_stop,
};
