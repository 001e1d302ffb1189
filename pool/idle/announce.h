/* SPDX-License-Identifier: MIT
 *
 * The sleep protocol that the simple idle policies share: two full fences and a second look.
 *
 * The race. A submitter publishes a task and then looks whether anybody must be woken; a worker that found nothing
 * leaves the engaged ones and then goes to sleep. If both look before the other's write is visible, the task lies in
 * the queue while everybody sleeps: a lost wake-up.
 *
 * The protocol.
 *     submitter                                   worker
 *     1. publish the task (scheduler.submit)      1. disengage (counts word, read-modify-write)
 *     2. full fence, @F announce.1                2. full fence, @F announce.1
 *     3. read the counts word: engage?            3. pending()? then engage again, else wait
 *
 * Proof sketch. The two fences are ordered. If the submitter's is first, the worker's look at step 3 is after the
 * publication and sees the task. If the worker's is first, the submitter reads a counts word from which the worker has
 * gone, so there is room below the goal and it engages somebody; unless the goal is reached by others, and then those
 * are still to take their own step 3, which is after the publication by the same argument.
 *
 * Rejected. Reading the queues once before disengaging: the task may arrive in between. Waking always: one system call
 * per submit. A time-out on the wait: turns a bug into a latency.
 *
 * Sources. Go runtime proc.go ("we must re-check after dropping the spinning state"), rayon-core sleep/README.md.
 */
#ifndef PILFER_POOL_IDLE_ANNOUNCE_H
#define PILFER_POOL_IDLE_ANNOUNCE_H

#include "scheduler.h"

/* Submitter's step 2; call before pool_engage. */
static inline void announce_published(void)
{
    /* Partner of @F pool.2 as well (a worker that blocks). @F announce.1: publish the task, then read the counts.
     * Without it: task unseen by the worker's last look, worker still counted in the submitter's. */
    ordered_fence_seq_cst();
}

enum announced {
    ANNOUNCED_IDLE,    /* nothing was seen: the worker may wait */
    ANNOUNCED_ENGAGED, /* something was seen: the worker is engaged again and must look */
    ANNOUNCED_FULL,    /* something was seen, but the goal is reached, or somebody has engaged this worker meanwhile and
                        * its wake-up is on its way: it may wait, and who else is to come is the policy's business */
};

/* Worker's steps 1 to 3. */
static inline enum announced announce_idle(struct worker *worker)
{
    struct pool *pool = worker->pool;
    pool_disengage(worker);
    /* @F announce.1: leave the counts, then read the queues; see announce_published. */
    ordered_fence_seq_cst();
    if (!pool->scheduler->pending(pool))
        return ANNOUNCED_IDLE;
    return pool_engage_self(worker) ? ANNOUNCED_ENGAGED : ANNOUNCED_FULL;
}

#endif
