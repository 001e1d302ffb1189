/* SPDX-License-Identifier: MIT
 *
 * Promise: a ring hands out each value once and in order; a pipe keeps bytes; a gate has one owner at a time and loses
 * no news; a stall loses no start.
 *
 * Method. Four threads on each part, until every value has arrived; what must be exclusive is plain memory, so that the
 * thread sanitizer sees a second owner as well.
 */
#include "workloads/flow.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define VALUES  20000

static void run_threads(void (*body)(void *argument), void *argument)
{
    struct platform_thread *threads[THREADS];
    for (int index = 0; index < THREADS; index++)
        ck_assert_int_eq(platform_thread_start(&threads[index], "test", body, argument), 0);
    for (int index = 0; index < THREADS; index++)
        platform_thread_join(threads[index]);
}

/* ---- ring ---- */

struct ring_race {
    struct ring ring;
    struct shared_u64 producers, popped, sum;
    uint64_t values[2 * VALUES];
};

/* Two push their values in order, two pop; each popper sees the values of one pusher in order. */
static void race_ring(void *argument)
{
    struct ring_race *race = argument;
    const uint64_t number = shared_u64_add_relaxed(&race->producers, 1);
    if (number < 2) {
        for (uint64_t index = 0; index < VALUES; index++)
            while (!ring_push(&race->ring, &race->values[number * VALUES + index]))
                platform_yield();
        return;
    }
    uint64_t last[2] = {0, 0};
    while (shared_u64_load_relaxed(&race->popped) < 2 * VALUES) {
        const uint64_t *value = ring_pop(&race->ring);
        if (!value) {
            platform_yield();
            continue;
        }
        const uint64_t pusher = *value > VALUES;
        ck_assert_uint_gt(*value, last[pusher]);
        last[pusher] = *value;
        shared_u64_add_relaxed(&race->sum, *value);
        shared_u64_add_relaxed(&race->popped, 1);
    }
}

START_TEST(ring_is_exact)
{
    struct ring_race *race = platform_alloc(sizeof(*race));
    ck_assert_int_eq(ring_init(&race->ring, _i == 1 ? 2 : 64), 0);
    for (uint64_t index = 0; index < 2 * VALUES; index++)
        race->values[index] = index + 1;
    run_threads(race_ring, race);
    ck_assert_uint_eq(shared_u64_load_relaxed(&race->sum), (uint64_t)VALUES * (2 * VALUES + 1));
    ck_assert(ring_is_empty(&race->ring));
    ck_assert_ptr_null(ring_pop(&race->ring));
    ring_fini(&race->ring);
    platform_free(race);
}
END_TEST

START_TEST(ring_is_bounded)
{
    int values[9];
    struct ring ring;
    ck_assert_int_eq(ring_init(&ring, 8), 0);
    for (int round = 0; round < 3; round++) {
        for (int index = 0; index < 8; index++)
            ck_assert(ring_push(&ring, &values[index]));
        ck_assert(!ring_push(&ring, &values[8]));
        ck_assert_uint_eq(ring_count(&ring), 8);
        for (int index = 0; index < 8; index++)
            ck_assert_ptr_eq(ring_pop(&ring), &values[index]);
        ck_assert_ptr_null(ring_pop(&ring));
    }
    ring_fini(&ring);
}
END_TEST

/* ---- gate ---- */

struct gate_race {
    struct gate gate;
    struct shared_u64 kicked;
    uint64_t entered, news; /* plain: the owner's */
    bool inside;            /* plain: the owner's */
};

/* All kick with their own bit; whoever becomes owner counts the news. Each kick is followed by a look or a later owner.
 */
static void race_gate(void *argument)
{
    struct gate_race *race = argument;
    for (int index = 0; index < VALUES; index++) {
        shared_u64_add_relaxed(&race->kicked, 1);
        if (!gate_kick(&race->gate, 1))
            continue;
        ck_assert(!race->inside);
        race->inside = true;
        race->entered++;
        do {
            gate_take(&race->gate);
            race->news = shared_u64_load_relaxed(&race->kicked);
            if (race->entered % 16 == 0)
                platform_yield(); /* lets the others in, on a machine with few cores */
        } while (race->inside = false, !gate_leave(&race->gate) && (race->inside = true));
    }
}

START_TEST(gate_has_one_owner)
{
    static struct gate_race race;
    run_threads(race_gate, &race);
    ck_assert(!race.inside);
    /* The last kick was seen by an owner that looked after it. */
    ck_assert_uint_eq(race.news, (uint64_t)THREADS * VALUES);
    ck_assert(gate_kick(&race.gate, 4));
    ck_assert(!gate_kick(&race.gate, 2));
    ck_assert_uint_eq(gate_take(&race.gate), 6);
    ck_assert(gate_leave(&race.gate));
}
END_TEST

/* ---- pipe and stall ---- */

#define PIPE_BYTES 1000000u

struct pipe_race {
    struct pipe pipe;
    struct stall full;
    struct gate producer, consumer; /* owners of the two ends */
    struct shared_u64 roles;
    uint32_t produced, consumed; /* plain: the owners' */
};

static uint8_t byte_at(uint32_t position)
{
    return (uint8_t)(position * 2654435761u >> 24);
}

/* Fills the pipe as far as there is room; stops with a stall. */
static void produce(struct pipe_race *race)
{
    do {
        gate_take(&race->producer);
        bool declared = false;
        while (race->produced < PIPE_BYTES) {
            uint32_t room;
            uint8_t *bytes = pipe_room(&race->pipe, &room);
            if (room == 0 && declared)
                break;
            if (room == 0) {
                stall_declare(&race->full);
                declared = true;
                continue;
            }
            if (room > PIPE_BYTES - race->produced)
                room = PIPE_BYTES - race->produced;
            for (uint32_t index = 0; index < room; index++)
                bytes[index] = byte_at(race->produced + index);
            race->produced += room;
            pipe_wrote(&race->pipe, room);
            gate_kick(&race->consumer, 1);
        }
    } while (!gate_leave(&race->producer));
}

/* One thread begins to produce; another consumes all and starts the producer again whenever it had stopped. */
static void race_pipe(void *argument)
{
    struct pipe_race *race = argument;
    const uint64_t role = shared_u64_add_relaxed(&race->roles, 1);
    if (role == 0 && gate_kick(&race->producer, 1))
        produce(race);
    while (role == 1 && race->consumed < PIPE_BYTES) {
        uint32_t count;
        const uint8_t *bytes = pipe_data(&race->pipe, &count);
        for (uint32_t index = 0; index < count; index++)
            ck_assert_uint_eq(bytes[index], byte_at(race->consumed + index));
        race->consumed += count;
        pipe_consumed(&race->pipe, count);
        if (count == 0)
            platform_yield();
        else if (stall_lift(&race->full) && gate_kick(&race->producer, 1))
            produce(race);
    }
}

/* If a stall were lost, the consumer would wait for ever and the test would run out of time. */
START_TEST(pipe_keeps_bytes)
{
    static struct pipe_race race;
    ck_assert_int_eq(pipe_init(&race.pipe, 256), 0);
    run_threads(race_pipe, &race);
    ck_assert_uint_eq(race.consumed, PIPE_BYTES);
    pipe_fini(&race.pipe);
}
END_TEST

/* Copies across the border of the ring. */
START_TEST(pipe_wraps)
{
    struct pipe pipe;
    char out[8];
    uint32_t count;
    ck_assert_int_eq(pipe_init(&pipe, 8), 0);
    pipe_write(&pipe, "abcdef", 6);
    pipe_consumed(&pipe, 5);
    pipe_write(&pipe, "ghijk", 5);
    ck_assert_uint_eq(pipe_data_total(&pipe), 6);
    ck_assert_uint_eq(pipe_room_total(&pipe), 2);
    pipe_peek(&pipe, 1, out, 5);
    ck_assert_mem_eq(out, "ghijk", 5);
    ck_assert_int_eq(*pipe_data(&pipe, &count), 'f');
    ck_assert_uint_eq(count, 3);
    pipe_fini(&pipe);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flow");
    TCase *tests = tcase_create("flow");
    platform_init();
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, ring_is_exact, 1, 3);
    tcase_add_test(tests, ring_is_bounded);
    tcase_add_test(tests, gate_has_one_owner);
    tcase_add_test(tests, pipe_keeps_bytes);
    tcase_add_test(tests, pipe_wraps);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
