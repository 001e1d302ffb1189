/* SPDX-License-Identifier: MIT
 *
 * Waiting without a condition, and stops that miss the sleeper.
 *
 * poissonrecon-6. A worker waits on a condition variable without asking first whether there is a job: the first job
 *     of a new pool, submitted before the worker waits, is announced to nobody. isl-org/Open3D-PoissonRecon#6.
 *     Mended: the wait is a loop around the question.
 * villa-1688. A worker asks for "job or stop" under the mutex and then waits; the stop flag is set and announced
 *     without the mutex, between the two. 2 of 300 runs hung. ScrollPrize/villa#1688. Mended: the flag is set under
 *     the mutex.
 * weave-27. Without a mutex: the parent signals the child only if it is marked as asleep; the child looks for a
 *     shutdown, marks itself and sleeps. A shutdown between the look and the mark reaches nobody, and the exit
 *     barrier hangs. mratsim/weave#27. Mended: the child looks again after the mark.
 */
#include "historic.h"
#include "lock.h"

/* A condition variable: a word that each announcement changes. */
struct condition {
    struct shared_u32 announcements;
};

/* Caller holds the lock. */
static void condition_wait(struct condition *condition, struct lock *lock)
{
    uint32_t seen = shared_u32_load_relaxed(&condition->announcements); /* under the lock, before it is left */
    lock_unlock(lock);
    platform_park(&condition->announcements, seen, PLATFORM_FOREVER);
    lock_lock(lock);
}

static void condition_announce(struct condition *condition)
{
    shared_u32_add_acq_rel(&condition->announcements, 1);
    platform_wake(&condition->announcements, 1);
}

struct pool {
    bool mended;
    struct lock lock;
    struct condition condition;
    uint32_t jobs;          /* under the lock */
    struct shared_u32 stop; /* 1: no more jobs */
};

/* ---- poissonrecon-6 ---- */

static void job_worker(void *argument)
{
    struct pool *pool = argument;
    lock_lock(&pool->lock);
    if (!pool->mended)
        condition_wait(&pool->condition, &pool->lock); /* the fault: the job may be here already */
    while (pool->jobs == 0)
        condition_wait(&pool->condition, &pool->lock);
    pool->jobs--;
    lock_unlock(&pool->lock);
}

static void poissonrecon_6(bool mended)
{
    struct pool *pool = historic_alloc(sizeof(*pool));
    pool->mended = mended;
    struct platform_thread *thread = historic_start("worker", job_worker, pool);
    lock_lock(&pool->lock);
    pool->jobs++;
    lock_unlock(&pool->lock);
    condition_announce(&pool->condition);
    platform_thread_join(thread);
    platform_free(pool);
}

/* ---- villa-1688 ---- */

static void stoppable_worker(void *argument)
{
    struct pool *pool = argument;
    lock_lock(&pool->lock);
    while (pool->jobs == 0 && shared_u32_load_acquire(&pool->stop) == 0)
        condition_wait(&pool->condition, &pool->lock);
    lock_unlock(&pool->lock);
}

static void villa_1688(bool mended)
{
    struct pool *pool = historic_alloc(sizeof(*pool));
    struct platform_thread *thread = historic_start("worker", stoppable_worker, pool);
    if (mended)
        lock_lock(&pool->lock);
    shared_u32_store_release(&pool->stop, 1);
    if (mended)
        lock_unlock(&pool->lock);
    condition_announce(&pool->condition);
    platform_thread_join(thread);
    platform_free(pool);
}

/* ---- weave-27 ---- */

struct child {
    bool mended;
    struct shared_u32 stop;   /* set by the parent */
    struct shared_u32 asleep; /* 1: marked; set by the child, taken by the parent */
};

static void child_main(void *argument)
{
    struct child *child = argument;
    while (shared_u32_load_seq_cst(&child->stop) == 0) {
        shared_u32_exchange_seq_cst(&child->asleep, 1); /* mark, then look again */
        if (child->mended && shared_u32_load_seq_cst(&child->stop) != 0)
            return;
        platform_park(&child->asleep, 1, PLATFORM_FOREVER);
    }
}

static void weave_27(bool mended)
{
    struct child *child = historic_alloc(sizeof(*child));
    child->mended = mended;
    struct platform_thread *thread = historic_start("child", child_main, child);
    shared_u32_exchange_seq_cst(&child->stop, 1); /* stop, then look for the mark */
    if (shared_u32_exchange_seq_cst(&child->asleep, 0) == 1)
        platform_wake(&child->asleep, 1);
    platform_thread_join(thread);
    platform_free(child);
}

HISTORIC_SCENARIO(poissonrecon_6, "first-job", "a job that comes before the wait is run", true);
HISTORIC_SCENARIO(villa_1688, "stop-and-wait", "a stop ends every wait", true);
HISTORIC_SCENARIO(weave_27, "stop-and-sleep", "a stop ends every sleep", true);
