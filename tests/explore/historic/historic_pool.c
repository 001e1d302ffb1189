/* SPDX-License-Identifier: MIT
 *
 * Tasks that lie in a queue while threads sleep, block or leave.
 *
 * tokio-8056. A pool for blocking tasks asks a counter of idle threads whether to start one more; the counter still
 *     holds a thread that was told of another task already. Two submits then count on one thread, and if the first
 *     task waits for the second, both wait for ever. tokio-rs/tokio#7757, hang reported as #8056, reverted in #8057
 *     two days later. Mended as it was before: queue and counter change under one lock, and the submitter takes the
 *     thread off the counter.
 * tokio-8056-leave. The same counter, at the idle time-out: a thread looks for the last time, finds nothing and
 *     leaves; a submit in between still counts it. Mended in the same way: a thread that somebody counts on does not
 *     leave.
 * tokio-525. Submits go to the private inbox of some worker, chosen blindly; if that one runs a long task, the
 *     new one waits while others sleep. tokio-rs/tokio#525, mended in #621: one inbox for all.
 * spice-10. A thread that waits for a stolen task only looks whether that one is finished; the thief splits off new
 *     work and waits for it in turn. Work lies there and everybody sleeps. judofyr/spice#10; NVIDIA/stdexec#1305 is
 *     alike. Mended: new work wakes the waiting, and they run it.
 * tokio-local-shutdown. A runtime that ends drains its queue once; a task that is woken after that is queued for
 *     ever, and with it what it owns. Tokio's loom_local.rs tests for it. Mended: the queue is closed with the
 *     drain, and a later push hands the task back.
 */
#include "historic.h"

#include <errno.h>

#include "lock.h"

enum { EVERYBODY = 8 };

/* Bits that are set once; threads wait for some of them. */
static bool bits_have(const struct shared_u32 *bits, uint32_t mask)
{
    return (shared_u32_load_acquire(bits) & mask) == mask;
}

static void bits_set(struct shared_u32 *bits, uint32_t mask)
{
    shared_u32_add_acq_rel(bits, mask);
    platform_wake(bits, EVERYBODY);
}

static void bits_wait(struct shared_u32 *bits, uint32_t mask)
{
    uint32_t seen;
    while (((seen = shared_u32_load_acquire(bits)) & mask) != mask)
        platform_park(bits, seen, PLATFORM_FOREVER);
}

/* What task number `task` does: 1 needs the result of 2. done: a bit for each that has ended. */
static void task_run(struct shared_u32 *done, uint32_t task)
{
    if (task == 1)
        bits_wait(done, 1u << 2);
    bits_set(done, 1u << task);
}

/* ---- tokio-8056 ---- */

enum { THREADS_MAX = 2 };

struct blocking_pool {
    bool mended, may_leave;
    struct lock lock; /* of queued, first, last; mended: of changes of idle and notices too */
    uint32_t queued[2], first, last;
    struct platform_thread *threads[THREADS_MAX]; /* the submitter's, and count */
    uint32_t count;
    struct shared_u32 idle;    /* idle threads; mended: those that nobody counts on yet */
    struct shared_u32 notices; /* told to idle threads, not yet heard; they park on it */
    struct shared_u32 stop;
    struct shared_u32 done; /* task_run */
};

static bool notice_take(struct blocking_pool *pool)
{
    uint32_t notices = shared_u32_load_acquire(&pool->notices); /* re-checked by CAS */
    while (notices > 0)
        if (shared_u32_cas_acq_rel(&pool->notices, &notices, notices - 1))
            return true;
    return false;
}

static void idle_add(struct blocking_pool *pool, int32_t change)
{
    shared_u32_add_seq_cst(&pool->idle, (uint32_t)change);
}

static uint32_t blocking_take(struct blocking_pool *pool)
{
    lock_lock(&pool->lock);
    uint32_t task = pool->first < pool->last ? pool->queued[pool->first++] : 0;
    if (task == 0 && pool->mended)
        idle_add(pool, 1);
    lock_unlock(&pool->lock);
    return task;
}

/* A task; or 0, and the thread is counted as idle. */
static uint32_t blocking_next(struct blocking_pool *pool)
{
    uint32_t task = blocking_take(pool);
    if (task != 0 || pool->mended)
        return task;
    idle_add(pool, 1);
    task = blocking_take(pool);
    if (task != 0)
        idle_add(pool, -1);
    return task;
}

/* At the time-out: true if somebody counts on the thread after all; else it is uncounted. */
static bool blocking_stay(struct blocking_pool *pool)
{
    if (!pool->mended)
        return false; /* the fault of -leave: does not ask */
    lock_lock(&pool->lock);
    bool told = notice_take(pool);
    if (!told)
        idle_add(pool, -1);
    lock_unlock(&pool->lock);
    return told;
}

/* A thread that is counted as idle: true if it was told to look, false if it may leave. */
static bool blocking_wait(struct blocking_pool *pool)
{
    while (shared_u32_load_acquire(&pool->stop) == 0) {
        if (notice_take(pool))
            return true;
        uint64_t deadline = pool->may_leave ? platform_now_ns() : PLATFORM_FOREVER;
        if (platform_park(&pool->notices, 0, deadline) == -ETIMEDOUT)
            return blocking_stay(pool);
    }
    return false;
}

static void blocking_main(void *argument)
{
    struct blocking_pool *pool = argument;
    for (;;) {
        uint32_t task = blocking_next(pool);
        if (task == 0) {
            bool told = blocking_wait(pool);
            if (!pool->mended) {
                task = blocking_take(pool);
                idle_add(pool, -1); /* the fault: only now; a second submit may have counted on this thread too */
            }
            if (task == 0 && !told)
                return;
        }
        if (task != 0)
            task_run(&pool->done, task);
    }
}

static void blocking_thread(struct blocking_pool *pool)
{
    if (pool->count < THREADS_MAX)
        pool->threads[pool->count++] = historic_start("blocking", blocking_main, pool);
}

static void blocking_submit(struct blocking_pool *pool, uint32_t task)
{
    lock_lock(&pool->lock);
    pool->queued[pool->last++] = task;
    bool counted = pool->mended && shared_u32_load_seq_cst(&pool->idle) > 0;
    if (counted) {
        idle_add(pool, -1); /* stands for this task only */
        shared_u32_add_acq_rel(&pool->notices, 1);
    }
    lock_unlock(&pool->lock);
    if (!pool->mended && shared_u32_load_seq_cst(&pool->idle) > 0) {
        counted = true;
        shared_u32_add_acq_rel(&pool->notices, 1);
    }
    if (counted)
        platform_wake(&pool->notices, 1);
    else
        blocking_thread(pool);
}

/* Submits the tasks first to last to a pool with one thread, idle or about to be. */
static void blocking_run(bool mended, bool may_leave, uint32_t first, uint32_t last)
{
    struct blocking_pool *pool = historic_alloc(sizeof(*pool));
    pool->mended = mended;
    pool->may_leave = may_leave;
    blocking_thread(pool);
    for (uint32_t task = first; task <= last; task++)
        blocking_submit(pool, task);
    for (uint32_t task = first; task <= last; task++)
        bits_wait(&pool->done, 1u << task);
    shared_u32_store_release(&pool->stop, 1);
    shared_u32_add_seq_cst(&pool->notices, THREADS_MAX);
    platform_wake(&pool->notices, EVERYBODY);
    for (uint32_t i = 0; i < pool->count; i++)
        platform_thread_join(pool->threads[i]);
    platform_free(pool);
}

static void tokio_8056(bool mended)
{
    blocking_run(mended, false, 1, 2);
}

static void tokio_8056_leave(bool mended)
{
    blocking_run(mended, true, 2, 2);
}

/* ---- tokio-525 ---- */

enum { WORKERS = 2 };

#define INBOX_STOP (1u << 31)

struct inboxes {
    bool mended;
    struct shared_u32 tasks[WORKERS]; /* a bit per task that was submitted to this worker */
    struct shared_u32 done;           /* task_run */
};

struct inbox_worker {
    struct inboxes *inboxes;
    uint32_t number;
};

static void inbox_main(void *argument)
{
    struct inbox_worker *worker = argument;
    struct inboxes *inboxes = worker->inboxes;
    struct shared_u32 *inbox = &inboxes->tasks[inboxes->mended ? 0 : worker->number]; /* the fault: one each */
    uint32_t tasks = shared_u32_load_acquire(inbox);
    while (tasks != INBOX_STOP) {
        if (tasks == 0) {
            platform_park(inbox, 0, PLATFORM_FOREVER);
            tasks = shared_u32_load_acquire(inbox);
            continue;
        }
        uint32_t task = (uint32_t)__builtin_ctz(tasks);
        if (!shared_u32_cas_acq_rel(inbox, &tasks, tasks & ~(1u << task)))
            continue;
        task_run(&inboxes->done, task);
        tasks = shared_u32_load_acquire(inbox);
    }
}

static void inbox_submit(struct inboxes *inboxes, uint32_t bits, uint32_t worker)
{
    struct shared_u32 *inbox = &inboxes->tasks[inboxes->mended ? 0 : worker];
    shared_u32_add_acq_rel(inbox, bits);
    platform_wake(inbox, EVERYBODY);
}

static void tokio_525(bool mended)
{
    struct inboxes *inboxes = historic_alloc(sizeof(*inboxes));
    inboxes->mended = mended;
    struct inbox_worker *workers = historic_alloc(WORKERS * sizeof(*workers));
    struct platform_thread *threads[WORKERS];
    for (uint32_t i = 0; i < WORKERS; i++) {
        workers[i] = (struct inbox_worker){inboxes, i};
        threads[i] = historic_start("worker", inbox_main, &workers[i]);
    }
    for (uint32_t task = 1; task <= 2; task++)
        inbox_submit(inboxes, 1u << task, explored_choose(WORKERS));
    bits_wait(&inboxes->done, 1u << 1 | 1u << 2);
    for (uint32_t i = 0; i < (mended ? 1 : WORKERS); i++)
        inbox_submit(inboxes, INBOX_STOP, i);
    for (uint32_t i = 0; i < WORKERS; i++)
        platform_thread_join(threads[i]);
    platform_free(workers);
    platform_free(inboxes);
}

/* ---- spice-10 ---- */

struct join {
    struct shared_u32 work;  /* 1: the stolen task has split off task 2, which anybody may take */
    struct shared_u32 event; /* mended: changes with each new work and each end */
    struct shared_u32 done;  /* task_run */
};

static void join_event(struct join *join)
{
    shared_u32_add_acq_rel(&join->event, 1);
    platform_wake(&join->event, EVERYBODY);
}

/* Runs the stolen task, 1. */
static void join_thief(void *argument)
{
    struct join *join = argument;
    shared_u32_store_release(&join->work, 1);
    join_event(join);
    task_run(&join->done, 1);
    join_event(join);
}

/* Waits for the stolen task and helps. */
static void join_help(struct join *join)
{
    for (;;) {
        uint32_t seen = shared_u32_load_acquire(&join->event); /* before the looks: a later event changes it */
        uint32_t work = 1;
        if (bits_have(&join->done, 1u << 1))
            return;
        if (shared_u32_cas_acq_rel(&join->work, &work, 0))
            task_run(&join->done, 2);
        else
            platform_park(&join->event, seen, PLATFORM_FOREVER);
    }
}

static void spice_10(bool mended)
{
    struct join *join = historic_alloc(sizeof(*join));
    struct platform_thread *thread = historic_start("thief", join_thief, join);
    if (mended)
        join_help(join);
    else
        bits_wait(&join->done, 1u << 1); /* the fault: looks at nothing else */
    platform_thread_join(thread);
    platform_free(join);
}

/* ---- tokio-local-shutdown ---- */

struct local_queue {
    struct lock lock; /* of queued and closed */
    uint32_t queued;  /* a task, or 0 */
    bool closed;
    struct taker runtime, waker;
};

static void local_wake(void *argument)
{
    struct local_queue *queue = argument;
    lock_lock(&queue->lock);
    if (queue->closed)
        taker_note(&queue->waker, 1); /* handed back */
    else
        queue->queued = 1;
    lock_unlock(&queue->lock);
}

static void tokio_local_shutdown(bool mended)
{
    struct local_queue *queue = historic_alloc(sizeof(*queue));
    struct platform_thread *thread = historic_start("waker", local_wake, queue);
    lock_lock(&queue->lock);
    if (queue->queued != 0)
        taker_note(&queue->runtime, queue->queued);
    queue->closed = mended; /* the fault: the queue still takes tasks */
    lock_unlock(&queue->lock);
    platform_thread_join(thread);
    const struct taker *const takers[] = {&queue->runtime, &queue->waker};
    takers_check(takers, 2, 1);
    platform_free(queue);
}

HISTORIC_SCENARIO(tokio_8056, "two-submits", "an idle thread stands for one task", false);
HISTORIC_SCENARIO(tokio_8056_leave, "submit-and-time-out", "a thread that is counted on does not leave", false);
HISTORIC_SCENARIO(tokio_525, "busy-inbox", "a task does not wait for a busy worker while another sleeps", false);
HISTORIC_SCENARIO(spice_10, "wait-for-thief", "nobody sleeps beside a task", true);
HISTORIC_SCENARIO(tokio_local_shutdown, "wake-and-drain", "a task that meets a shutdown is run or handed back", true);
