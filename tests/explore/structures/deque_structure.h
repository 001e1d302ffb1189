/* SPDX-License-Identifier: MIT
 *
 * The deque as a structure of trial.h. Included by a file for each first index: DEQUE_INDEX_START is a constant of the
 * compilation. Before the inclusion DEQUE_STRUCTURE is the name of the table.
 *
 * No start near INT64_MAX: the owner's bottom + 1 would overflow a signed integer, and no program gets there (at a task
 * a nanosecond it takes 292 years). Starts below 2^31 and 2^32 show a narrower index.
 */
#include "deque.h"
#include "structures/structures.h"

static void *trial_deque_open(void)
{
    struct deque *deque = platform_alloc(sizeof *deque);
    deque_init(deque);
    return deque;
}

static void trial_deque_close(void *object)
{
    deque_fini(object);
    platform_free(object);
}

static int trial_deque_push(void *object, struct pilfer_task *task, uint64_t *ticket)
{
    (void)ticket;
    return deque_push(object, task);
}

static enum take_result trial_deque_steal(void *object, struct pilfer_task **out)
{
    switch (deque_steal(object, out)) {
    case DEQUE_TASK:
        return TAKE_TASK;
    case DEQUE_MISSED:
        return TAKE_MISSED;
    default:
        return TAKE_NOTHING;
    }
}

static enum take_result trial_deque_pop(void *object, struct pilfer_task **out)
{
    *out = deque_pop(object);
    return *out != NULL ? TAKE_TASK : TAKE_NOTHING;
}

static bool trial_deque_is_empty(void *object)
{
    return !deque_has_tasks(object);
}

static uint64_t trial_deque_depth(void *object)
{
    return deque_depth(object);
}

const struct structure DEQUE_STRUCTURE = {
    .open = trial_deque_open,
    .close = trial_deque_close,
    .push = trial_deque_push,
    .take_oldest = trial_deque_steal,
    .take_newest = trial_deque_pop,
    .is_empty = trial_deque_is_empty,
    .depth = trial_deque_depth,
};
