/* SPDX-License-Identifier: MIT
 *
 * Scenarios of a sizing that moves: the goal is cut, raised, and too low for what is to be done.
 */
#include "pool_scenarios.h"

#include "pool.h"

bool sizing_moves(const struct configuration *configuration)
{
    const struct scheduler *scheduler = registry_scheduler(configuration->scheduler);
    if (scheduler == NULL || !load_has_workers(configuration))
        return false;
    const char *name = configuration->sizing != NULL ? configuration->sizing : scheduler->sizing;
    return registry_sizing(name)->set_maximum != NULL;
}

static void set_maximum(struct load *load, int32_t workers)
{
    if (pilfer_set_min_workers(load->executor, (struct pilfer_limits){1, 1}) != 0 ||
        pilfer_set_max_workers(load->executor, (struct pilfer_limits){workers, 1}) != 0)
        explored_fail("S1", "a maximum of %d above a minimum of 1 was refused", workers);
}

static void compute(struct load *load, struct item *item)
{
    (void)item;
    gate_open(&load->gates[1]);
    gate_wait(&load->gates[0]);
}

static void open_gate(struct load *load, struct item *item)
{
    (void)item;
    gate_open(&load->gates[0]);
}

void sizing_starved(const struct configuration *configuration)
{
    enum { DEADLINES = 12 };
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 2, .arrivals = 2});
    set_maximum(&load, 1); /* and so the goal */
    set_maximum(&load, 2);
    load_submit(&load, load_item(&load, compute), PILFER_PLACEMENT_DEFAULT);
    gate_wait(&load.gates[1]);
    load_submit(&load, load_item(&load, open_gate), PILFER_PLACEMENT_DEFAULT);
    explored_deadlines_may_come(DEADLINES); /* from now on the gate needs them, and hardly anybody else */
    load_wait(&load);
    load_close(&load, PILFER_CLOSE_RUN);
}

/* Of the submit, which finds the goal reached, and the raise, which looks for requests, one sees the other. The gate is
 * no help: once the goal is raised, workers are on their way for all it knows. */
void sizing_raised(const struct configuration *configuration)
{
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 2, .arrivals = 2});
    set_maximum(&load, 1); /* and so the goal */
    set_maximum(&load, 2);
    load_submit(&load, load_item(&load, compute), PILFER_PLACEMENT_DEFAULT);
    gate_wait(&load.gates[1]);
    load_item(&load, open_gate);
    struct submitter submitter = {.load = &load, .first = 1, .count = 1};
    submitter_start(&submitter, "second");
    if (pilfer_set_min_workers(load.executor, (struct pilfer_limits){2, 1}) != 0)
        explored_fail("S1", "a minimum of 2 below a maximum of 2 was refused");
    submitter_join(&submitter);
    load_wait(&load);
    load_close(&load, PILFER_CLOSE_RUN);
}

static void submit_locals(struct load *load, struct item *item)
{
    enum { LOCALS = 2 };
    (void)item;
    for (uint32_t i = 0; i < LOCALS; i++)
        load_submit_new(load, PILFER_PLACEMENT_LOCAL);
}

void sizing_cut(const struct configuration *configuration)
{
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 2, .arrivals = 6});
    load_submit(&load, load_item(&load, submit_locals), PILFER_PLACEMENT_DEFAULT);
    load_submit(&load, load_item(&load, submit_locals), PILFER_PLACEMENT_DEFAULT);
    set_maximum(&load, 1);
    set_maximum(&load, 2);
    load_wait(&load);
    load_close(&load, PILFER_CLOSE_RUN);
}
