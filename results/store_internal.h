/* SPDX-License-Identifier: MIT
 *
 * What the files of the store share: store.c (messages, transactions), store_open.c,
 * store_sweeps.c, store_rows.c.
 */
#ifndef PILFER_RESULTS_STORE_INTERNAL_H
#define PILFER_RESULTS_STORE_INTERNAL_H

#include "store.h"

#include <sqlite3.h>
#include <sys/stat.h>

#define STORE_BUSY_MS     3000  /* how long to wait for another writer */
#define STORE_PROBE_BYTES 65536 /* room that must be there for the next repeats */

struct store {
    sqlite3 *database;
    char *path; /* absolute */
    enum store_mode mode;
    dev_t device; /* of the file as opened: it must stay the one at path */
    ino_t inode;
    char message[STORE_MESSAGE_SIZE];
    char notice[STORE_MESSAGE_SIZE];
};

/* Writes "cannot WHAT in FILE: reason; what to do" from SQLite's last error. Returns STORE_FAILED. */
__attribute__((format(printf, 2, 3))) int store_fail(struct store *store, const char *what, ...);

/* Writes a whole line of its own. Returns STORE_FAILED, or STORE_MISSING. */
__attribute__((format(printf, 2, 3))) int store_refuse(struct store *store, const char *line, ...);
__attribute__((format(printf, 2, 3))) int store_miss(struct store *store, const char *line, ...);

/* The store holds something that it did not write. Returns STORE_FAILED. */
__attribute__((format(printf, 2, 3))) int store_damaged(struct store *store, const char *what, ...);

/* Prepares one statement, binds the given integers; NULL on failure (SQLite's error is set). */
sqlite3_stmt *store_prepare(struct store *store, const char *sql, const int64_t *integers, int count);

/* Runs statements without results; 0 or STORE_FAILED with the message "cannot WHAT in ...". */
int store_execute(struct store *store, const char *sql, const char *what);

/* One integer that sql selects; 0, STORE_MISSING (no row, no message) or STORE_FAILED. */
int store_integer(struct store *store, const char *sql, int64_t *out);

/* A write transaction on the file that was opened; ended by store_commit (synced when it returns 0) or
 * store_roll_back. what: for messages, as in store_fail. */
int store_begin(struct store *store, const char *what);
int store_commit(struct store *store, const char *what);
void store_roll_back(struct store *store);

/* Checksums: FNV-1a over values in a fixed byte order. */
uint64_t checksum_text(uint64_t hash, const char *text); /* NULL differs from "" */
uint64_t checksum_integer(uint64_t hash, int64_t integer);
uint64_t checksum_number(uint64_t hash, double number);

/* store_sweeps.c: writes how many sweeps there must be / how far one has come, inside a transaction. */
int store_write_sweeps(struct store *store, int64_t sweeps);
int store_write_progress(struct store *store, int64_t sweep_id, int64_t repeats_stored, int64_t finished_unix_s);
int store_read_progress(struct store *store, int64_t sweep_id, int64_t *repeats_stored, int64_t *finished_unix_s);
/* Whether all sweeps are there. */
int store_check_sweeps(struct store *store);

/* store_rows.c: the row without a transaction of its own. */
int store_insert_row(struct store *store, const struct result *result);

#endif
