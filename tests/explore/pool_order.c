/* SPDX-License-Identifier: MIT
 *
 * Scenarios of the promised orders (S6), with one worker, so that the order of starts is that of the scheduler; and of
 * the work that it takes to find the next task (S5).
 */
#include "pool_scenarios.h"

void order_fifo(const struct configuration *configuration)
{
    enum { TASKS = 4 };
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 1, .arrivals = TASKS});
    for (uint32_t i = 0; i < TASKS; i++)
        load_submit_new(&load, PILFER_PLACEMENT_GLOBAL);
    load_wait(&load);
    for (uint32_t i = 0; i < TASKS; i++)
        load_expect_order(&load, i, i);
    load_close(&load, PILFER_CLOSE_RUN);
}

/* Of two submitters each keeps its own order. */
void order_fifo_of_each(const struct configuration *configuration)
{
    enum { TASKS_EACH = 2 };
    struct load load;
    struct submitter other;
    load_open(&load, configuration, &(struct load_options){.max_workers = 1, .arrivals = 2 * TASKS_EACH});
    for (uint32_t i = 0; i < 2 * TASKS_EACH; i++)
        load_item(&load, NULL);
    other = (struct submitter){.load = &load, .count = TASKS_EACH, .placement = PILFER_PLACEMENT_GLOBAL};
    submitter_start(&other, "other");
    for (uint32_t i = TASKS_EACH; i < 2 * TASKS_EACH; i++)
        load_submit(&load, load.records[i].item, PILFER_PLACEMENT_GLOBAL);
    load_wait(&load);
    submitter_join(&other);
    uint32_t seen[2] = {0};
    for (uint32_t i = 0; i < load.order_count; i++) {
        uint32_t submitter = load.order[i] / TASKS_EACH;
        if (load.order[i] % TASKS_EACH != seen[submitter]++)
            explored_fail("S6", "task %u began before an earlier one of its submitter", load.order[i]);
    }
    load_close(&load, PILFER_CLOSE_RUN);
}

static void submit_three(struct load *load, struct item *item)
{
    (void)item;
    for (uint32_t i = 0; i < 3; i++)
        load_submit_new(load, PILFER_PLACEMENT_LOCAL);
}

void order_lifo(const struct configuration *configuration)
{
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 1, .arrivals = 4});
    load_submit(&load, load_item(&load, submit_three), PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    for (uint32_t place = 1; place < 4; place++)
        load_expect_order(&load, place, 4 - place);
    load_close(&load, PILFER_CLOSE_RUN);
}

/* A task that makes the next one ready, again and again. */
static void submit_next(struct load *load, struct item *item)
{
    (void)item;
    if (load->limit-- > 0)
        load_submit(load, load_item(load, submit_next), PILFER_PLACEMENT_LOCAL);
}

/* Item 1 waits in the deque or in the shared queue, while the slot is filled again and again. */
static void submit_other_and_next(struct load *load, struct item *item)
{
    load_submit_new(load, explored_choose(2) != 0 ? PILFER_PLACEMENT_GLOBAL : PILFER_PLACEMENT_LOCAL);
    submit_next(load, item);
}

void order_slot_streak(const struct configuration *configuration)
{
    enum { CHAIN = 6, STREAK_MAX = 3 };
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 1, .arrivals = CHAIN + 2});
    load.limit = CHAIN;
    load_submit(&load, load_item(&load, submit_other_and_next), PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    uint32_t place = 0;
    while (load.order[place] != 1)
        place++;
    if (place > STREAK_MAX + 1)
        explored_fail("S6", "%u tasks of the slot ran in a row while another one waited", place - 1);
    load_close(&load, PILFER_CLOSE_RUN);
}

static void submit_many(struct load *load, struct item *item)
{
    (void)item;
    for (uint32_t i = 1; i < LOAD_ITEMS_MAX; i++)
        load_item(load, NULL);
    load_submit_batch(load, 1, LOAD_ITEMS_MAX - 1, PILFER_PLACEMENT_DEFAULT);
}

/* What is queued does not make the search longer (pool_watch.c counts the steps of next). */
void order_many_queued(const struct configuration *configuration)
{
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 1, .arrivals = LOAD_ITEMS_MAX});
    load_submit(&load, load_item(&load, submit_many), PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    load_close(&load, PILFER_CLOSE_RUN);
}
