/* SPDX-License-Identifier: MIT
 *
 * What the explorer explores: subjects and their scenarios.
 *
 * A subject is a name that `pilfer explore` takes: a scheduler, an idle policy or a bound of the lists, or a structure
 * (deque, ...) or a protocol of the literature, which bring scenarios of their own. A configuration is what one run is
 * made with: a scheduler with one admitted pair of policies, say. A scenario is a small closed program: a body that
 * runs as thread "main" of a run (explored.h), starts what it needs with platform_thread_start, and says what is broken
 * with explored_fail.
 *
 * Rules for a body. All memory that threads share comes from platform_alloc, so that it is fresh in each run and plain
 * accesses to it are seen. No file-scope state. It ends only when every thread that it started has been joined.
 */
#ifndef PILFER_TESTS_EXPLORE_SCENARIO_H
#define PILFER_TESTS_EXPLORE_SCENARIO_H

#include "explored/explored.h"
#include "pilfer.h"
#include "platform.h"

enum scenario_kind {
    SCENARIO_SCHEDULER = 1, /* runs an executor that is a pool scheduler */
    SCENARIO_BOUND = 2,     /* runs an executor that is a bound */
    SCENARIO_CODE = 4,      /* has no executor: a structure or a protocol */
};

/* What an executor of a run is opened with; the scenario adds workers, parallelism and spin limit. */
struct configuration {
    const char *scheduler, *over, *idle, *sizing; /* as in pilfer_options; over NULL for a pool scheduler */
    bool lifo_slot;
    struct pilfer_setting tunable; /* another one that is not at its default; name NULL: none */
    bool specimen;  /* a published bound: its races are named R1 to R4 */
    char label[48]; /* in RUN and in messages: "lifo-semaphore", "eager.slot", "chase-lev"; "-" if there is one only */
};

struct scenario {
    const char *name;    /* "park-and-wake" */
    const char *promise; /* one line: what must hold */
    uint32_t kinds;
    bool (*applies)(const struct configuration *configuration); /* NULL: always */
    void (*body)(const struct configuration *configuration);
    /* Exhaustive walks (a plain run of the suite asserts the count, so that lost coverage is seen): is it small enough
     * for one at preemption bound 2? */
    bool exhaustive;
};

/* A structure, or a protocol of the literature. */
struct code_subject {
    const char *name, *summary;
    const struct scenario *scenarios;
    uint32_t scenario_count;
    const char *breaks; /* the invariant that must be found broken; NULL: none may be */
};

/* The lists, each in its own file. */
extern const struct scenario pool_scenarios[], bound_scenarios[];
extern const uint32_t pool_scenario_count, bound_scenario_count;
extern const struct code_subject structure_subjects[], historic_subjects[];
extern const uint32_t structure_subject_count, historic_subject_count;

#endif
