/* SPDX-License-Identifier: MIT
 *
 * Wake-ups that are left out when nobody waits, and get lost: one submitter, one worker that parks.
 *
 * brpc-2907. A parking lot counts its waiters; a signal with no waiter returned before it changed the futex word. A
 *     worker that had looked for work but not yet counted itself then slept through it. apache/brpc#2907 (2025-03),
 *     found as time-outs in CI. Mended by #2916: the word changes always, only the system call is left out.
 * brpc-3539. That version: the counter is read and written relaxed, so the signal may read "no waiter" although the
 *     waiter counted itself before it compared the word. Found 18 months later. Mended in #3539: both are
 *     sequentially consistent.
 * zio-610-c. An executor that goes to sleep sets its bit in the idle mask and looks at the queues once more; a
 *     pusher publishes a task and looks at the mask. acq_rel and relaxed do not keep either in order: stalls of one
 *     poll time-out (60 s) on Apple silicon. lalinsky/zio#610 made the accesses of the mask sequentially consistent.
 *     Mended here by a full fence on both sides.
 * zio-610-c-loads. What #610 made of it: the pusher's store stays a release and only its load of the mask is
 *     sequentially consistent. Arm keeps these two in order, x86 and C11 do not. Not reported there: found by
 *     exploring this program. Mended as above.
 */
#include "historic.h"

/* ---- the parking lot ---- */

enum lot_fault { LOT_MENDED, LOT_WORD_STAYS, LOT_RELAXED };

struct lot {
    enum lot_fault fault;
    struct shared_u32 signals; /* the futex word; added to by the submitter */
    struct shared_u32 waiters; /* added to by the worker */
    struct shared_u32 tasks;   /* 1: a task is ready; taken by the worker */
};

static void lot_signal(struct lot *lot)
{
    if (lot->fault == LOT_WORD_STAYS && shared_u32_load_seq_cst(&lot->waiters) == 0)
        return; /* the fault: the word does not say that there was a signal */
    shared_u32_add_seq_cst(&lot->signals, 1);
    uint32_t waiters = lot->fault == LOT_RELAXED ? shared_u32_load_relaxed(&lot->waiters)  /* the fault */
                                                 : shared_u32_load_seq_cst(&lot->waiters); /* after the word's change */
    if (waiters > 0)
        platform_wake(&lot->signals, 1);
}

static void lot_wait(struct lot *lot, uint32_t seen)
{
    if (lot->fault == LOT_RELAXED)
        shared_u32_add_relaxed(&lot->waiters, 1); /* the fault: nothing orders it before the comparison of the word */
    else
        shared_u32_add_seq_cst(&lot->waiters, 1); /* before the comparison of the word */
    platform_park(&lot->signals, seen, PLATFORM_FOREVER);
    shared_u32_add_relaxed(&lot->waiters, (uint32_t)-1); /* counter only */
}

static void lot_worker(void *argument)
{
    struct lot *lot = argument;
    for (;;) {
        uint32_t seen = shared_u32_load_acquire(&lot->signals); /* before the look: a later signal changes it */
        if (shared_u32_load_acquire(&lot->tasks) == 1)
            return;
        lot_wait(lot, seen);
    }
}

static void lot_run(enum lot_fault fault)
{
    struct lot *lot = historic_alloc(sizeof(*lot));
    lot->fault = fault;
    struct platform_thread *thread = historic_start("worker", lot_worker, lot);
    shared_u32_store_release(&lot->tasks, 1); /* publishes the task */
    lot_signal(lot);
    platform_thread_join(thread);
    platform_free(lot);
}

static void brpc_2907(bool mended)
{
    lot_run(mended ? LOT_MENDED : LOT_WORD_STAYS);
}

static void brpc_3539(bool mended)
{
    lot_run(mended ? LOT_MENDED : LOT_RELAXED);
}

/* ---- the idle mask ---- */

enum mask_fault { MASK_MENDED, MASK_RELAXED, MASK_LOADS };

struct executor {
    enum mask_fault fault;
    struct shared_u32 idle;  /* 1: it is going to sleep or asleep; set by itself, taken by the pusher */
    struct shared_u32 tail;  /* of another executor's queue; written by the pusher */
    struct shared_u32 event; /* 1: woken; the poll's descriptor */
};

static void executor_main(void *argument)
{
    struct executor *executor = argument;
    if (executor->fault == MASK_RELAXED)
        shared_u32_exchange_acq_rel(&executor->idle, 1); /* the fault: not before the look below */
    else
        shared_u32_exchange_seq_cst(&executor->idle, 1); /* announce, then look */
    if (executor->fault == MASK_MENDED)
        ordered_fence_seq_cst(); /* announce, then look; partner of the pusher's */
    while (shared_u32_load_acquire(&executor->tail) == 0)
        platform_park(&executor->event, 0, PLATFORM_FOREVER);
}

static void pusher_main(void *argument)
{
    struct executor *executor = argument;
    shared_u32_store_release(&executor->tail, 1); /* publishes the task */
    if (executor->fault == MASK_MENDED)
        ordered_fence_seq_cst(); /* publish, then look at the mask */
    uint32_t idle = executor->fault == MASK_LOADS ? shared_u32_load_seq_cst(&executor->idle)  /* too little */
                                                  : shared_u32_load_relaxed(&executor->idle); /* ordered by the fence */
    if (idle == 0)
        return;
    shared_u32_store_release(&executor->event, 1);
    platform_wake(&executor->event, 1);
}

static void mask_run(enum mask_fault fault)
{
    struct executor *executor = historic_alloc(sizeof(*executor));
    executor->fault = fault;
    struct platform_thread *sleeper = historic_start("executor", executor_main, executor);
    struct platform_thread *pusher = historic_start("pusher", pusher_main, executor);
    platform_thread_join(pusher);
    platform_thread_join(sleeper);
    platform_free(executor);
}

static void zio_610_c(bool mended)
{
    mask_run(mended ? MASK_MENDED : MASK_RELAXED);
}

static void zio_610_c_loads(bool mended)
{
    mask_run(mended ? MASK_MENDED : MASK_LOADS);
}

HISTORIC_SCENARIO(brpc_2907, "submit-and-park", "a signal before the wait ends the wait", true);
HISTORIC_SCENARIO(brpc_3539, "submit-and-park", "a signal that sees no waiter is seen by the waiter", true);
HISTORIC_SCENARIO(zio_610_c, "push-and-sleep", "a pusher sees the idle bit or the sleeper sees the task", true);
HISTORIC_SCENARIO(zio_610_c_loads, "push-and-sleep", "a pusher sees the idle bit or the sleeper sees the task", true);
