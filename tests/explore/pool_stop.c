/* SPDX-License-Identifier: MIT
 *
 * Scenarios of the end: close at any moment, beside submits, tasks and workers that take their last look.
 *
 * A submit may race with close as long as it has ended before close returns. So either close is done in two steps, with
 * the memory still there in between, or a task that was let in before holds it up.
 */
#include "pool_scenarios.h"

#include <errno.h>

void stop_at_once(const struct configuration *configuration)
{
    struct load load;
    load_open(&load, configuration, &(struct load_options){.min_workers = 2, .max_workers = 2});
    load_close(&load, PILFER_CLOSE_RUN);
}

static void submit_and_close(const struct configuration *configuration, enum pilfer_close how)
{
    enum { TASKS = 2 };
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 1, .arrivals = TASKS});
    for (uint32_t i = 0; i < TASKS; i++)
        load_submit_new(&load, PILFER_PLACEMENT_DEFAULT);
    load_close(&load, how);
}

void stop_run(const struct configuration *configuration)
{
    submit_and_close(configuration, PILFER_CLOSE_RUN);
}

void stop_drop(const struct configuration *configuration)
{
    submit_and_close(configuration, PILFER_CLOSE_DROP);
}

static void submit_beside_close(const struct configuration *configuration, enum pilfer_close how)
{
    enum { TASKS = 2 };
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 1, .arrivals = TASKS});
    for (uint32_t i = 0; i < TASKS; i++)
        load_item(&load, NULL);
    struct submitter submitter = {.load = &load, .count = TASKS, .attaches = explored_choose(2) != 0};
    submitter_start(&submitter, "submitter");
    load_stop_workers(&load, how);
    submitter_join(&submitter);
    load_stop_rest(&load, how);
    load_end(&load);
}

void stop_run_races(const struct configuration *configuration)
{
    submit_beside_close(configuration, PILFER_CLOSE_RUN);
}

void stop_drop_races(const struct configuration *configuration)
{
    submit_beside_close(configuration, PILFER_CLOSE_DROP);
}

static void hold_up(struct load *load, struct item *item)
{
    (void)item;
    gate_open(&load->gates[1]);
    gate_wait(&load->gates[0]);
}

/* A task that was let in before holds up close until the submitter is through. */
void stop_held_up(const struct configuration *configuration)
{
    enum { TASKS = 2 };
    struct load load;
    enum pilfer_close how = explored_choose(2) != 0 ? PILFER_CLOSE_RUN : PILFER_CLOSE_DROP;
    load_open(&load, configuration, &(struct load_options){.max_workers = 2, .arrivals = 1 + TASKS});
    for (uint32_t i = 0; i <= TASKS; i++)
        load_item(&load, i == 0 ? hold_up : NULL);
    load_submit(&load, load.records[0].item, PILFER_PLACEMENT_DEFAULT);
    gate_wait(&load.gates[1]);
    struct submitter submitter = {
        .load = &load, .first = 1, .count = TASKS, .attaches = explored_choose(2) != 0, .opens = &load.gates[0]};
    submitter_start(&submitter, "submitter");
    load_stop(&load, how);
    submitter_join(&submitter);
    load_end(&load);
}

/* Submits another task while close waits. One that a worker submits to a pool that runs what is queued is let in. */
static void submit_inside(struct load *load, struct item *item)
{
    (void)item;
    gate_open(&load->gates[1]);
    int status = load_submit_new(load, PILFER_PLACEMENT_LOCAL);
    if (status != 0 && (status != -ESHUTDOWN || !load->may_refuse))
        explored_fail("S1", "a task's submit was refused: %d", status);
}

void stop_submit_inside(const struct configuration *configuration)
{
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 1, .arrivals = 2});
    bool runs = explored_choose(2) != 0;
    load.may_refuse = !runs || !load_has_workers(configuration);
    load_item(&load, submit_inside);
    struct submitter submitter = {.load = &load, .count = 1};
    submitter_start(&submitter, "submitter");
    gate_wait(&load.gates[1]);
    load_stop(&load, runs ? PILFER_CLOSE_RUN : PILFER_CLOSE_DROP);
    submitter_join(&submitter);
    load_end(&load);
}

static void submit_and_wait(struct load *load, struct item *item)
{
    (void)item;
    struct item *child = load_item(load, NULL);
    child->arrives = load->inner;
    load_submit(load, child, PILFER_PLACEMENT_GLOBAL);
    load_wait_for(load, load->inner);
}

/* The worker that has just left the engaged ones comes back to a task that submits another and waits for it. If it were
 * told to leave, that task would be left to the closing thread, which cannot wait for others. */
void stop_last_look(const struct configuration *configuration)
{
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 1, .arrivals = 1});
    load_submit_new(&load, PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    pilfer_latch_init(load.done, 2);
    pilfer_latch_init(load.inner, 1);
    load_submit(&load, load_item(&load, submit_and_wait), PILFER_PLACEMENT_DEFAULT);
    load_close(&load, PILFER_CLOSE_RUN);
}
