/* SPDX-License-Identifier: MIT
 *
 * Exploring a subject: which runs are made, what is kept of the broken ones, how one is written down and replayed.
 *
 * How it works. A subject's scenarios, configurations and models make cells. Random and pct runs go round the cells;
 * each run has a seed of its own, made from the seed and its number, so any run can be made again alone. An exhaustive
 * walk takes one cell after another. Of each invariant that is broken the run that is easiest to read is kept; it is
 * shrunk by dropping deviations, made again with traces, and printed.
 */
#ifndef PILFER_TESTS_EXPLORE_EXPLORE_H
#define PILFER_TESTS_EXPLORE_EXPLORE_H

#include <stdio.h>

#include "request.h"
#include "scenario.h"

enum { CONFIGURATIONS_MAX = 64, SCENARIOS_MAX = 64, KINDS_MAX = 32, CHOICES_MAX = 65536 };
enum { DEPTH_MIN = 3, DEPTH_MAX = 5, STEPS_MAX = 20000 };

/* A name with what it is explored with. */
struct subject {
    const char *name;
    struct configuration configurations[CONFIGURATIONS_MAX];
    uint32_t configuration_count;
    const struct scenario *scenarios[SCENARIOS_MAX];
    uint32_t scenario_count;
    const char *breaks;  /* a protocol of the literature: the invariant that is known to break */
    const char *library; /* a queue that is explored through a model of it: what to say; NULL */
};

/* Fills *out for a name; false: there is none such. */
bool subject_find(const char *name, struct subject *out);
/* All names, in list order: schedulers, idle policies, bounds, structures, protocols; hidden ones last. Returns how
 * many. */
uint32_t subject_names(const char **names, uint32_t room);

/* A cell and how its runs are made. */
struct cell {
    const struct scenario *scenario;
    const struct configuration *configuration;
    struct explored_settings settings;
};

/* A broken run, kept: enough to print and to replay it. */
struct violation {
    char invariant[32], text[256];
    struct cell cell;
    struct explored_choice *choices;
    uint32_t choice_count, deviations_found, effort; /* effort: to read it; before it was shrunk */
    uint64_t run;                                    /* number of the run in which it was met first */
};

struct outcome {
    uint64_t runs, broken;
    uint64_t digest; /* of every choice of every run: the same on any machine and in any build */
    uint32_t cells;
    bool complete; /* exhaustive: every walk came to its end */
    struct violation violations[KINDS_MAX];
    uint32_t violation_count;
    double seconds;
};

/* Runs what the request says. outcome is freed with explore_free. */
void explore(const struct subject *subject, const struct request *request, struct outcome *outcome);
void explore_free(struct outcome *outcome);

/* One run of a cell. */
const struct explored_result *explore_cell(const struct cell *cell, const struct explored_choice *prefix,
                                           uint32_t prefix_count);

/* Drops deviations as long as the same invariant breaks. */
void explore_shrink(struct violation *violation);

/* RUN: model:scenario:configuration:memory:choices. 0, -ENOSPC; -EINVAL. */
int run_write(const struct violation *violation, char *text, size_t room);
int run_read(const struct subject *subject, const char *text, struct violation *out);

/* Makes the run again and prints its table, one column per thread. lines_max: of its end, 0: all. False, and nothing is
 * printed, if nothing is broken in it. */
bool report_violation(FILE *to, const struct subject *subject, const struct violation *violation, uint32_t lines_max);

/* One line: the invariant, what was seen, the command that replays it. */
void report_brief(FILE *to, const struct subject *subject, const struct violation *violation);

/* A lost update must be found before anything else is believed; false: the explorer is broken. */
bool canary_is_caught(void);

/* ---- mutants ---- */

/* Weakens every order in turn and runs what mutants.list says kills it. Returns the exit status. */
int explore_mutants(const struct request *request);
/* Finds for each what kills it, and prints lines for mutants.list. */
int search_mutants(const struct request *request);

#endif
