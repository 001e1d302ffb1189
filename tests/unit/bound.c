/* SPDX-License-Identifier: MIT
 *
 * The promises of the bounds, one interleaving at a time: items run in order, each once, at most parallelism readers at
 * a time; a submit that comes between a reader's last look and its leave strands nothing under the safe protocol (and
 * does under the published one: race R1); when the executor below refuses a reader, the item is the caller's again or
 * is run later, never lost and never both; the readers' counters add up.
 *
 * Method: the executor below is a list in this file whose readers the test runs by hand; a hook in the queue runs code
 * at the moment when a reader has seen it empty, and one in the executor below at the moment when it is given a reader.
 * So every interleaving here is scripted, on one thread.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bound.h"

#define ITEMS_MAX 128

/* ---- the executor below, by hand ---- */

struct world {
    struct bound_executor executor;
    struct bound_state *state;
    struct bound_queue queue; /* that of the bound, with the hook */
    struct pilfer_task *(*queue_pop)(struct bound_state *state);
    struct pilfer_task *readers[ITEMS_MAX]; /* submitted and not yet run, oldest first */
    int readers_count;
    int refusals; /* of the next reader starts */
    void (*when_refused)(struct world *world);
    void (*when_empty)(struct world *world);
    void (*when_run)(struct world *world); /* by the next item */
    struct pilfer_task items[ITEMS_MAX];
    int submitted;
    int ran[ITEMS_MAX]; /* indices of items, in the order in which they ran */
    int ran_count;
};

static struct world *world; /* of the running test; each has a process of its own */

int bound_submit_below(struct bound_executor *bound, struct pilfer_task *reader)
{
    ck_assert_ptr_eq(bound, &world->executor);
    if (world->refusals > 0) {
        world->refusals--;
        void (*hook)(struct world *) = world->when_refused;
        world->when_refused = NULL;
        if (hook != NULL)
            hook(world);
        return -EAGAIN;
    }
    ck_assert_int_lt(world->readers_count, ITEMS_MAX);
    world->readers[world->readers_count++] = reader;
    return 0;
}

void run_nested(struct worker *worker, struct pilfer_task *task)
{
    task->run(task);
}

static void item_run(struct pilfer_task *task)
{
    world->ran[world->ran_count++] = (int)(task - world->items);
    void (*hook)(struct world *) = world->when_run;
    world->when_run = NULL;
    if (hook != NULL)
        hook(world);
}

static struct pilfer_task *pop_with_hook(struct bound_state *state)
{
    struct pilfer_task *task = world->queue_pop(state);
    void (*hook)(struct world *) = world->when_empty;
    if (task == NULL && hook != NULL) {
        world->when_empty = NULL;
        hook(world);
    }
    return task;
}

static void world_open(const struct bound_queue *queue, const struct bound_protocol *protocol, uint32_t parallelism)
{
    world = calloc(1, sizeof *world);
    ck_assert_ptr_nonnull(world);
    world->state = platform_alloc(sizeof *world->state);
    ck_assert_ptr_nonnull(world->state);
    world->executor = (struct bound_executor){.parallelism = parallelism, .state = world->state};
    world->queue = *queue;
    world->queue_pop = queue->pop;
    world->queue.pop = pop_with_hook;
    for (int index = 0; index < ITEMS_MAX; index++)
        world->items[index].run = item_run;
    ck_assert_int_eq(bound_init(&world->executor, &world->queue, protocol), 0);
}

static void world_close(void)
{
    bound_fini(&world->executor);
    platform_free(world->state);
    free(world);
}

static int submit(void)
{
    return bound_submit(&world->executor, &world->items[world->submitted++]);
}

static void run_one_reader(void)
{
    ck_assert_int_gt(world->readers_count, 0);
    struct pilfer_task *reader = world->readers[0];
    memmove(world->readers, world->readers + 1, (size_t)--world->readers_count * sizeof world->readers[0]);
    reader->run(reader);
}

static void run_readers(void)
{
    while (world->readers_count > 0)
        run_one_reader();
}

static uint64_t count_of(enum bound_counter counter)
{
    return counter_read(&world->state->counters[counter]);
}

/* At rest: these many items ran, in submit order but for those in `missing`, and the bound knows it. */
static void check_rest(int ran, int missing)
{
    ck_assert_int_eq(world->ran_count, ran);
    for (int index = 0, expected = 0; index < ran; index++, expected++) {
        if (expected == missing)
            expected++;
        ck_assert_int_eq(world->ran[index], expected);
    }
    ck_assert_uint_eq(count_of(BOUND_items_run), (uint64_t)ran);
    ck_assert_int_eq(shared_i64_load_relaxed(&world->state->readers), 0);
    ck_assert(!bound_busy(&world->executor));
}

/* ---- both queues, by the number of the loop ---- */

static const struct bound_queue *queue_of(int number)
{
    return number == 0 ? &bound_queue_fifo : &bound_queue_channel;
}

#define QUEUES 2
#define NONE   (-1)

START_TEST(no_more_readers_than_parallelism)
{
    world_open(queue_of(_i), &bound_protocol_safe, 3);
    for (int item = 0; item < 100; item++)
        ck_assert_int_eq(submit(), 0);
    ck_assert_int_eq(world->readers_count, 3);
    ck_assert(bound_busy(&world->executor));
    run_readers();
    check_rest(100, NONE);
    ck_assert_uint_eq(count_of(BOUND_readers_total), 3);
    ck_assert_uint_eq(count_of(BOUND_readers_zero), 2); /* the first one ran everything */
    ck_assert_uint_eq(count_of(BOUND_readers_single), 0);
    ck_assert_uint_eq(counter_read(&world->state->active_max), 1);
    ck_assert_int_eq(submit(), 0);
    run_readers();
    ck_assert_uint_eq(count_of(BOUND_readers_single), 1);
    world_close();
}
END_TEST

static void submit_one(struct world *in)
{
    ck_assert_int_eq(submit(), 0);
}

START_TEST(safe_submit_after_the_last_look_is_not_stranded)
{
    world_open(queue_of(_i), &bound_protocol_safe, 1);
    submit_one(world);
    world->when_empty = submit_one; /* sees readers == parallelism */
    run_one_reader();
    ck_assert_int_eq(world->readers_count, 0);
    check_rest(2, NONE);
    world_close();
}
END_TEST

/* The specimen must strand here, else it is not the published protocol. */
START_TEST(published_submit_after_the_last_look_is_stranded)
{
    world_open(queue_of(_i), &bound_protocol_published, 1);
    submit_one(world);
    world->when_empty = submit_one;
    run_one_reader();
    ck_assert_int_eq(world->readers_count, 0);
    ck_assert_int_eq(world->ran_count, 1);
    ck_assert_uint_eq(world->queue.depth(world->state), 1);
    ck_assert(!bound_busy(&world->executor)); /* nobody will run it, so close must not wait for it */
    submit_one(world);                        /* the next submit revives it */
    run_readers();
    ck_assert_int_eq(world->ran_count, 3);
    world_close();
}
END_TEST

/* ---- the executor below refuses ---- */

START_TEST(a_refused_item_is_the_callers)
{
    world_open(queue_of(_i), _i == 0 ? &bound_protocol_safe : &bound_protocol_published, 2);
    world->refusals = 1;
    ck_assert_int_eq(submit(), -EAGAIN);
    ck_assert_uint_eq(world->queue.depth(world->state), 0);
    ck_assert(!bound_busy(&world->executor));
    ck_assert_uint_eq(count_of(BOUND_reader_starts_refused), 1);
    ck_assert_int_eq(submit(), 0);
    run_readers();
    check_rest(1, 0);
    world_close();
}
END_TEST

/* While a reader runs an item, the refusal of a second reader is nobody's business: the first will take the item. */
START_TEST(a_refusal_beside_a_running_reader_does_not_matter)
{
    world_open(queue_of(_i), &bound_protocol_safe, 2);
    ck_assert_int_eq(submit(), 0);
    world->refusals = 1;
    world->when_run = submit_one;
    run_readers();
    ck_assert_uint_eq(count_of(BOUND_reader_starts_refused), 1);
    check_rest(2, NONE);
    world_close();
}
END_TEST

/* Another submitter counted on the slot that the refused one held: its item must find a reader. */
START_TEST(items_that_relied_on_a_refused_reader)
{
    world_open(queue_of(_i), &bound_protocol_safe, 1);
    world->refusals = 1;
    world->when_refused = submit_one;    /* item 1: sees readers == parallelism */
    ck_assert_int_eq(submit(), -EAGAIN); /* item 0 comes back */
    ck_assert_int_eq(world->readers_count, 1);
    run_readers();
    check_rest(1, 0);
    world_close();
}
END_TEST

/* The same, but the second try is refused as well: the item waits for the next submit (0) or for close (1). */
START_TEST(items_left_by_refusals_are_run_later)
{
    world_open(queue_of(_i % QUEUES), &bound_protocol_safe, 1);
    world->refusals = 2;
    world->when_refused = submit_one;
    ck_assert_int_eq(submit(), -EAGAIN);
    ck_assert_int_eq(world->readers_count, 0);
    ck_assert_uint_eq(world->queue.depth(world->state), 1);
    if (_i / QUEUES == 0) {
        world->refusals = 1;
        ck_assert_int_eq(submit(), 0); /* refused too, but behind another: accepted, and waits with it */
        ck_assert_int_eq(submit(), 0);
        ck_assert_int_eq(world->readers_count, 1);
        run_readers();
        check_rest(3, 0);
    } else {
        ck_assert(bound_busy(&world->executor));
        ck_assert_int_eq(world->readers_count, 1);
        run_readers();
        check_rest(1, 0);
    }
    world_close();
}
END_TEST

/* A reader that runs takes the item while its submitter is being refused: accepted, and run once. */
static void run_the_other_reader(struct world *in)
{
    run_one_reader();
}

START_TEST(an_item_that_ran_meanwhile_is_accepted)
{
    world_open(queue_of(_i), &bound_protocol_safe, 2);
    ck_assert_int_eq(submit(), 0);
    world->refusals = 1;
    world->when_refused = run_the_other_reader;
    ck_assert_int_eq(submit(), 0);
    check_rest(2, NONE);
    world_close();
}
END_TEST

/* A count that has drifted below zero starts readers without end; their memory is bounded, and no item is lost by it.
 */
START_TEST(memory_of_readers_is_bounded)
{
    world_open(queue_of(_i), &bound_protocol_published, 2);
    shared_i64_store_relaxed(&world->state->readers, -1000);
    int accepted = 0;
    for (int item = 0; item < 100; item++)
        accepted += submit() == 0;
    ck_assert_int_eq(world->readers_count, 2 + 64);
    ck_assert_uint_ge(count_of(BOUND_reader_starts_refused), 1);
    ck_assert_int_eq(shared_i64_load_relaxed(&world->state->readers), -1000 + 2 + 64);
    run_readers();
    ck_assert_int_eq(world->ran_count, accepted);
    ck_assert_int_eq(shared_i64_load_relaxed(&world->state->readers), -1000);
    world_close();
}
END_TEST

static double extra_value;

static void visit_stranded(void *context, const char *name, double value)
{
    if (strcmp(name, context) == 0)
        extra_value = value;
}

START_TEST(drain_gives_back_what_no_reader_took)
{
    world_open(queue_of(_i), &bound_protocol_published, 1);
    submit_one(world);
    world->when_empty = submit_one;
    run_one_reader();
    bound_extras(&world->executor, visit_stranded, "stranded");
    ck_assert_double_eq(extra_value, 1);
    ck_assert_ptr_eq(bound_drain(&world->executor), &world->items[1]);
    ck_assert_ptr_null(bound_drain(&world->executor));
    bound_extras(&world->executor, visit_stranded, "stranded");
    ck_assert_double_eq(extra_value, 0);
    world_close();
}
END_TEST

int main(void)
{
    if (platform_init() != 0)
        return 1;
    Suite *suite = suite_create("bound");
    TCase *cases = tcase_create("bound");
    tcase_add_loop_test(cases, no_more_readers_than_parallelism, 0, QUEUES);
    tcase_add_loop_test(cases, safe_submit_after_the_last_look_is_not_stranded, 0, QUEUES);
    tcase_add_loop_test(cases, published_submit_after_the_last_look_is_stranded, 0, QUEUES);
    tcase_add_loop_test(cases, a_refused_item_is_the_callers, 0, QUEUES);
    tcase_add_loop_test(cases, a_refusal_beside_a_running_reader_does_not_matter, 0, QUEUES);
    tcase_add_loop_test(cases, items_that_relied_on_a_refused_reader, 0, QUEUES);
    tcase_add_loop_test(cases, items_left_by_refusals_are_run_later, 0, 2 * QUEUES);
    tcase_add_loop_test(cases, an_item_that_ran_meanwhile_is_accepted, 0, QUEUES);
    tcase_add_loop_test(cases, memory_of_readers_is_bounded, 0, QUEUES);
    tcase_add_loop_test(cases, drain_gives_back_what_no_reader_took, 0, QUEUES);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
