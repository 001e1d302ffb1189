/* SPDX-License-Identifier: MIT
 *
 * S6: declared order. Each order flag of a scheduler's table is a promise.
 *
 * Method. One thread plays the workers. SCHEDULER_FIFO_GLOBAL: tasks placed globally come out in submit order, whoever
 * takes them. SCHEDULER_LIFO_LOCAL: a worker gets its own local tasks back newest first. SCHEDULER_LIFO_SLOT (with
 * lifo-slot 1): a worker whose every task submits one more takes at most three in a row from its slot, and an older
 * task of the same worker is handed out all the same, so that two tasks cannot starve a third. With FIFO_GLOBAL also on
 * a real pool of one worker: the order in which tasks start.
 */
#include "invariants.h"

#include <stdlib.h>

#include "inside.h"
#include "load.h"
#include "still.h"

#define TASKS         2000
#define NOBODY        UINT32_MAX
#define SLOT_RUN_MAX  3
#define STARVED_AFTER 64 /* hand-outs after which an older task of the same worker counts as starved */

static struct still_task *number_tasks(uint32_t count)
{
    struct still_task *items = calloc(count, sizeof(*items));
    check_setup(items != NULL);
    for (uint32_t i = 0; i < count; i++)
        items[i].id = i;
    return items;
}

static void submit_or_break(struct still *still, uint32_t index, struct still_task *task,
                            enum pilfer_placement placement)
{
    const int status = still_submit(still, index, task, placement);
    if (status < 0)
        check_broken("submit answered %d", status);
}

static void check_fifo_global(const struct subject *subject, uint32_t workers)
{
    struct still still;
    struct still_task *items = number_tasks(TASKS);
    uint64_t random = subject->seed;
    still_open(&still, subject, workers, NULL, 0);
    check_trying("global order of %d tasks, %u workers", TASKS, workers);
    for (uint32_t submitted = 0, expected = 0; expected < TASKS;) {
        if (submitted < TASKS && check_random(&random) % 3 != 0) {
            submit_or_break(&still, workers > 1 && submitted % 2 == 0 ? 0 : NOBODY, &items[submitted],
                            PILFER_PLACEMENT_GLOBAL);
            submitted++;
            continue;
        }
        if (expected == submitted)
            continue;
        const struct still_task *task = still_next(&still, (uint32_t)(check_random(&random) % workers));
        if (task == NULL)
            check_broken("next gave none, and %u global tasks are queued", submitted - expected);
        if (task->id != expected)
            check_broken("declares FIFO_GLOBAL, and global task %u came when %u was the oldest (%u workers)", task->id,
                         expected, workers);
        expected++;
    }
    still_close(&still);
    free(items);
}

static void check_lifo_local(const struct subject *subject, uint32_t workers)
{
    struct still still;
    struct still_task *items = number_tasks(TASKS);
    const struct pilfer_setting no_slot = {"lifo-slot", 0};
    still_open(&still, subject, workers, &no_slot, inside_scheduler(subject)->caps & SCHEDULER_LIFO_SLOT ? 1 : 0);
    check_trying("local order of %d tasks, %u workers", TASKS, workers);
    for (uint32_t i = 0; i < TASKS; i++)
        submit_or_break(&still, 0, &items[i], PILFER_PLACEMENT_LOCAL);
    for (uint32_t i = TASKS; i-- > 0;) {
        const struct still_task *task = still_next(&still, 0);
        if (task == NULL)
            check_broken("next gave none to a worker with %u local tasks", i + 1);
        if (task->id != i)
            check_broken("declares LIFO_LOCAL, and local task %u came when %u was the newest (%u workers)", task->id, i,
                         workers);
    }
    still_close(&still);
    free(items);
}

static void check_lifo_slot(const struct subject *subject)
{
    struct still still;
    struct still_task *items = number_tasks(TASKS);
    const struct pilfer_setting slot = {"lifo-slot", 1};
    still_open(&still, subject, 1, &slot, 1);
    check_trying("a worker whose every task submits one more, with a LIFO slot");
    submit_or_break(&still, 0, &items[0], PILFER_PLACEMENT_LOCAL); /* the old task */
    uint32_t in_a_row = 0;
    uint64_t hits = 0;
    for (uint32_t i = 1; i < TASKS; i++) {
        submit_or_break(&still, 0, &items[i], PILFER_PLACEMENT_LOCAL);
        if (still_next(&still, 0) == NULL)
            check_broken("next gave none to a worker with local tasks");
        const uint64_t now = counter_read(&pool_worker(still.pool, 0)->account->counters[COUNTER_lifo_slot_hits]);
        in_a_row = now > hits ? in_a_row + 1 : 0;
        hits = now;
        if (in_a_row > SLOT_RUN_MAX)
            check_broken("took %u tasks in a row from the LIFO slot; %d are allowed", in_a_row, SLOT_RUN_MAX);
        if (i == STARVED_AFTER && items[0].state == STILL_ACCEPTED)
            check_broken("an older local task was not handed out in %u hand-outs from the LIFO slot", i);
    }
    if (hits == 0)
        check_broken("declares LIFO_SLOT, and counted no task taken from it");
    still_close(&still);
    free(items);
}

/* ---- the order of starts, on a real pool of one worker ---- */

struct started {
    struct pilfer_task task;
    uint32_t id;
    uint32_t *next_id; /* of the pool's only worker */
    struct pilfer_latch *latch;
};

static void start_in_order(struct pilfer_task *task)
{
    struct started *started = (struct started *)task;
    if (started->id != (*started->next_id)++)
        check_broken("declares FIFO_GLOBAL, and task %u started when %u was the oldest (a pool of one worker)",
                     started->id, *started->next_id - 1);
    pilfer_latch_arrive(started->latch);
}

static void check_starts(const struct subject *subject)
{
    struct pilfer_executor *executor = load_open(subject, 1, 0, 0);
    struct started *items = calloc(TASKS, sizeof(*items));
    struct pilfer_latch latch;
    uint32_t next_id = 0;
    check_setup(items != NULL);
    check_trying("the order in which one worker starts %d tasks", TASKS);
    pilfer_latch_init(&latch, TASKS);
    for (uint32_t i = 0; i < TASKS; i++) {
        items[i] = (struct started){.task.run = start_in_order, .id = i, .next_id = &next_id, .latch = &latch};
        if (pilfer_submit(executor, &items[i].task, PILFER_PLACEMENT_GLOBAL) != 0)
            check_broken("a submit was refused");
    }
    pilfer_wait(executor, &latch);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
    free(items);
}

void check_order(const struct subject *subject)
{
    if (inside_runs_in_submitter(subject))
        check_skip("tasks run in the submitter: their order is that of the submits");
    const uint32_t caps = inside_scheduler(subject)->caps;
    if ((caps & (SCHEDULER_FIFO_GLOBAL | SCHEDULER_LIFO_LOCAL | SCHEDULER_LIFO_SLOT)) == 0)
        check_skip("declares no order");
    for (uint32_t workers = 1; workers <= 3; workers++) {
        if (caps & SCHEDULER_FIFO_GLOBAL)
            check_fifo_global(subject, workers);
        if (caps & SCHEDULER_LIFO_LOCAL)
            check_lifo_local(subject, workers);
    }
    if (caps & SCHEDULER_LIFO_SLOT)
        check_lifo_slot(subject);
    if (caps & SCHEDULER_FIFO_GLOBAL)
        check_starts(subject);
}
