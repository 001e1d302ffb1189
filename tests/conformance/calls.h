/* SPDX-License-Identifier: MIT
 *
 * Calls across the seams of the library, counted or taken over by a test.
 *
 * How it works. pilfer-check is linked with --wrap for each function below (meson.build), so that a call from one file
 * of the library to another passes calls.c. There it is counted for the calling thread and goes on; or, where the test
 * has set a hook in the calling thread, the hook decides. Calls inside one file are not seen.
 */
#ifndef PILFER_TESTS_CONFORMANCE_CALLS_H
#define PILFER_TESTS_CONFORMANCE_CALLS_H

#include "idle/semaphore.h"
#include "sizing/climb.h"

/* What one thread has called since calls_begin(). */
struct calls {
    uint64_t pauses, pause_units, pause_units_max, yields, wakes;
    uint64_t releases, thread_starts; /* of the semaphore; of workers */
    uint64_t releases_before_start;   /* when the first worker's thread was to be started */
    uint64_t yields_before_pause;     /* when the first pause came */
    uint64_t pauses_before_yield;     /* when the first yield came */
    uint32_t wait_steps;              /* of the last wait on the semaphore */
    uint64_t wait_deadline_ns;        /* as well */
    uint64_t climb_forces;            /* changes of the goal that the climber was told of */
    uint32_t climb_forced_goal;       /* the last one */
};

/* The time that the calling thread reads in the place of the machine's. Stamps are nanoseconds. */
struct call_clock {
    uint64_t now_ns, cpu_ns; /* cpu_ns: of the process */
};

/* All are NULL at first; each is called with the context in the place of the function. */
struct call_hooks {
    void *context;
    const struct call_clock *clock;
    struct climb_step (*climb)(void *context, const struct climb_sample *sample); /* climb_update */
    /* platform_thread_start: no thread is started, and platform_thread_join waits for none. */
    void (*thread)(void *context, void (*body)(void *argument), void *argument);
    int (*park)(void *context, struct shared_u32 *word, uint32_t expected, uint64_t deadline_ns); /* platform_park */
    void (*start_thread)(void *context);          /* pool_start_thread */
    enum semaphore_result (*wait)(void *context); /* semaphore_wait */
    void (*before_disengage)(void *context);      /* before pool_disengage, which then goes on */
    void (*before_wake)(void *context);           /* before platform_wake, which then goes on */
};

/* The calling thread counts anew, with these hooks; NULL: without any. */
void calls_begin(const struct call_hooks *hooks);

/* What it has called. */
struct calls calls_read(void);

#endif
