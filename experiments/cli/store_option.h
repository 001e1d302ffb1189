/* SPDX-License-Identifier: MIT
 *
 * Which store and which sweep a verb works on, and the way from there to what it does with them.
 */
#ifndef PILFER_EXPERIMENTS_CLI_STORE_OPTION_H
#define PILFER_EXPERIMENTS_CLI_STORE_OPTION_H

#include "options.h"
#include "store.h"

#define STORE_PATH_DEFAULT  "results/data/pilfer.db"
#define STORE_PATH_VARIABLE "PILFER_STORE"

/* --store, else the environment's PILFER_STORE, else STORE_PATH_DEFAULT below the current folder. invocation may be
 * NULL. Never NULL; memory of the command line or the environment. */
const char *option_store_path(const struct invocation *invocation);

/* Opens the store for reading; EXIT_DONE, or EXIT_STORE after a complaint. */
int store_open_reading(const struct invocation *invocation, struct store **out);

/* A sweep of a store, read. */
struct stored_sweep {
    struct store_sweep sweep;
    struct result_set rows;
};

/* Reads the sweep that selector ("last", an id, or NULL for last) names. EXIT_DONE (stored_sweep_fini frees it), or
 * EXIT_USAGE (no such selector) or EXIT_STORE after a complaint. */
int stored_sweep_read(const struct invocation *invocation, struct store *store, const char *selector, bool histograms,
                      struct stored_sweep *out);
/* The same by number, in the invocation's store, without histograms. */
int stored_sweep_of_id(const struct invocation *invocation, int64_t sweep_id, struct stored_sweep *out);
void stored_sweep_fini(struct stored_sweep *stored);

/* Reads the sweep that --sweep names, without histograms, and hands it to use, whose status is returned. */
int stored_sweep_with(const struct invocation *invocation,
                      int (*use)(const struct invocation *invocation, const struct stored_sweep *stored));
/* The same for what was just measured, with the status that this ended with: whatever it was, a sweep of which a repeat
 * is stored is handed on. Returns the first status of the two that is not EXIT_DONE. sweep_id 0: none was begun. */
int stored_sweep_show(const struct invocation *invocation, int64_t sweep_id, int status,
                      int (*use)(const struct invocation *invocation, const struct stored_sweep *stored));

#endif
