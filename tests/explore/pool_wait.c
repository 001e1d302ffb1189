/* SPDX-License-Identifier: MIT
 *
 * Scenarios of tasks that wait for other tasks of their pool (field cases 56 and 60): with one worker there is nobody
 * else, so the waiting task helps, or a substitute takes its place. No deadline comes: that a waiting task looks again
 * after a while must not hide that nobody else did. In one of them some do come, before the last two submits: a look
 * must not be what a submit relies on.
 */
#include "pool_scenarios.h"

static void wait_inside(struct load *load, struct item *item)
{
    (void)item;
    load_wait_for(load, load->inner);
}

static struct item *arriving_item(struct load *load)
{
    struct item *item = load_item(load, NULL);
    item->arrives = load->inner;
    return item;
}

static void submit_and_wait(struct load *load, struct item *item)
{
    enum pilfer_placement placement = explored_choose(2) != 0 ? PILFER_PLACEMENT_GLOBAL : PILFER_PLACEMENT_LOCAL;
    struct item *other = arriving_item(load);
    uint32_t index = other->index;
    load_submit(load, other, placement);
    wait_inside(load, item);
    load_read(load, index);
}

static void wait_for_own(const struct configuration *configuration, uint32_t workers)
{
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = workers, .arrivals = 2});
    explored_deadlines_may_come(0);
    pilfer_latch_init(load.inner, 1);
    load_submit(&load, load_item(&load, submit_and_wait), PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    load_close(&load, PILFER_CLOSE_RUN);
}

void wait_helps(const struct configuration *configuration)
{
    wait_for_own(configuration, 1);
}

void wait_helped(const struct configuration *configuration)
{
    wait_for_own(configuration, 2);
}

static void waiting_tasks(const struct configuration *configuration, uint32_t waiting)
{
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 1, .arrivals = waiting + 1});
    explored_deadlines_may_come(0);
    pilfer_latch_init(load.inner, 1);
    for (uint32_t i = 0; i < waiting; i++)
        load_submit(&load, load_item(&load, wait_inside), PILFER_PLACEMENT_DEFAULT);
    load_submit(&load, arriving_item(&load), PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    load_close(&load, PILFER_CLOSE_RUN);
}

void wait_substitute(const struct configuration *configuration)
{
    waiting_tasks(configuration, 1);
}

void wait_two_blocked(const struct configuration *configuration)
{
    waiting_tasks(configuration, 2);
}

static void submit_beside(void *argument)
{
    struct load *load = argument;
    load_submit(load, load->records[2].item, PILFER_PLACEMENT_DEFAULT);
}

/* The last submit must wake somebody, whatever a look has found, or helped with, before it. */
void wait_looks(const struct configuration *configuration)
{
    enum { LOOKS = 2 };
    struct load load;
    struct platform_thread *second;
    load_open(&load, configuration, &(struct load_options){.max_workers = 1, .arrivals = 4});
    pilfer_latch_init(load.inner, 1);
    load_item(&load, wait_inside);
    load_item(&load, NULL);
    load_item(&load, NULL);
    arriving_item(&load);
    explored_deadlines_may_come(LOOKS);
    load_submit(&load, load.records[0].item, PILFER_PLACEMENT_DEFAULT);
    platform_thread_start(&second, "second", submit_beside, &load);
    load_submit(&load, load.records[1].item, PILFER_PLACEMENT_DEFAULT);
    platform_thread_join(second);
    explored_deadlines_may_come(0);
    load_submit(&load, load.records[3].item, PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    load_close(&load, PILFER_CLOSE_RUN);
}

static void submit_last_and_wait(struct load *load, struct item *item)
{
    (void)item;
    struct item *last = load->records[2].item;
    load_submit(load, last, PILFER_PLACEMENT_LOCAL);
    load_wait_for(load, last->arrives);
}

static void submit_next_and_wait(struct load *load, struct item *item)
{
    load_submit(load, load->records[1].item, PILFER_PLACEMENT_LOCAL);
    wait_inside(load, item);
}

/* The first task helps with the second, and that is as deep as it goes: the second blocks beside what it submitted. */
void wait_too_deep(const struct configuration *configuration)
{
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 1, .arrivals = 3});
    explored_deadlines_may_come(0);
    struct pilfer_latch *last = platform_alloc(sizeof *last);
    pilfer_latch_init(load.inner, 1);
    pilfer_latch_init(last, 1);
    load_item(&load, submit_next_and_wait);
    load_item(&load, submit_last_and_wait)->arrives = load.inner;
    load_item(&load, NULL)->arrives = last;
    load_submit(&load, load.records[0].item, PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    load_stop(&load, PILFER_CLOSE_RUN);
    platform_free(last);
    load_end(&load);
}
