/* SPDX-License-Identifier: MIT
 *
 * Items that the .NET thread pool could leave in a queue: its worker requests and what a scan of the queues can
 * miss.
 *
 * The pool. An enqueuer puts an item into a queue and then makes sure that a worker is requested; a worker that
 * answers a request withdraws it, scans the queues, and asks for one more worker once it has an item. A scan that
 * finds nothing ends the answer. So each item needs a scan that begins after the item is there.
 *
 * coreclr-14015. The request was withdrawn after the scan: an item that came between the scan and the withdrawal
 *     counted on a request that was answered already. dotnet/coreclr#14015 tells the interleaving and reverts.
 *     Mended: withdraw, full fence, scan.
 * dotnet-100506-unfenced. The three stages of .NET 9 (not scheduled, determining, scheduled): the worker stores
 *     "determining", scans, and goes to "not scheduled" by CAS if the stage is still its own. A revision of
 *     dotnet/runtime#100506 had no fence between store and scan: the store can overwrite an enqueuer's "scheduled"
 *     whose item the scan did not see. Mended by the fence, as in the merged form.
 * dotnet-121608. An item that waits for the next item: dotnet/runtime#121608, #119043, mended by #121887 and #122320
 *     (back to the 0/1 request). The threads name no interleaving. This is one that the rules of the released pool
 *     allow: a hint says that the high-priority queue may hold items. A worker that takes the hint has not yet taken
 *     an item when the requested worker scans, skips that queue for want of the hint, finds nothing and ends. The
 *     first worker takes one item, puts the hint back and asks for nobody; if that item waits for the next one, both
 *     stay. With the 0/1 request in place of the stages this program still breaks, so mended here: whoever puts the
 *     hint back asks for a worker.
 * dotnet-local-queue-missed. A thief that lost against the owner puts the queue's head back, reports a missed steal
 *     and makes sure that a worker is requested. Without a fence between the two it may see an older request, whose
 *     worker still sees the head moved and takes the queue for empty. Note in dotnet/runtime#128606. Mended by the
 *     fence.
 */
#include "historic.h"
#include "lock.h"

enum { EVERYBODY = 8 };

#define REQUESTS_STOP (1u << 16)

enum variant { MENDED, WITHDRAW_LATE, UNFENCED, HINT_WINDOW, HEAD_UNFENCED };

enum stage { NOT_SCHEDULED, DETERMINING, SCHEDULED };

struct pool {
    enum variant variant;
    struct shared_u32 requests; /* workers requested, not yet answered; parked on; REQUESTS_STOP ends it */
    struct shared_u32 stage;    /* SCHEDULED: requested (the 0/1 request has no DETERMINING) */
    struct lock lock;           /* of urgent and ordinary */
    uint32_t urgent, ordinary;  /* a bit per item */
    struct shared_u32 hint;     /* 1: look into urgent */
    struct shared_u32 aside;    /* an item for the next worker, or 0 */
    struct shared_u32 done;     /* a bit per item that has run; parked on */
    /* The local queue of dotnet-local-queue-missed: */
    struct shared_u32 head, tail, foreign; /* head: by thieves under foreign; tail: by the owner; foreign: try-lock */
    struct shared_u32 slot;
};

static void request(struct pool *pool)
{
    shared_u32_add_seq_cst(&pool->requests, 1);
    platform_wake(&pool->requests, 1);
}

/* Waits for a request and takes it; false at the end. */
static bool request_take(struct pool *pool)
{
    uint32_t requests = shared_u32_load_acquire(&pool->requests);
    for (;;) {
        if (requests & REQUESTS_STOP)
            return false;
        if (requests == 0) {
            platform_park(&pool->requests, 0, PLATFORM_FOREVER);
            requests = shared_u32_load_acquire(&pool->requests);
        } else if (shared_u32_cas_seq_cst(&pool->requests, &requests, requests - 1)) {
            return true;
        }
    }
}

/* Interlocked operations are full fences there; here the fence stands apart. */
static void ensure_requested(struct pool *pool)
{
    ordered_fence_seq_cst(); /* publish an item, then look for a request */
    if (shared_u32_exchange_seq_cst(&pool->stage, SCHEDULED) == NOT_SCHEDULED)
        request(pool);
}

static void item_done(struct pool *pool, uint32_t item)
{
    shared_u32_add_acq_rel(&pool->done, 1u << item);
    platform_wake(&pool->done, EVERYBODY);
}

static void item_await(struct pool *pool, uint32_t item)
{
    uint32_t done;
    while (((done = shared_u32_load_acquire(&pool->done)) & 1u << item) == 0)
        platform_park(&pool->done, done, PLATFORM_FOREVER);
}

/* Takes the lowest item of a queue, or 0. */
static uint32_t queue_take(struct pool *pool, uint32_t *queue)
{
    lock_lock(&pool->lock);
    uint32_t item = *queue != 0 ? (uint32_t)__builtin_ctz(*queue) : 0;
    if (item != 0)
        *queue &= ~(1u << item);
    lock_unlock(&pool->lock);
    return item;
}

static void queue_put(struct pool *pool, uint32_t *queue, uint32_t item)
{
    lock_lock(&pool->lock);
    *queue |= 1u << item;
    lock_unlock(&pool->lock);
}

static struct pool *pool_create(enum variant variant)
{
    struct pool *pool = historic_alloc(sizeof(*pool));
    pool->variant = variant;
    return pool;
}

static void pool_end(struct pool *pool, struct platform_thread **threads, uint32_t count)
{
    shared_u32_add_seq_cst(&pool->requests, REQUESTS_STOP);
    platform_wake(&pool->requests, EVERYBODY);
    for (uint32_t i = 0; i < count; i++)
        platform_thread_join(threads[i]);
    platform_free(pool);
}

/* ---- coreclr-14015 ---- */

static void withdraw(struct pool *pool)
{
    shared_u32_store_relaxed(&pool->stage, NOT_SCHEDULED); /* ordered by the fence */
    ordered_fence_seq_cst();                               /* withdraw, then scan */
}

static void late_main(void *argument)
{
    struct pool *pool = argument;
    while (request_take(pool)) {
        if (pool->variant == MENDED)
            withdraw(pool);
        uint32_t item = queue_take(pool, &pool->ordinary);
        if (pool->variant == WITHDRAW_LATE)
            withdraw(pool); /* the fault: an item may have come since the scan */
        if (item == 0)
            continue;
        ensure_requested(pool);
        item_done(pool, item);
    }
}

static void coreclr_14015(bool mended)
{
    struct pool *pool = pool_create(mended ? MENDED : WITHDRAW_LATE);
    struct platform_thread *thread = historic_start("worker", late_main, pool);
    for (uint32_t item = 1; item <= 2; item++) {
        queue_put(pool, &pool->ordinary, item);
        ensure_requested(pool);
    }
    for (uint32_t item = 1; item <= 2; item++)
        item_await(pool, item);
    pool_end(pool, &thread, 1);
}

/* ---- the three stages ---- */

/* Before a scan. */
static void determine(struct pool *pool)
{
    shared_u32_store_relaxed(&pool->stage, DETERMINING); /* ordered by the fence */
    if (pool->variant != UNFENCED)
        ordered_fence_seq_cst(); /* determining, then scan */
}

/* After a scan that found nothing: false if an item has come since. */
static bool determined(struct pool *pool)
{
    uint32_t stage = DETERMINING;
    return shared_u32_cas_seq_cst(&pool->stage, &stage, NOT_SCHEDULED);
}

/* One item queue that is a counter, so that the program is small: an item is there while tail exceeds head. */
static void stages_main(void *argument)
{
    struct pool *pool = argument;
    while (request_take(pool)) {
        bool found;
        do {
            determine(pool);
            uint32_t head = shared_u32_load_relaxed(&pool->head); /* one worker */
            found = shared_u32_load_acquire(&pool->tail) > head;
            if (found) {
                shared_u32_store_relaxed(&pool->head, head + 1); /* one worker */
                item_done(pool, head + 1);
            }
        } while (found || !determined(pool));
    }
}

static void dotnet_100506_unfenced(bool mended)
{
    struct pool *pool = pool_create(mended ? MENDED : UNFENCED);
    struct platform_thread *thread = historic_start("worker", stages_main, pool);
    for (uint32_t item = 1; item <= 2; item++) {
        shared_u32_store_release(&pool->tail, item); /* publishes the item */
        ensure_requested(pool);
    }
    for (uint32_t item = 1; item <= 2; item++)
        item_await(pool, item);
    pool_end(pool, &thread, 1);
}

/* ---- dotnet-121608 ---- */

/* The high-priority queue, if the hint is there. */
static uint32_t urgent_take(struct pool *pool)
{
    uint32_t hint = 1;
    if (shared_u32_load_acquire(&pool->hint) == 0 || !shared_u32_cas_seq_cst(&pool->hint, &hint, 0))
        return 0;
    uint32_t item = queue_take(pool, &pool->urgent); /* others skip the queue meanwhile */
    if (item != 0) {
        shared_u32_store_seq_cst(&pool->hint, 1);
        if (pool->variant == MENDED)
            ensure_requested(pool); /* a scan may have skipped the next one */
    }
    return item;
}

static uint32_t aside_take(struct pool *pool)
{
    return shared_u32_load_acquire(&pool->aside) != 0 ? shared_u32_exchange_seq_cst(&pool->aside, 0) : 0;
}

static uint32_t scan(struct pool *pool)
{
    uint32_t item = aside_take(pool);
    if (item == 0)
        item = urgent_take(pool);
    return item != 0 ? item : queue_take(pool, &pool->ordinary);
}

/* Item 2 waits for item 3. */
static void item_run(struct pool *pool, uint32_t item)
{
    if (item == 2)
        item_await(pool, 3);
    item_done(pool, item);
}

/* Answers a request with one item, or none. Before it is run, a second scan: what it finds is put aside, and one more
 * worker is requested for it. */
static uint32_t dispatch_first(struct pool *pool)
{
    uint32_t item = aside_take(pool);
    while (item == 0) {
        determine(pool);
        item = scan(pool);
        if (item == 0 && determined(pool))
            return 0;
    }
    determine(pool);
    uint32_t second = scan(pool);
    if (second != 0) {
        shared_u32_store_release(&pool->aside, second);
        shared_u32_store_release(&pool->stage, SCHEDULED);
        request(pool);
    } else if (!determined(pool)) {
        request(pool); /* an item has come since */
    }
    return item;
}

static void hint_main(void *argument)
{
    struct pool *pool = argument;
    while (request_take(pool))
        for (uint32_t item = dispatch_first(pool); item != 0; item = scan(pool))
            item_run(pool, item);
}

static void dotnet_121608(bool mended)
{
    enum { WORKERS = 2 };
    struct pool *pool = pool_create(mended ? MENDED : HINT_WINDOW);
    struct platform_thread *threads[WORKERS];
    for (uint32_t i = 0; i < WORKERS; i++)
        threads[i] = historic_start("worker", hint_main, pool);
    queue_put(pool, &pool->ordinary, 1);
    ensure_requested(pool);
    for (uint32_t item = 2; item <= 3; item++) {
        queue_put(pool, &pool->urgent, item);
        shared_u32_store_release(&pool->hint, 1); /* publishes the item */
        ensure_requested(pool);
    }
    for (uint32_t item = 1; item <= 3; item++)
        item_await(pool, item);
    pool_end(pool, threads, WORKERS);
}

/* ---- dotnet-local-queue-missed ---- */

/* Makes sure of a request; looks before it writes, as the later versions do. */
static void ensure_requested_lazily(struct pool *pool)
{
    if (shared_u32_load_relaxed(&pool->stage) == NOT_SCHEDULED) /* ordered by the caller's fence */
        ensure_requested(pool);
}

static void local_push(struct pool *pool, uint32_t item)
{
    uint32_t tail = shared_u32_load_relaxed(&pool->tail); /* the owner's */
    shared_u32_store_relaxed(&pool->slot, item);          /* exposed by tail */
    shared_u32_store_release(&pool->tail, tail + 1);      /* publishes the slot */
    ordered_fence_seq_cst();                              /* publish an item, then look for a request */
    ensure_requested_lazily(pool);
}

static bool foreign_try_lock(struct pool *pool)
{
    uint32_t free = 0;
    return shared_u32_cas_acquire(&pool->foreign, &free, 1);
}

static void foreign_unlock(struct pool *pool)
{
    shared_u32_store_release(&pool->foreign, 0);
}

/* The owner's pop: without the lock as long as no thief has moved head past the item. */
static uint32_t local_pop(struct pool *pool)
{
    uint32_t tail = shared_u32_load_relaxed(&pool->tail) - 1; /* the owner's */
    shared_u32_exchange_seq_cst(&pool->tail, tail);           /* tail, then head */
    if (shared_u32_load_seq_cst(&pool->head) <= tail)
        return shared_u32_load_relaxed(&pool->slot); /* own write */
    while (!foreign_try_lock(pool))
        platform_yield();
    bool there = shared_u32_load_relaxed(&pool->head) <= tail; /* under the lock */
    if (!there)
        shared_u32_store_release(&pool->tail, tail + 1);
    foreign_unlock(pool);
    return there ? shared_u32_load_relaxed(&pool->slot) : 0; /* own write */
}

/* The item, or 0; *missed if there may be one all the same. */
static uint32_t local_steal(struct pool *pool, bool *missed)
{
    uint32_t head = shared_u32_load_relaxed(&pool->head); /* ordered by the caller's fence */
    if (head >= shared_u32_load_acquire(&pool->tail))
        return 0;
    uint32_t item = 0;
    if (!foreign_try_lock(pool)) {
        *missed = true;
        return 0;
    }
    head = shared_u32_load_relaxed(&pool->head);        /* under the lock */
    shared_u32_exchange_seq_cst(&pool->head, head + 1); /* head, then tail */
    if (head < shared_u32_load_seq_cst(&pool->tail)) {
        item = shared_u32_load_relaxed(&pool->slot); /* exposed by tail */
    } else {
        shared_u32_store_release(&pool->head, head); /* the owner was faster */
        *missed = true;
    }
    foreign_unlock(pool);
    return item;
}

static void missed_main(void *argument)
{
    struct pool *pool = argument;
    while (request_take(pool)) {
        withdraw(pool);
        bool missed = false;
        uint32_t item = local_steal(pool, &missed);
        if (item != 0) {
            item_done(pool, item);
        } else if (missed) {
            if (pool->variant == MENDED)
                ordered_fence_seq_cst(); /* put head back, then look for a request */
            ensure_requested_lazily(pool);
            platform_yield(); /* as the pool does between two dispatches */
        }
    }
}

/* The owner holds item 1; a request is under way. It pops item 1, pushes item 2 and blocks until 2 has run. */
static void dotnet_local_queue_missed(bool mended)
{
    enum { WORKERS = 2 };
    struct pool *pool = pool_create(mended ? MENDED : HEAD_UNFENCED);
    shared_u32_store_relaxed(&pool->slot, 1);          /* before the workers */
    shared_u32_store_relaxed(&pool->tail, 1);          /* before the workers */
    shared_u32_store_relaxed(&pool->stage, SCHEDULED); /* before the workers */
    shared_u32_store_relaxed(&pool->requests, 1);      /* before the workers */
    struct platform_thread *threads[WORKERS];
    for (uint32_t i = 0; i < WORKERS; i++)
        threads[i] = historic_start("worker", missed_main, pool);
    if (local_pop(pool) == 1)
        item_done(pool, 1);
    else
        item_await(pool, 1);
    local_push(pool, 2);
    item_await(pool, 2);
    pool_end(pool, threads, WORKERS);
}

HISTORIC_SCENARIO(coreclr_14015, "submit-two", "an item finds a request that is still to be answered", true);
HISTORIC_SCENARIO(dotnet_100506_unfenced, "submit-two", "a worker sees the item or the enqueuer's stage", true);
HISTORIC_SCENARIO(dotnet_121608, "urgent-two", "no item waits for the next one", false);
HISTORIC_SCENARIO(dotnet_local_queue_missed, "pop-steal-push", "a missed steal leaves nothing behind", false);
