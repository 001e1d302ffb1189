/* SPDX-License-Identifier: MIT
 *
 * The verbs of the program: one table (main.c), one function per verb, one file per verb or family (verb_*.c).
 *
 * How it works. A verb's row says what it is called, which arguments and options it takes, and which words its argument
 * may be; usage lines, `--help`, `pilfer help`, shell completion and the refusal of anything else come from the row.
 * The function receives an invocation whose options are all admitted; it prints results with stdio on standard output,
 * complains with complain() and returns an exit status.
 *
 * Adding a verb: a row in main.c, a prototype here, a file with the function.
 */
#ifndef PILFER_EXPERIMENTS_CLI_VERBS_H
#define PILFER_EXPERIMENTS_CLI_VERBS_H

#include "options.h"
#include "output.h"

/* The table, ended by a NULL name. */
extern const struct verb verbs[];

/* NULL if there is none. */
const struct verb *verb_find(const char *name);

int verb_calibrate(const struct invocation *invocation);
int verb_check(const struct invocation *invocation);
int verb_compare(const struct invocation *invocation);
int verb_completion(const struct invocation *invocation);
int verb_doctor(const struct invocation *invocation);
int verb_explore(const struct invocation *invocation);
int verb_export(const struct invocation *invocation);
int verb_help(const struct invocation *invocation);
int verb_list(const struct invocation *invocation);
int verb_plot(const struct invocation *invocation);
int verb_run(const struct invocation *invocation);
int verb_report(const struct invocation *invocation);
int verb_reproduce(const struct invocation *invocation);
int verb_serve(const struct invocation *invocation);
int verb_sweep(const struct invocation *invocation);
int verb_top(const struct invocation *invocation);

/* ---- word sources: what the argument of a verb may be, for completion and hints ---- */

void words_verbs(struct words *words);
void words_lists(struct words *words);     /* schedulers, bounds, ... */
void words_executors(struct words *words); /* names of schedulers and bounds */
void words_explored(struct words *words);  /* and idle policies; the explorer has further ones */
void words_plot_kinds(struct words *words);
void words_shells(struct words *words);
void words_workloads(struct words *words);
void words_sweeps(struct words *words); /* built-in ones; a file is admitted as well */

#endif
