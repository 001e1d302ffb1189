/* SPDX-License-Identifier: MIT
 *
 * The event rings' promises: the document is JSON that a viewer accepts: each thread has its name, its times do not go
 * back, its begins and ends nest and match, also when the ring has lost the beginning, when an end is still to come,
 * and when the ring is being written to; what was lost is counted; errors of the descriptor are reported.
 *
 * Method: documents of rings filled by hand are parsed with jansson and walked like a viewer does, with a stack per
 * thread.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace.h"

#define THREADS_MAX 4
#define DEPTH_MAX   16

/* What a viewer would make of one thread. */
struct seen {
    char name[64];
    const char *open[DEPTH_MAX];
    int depth, begins, instants, lost;
    char order[256]; /* initials of the begins */
    double time_us;
};

static struct trace_ring *ring_new(uint32_t events, const char *name, uint32_t index)
{
    struct trace_ring *ring = trace_ring_create(events, name, index);
    ck_assert_ptr_nonnull(ring);
    return ring;
}

/* The document of the rings, parsed. */
static json_t *document_of(struct trace_ring *const *rings, uint32_t count)
{
    int descriptor = memfd_create("trace", 0);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(trace_write(rings, count, descriptor), 0);
    ck_assert_int_eq(lseek(descriptor, 0, SEEK_SET), 0);
    json_error_t error;
    json_t *document = json_loadfd(descriptor, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(document != NULL, "line %d: %s", error.line, error.text);
    close(descriptor);
    return document;
}

static void walk_event(struct seen *thread, const json_t *event, const char *name, char phase)
{
    double time_us = json_number_value(json_object_get(event, "ts"));
    ck_assert(json_is_number(json_object_get(event, "ts")));
    ck_assert_double_ge(time_us, thread->time_us);
    thread->time_us = time_us;
    const json_t *arguments = json_object_get(event, "args");
    if (phase == 'B') {
        ck_assert_int_lt(thread->depth, DEPTH_MAX);
        thread->open[thread->depth++] = name;
        if (thread->begins < (int)sizeof thread->order - 1)
            thread->order[thread->begins] = *name;
        thread->begins++;
        thread->lost += json_is_true(json_object_get(arguments, "lost"));
    } else if (phase == 'E') {
        ck_assert_int_gt(thread->depth, 0);
        ck_assert_str_eq(thread->open[--thread->depth], name);
    } else {
        ck_assert_int_eq(phase, 'i');
        ck_assert_str_eq(json_string_value(json_object_get(event, "s")), "t");
        thread->instants++;
    }
}

/* Walks a document as a viewer does; every thread ends with nothing open. */
static void walk(const json_t *document, struct seen *threads)
{
    memset(threads, 0, THREADS_MAX * sizeof *threads);
    size_t index;
    const json_t *event;
    const json_t *events = json_object_get(document, "traceEvents");
    ck_assert(json_is_array(events));
    json_array_foreach(events, index, event)
    {
        const char *name = json_string_value(json_object_get(event, "name"));
        const char *phase = json_string_value(json_object_get(event, "ph"));
        json_int_t thread = json_integer_value(json_object_get(event, "tid"));
        ck_assert(name != NULL && phase != NULL && strlen(phase) == 1 && thread >= 0 && thread < THREADS_MAX);
        ck_assert(json_is_integer(json_object_get(event, "pid")));
        if (*phase != 'M') {
            walk_event(&threads[thread], event, name, *phase);
        } else if (strcmp(name, "thread_name") == 0) {
            const char *value = json_string_value(json_object_get(json_object_get(event, "args"), "name"));
            ck_assert_ptr_nonnull(value);
            snprintf(threads[thread].name, sizeof threads[thread].name, "%s", value);
        }
    }
    for (int thread = 0; thread < THREADS_MAX; thread++)
        ck_assert_int_eq(threads[thread].depth, 0);
}

static json_int_t overwritten(const json_t *document)
{
    return json_integer_value(json_object_get(json_object_get(document, "otherData"), "events_overwritten"));
}

START_TEST(complete_rings)
{
    struct trace_ring *rings[] = {ring_new(64, "worker-0", 0), ring_new(64, "qu\"ote\\ \n\x01 \xff", 1),
                                  ring_new(64, "silent", 2)};
    for (int turn = 0; turn < 3; turn++) {
        trace_event(rings[0], TRACE_dispatch, TRACE_BEGIN, 0);
        trace_event(rings[0], TRACE_run, TRACE_BEGIN, UINT64_MAX);
        trace_event(rings[0], TRACE_submit, TRACE_INSTANT, 7);
        trace_event(rings[0], TRACE_run, TRACE_END, 0);
        trace_event(rings[0], TRACE_dispatch, TRACE_END, 0);
        trace_event(rings[1], TRACE_park, TRACE_BEGIN, 0);
        trace_event(rings[1], TRACE_park, TRACE_END, 0);
    }
    trace_event(NULL, TRACE_run, TRACE_BEGIN, 0); /* off: nothing happens */
    json_t *document = document_of(rings, 3);
    struct seen threads[THREADS_MAX];
    walk(document, threads);
    ck_assert_str_eq(threads[0].name, "worker-0");
    ck_assert_str_eq(threads[1].name, "qu\"ote\\ \n\x01 ?");
    ck_assert_str_eq(threads[2].name, "silent");
    ck_assert_int_eq(threads[0].begins, 6);
    ck_assert_int_eq(threads[0].instants, 3);
    ck_assert_int_eq(threads[1].begins, 3);
    ck_assert_int_eq(threads[2].begins, 0);
    ck_assert_int_eq(threads[0].lost + threads[1].lost, 0);
    ck_assert_int_eq(overwritten(document), 0);
    json_decref(document);
    for (int index = 0; index < 3; index++)
        trace_ring_destroy(rings[index]);
}
END_TEST

/* Eight events are kept (seven places asked for); 2 + 2 x 10 + 2 are recorded. */
START_TEST(lost_begins_are_replaced)
{
    struct trace_ring *ring = ring_new(7, "worker-0", 0);
    trace_event(ring, TRACE_dispatch, TRACE_BEGIN, 0);
    trace_event(ring, TRACE_run, TRACE_BEGIN, 0);
    for (int turn = 0; turn < 10; turn++) {
        trace_event(ring, TRACE_steal, TRACE_BEGIN, 0);
        trace_event(ring, TRACE_steal, TRACE_END, 0);
    }
    trace_event(ring, TRACE_run, TRACE_END, 0);
    trace_event(ring, TRACE_dispatch, TRACE_END, 0);
    json_t *document = document_of(&ring, 1);
    struct seen threads[THREADS_MAX];
    walk(document, threads);
    /* One place is in doubt while the ring could be written to, so seven events are sure: an end of a steal, two
     * steals, two ends. */
    ck_assert_int_eq(threads[0].lost, 3);
    ck_assert_str_eq(threads[0].order, "drsss"); /* the lost ones outermost first */
    ck_assert_int_eq(overwritten(document), 24 - 7);
    json_decref(document);
    trace_ring_destroy(ring);
}
END_TEST

START_TEST(unfinished_and_stray_events)
{
    struct trace_ring *ring = ring_new(16, "worker-0", 0);
    trace_event(ring, TRACE_spin, TRACE_END, 0); /* nothing was lost, so nothing can be its begin */
    trace_event(ring, TRACE_dispatch, TRACE_BEGIN, 0);
    trace_event(ring, TRACE_run, TRACE_BEGIN, 0);
    trace_event(ring, TRACE_spin, TRACE_END, 0); /* nor here */
    json_t *document = document_of(&ring, 1);
    struct seen threads[THREADS_MAX];
    walk(document, threads);
    ck_assert_int_eq(threads[0].begins, 2);
    ck_assert_int_eq(threads[0].lost, 0);
    json_decref(document);
    trace_ring_destroy(ring);
}
END_TEST

/* ---- a ring that is being written to ---- */

struct recorder {
    struct trace_ring *ring;
    struct shared_u32 stop;
};

static void record_until_stopped(void *argument)
{
    struct recorder *recorder = argument;
    while (shared_u32_load_relaxed(&recorder->stop) == 0) {
        trace_event(recorder->ring, TRACE_dispatch, TRACE_BEGIN, 0);
        trace_event(recorder->ring, TRACE_run, TRACE_BEGIN, 0);
        trace_event(recorder->ring, TRACE_run, TRACE_END, 0);
        trace_event(recorder->ring, TRACE_wake, TRACE_INSTANT, 0);
        trace_event(recorder->ring, TRACE_dispatch, TRACE_END, 0);
    }
}

START_TEST(a_ring_being_written_to)
{
    struct recorder recorder = {.ring = ring_new(256, "worker-0", 0)};
    struct platform_thread *thread;
    ck_assert_int_eq(platform_thread_start(&thread, "recorder", record_until_stopped, &recorder), 0);
    json_int_t lost = 0;
    for (int turn = 0; turn < 30 || lost == 0; turn++) { /* until the ring has been round */
        json_t *document = document_of(&recorder.ring, 1);
        struct seen threads[THREADS_MAX];
        walk(document, threads);
        lost = overwritten(document);
        json_decref(document);
    }
    shared_u32_store_relaxed(&recorder.stop, 1);
    platform_thread_join(thread);
    trace_ring_destroy(recorder.ring);
}
END_TEST

START_TEST(errors_of_the_descriptor)
{
    struct trace_ring *ring = ring_new(16, "worker-0", 0);
    ck_assert_int_eq(trace_write(&ring, 1, -1), -EBADF);
    int full = open("/dev/full", O_WRONLY);
    ck_assert_int_ge(full, 0);
    ck_assert_int_eq(trace_write(&ring, 1, full), -ENOSPC);
    close(full);
    trace_ring_destroy(ring);
}
END_TEST

int main(void)
{
    if (platform_init() != 0)
        return 1;
    Suite *suite = suite_create("trace");
    TCase *cases = tcase_create("trace");
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, complete_rings);
    tcase_add_test(cases, lost_begins_are_replaced);
    tcase_add_test(cases, unfinished_and_stray_events);
    tcase_add_test(cases, a_ring_being_written_to);
    tcase_add_test(cases, errors_of_the_descriptor);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
