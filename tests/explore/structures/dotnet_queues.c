/* SPDX-License-Identifier: MIT
 *
 * The queues of the .NET schedulers (schedulers/dotnet_queues.h) as structures of trial.h, and a program of their own.
 *
 * given-back. An owner, two thieves, and requests as in the later versions of the pool: who needs a scan of the deque
 * looks whether one is requested, and requests it if not; a scan withdraws the request first. The owner holds one task
 * and a request is under way. It takes the task, pushes another, asks for a scan and goes on when that task has run. A
 * thief that was after the first task has moved the deque's head; it gives the place back and asks for a scan. If its
 * look at the request can come before that, it relies on the owner's request, whose thief still saw the head moved.
 *
 * Source. dotnet/runtime#128606; the protocol alone is dotnet-local-queue-missed (historic/historic_dotnet.c).
 */
#include "dotnet_queues.h"

#include "structures/structures.h"

static enum take_result taken_or_missed(struct pilfer_task *task, bool missed, struct pilfer_task **out)
{
    *out = task;
    if (task != NULL)
        return TAKE_TASK;
    return missed ? TAKE_MISSED : TAKE_NOTHING;
}

/* ---- segment_queue ---- */

static void *trial_segments_open(void)
{
    struct segment_queue *queue = platform_alloc(sizeof *queue);
    segment_queue_init(queue);
    return queue;
}

static void trial_segments_close(void *object)
{
    segment_queue_fini(object);
    platform_free(object);
}

static int trial_segments_push(void *object, struct pilfer_task *task, uint64_t *ticket)
{
    (void)ticket;
    return segment_queue_push(object, task);
}

static enum take_result trial_segments_pop(void *object, struct pilfer_task **out)
{
    bool missed = false;
    struct pilfer_task *task = segment_queue_pop(object, &missed);
    return taken_or_missed(task, missed, out);
}

static bool trial_segments_is_empty(void *object)
{
    return segment_queue_is_empty(object);
}

static uint64_t trial_segments_depth(void *object)
{
    return segment_queue_depth(object);
}

const struct structure structure_segment_queue = {
    .open = trial_segments_open,
    .close = trial_segments_close,
    .push = trial_segments_push,
    .take_oldest = trial_segments_pop,
    .is_empty = trial_segments_is_empty,
    .depth = trial_segments_depth,
    .misses_pushes = true,
};

/* ---- foreign_lock_deque ---- */

static void *trial_foreign_open(void)
{
    struct foreign_lock_deque *deque = platform_alloc(sizeof *deque);
    foreign_lock_deque_init(deque);
    return deque;
}

static void trial_foreign_close(void *object)
{
    foreign_lock_deque_fini(object);
    platform_free(object);
}

/* The ticket says whether the array was exchanged. */
static int trial_foreign_push(void *object, struct pilfer_task *task, uint64_t *ticket)
{
    struct foreign_lock_deque *deque = object;
    const struct foreign_lock_array *before = deque->array;
    int status = foreign_lock_deque_push(deque, task);
    *ticket = deque->array != before;
    return status;
}

static enum take_result trial_foreign_steal(void *object, struct pilfer_task **out)
{
    bool missed = false;
    struct pilfer_task *task = foreign_lock_deque_steal(object, &missed);
    return taken_or_missed(task, missed, out);
}

static enum take_result trial_foreign_pop(void *object, struct pilfer_task **out)
{
    return taken_or_missed(foreign_lock_deque_pop(object), false, out);
}

static bool trial_foreign_is_empty(void *object)
{
    return !foreign_lock_deque_has_tasks(object);
}

static uint64_t trial_foreign_depth(void *object)
{
    return foreign_lock_deque_depth(object);
}

const struct structure structure_foreign_lock_deque = {
    .open = trial_foreign_open,
    .close = trial_foreign_close,
    .push = trial_foreign_push,
    .take_oldest = trial_foreign_steal,
    .take_newest = trial_foreign_pop,
    .is_empty = trial_foreign_is_empty,
    .depth = trial_foreign_depth,
    .misses_pushes = true, /* the owner holds the lock while it lets the array grow */
    .hides = true,
};

/* ---- given-back ---- */

enum { TASKS = 2, THIEVES = 2 };
#define REQUESTS_END (1u << 16)

struct given_back {
    struct foreign_lock_deque deque;
    struct pilfer_task tasks[TASKS];
    struct shared_u32 requested; /* 1: a scan is requested and has not begun */
    struct shared_u32 requests;  /* scans for which a thief is wanted; parked on; REQUESTS_END ends the thieves */
    struct shared_u32 ran;       /* a bit per task; parked on */
};

/* Ordered by the caller's fence: what is to be found, then this look. */
static void request(struct given_back *all)
{
    if (shared_u32_load_relaxed(&all->requested) != 0 || shared_u32_exchange_seq_cst(&all->requested, 1) != 0)
        return;
    shared_u32_add_seq_cst(&all->requests, 1);
    platform_wake(&all->requests, 1);
}

/* Waits for a request and takes it; false at the end. */
static bool take_request(struct given_back *all)
{
    uint32_t requests = shared_u32_load_acquire(&all->requests);
    for (;;) {
        if ((requests & REQUESTS_END) != 0)
            return false;
        if (requests == 0) {
            platform_park(&all->requests, 0, PLATFORM_FOREVER);
            requests = shared_u32_load_acquire(&all->requests);
        } else if (shared_u32_cas_seq_cst(&all->requests, &requests, requests - 1)) {
            return true;
        }
    }
}

static void run_task(struct given_back *all, const struct pilfer_task *task)
{
    shared_u32_add_acq_rel(&all->ran, 1u << (task - all->tasks));
    platform_wake(&all->ran, 1);
}

static void await_task(struct given_back *all, uint32_t number)
{
    uint32_t ran;
    while (((ran = shared_u32_load_acquire(&all->ran)) & 1u << number) == 0)
        platform_park(&all->ran, ran, PLATFORM_FOREVER);
}

static void be_thief(void *argument)
{
    struct given_back *all = argument;
    while (take_request(all)) {
        bool missed = false;
        shared_u32_store_relaxed(&all->requested, 0); /* ordered by the fence */
        ordered_fence_seq_cst();                      /* withdraw, then scan */
        const struct pilfer_task *task = foreign_lock_deque_steal(&all->deque, &missed);
        if (task != NULL) {
            run_task(all, task);
        } else if (missed) {
            request(all);     /* the deque's own fence comes before it */
            platform_yield(); /* as between two turns */
        }
    }
}

void foreign_lock_deque_given_back(const struct configuration *configuration)
{
    static const char *const names[THIEVES] = {"thief", "other thief"};
    struct given_back *all = platform_alloc(sizeof *all);
    struct platform_thread *threads[THIEVES];
    (void)configuration;
    foreign_lock_deque_init(&all->deque);
    foreign_lock_deque_push(&all->deque, &all->tasks[0]);
    shared_u32_store_relaxed(&all->requested, 1); /* before the thieves */
    shared_u32_store_relaxed(&all->requests, 1);  /* before the thieves */
    for (uint32_t i = 0; i < THIEVES; i++)
        platform_thread_start(&threads[i], names[i], be_thief, all);
    const struct pilfer_task *task = foreign_lock_deque_pop(&all->deque);
    if (task != NULL)
        run_task(all, task);
    else
        await_task(all, 0);
    foreign_lock_deque_push(&all->deque, &all->tasks[1]);
    ordered_fence_seq_cst(); /* publish the task, then look for a request */
    request(all);
    await_task(all, 1);
    shared_u32_add_seq_cst(&all->requests, REQUESTS_END);
    platform_wake(&all->requests, UINT32_MAX);
    for (uint32_t i = 0; i < THIEVES; i++)
        platform_thread_join(threads[i]);
    foreign_lock_deque_fini(&all->deque);
    platform_free(all);
}
