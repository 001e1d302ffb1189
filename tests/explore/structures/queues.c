/* SPDX-License-Identifier: MIT
 *
 * The shared queues as structures of trial.h: task_fifo and task_channel of pool/queues.h, and the model of the
 * library's ring.
 */
#include "queues.h"

#include "library_ring.h"
#include "structures/structures.h"

enum { CHANNEL_CAPACITY = 2, RING_CAPACITY = 2 };

static enum take_result taken(struct pilfer_task *task, struct pilfer_task **out)
{
    *out = task;
    return task != NULL ? TAKE_TASK : TAKE_NOTHING;
}

/* ---- task_fifo ---- */

static void *trial_fifo_open(void)
{
    return platform_alloc(sizeof(struct task_fifo));
}

static int trial_fifo_push(void *object, struct pilfer_task *task, uint64_t *ticket)
{
    *ticket = task_fifo_push(object, task);
    return 0;
}

static void trial_fifo_push_batch(void *object, struct pilfer_task *first, uint64_t count)
{
    task_fifo_push_batch(object, first, count);
}

static enum take_result trial_fifo_pop(void *object, struct pilfer_task **out)
{
    return taken(task_fifo_pop(object), out);
}

static enum take_result trial_fifo_take_back(void *object, uint64_t ticket, struct pilfer_task **out)
{
    return taken(task_fifo_take_back(object, ticket), out);
}

static bool trial_fifo_is_empty(void *object)
{
    return task_fifo_is_empty(object);
}

static uint64_t trial_fifo_depth(void *object)
{
    return task_fifo_depth(object);
}

const struct structure structure_task_fifo = {
    .open = trial_fifo_open,
    .close = platform_free,
    .push = trial_fifo_push,
    .push_batch = trial_fifo_push_batch,
    .take_oldest = trial_fifo_pop,
    .take_back = trial_fifo_take_back,
    .is_empty = trial_fifo_is_empty,
    .depth = trial_fifo_depth,
};

/* ---- task_channel ---- */

static void *trial_channel_open(void)
{
    struct task_channel *channel = platform_alloc(sizeof *channel);
    task_channel_init(channel, CHANNEL_CAPACITY);
    return channel;
}

static void trial_channel_close(void *object)
{
    task_channel_fini(object);
    platform_free(object);
}

static int trial_channel_push(void *object, struct pilfer_task *task, uint64_t *ticket)
{
    return task_channel_push(object, task, ticket);
}

static enum take_result trial_channel_pop(void *object, struct pilfer_task **out)
{
    return taken(task_channel_pop(object), out);
}

static enum take_result trial_channel_take_back(void *object, uint64_t ticket, struct pilfer_task **out)
{
    return taken(task_channel_take_back(object, ticket), out);
}

static bool trial_channel_is_empty(void *object)
{
    return task_channel_is_empty(object);
}

static uint64_t trial_channel_depth(void *object)
{
    return task_channel_depth(object);
}

const struct structure structure_task_channel = {
    .open = trial_channel_open,
    .close = trial_channel_close,
    .push = trial_channel_push,
    .take_oldest = trial_channel_pop,
    .take_back = trial_channel_take_back,
    .is_empty = trial_channel_is_empty,
    .depth = trial_channel_depth,
};

/* ---- the model of the library's ring ---- */

static void *trial_ring_open(void)
{
    return library_ring_create(RING_CAPACITY);
}

static void trial_ring_close(void *object)
{
    library_ring_destroy(object);
}

static int trial_ring_push(void *object, struct pilfer_task *task, uint64_t *ticket)
{
    (void)ticket;
    return library_ring_push(object, task) ? 0 : -1;
}

static enum take_result trial_ring_pop(void *object, struct pilfer_task **out)
{
    return taken(library_ring_pop(object), out);
}

static bool trial_ring_is_empty(void *object)
{
    return library_ring_is_empty(object);
}

static uint64_t trial_ring_depth(void *object)
{
    return library_ring_depth(object);
}

const struct structure structure_library_ring = {
    .open = trial_ring_open,
    .close = trial_ring_close,
    .push = trial_ring_push,
    .take_oldest = trial_ring_pop,
    .is_empty = trial_ring_is_empty,
    .depth = trial_ring_depth,
    .capacity = RING_CAPACITY,
};
