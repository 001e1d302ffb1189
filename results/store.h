/* SPDX-License-Identifier: MIT
 *
 * The store: where measured repeats are kept. One SQLite file.
 *
 * Promises. One transaction with full sync per repeat: kill -9 at any moment loses at most the repeat in progress.
 * Stored rows never change. (sweep_id, cell_id, repeat) is unique. Readers always work, also while a sweep writes. The
 * store is opened and proven writable before the first cell. A damaged, locked, full, foreign or newer store is one
 * clear line.
 *
 * Errors. Functions return 0 or a STORE_ status and then leave one line in the store's message (store_message), or,
 * where there is no store yet, in the message argument (STORE_MESSAGE_SIZE bytes). One thread.
 */
#ifndef PILFER_RESULTS_STORE_H
#define PILFER_RESULTS_STORE_H

#include "results.h"

#define STORE_MESSAGE_SIZE 512

struct store;

enum store_status {
    STORE_OK,
    STORE_FAILED,  /* damaged, locked, full, unwritable, foreign, newer: the program exits with status 4 */
    STORE_MISSING, /* no such file, or no such sweep */
};

enum store_mode {
    STORE_READ,  /* must exist */
    STORE_WRITE, /* created if it does not exist (its folder too), migrated if older, proven writable */
};

int store_open(const char *path, enum store_mode mode, struct store **out, char *message);
void store_close(struct store *store);
const char *store_message(const struct store *store);
/* The file's absolute path. */
const char *store_file(const struct store *store);
/* One line that the user should see although all is well (the write-ahead log was refused, ...), or "". */
const char *store_notice(const struct store *store);

/* A sweep as stored. Text fields are owned by the struct; store_sweep_fini frees them. */
struct store_sweep {
    int64_t id;
    char *name;    /* "high-cpu", a file's name, "run" */
    char *plan;    /* the plan as text: what --resume compares and `report` can show */
    char *context; /* lines "name: value": CPU model, cores, kernel, compiler, commit, ... (printed under plots) */
    uint64_t seed;
    int64_t started_unix_s, finished_unix_s; /* finished: 0 while unfinished */
    int64_t repeats_planned, repeats_stored;
    bool extra; /* an extra part of a reproduction: never "last" */
};
void store_sweep_fini(struct store_sweep *sweep);

/* Begins a sweep: one transaction. Fields used: name, plan, context, seed, repeats_planned, extra. Sets sweep->id. */
int store_sweep_begin(struct store *store, struct store_sweep *sweep);
int store_sweep_finish(struct store *store, int64_t sweep_id);

/* The newest sweep with exactly this plan text, finished or not; STORE_MISSING if there is none. */
int store_sweep_with_plan(struct store *store, const char *plan, struct store_sweep *out);
/* By id, or the newest that is not extra when selector is "last" (or NULL). A selector is "last" or a decimal id. */
int store_sweep_find(struct store *store, const char *selector, struct store_sweep *out);
/* All, newest first; caller frees each and the array. */
int store_sweep_list(struct store *store, struct store_sweep **out, size_t *count);

/* Stores one repeat (all of it or nothing, synced when it returns). */
int store_insert(struct store *store, const struct result *result);

/* Whether this repeat is stored already. */
bool store_has(struct store *store, int64_t sweep_id, const char *cell_id, int64_t repeat);

/* All repeats of a sweep in the order of storing; free with result_set_fini. histograms: also the blobs. */
int store_read(struct store *store, int64_t sweep_id, bool histograms, struct result_set *out);

/* Integrity of the whole file, every row read: 0 if sound; else what is wrong in the message. Takes time with its size.
 */
int store_check(struct store *store);

#endif
