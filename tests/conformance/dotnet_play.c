/* SPDX-License-Identifier: MIT
 *
 * The played pool of dotnet_play.h.
 */
#include "dotnet_play.h"

#include "harness.h"
#include "idle/dotnet_workers.h"
#include "pool.h"

void play_open(struct play *play, const struct subject *subject, uint32_t workers, uint32_t goal,
               const struct pilfer_setting *settings, uint32_t setting_count)
{
    still_open(&play->still, subject, workers, settings, setting_count);
    struct pool *pool = play->pool = play->still.pool;
    pool->sizing = registry_sizing("fixed"); /* nothing but the idle policy acts */
    pool->idle_state = platform_alloc(pool->idle->pool_state_size);
    check_setup(pool->sizing != NULL && pool->idle_state != NULL);
    check_setup(pool->idle->init == NULL || pool->idle->init(pool) == 0);
    play->idle = pool->idle_state;
    pool_counts_change(pool, 0, (int)workers, 0);
    pool_set_goal(pool, goal);
    shared_u32_store_relaxed(&pool->thread_limit, workers); /* one thread */
}

void play_close(struct play *play)
{
    platform_free(play->pool->idle_state);
    still_close(&play->still);
}

static struct worker *thread_of(const struct play *play, uint32_t self)
{
    if (self == PLAY_OUTSIDE)
        return NULL;
    return self == PLAY_GUEST ? play->still.guest : pool_worker(play->pool, self);
}

void play_submit(struct play *play, uint32_t self, struct still_task *task, enum pilfer_placement placement)
{
    struct pool *pool = play->pool;
    struct worker *worker = thread_of(play, self);
    task->state = STILL_ACCEPTED;
    const int wakes = pool->scheduler->submit(pool, worker, &task->task, placement);
    check_setup(wakes > 0);
    pool->idle->submitted(pool, worker, (uint32_t)wakes);
    check_progress();
}

uint16_t play_part(uint64_t word, enum play_part part)
{
    return (uint16_t)(word >> part);
}

uint32_t play_signals(const struct play *play)
{
    return play_part(shared_u64_load_relaxed(&play->idle->semaphore.word), PLAY_SIGNALS); /* one thread */
}

void play_begin(struct play *play, uint32_t self)
{
    play->pool->idle->dispatch_begin(thread_of(play, self));
}

void play_wake(struct play *play, uint32_t self)
{
    if (play_signals(play) == 0)
        check_broken("worker %u was to be released, and there is no signal for it", self);
    if (!play->pool->idle->wait(thread_of(play, self)))
        check_broken("the wait of worker %u says that it is to leave", self);
    play_begin(play, self);
}

void play_next(struct play *play, uint32_t self, bool first, const struct still_task *expected)
{
    const struct idle_policy *idle = play->pool->idle;
    const struct still_task *task = still_next(&play->still, self);
    if (task != expected)
        check_broken("worker %u was handed %s%u in the place of %s%u", self, task != NULL ? "task " : "none/",
                     task != NULL ? task->id : 0, expected != NULL ? "task " : "none/",
                     expected != NULL ? expected->id : 0);
    if (task != NULL && first)
        idle->got_first(thread_of(play, self));
    else if (task != NULL && idle->got_next != NULL)
        idle->got_next(thread_of(play, self));
}

bool play_end(struct play *play, uint32_t self, bool missed)
{
    return play->pool->idle->found_nothing(thread_of(play, self), missed);
}

uint64_t play_count(const struct play *play, enum counter counter)
{
    const struct pool *pool = play->pool;
    uint64_t sum = counter_read(&pool->private->outside_account->counters[counter]) +
                   counter_read(&play->still.guest->account->counters[counter]);
    for (uint32_t i = 0; i < play->still.workers; i++)
        sum += counter_read(&pool_worker(pool, i)->account->counters[counter]);
    return sum;
}

uint32_t play_engaged(const struct play *play)
{
    return pool_numbers(play->pool).engaged;
}
