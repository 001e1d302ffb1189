/* SPDX-License-Identifier: MIT
 *
 * What the bounds share, see bound.h.
 *
 * When the executor below refuses a reader. The item has been published by then, so another reader may have run it. The
 * protocol's engage gives the slot back and reports the refusal only if the queue is not empty and nobody is left to
 * look at it. Then the submitter takes its item back if it is the oldest one, and reports the refusal: the item is the
 * caller's again. Otherwise the item has been run or stays behind older ones, and the submit has succeeded. Whatever is
 * left in the queue has counted on the slot that the submitter held; so it tries once more to start a reader. If that
 * is refused too, the items wait for the next submit, or for close.
 *
 * Memory of readers. A reader task is free for the next start as soon as it runs, before its slot is given back. So in
 * a protocol whose count is right, whoever has taken a slot finds one of the parallelism reader tasks free.
 */
#include "bound.h"

#include <errno.h>

#include "platform.h"

/* Cells of a new channel; the explorer builds with 2. */
#ifndef CHANNEL_CAPACITY_FIRST
#define CHANNEL_CAPACITY_FIRST 256
#endif

/* ---- queues ---- */

static int fifo_push(struct bound_state *state, struct pilfer_task *task, uint64_t *ticket)
{
    *ticket = task_fifo_push(&state->items.fifo, task);
    return 0;
}

static struct pilfer_task *fifo_pop(struct bound_state *state)
{
    return task_fifo_pop(&state->items.fifo);
}

static struct pilfer_task *fifo_take_back(struct bound_state *state, uint64_t ticket)
{
    return task_fifo_take_back(&state->items.fifo, ticket);
}

static bool fifo_is_empty(const struct bound_state *state)
{
    return task_fifo_is_empty(&state->items.fifo);
}

static uint64_t fifo_depth(const struct bound_state *state)
{
    return task_fifo_depth(&state->items.fifo);
}

const struct bound_queue bound_queue_fifo = {
    .push = fifo_push,
    .pop = fifo_pop,
    .take_back = fifo_take_back,
    .is_empty = fifo_is_empty,
    .depth = fifo_depth,
};

static int channel_init(struct bound_state *state)
{
    return task_channel_init(&state->items.channel, CHANNEL_CAPACITY_FIRST);
}

static void channel_fini(struct bound_state *state)
{
    task_channel_fini(&state->items.channel);
}

static int channel_push(struct bound_state *state, struct pilfer_task *task, uint64_t *ticket)
{
    return task_channel_push(&state->items.channel, task, ticket);
}

static struct pilfer_task *channel_pop(struct bound_state *state)
{
    return task_channel_pop(&state->items.channel);
}

static struct pilfer_task *channel_take_back(struct bound_state *state, uint64_t ticket)
{
    return task_channel_take_back(&state->items.channel, ticket);
}

static bool channel_is_empty(const struct bound_state *state)
{
    return task_channel_is_empty(&state->items.channel);
}

static uint64_t channel_depth(const struct bound_state *state)
{
    return task_channel_depth(&state->items.channel);
}

const struct bound_queue bound_queue_channel = {
    .init = channel_init,
    .fini = channel_fini,
    .push = channel_push,
    .pop = channel_pop,
    .take_back = channel_take_back,
    .is_empty = channel_is_empty,
    .depth = channel_depth,
};

/* ---- readers ---- */

void bound_count(struct bound_state *state, enum bound_counter counter, uint64_t amount)
{
    counter_add_shared(&state->counters[counter], amount);
}

static void reader_becomes_active(struct bound_state *state)
{
    /* Relaxed: counter only. Every reader that is past its entry and before its leave is counted. */
    uint64_t active = shared_u64_add_relaxed(&state->active, 1) + 1;
    counter_raise(&state->active_max, active);
}

static uint64_t reader_empties_queue(struct bound_state *state, struct worker *worker)
{
    uint64_t items = 0;
    struct pilfer_task *item;
    reader_becomes_active(state);
    while ((item = state->queue->pop(state)) != NULL) {
        run_nested(worker, item);
        items++;
    }
    /* Relaxed: counter only. Before the slot is given back, so that active is never more than the slots taken. */
    shared_u64_add_relaxed(&state->active, (uint64_t)-1);
    return items;
}

static void reader_run(struct pilfer_task *task)
{
    struct bound_state *state = ((struct bound_reader *)task)->state;
    struct worker *worker = platform_self();
    task_fifo_push(&state->readers_free, task);
    uint64_t items = 0;
    do {
        items += reader_empties_queue(state, worker);
    } while (state->protocol->leave(state));
    bound_count(state, BOUND_readers_total, 1);
    bound_count(state, BOUND_readers_zero, items == 0);
    bound_count(state, BOUND_readers_single, items == 1);
    bound_count(state, BOUND_items_run, items);
    /* Relaxed: a number. Nothing of the state is touched after this, and it is freed after the workers were joined. */
    shared_u64_add_relaxed(&state->present, (uint64_t)-1);
}

int bound_reader_start(struct bound_state *state)
{
    struct pilfer_task *task = task_fifo_pop(&state->readers_free);
    int status = -EAGAIN;
    if (task != NULL) {
        /* Relaxed: a number; the caller is inside submit, which close waits for. */
        shared_u64_add_relaxed(&state->present, 1);
        status = bound_submit_below(state->bound, task);
        if (status == 0)
            return 0;
        shared_u64_add_relaxed(&state->present, (uint64_t)-1); /* as in reader_run */
        task_fifo_push(&state->readers_free, task);
    }
    bound_count(state, BOUND_reader_starts_refused, 1);
    return status;
}

/* ---- the tables' functions ---- */

int bound_init(struct bound_executor *bound, const struct bound_queue *queue, const struct bound_protocol *protocol)
{
    struct bound_state *state = bound->state;
    uint64_t count = (uint64_t)bound->parallelism + protocol->readers_excess;
    state->bound = bound;
    state->queue = queue;
    state->protocol = protocol;
    state->readers_memory = platform_alloc(count * sizeof *state->readers_memory);
    if (state->readers_memory == NULL)
        return -ENOMEM;
    int status = queue->init != NULL ? queue->init(state) : 0;
    if (status != 0) {
        platform_free(state->readers_memory);
        return status;
    }
    for (uint64_t index = 0; index < count; index++) {
        struct bound_reader *reader = &state->readers_memory[index];
        reader->state = state;
        reader->task.run = reader_run;
        task_fifo_push(&state->readers_free, &reader->task);
    }
    return 0;
}

void bound_fini(struct bound_executor *bound)
{
    struct bound_state *state = bound->state;
    if (state->queue->fini != NULL)
        state->queue->fini(state);
    platform_free(state->readers_memory);
}

int bound_submit(struct bound_executor *bound, struct pilfer_task *task)
{
    struct bound_state *state = bound->state;
    uint64_t ticket;
    int status = state->queue->push(state, task, &ticket);
    if (status != 0)
        return status;
    status = state->protocol->engage(state);
    if (status == 0)
        return 0;
    bool is_mine_again = state->queue->take_back(state, ticket) != NULL;
    /* Others may have counted on the slot while this submit held it: look for them as after a push. Also when this item
     * was not to be had: a reader may have run it meanwhile, or it waits behind others. */
    if (!state->queue->is_empty(state))
        state->protocol->engage(state);
    return is_mine_again ? status : 0;
}

struct pilfer_task *bound_drain(struct bound_executor *bound)
{
    struct bound_state *state = bound->state;
    return state->queue->pop(state);
}

bool bound_busy(struct bound_executor *bound)
{
    struct bound_state *state = bound->state;
    if (shared_u64_load_relaxed(&state->present) != 0) /* a number; asked again until it is 0 */
        return true;
    if (state->protocol->strands || state->queue->is_empty(state))
        return false;
    /* Refused again: true all the same, for the next call. */
    state->protocol->engage(state);
    return true;
}

void bound_extras(struct bound_executor *bound, void (*visit)(void *context, const char *name, double value),
                  void *context)
{
    const struct bound_state *state = bound->state;
    static const char *const names[] = {
#define BOUND_COUNTER_NAME(name) #name,
        BOUND_COUNTERS(BOUND_COUNTER_NAME)
#undef BOUND_COUNTER_NAME
    };
    for (int counter = 0; counter < BOUND_COUNTER_COUNT; counter++)
        visit(context, names[counter], (double)counter_read(&state->counters[counter]));
    visit(context, "readers_active_max", (double)counter_read(&state->active_max));
    /* Items that wait although no reader exists; means something at rest only, between submits. */
    uint64_t depth = state->queue->depth(state);
    visit(context, "stranded", counter_read(&state->present) == 0 ? (double)depth : 0);
}
