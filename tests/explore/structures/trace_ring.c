/* SPDX-License-Identifier: MIT
 *
 * Scenarios of the event ring (pool/trace.c): a copy that is taken while its thread goes on recording.
 *
 * Promise: each event of the copy is one that was recorded, whole, and its number says which.
 *
 * Method. The ring's source is compiled in here, with a clock of our own: event n has the stamp n + 100, the argument n
 * and, from its lowest bits, its kind and phase; so a part of another event shows.
 */
#include "platform.h"

static uint64_t event_stamp(void);

#define platform_stamp()   event_stamp()
#define trace_ring_create  explored_trace_ring_create
#define trace_ring_destroy explored_trace_ring_destroy
#define trace_record       explored_trace_record
#define trace_write        explored_trace_write
#include "../../../pool/trace.c"

#include "structures/structures.h"

enum { STAMP_FIRST = 100, EVENTS_MAX = 8, PHASES = TRACE_INSTANT + 1 };

/* What the ring's thread is at; private to it. */
struct recorder {
    struct trace_ring *ring;
    uint64_t number, count;
};

static uint64_t event_stamp(void)
{
    const struct recorder *recorder = platform_self();
    return recorder != NULL ? recorder->number + STAMP_FIRST : 0;
}

static void record(void *argument)
{
    struct recorder *recorder = argument;
    platform_self_set(recorder);
    for (; recorder->number < recorder->count; recorder->number++)
        trace_record(recorder->ring, recorder->number % TRACE_KIND_COUNT, recorder->number % PHASES, recorder->number);
}

static void check_copy(const struct copied *copied)
{
    for (uint64_t i = 0; i < copied->count; i++) {
        const struct event *event = &copied->events[i];
        uint64_t number = copied->overwritten + i;
        if (event->argument != number || event->stamp != number + STAMP_FIRST ||
            event->kind != number % TRACE_KIND_COUNT || event->phase != number % PHASES)
            explored_fail("whole events", "the copy's event %u has parts of another one", (unsigned)number);
    }
}

/* Records before events, then copies while after more are recorded. */
static void copy_beside(uint64_t before, uint64_t after)
{
    struct recorder recorder = {.ring = trace_ring_create(2, "recorder", 0), .count = before};
    struct platform_thread *thread;
    struct copied copied;
    void *outer = platform_self();
    record(&recorder);
    platform_self_set(outer);
    recorder.count = before + after;
    platform_thread_start(&thread, "recorder", record, &recorder);
    if (copied_take(&copied, recorder.ring) == 0) {
        check_copy(&copied);
        copied_free(&copied);
    }
    platform_thread_join(thread);
    trace_ring_destroy(recorder.ring);
}

static void trace_first_events(const struct configuration *configuration)
{
    (void)configuration;
    copy_beside(0, 2);
}

static void trace_overwritten(const struct configuration *configuration)
{
    (void)configuration;
    copy_beside(2, 2);
}

const struct scenario trace_ring_scenarios[TRACE_RING_SCENARIOS] = {
    {"first-events", "a copy of events that are just being recorded holds whole ones", SCENARIO_CODE, NULL,
     trace_first_events, true},
    {"overwritten", "a copy of events that are being overwritten holds whole ones", SCENARIO_CODE, NULL,
     trace_overwritten, true},
};
