/* SPDX-License-Identifier: MIT
 *
 * Scenarios of waking: a submit, then silence. Whoever sleeps through a task that it could take, sleeps for ever (S3).
 *
 * In a run the worker may be anywhere when the task comes: starting, spinning, about to park, parked (field case 24:
 * one item in each phase). Tasks that wait for one another make the promise strong: no worker idle beside a task that
 * it could take (field cases 22 and 25).
 */
#include "pool_scenarios.h"

void wake_starting(const struct configuration *configuration)
{
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 1, .arrivals = 1});
    load_submit_new(&load, PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    load_close(&load, PILFER_CLOSE_RUN);
}

void wake_spinning(const struct configuration *configuration)
{
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 1, .spin_limit = 1, .arrivals = 1});
    load_submit_new(&load, PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    load_close(&load, PILFER_CLOSE_RUN);
}

/* The second task meets what the first one's turn has left behind: flags, permits, promises. */
void wake_after_turn(const struct configuration *configuration)
{
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 1, .arrivals = 1});
    load_submit_new(&load, PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    pilfer_latch_init(load.done, 1);
    load_submit_new(&load, PILFER_PLACEMENT_GLOBAL);
    load_wait(&load);
    load_close(&load, PILFER_CLOSE_RUN);
}

/* Two threads that the pool does not know, or one guest and one stranger. */
static void two_submitters(const struct configuration *configuration, uint32_t workers, uint32_t tasks_each,
                           uint32_t spin_limit)
{
    struct load load;
    struct submitter submitters[LOAD_SUBMITTERS_MAX];
    load_open(&load, configuration,
              &(struct load_options){
                  .max_workers = workers, .spin_limit = spin_limit, .arrivals = LOAD_SUBMITTERS_MAX * tasks_each});
    bool attaches = explored_choose(2) != 0;
    for (uint32_t i = 0; i < LOAD_SUBMITTERS_MAX * tasks_each; i++)
        load_item(&load, NULL);
    for (uint32_t i = 0; i < LOAD_SUBMITTERS_MAX; i++) {
        submitters[i] = (struct submitter){
            .load = &load, .first = i * tasks_each, .count = tasks_each, .attaches = attaches && i == 0};
        submitter_start(&submitters[i], i == 0 ? "first" : "second");
    }
    load_wait(&load);
    for (uint32_t i = 0; i < LOAD_SUBMITTERS_MAX; i++)
        submitter_join(&submitters[i]);
    load_close(&load, PILFER_CLOSE_RUN);
}

/* Two submits, one by another thread, meet the first task's worker on its way to sleep: one may rely on the other's. */
void wake_two_after_turn(const struct configuration *configuration)
{
    struct load load;
    struct submitter second = {.load = &load, .first = 1, .count = 1};
    load_open(&load, configuration, &(struct load_options){.max_workers = 1, .arrivals = 1});
    load_submit_new(&load, PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    pilfer_latch_init(load.done, 2);
    load_item(&load, NULL);
    submitter_start(&second, "second");
    load_submit_new(&load, PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    submitter_join(&second);
    load_close(&load, PILFER_CLOSE_RUN);
}

void wake_two_submitters(const struct configuration *configuration)
{
    two_submitters(configuration, 1, 1, 0);
}

void wake_two_by_two(const struct configuration *configuration)
{
    uint32_t workers = 1 + explored_choose(3);
    two_submitters(configuration, workers, 2, explored_choose(2));
}

static void wait_at_gate(struct load *load, struct item *item)
{
    (void)item;
    gate_wait(&load->gates[0]);
}

static void open_gate(struct load *load, struct item *item)
{
    (void)item;
    gate_open(&load->gates[0]);
}

static void submit_long_task(struct load *load)
{
    load_submit(load, load_item(load, wait_at_gate), PILFER_PLACEMENT_DEFAULT);
    load_submit(load, load_item(load, open_gate), PILFER_PLACEMENT_DEFAULT);
    load_wait(load);
    load_close(load, PILFER_CLOSE_RUN);
}

void wake_long_task(const struct configuration *configuration)
{
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 2, .arrivals = 2});
    submit_long_task(&load);
}

/* The only worker takes its last look, and comes back to the long task by itself. What it had promised, or was
 * promised, must not keep the second worker away. */
void wake_long_after_turn(const struct configuration *configuration)
{
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 2, .arrivals = 1});
    load_submit_new(&load, PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    pilfer_latch_init(load.done, 2);
    submit_long_task(&load);
}

/* Ends only when so many tasks are inside at once. */
static void meet(struct load *load, struct item *item)
{
    (void)item;
    if (++load->arrived == load->limit)
        gate_open(&load->gates[0]);
    gate_wait(&load->gates[0]);
}

/* Threads are started meanwhile: the pool begins with one. */
void wake_meeting(const struct configuration *configuration)
{
    enum { WORKERS = 3 };
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = WORKERS, .arrivals = WORKERS});
    /* where the sizing moves: so many at once */
    pilfer_set_min_workers(load.executor, (struct pilfer_limits){WORKERS, 1});
    load.limit = WORKERS;
    for (uint32_t i = 0; i < WORKERS; i++)
        load_submit(&load, load_item(&load, meet), PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    load_close(&load, PILFER_CLOSE_RUN);
}

void wake_batch(const struct configuration *configuration)
{
    enum { TASKS = 3, WORKERS = 2 };
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = WORKERS, .arrivals = TASKS});
    bool meets = load_has_workers(configuration);
    load.limit = WORKERS;
    for (uint32_t i = 0; i < TASKS; i++)
        load_item(&load, meets && i < WORKERS ? meet : NULL);
    load_submit_batch(&load, 0, TASKS, PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    load_close(&load, PILFER_CLOSE_RUN);
}

/* More than there are tasks, and more than have been started (S9). */
void wake_many_workers(const struct configuration *configuration)
{
    enum { STARTED = 5, WORKERS = 6, TASKS = 2 };
    struct load load;
    load_open(&load, configuration,
              &(struct load_options){.min_workers = STARTED, .max_workers = WORKERS, .arrivals = TASKS});
    for (uint32_t i = 0; i < TASKS; i++)
        load_submit_new(&load, PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    load_close(&load, PILFER_CLOSE_RUN);
}
