/* SPDX-License-Identifier: MIT
 *
 * A sweep: the steps of a plan, measured one after the other into a store.
 *
 * Promises. The store is open and proven writable before the first cell. Each finished repeat is stored at once, so an
 * interruption loses at most the repeat in progress; what is stored is never measured again on --resume. A cell that
 * crashes or hangs is stored as invalid and the sweep goes on. A cell that cannot be measured here (no port, no thread)
 * is not stored, so that --resume tries it again; SWEEP_SURROUNDINGS_MAX of them in a row end the sweep. Those of a
 * target are counted apart, and so many leave out what is left of that target: a build that fails, a server that is
 * refused, would otherwise cost each of its repeats the time that it may take to be ready.
 *
 * Time. Disturbed measurements are repeated while the sweep is less than PLAN_RETRY_SHARE of its estimate behind; after
 * that each repeat is measured once, and a line says so. So a busy machine makes a sweep longer by a known share only.
 *
 * Signals. SIGINT, SIGTERM and SIGHUP end the repeat in progress without storing it, and the sweep with a line that
 * says how to go on. A second SIGINT exits at once. SIGTSTP and SIGCONT work as usual; a repeat that was suspended is
 * disturbed.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_SWEEP_H
#define PILFER_EXPERIMENTS_RUNNER_SWEEP_H

#include "runner/plan.h"

/* Repeats in a row that could not be measured before the sweep gives up. */
#define SWEEP_SURROUNDINGS_MAX 3

struct sweep_options {
    const char *store_path;
    bool resume;            /* continue the newest unfinished sweep of the same plan; nothing to do if it is finished */
    bool extra;             /* an extra part of a reproduction: never `last` */
    bool hold;              /* print pids and wait before each window; then each repeat is measured once */
    const char *trace_path; /* or NULL; Chrome trace of the router */
    const char *again;      /* the command that resumes, for the line after an interruption; NULL: none is printed */
};

/* Runs the plan (reordered by the stored seed if it is resumed). *sweep_id out: the sweep, or 0 if none was begun.
 * Progress and messages go to standard error, nothing to standard output. Returns the program's exit status: 0, 1 (a
 * repeat failed or is invalid), 3, 4, 129, 130 or 143. Single-threaded program; one sweep at a time. */
int sweep_run(struct plan *plan, const struct sweep_options *options, int64_t *sweep_id);

#endif
