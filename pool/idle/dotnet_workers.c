/* SPDX-License-Identifier: MIT
 *
 * The worker loop of dotnet_workers.h.
 */
#include "idle/dotnet_workers.h"

#include "idle/count.h"
#include "idle/idle_timeout.h"
#include "idle/spin.h"

int dotnet_workers_init(struct pool *pool)
{
    struct dotnet_workers *workers = pool->idle_state;
    semaphore_configure(&workers->semaphore, pool, true);
    workers->idle_timeout_ns = idle_timeout_ns(pool);
    return 0;
}

/* The signal first, then the thread. */
void dotnet_workers_add(struct pool *pool, struct worker *self)
{
    struct dotnet_workers *workers = pool->idle_state;
    enum pool_engaged engaged = pool_engage_first(pool);
    if (engaged == POOL_FULL)
        return;
    pool_count(pool, self, COUNTER_releases, 1);
    semaphore_release(&workers->semaphore, pool, self);
    if (engaged == POOL_NEEDS_THREAD)
        pool_start_thread(pool, self);
}

void dotnet_workers_request(struct pool *pool, struct worker *self)
{
    struct dotnet_workers *workers = pool->idle_state;
    pool_count(pool, self, COUNTER_worker_requests, 1);
    /* @F dotnet_workers.1: before the counts are read (seq_cst as well). @P dotnet_workers.1: the flag is set. */
    shared_u32_add_seq_cst(&workers->requests, 1);
    dotnet_workers_add(pool, self);
    if (pool->sizing->requested != NULL)
        pool->sizing->requested(pool, self);
}

/* Not engaged any more; a request that came while it was is not forgotten. */
static void leave(struct worker *worker)
{
    struct dotnet_workers *workers = worker->pool->idle_state;
    pool_disengage(worker);
    /* @F dotnet_workers.1: the counts were left (seq_cst), then the requests are read (seq_cst). */
    if (shared_u32_load_seq_cst(&workers->requests) > 0)
        dotnet_workers_add(worker->pool, worker);
}

bool dotnet_workers_again(struct worker *worker)
{
    struct dotnet_workers *workers = worker->pool->idle_state;
    struct handshake_worker *own = worker->idle_state;
    if (shared_u32_load_relaxed(&workers->requests) > 0) { /* a hint; leave() looks again */
        spin_between_turns(worker);
        if (count_take(&workers->requests)) {
            own->answers_none = false;
            return true;
        }
    }
    leave(worker);
    return false;
}

/* True: the worker ends. The next wait in its place spins, whatever stopped this one: a thread of its own may be at it
 * as soon as the worker has retired. */
static bool retire(struct worker *worker)
{
    struct handshake_worker *own = worker->idle_state;
    bool stopped = own->stopped;
    own->stopped = false;
    if (pool_retire(worker))
        return true;
    own->stopped = stopped;
    return false;
}

bool dotnet_workers_wait(struct worker *worker)
{
    struct dotnet_workers *workers = worker->pool->idle_state;
    struct handshake_worker *own = worker->idle_state;
    for (;;) {
        uint32_t steps = own->stopped ? 0 : spin_steps(worker->pool);
        uint64_t deadline_ns = idle_deadline(workers->idle_timeout_ns);
        switch (semaphore_wait(&workers->semaphore, worker, &own->waiter, steps, deadline_ns)) {
        case SEMAPHORE_STOPPED:
            return false;
        case SEMAPHORE_TIMED_OUT:
            if (retire(worker))
                return false;
            continue; /* work is on its way */
        case SEMAPHORE_TOOK:
            break;
        }
        own->stopped = false;
        own->answers_none = !count_take(&workers->requests);
        if (!own->answers_none || count_take(&workers->extra))
            return true;
        leave(worker);
    }
}

void dotnet_workers_stopped(struct worker *worker)
{
    struct handshake_worker *own = worker->idle_state;
    own->stopped = true;
}

void dotnet_workers_release(struct pool *pool, struct worker *self)
{
    struct dotnet_workers *workers = pool->idle_state;
    /* relaxed: whoever takes the signal finds it, @P semaphore.1. */
    shared_u32_add_relaxed(&workers->extra, 1);
    pool_count(pool, self, COUNTER_releases, 1);
    semaphore_release(&workers->semaphore, pool, self);
}

void dotnet_workers_stop(struct pool *pool)
{
    struct dotnet_workers *workers = pool->idle_state;
    semaphore_stop(&workers->semaphore);
}

uint32_t dotnet_workers_requests(struct pool *pool)
{
    struct dotnet_workers *workers = pool->idle_state;
    return shared_u32_load_seq_cst(&workers->requests); /* seq_cst: read after a raised goal, as in leave */
}
