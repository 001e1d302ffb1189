/* SPDX-License-Identifier: MIT
 *
 * One cell: a configuration measured once, in child processes of its own.
 *
 * How it works. The runner starts itself again as `pilfer role NAME` for each process of the cell: load generator,
 * router (the process under test) and extension for networked workloads; one process for in-process ones. A role reads
 * the configuration as "key = value" lines from descriptor 3 and reports as "name = value" lines on descriptor 4. All
 * roles get one absolute window [start, end] of the monotonic clock; CPU is taken per process at its edges by the
 * runner, per thread and per activity by the router itself.
 *
 * A crash, a hang or a refusal of a child ends the cell, not the sweep. Children die with the runner (parent-death
 * signal) and are ended by pid and process group, never by name.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_CELL_H
#define PILFER_EXPERIMENTS_RUNNER_CELL_H

#include "cli/parameters.h"
#include "results.h"

#define CELL_MESSAGE_SIZE 512

enum cell_status {
    CELL_MEASURED,     /* result is filled; its valid and disturbed columns say how good it is */
    CELL_FAILED,       /* crash, hang, lost task: result is filled as far as known, valid = 0, message says what */
    CELL_SURROUNDINGS, /* cannot be measured here: no port, no thread, no permission; message */
    CELL_INTERRUPTED,  /* *stop became true */
};

struct cell_options {
    double foreign_limit_percent; /* disturbed above this; of one CPU */
    uint32_t tries_max;           /* repeats of a disturbed measurement */
    const volatile int *stop;     /* set by the signal handler */
    bool hold;                    /* print pids and wait for a newline or a signal before the window opens */
    const char *trace_path;       /* or NULL: Chrome trace of the router */
};

/* Does beforehand what need not be done for each repeat: a target is built. What cannot be done is said by
 * cell_measure.
 */
void cell_prepare(const struct configuration *configuration, const volatile int *stop);

/* Measures once (up to tries_max times while disturbed). result must be initialised; all columns but sweep_id, cell_id
 * and repeat are set. Single-threaded caller; no other cell at the same time on this machine. */
enum cell_status cell_measure(const struct configuration *configuration, uint64_t seed,
                              const struct cell_options *options, struct result *result, char *message);

/* Entry point of `pilfer role NAME`: runs one process of a cell; returns its exit status. */
int role_main(const char *role);

/* What the defaults in a configuration mean on this machine: the columns that only resolve (label, *_resolved, idle,
 * ...). 0, or -1 with one line in message (an inadmissible pair, an unknown name). Starts nothing. */
int cell_resolve(const struct configuration *configuration, struct result *result, char *message);

#endif
