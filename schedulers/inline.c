/* SPDX-License-Identifier: MIT
 *
 * Scheduler inline: no workers; a task runs in the thread that submits it.
 *
 * Idea       The floor: what the work costs without any hand-over. What a task submits while it runs is queued in the
 *            submitting thread and runs after it, in order, so that a chain does not grow the stack.
 * Good at    Short tasks that never block, one submitting thread.
 * Bad at     Everything that needs a second CPU; a long task holds up its submitter (a poller, say).
 * Placement  Ignored: there is one place.
 */
#include "scheduler.h"

/* Per thread, private to it. */
struct inline_list {
    struct pilfer_task *head, *tail;
};

static int inline_submit(struct pool *pool, struct worker *worker, struct pilfer_task *task,
                         enum pilfer_placement placement)
{
    struct inline_list *list = worker->queueing;
    (void)pool;
    (void)placement;
    task->next = NULL;
    if (list->head == NULL)
        list->head = task;
    else
        list->tail->next = task;
    list->tail = task;
    worker_count(worker, COUNTER_placements_local, 1);
    return 0; /* nobody to wake */
}

static enum next_result inline_next(struct worker *worker, struct pilfer_task **out)
{
    struct inline_list *list = worker->queueing;
    struct pilfer_task *task = list->head;
    if (task == NULL)
        return NEXT_EMPTY;
    list->head = task->next;
    *out = task;
    return NEXT_TASK;
}

static bool inline_pending(struct pool *pool)
{
    (void)pool;
    return false; /* nothing that another thread could take */
}

static struct pilfer_task *inline_drain(struct pool *pool)
{
    (void)pool;
    return NULL; /* a submit returns when everything has run */
}

const struct scheduler scheduler_inline = {
    .name = "inline",
    .summary = "no workers: the submitter runs the task (the floor)",
    .caps = SCHEDULER_RUNS_IN_SUBMITTER | SCHEDULER_FIFO_GLOBAL,
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .worker_state_size = sizeof(struct inline_list),
    .submit = inline_submit,
    .next = inline_next,
    .pending = inline_pending,
    .drain = inline_drain,
};
