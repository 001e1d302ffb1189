/* SPDX-License-Identifier: MIT
 *
 * Bugs that pools and deques shipped, as small closed programs: what the files here share.
 *
 * How it works. Each bug is one program with one parameter: false runs the protocol as it was published, true the
 * mended one. HISTORIC_SCENARIO makes both bodies and the two scenarios from it; historic.c lists them by name. The
 * programs are written from the descriptions of the protocols; nothing is copied. Capacities are 1 to 4, a task is a
 * number from 1 up, 0 is no task.
 *
 * Exactly once. Each thread notes the tasks that it took in a taker of its own, in plain memory, and the main thread
 * compares when all have been joined: so the check adds no scheduling point.
 */
#ifndef PILFER_TESTS_EXPLORE_HISTORIC_HISTORIC_H
#define PILFER_TESTS_EXPLORE_HISTORIC_HISTORIC_H

#include "../scenario.h"

enum { HISTORIC_PUBLISHED, HISTORIC_MENDED, HISTORIC_VERSIONS };

/* Defines const struct scenario historic_PROGRAM[2] from static void PROGRAM(bool mended). */
#define HISTORIC_SCENARIO(PROGRAM, NAME, PROMISE, EXHAUSTIVE)                  \
    static void PROGRAM##_published(const struct configuration *configuration) \
    {                                                                          \
        (void)configuration;                                                   \
        PROGRAM(false);                                                        \
    }                                                                          \
    static void PROGRAM##_mended(const struct configuration *configuration)    \
    {                                                                          \
        (void)configuration;                                                   \
        PROGRAM(true);                                                         \
    }                                                                          \
    const struct scenario historic_##PROGRAM[HISTORIC_VERSIONS] = {            \
        {NAME, PROMISE, SCENARIO_CODE, NULL, PROGRAM##_published, EXHAUSTIVE}, \
        {NAME, PROMISE, SCENARIO_CODE, NULL, PROGRAM##_mended, EXHAUSTIVE},    \
    }

/* What one thread took. */
struct taker {
    uint32_t count;
    uint32_t tasks[8];
};

void taker_note(struct taker *taker, uint64_t task);

/* Each task from 1 to task_count was taken exactly once, by all takers together, and nothing else was; else the run
 * fails with "exactly once". */
void takers_check(const struct taker *const *takers, uint32_t taker_count, uint32_t task_count);

/* Memory and threads of a run, or no run. */
void *historic_alloc(size_t size);
struct platform_thread *historic_start(const char *name, void (*body)(void *argument), void *argument);

#endif
