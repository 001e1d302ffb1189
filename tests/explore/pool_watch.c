/* SPDX-License-Identifier: MIT
 *
 * A watch over every pool scheduler, for the invariants that a task cannot see: S5, bounded next; S8, quiet end.
 *
 * How it works. The program is linked with --wrap=registry_scheduler. Whoever asks for a scheduler gets a copy of its
 * table with two callbacks replaced: next may take so many steps only while no other thread runs, as many as the number
 * of workers allows; and when drain has said that nothing is left, next must say so too, for every worker. A copy is
 * made when its name is first asked for, and never changes after that: the one file-scope state that a scenario meets.
 */
#include <stdlib.h>

#include "pool.h"

/* Steps that next may take alone. The longest, dotnet-9's, takes 70 with one worker and two substitutes, where it moves
 * on to another ring; a look at each of the tasks of order-many-queued would take a hundred. */
enum { STEPS_OF_NEXT = 65, STEPS_PER_WORKER = 15 };
enum { WATCHED_MAX = 64 };

struct watched {
    struct scheduler table; /* first: a pool's scheduler is this */
    const struct scheduler *scheduler;
};

const struct scheduler *__real_registry_scheduler(const char *name);
const struct scheduler *__wrap_registry_scheduler(const char *name);

static const struct scheduler *scheduler_of(const struct pool *pool)
{
    return ((const struct watched *)pool->scheduler)->scheduler;
}

static enum next_result watched_next(struct worker *worker, struct pilfer_task **out)
{
    explored_alone_at_most(STEPS_OF_NEXT + STEPS_PER_WORKER * worker->pool->max_workers);
    enum next_result result = scheduler_of(worker->pool)->next(worker, out);
    explored_alone_at_most(0);
    return result;
}

/* The workers have left: this thread may ask in their place. */
static struct pilfer_task *watched_drain(struct pool *pool)
{
    struct pilfer_task *task = scheduler_of(pool)->drain(pool), *left;
    for (uint32_t i = 0; task == NULL && i < pool_published(pool); i++)
        if (scheduler_of(pool)->next(pool_worker(pool, i), &left) == NEXT_TASK)
            explored_fail("S8", "drain says that nothing is left, and worker %u is given a task", i);
    return task;
}

const struct scheduler *__wrap_registry_scheduler(const char *name)
{
    static struct watched watched[WATCHED_MAX];
    const struct scheduler *scheduler = __real_registry_scheduler(name);
    if (scheduler == NULL)
        return NULL;
    for (uint32_t i = 0; i < WATCHED_MAX; i++) {
        if (watched[i].scheduler == scheduler)
            return &watched[i].table;
        if (watched[i].scheduler != NULL)
            continue;
        watched[i] = (struct watched){*scheduler, scheduler};
        watched[i].table.next = scheduler->next != NULL ? watched_next : NULL;
        watched[i].table.drain = scheduler->drain != NULL ? watched_drain : NULL;
        return &watched[i].table;
    }
    abort(); /* more schedulers than places: none may go unwatched */
}
