/* SPDX-License-Identifier: MIT
 *
 * Idle policy dotnet-handshake: the request handshake of the portable .NET 8 thread pool, over its worker loop
 * (dotnet_workers.h).
 *
 * How it works. Every enqueue tries to set the flag `outstanding`; who sets it requests a worker. A worker clears the
 * flag at the start of its turn, before it looks into any queue; with its first task in hand it makes the next request,
 * whether or not there is more work. So one isolated task releases two workers. A worker that found nothing asks again
 * only after a missed steal. At max 1 one worker drains everything, and no submit releases anybody.
 *
 * request-cap. How many requests may be outstanding: 1, as since .NET 7. Before, it was the number of processors (0
 * means that here): `outstanding` is a count then, raised by every enqueue and by every task that a worker finds, as
 * long as it is below the cap, and lowered at the start of a turn.
 *
 * Differences to the source. Every enqueue has a full fence before it tries the flag, and a turn one after it has
 * cleared it; the flag itself is relaxed. The original's enqueue has the interlocked operation alone, which is the
 * fence there (and so on x86 this enqueue pays for two). The substitute of a task that waits answers no request, but
 * its turn clears the flag as any other: then two requests can be pending at a time. Tunables of the scheduler, where
 * it has them: park-on-conditions 0 parks on a futex, spin-yields 0 pauses where the original yields.
 *
 * Worst case. As lifo-semaphore: an isolated task wakes two workers, and a socket event, which is two tasks there,
 * three.
 *
 * Labels
 *   @F handshake.1  publish the task, then try the flag    |  clear the flag, then read the queues
 *
 * Source. dotnet/runtime 8.0: ThreadPoolWorkQueue (EnsureThreadRequested, MarkThreadRequestSatisfied, Dispatch); the
 * same of 6.0 for the cap (dotnet/runtime#57885).
 */
#include "idle/dotnet_workers.h"

enum { REQUEST_CAP_DEFAULT = 1 };

struct handshake {
    struct dotnet_workers workers; /* first */
    uint32_t request_cap;          /* constant */
    /* Requests that no turn has answered; submitters and workers CAS; @F handshake.1 */
    _Alignas(CACHE_LINE_SIZE) struct shared_u32 outstanding;
};

static int handshake_init(struct pool *pool)
{
    struct handshake *dotnet = pool->idle_state;
    dotnet->request_cap = (uint32_t)pool_setting_or(pool, "request-cap", REQUEST_CAP_DEFAULT);
    if (dotnet->request_cap == 0)
        dotnet->request_cap = pool->processors;
    return dotnet_workers_init(pool);
}

/* With a cap of 1 tried on every enqueue without a look before, else after a look, as in the two sources. */
static void ensure_requested(struct pool *pool, struct worker *self)
{
    struct handshake *dotnet = pool->idle_state;
    bool looks = dotnet->request_cap > 1;
    /* relaxed, both: ordered by fence @F handshake.1, which the callers have before it. */
    uint32_t outstanding = looks ? shared_u32_load_relaxed(&dotnet->outstanding) : 0;
    while (outstanding < dotnet->request_cap) {
        if (shared_u32_cas_relaxed(&dotnet->outstanding, &outstanding, outstanding + 1)) {
            dotnet_workers_request(pool, self);
            return;
        }
    }
    pool_count(pool, self, COUNTER_requests_merged, 1);
}

static void dotnet_submitted(struct pool *pool, struct worker *self, uint32_t wakes)
{
    (void)wakes; /* one request at a time; a turn asks for the next */
    /* Partner of @F pool.2 as well (a worker that blocks). @F handshake.1: the task is published, then the flag is
     * tried. */
    ordered_fence_seq_cst();
    ensure_requested(pool, self);
}

static void dotnet_dispatch_begin(struct worker *worker)
{
    struct handshake *dotnet = worker->pool->idle_state;
    if (dotnet->request_cap == 1) {
        shared_u32_store_relaxed(&dotnet->outstanding, 0); /* ordered by fence @F handshake.1 */
    } else {
        uint32_t outstanding = shared_u32_load_relaxed(&dotnet->outstanding); /* re-checked by CAS */
        while (outstanding > 0 && !shared_u32_cas_relaxed(&dotnet->outstanding, &outstanding, outstanding - 1))
            continue; /* relaxed: ordered by fence @F handshake.1 */
    }
    /* @F handshake.1: the flag is cleared, then the queues are read. @F dotnet_queues.2: so are head and tail of a
     * deque whose thief has given its place back and found a request outstanding. */
    ordered_fence_seq_cst();
}

static void dotnet_got_first(struct worker *worker)
{
    ensure_requested(worker->pool, worker);
}

static void dotnet_got_next(struct worker *worker)
{
    const struct handshake *dotnet = worker->pool->idle_state;
    if (dotnet->request_cap > 1)
        ensure_requested(worker->pool, worker);
}

static bool dotnet_found_nothing(struct worker *worker, bool missed)
{
    if (missed)
        ensure_requested(worker->pool, worker);
    return dotnet_workers_again(worker);
}

const struct idle_policy idle_dotnet_handshake = {
    .name = "dotnet-handshake",
    .summary = "as .NET 8: one request at a time, renewed by the first task",
    .spins = true,
    .pool_state_size = sizeof(struct handshake),
    .worker_state_size = sizeof(struct handshake_worker),
    .init = handshake_init,
    .submitted = dotnet_submitted,
    .dispatch_begin = dotnet_dispatch_begin,
    .got_first = dotnet_got_first,
    .got_next = dotnet_got_next,
    .found_nothing = dotnet_found_nothing,
    .wait = dotnet_workers_wait,
    .stopped = dotnet_workers_stopped,
    .release = dotnet_workers_release,
    .stop = dotnet_workers_stop,
    .requests = dotnet_workers_requests,
    .add_worker = dotnet_workers_add,
};
