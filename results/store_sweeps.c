/* SPDX-License-Identifier: MIT
 *
 * The store's sweeps: what was planned, in which context, and how far it has come.
 *
 * How it works. A sweep's row is written once; its progress (repeats stored, finished) changes in the same transaction
 * as the repeats. Each row carries a checksum, and table store says how many sweeps there must be, so a lost one shows.
 */
#include "store_internal.h"
#include "heap.h"
#include "texts.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

void store_sweep_fini(struct store_sweep *sweep)
{
    free(sweep->name);
    free(sweep->plan);
    free(sweep->context);
    *sweep = (struct store_sweep){0};
}

/* Binds and runs one statement that returns nothing; integers first, then texts. */
static int write_row(struct store *store, const char *what, const char *sql, const int64_t *integers, int integer_count,
                     const char *const *texts, int text_count)
{
    sqlite3_stmt *statement = store_prepare(store, sql, integers, integer_count);
    for (int i = 0; statement && i < text_count; i++) {
        sqlite3_bind_text(statement, integer_count + i + 1, texts[i], -1, SQLITE_STATIC);
    }
    bool done = statement && sqlite3_step(statement) == SQLITE_DONE;
    int status = done ? STORE_OK : store_fail(store, "%s", what);
    sqlite3_finalize(statement);
    return status;
}

int store_write_sweeps(struct store *store, int64_t sweeps)
{
    int64_t integers[] = {sweeps, (int64_t)checksum_integer(TEXTS_HASH_START, sweeps)};
    return write_row(store, "count the sweeps", "INSERT OR REPLACE INTO store (one, sweeps, checksum) VALUES (1, ?, ?)",
                     integers, 2, NULL, 0);
}

static int64_t progress_checksum(int64_t sweep_id, int64_t repeats_stored, int64_t finished_unix_s)
{
    uint64_t hash = checksum_integer(TEXTS_HASH_START, sweep_id);
    return (int64_t)checksum_integer(checksum_integer(hash, repeats_stored), finished_unix_s);
}

int store_write_progress(struct store *store, int64_t sweep_id, int64_t repeats_stored, int64_t finished_unix_s)
{
    int64_t integers[] = {sweep_id, repeats_stored, finished_unix_s,
                          progress_checksum(sweep_id, repeats_stored, finished_unix_s)};
    return write_row(store, "note the progress",
                     "INSERT INTO progress (sweep_id, repeats_stored, finished_unix_s, checksum) VALUES (?, ?, ?, ?) "
                     "ON CONFLICT (sweep_id) DO UPDATE SET repeats_stored = excluded.repeats_stored, "
                     "finished_unix_s = excluded.finished_unix_s, checksum = excluded.checksum",
                     integers, 4, NULL, 0);
}

int store_read_progress(struct store *store, int64_t sweep_id, int64_t *repeats_stored, int64_t *finished_unix_s)
{
    int64_t checksum = 0;
    sqlite3_stmt *statement = store_prepare(
        store, "SELECT repeats_stored, finished_unix_s, checksum FROM progress WHERE sweep_id = ?", &sweep_id, 1);
    int step = statement ? sqlite3_step(statement) : SQLITE_ERROR;
    if (step == SQLITE_ROW) {
        *repeats_stored = sqlite3_column_int64(statement, 0);
        *finished_unix_s = sqlite3_column_int64(statement, 1);
        checksum = sqlite3_column_int64(statement, 2);
    }
    int status = step == SQLITE_ROW    ? STORE_OK
                 : step == SQLITE_DONE ? store_miss(store,
                                                    "no sweep %" PRId64 " in the store %s; the stored ones are "
                                                    "those that a report lists",
                                                    sweep_id, store->path)
                                       : store_fail(store, "read the progress");
    sqlite3_finalize(statement);
    if (!status && checksum != progress_checksum(sweep_id, *repeats_stored, *finished_unix_s)) {
        return store_damaged(store, "the progress of sweep %" PRId64 " is not as it was written", sweep_id);
    }
    return status;
}

int store_check_sweeps(struct store *store)
{
    int64_t sweeps = 0, checksum = 0, present = 0, newest = 0; /* numbered from 1 */
    sqlite3_stmt *statement = store_prepare(store,
                                            "SELECT sweeps, checksum, (SELECT count(*) FROM sweep), "
                                            "(SELECT coalesce(max(sweep_id), 0) FROM sweep) FROM store WHERE one = 1",
                                            NULL, 0);
    int step = statement ? sqlite3_step(statement) : SQLITE_ERROR;
    if (step == SQLITE_ROW) {
        sweeps = sqlite3_column_int64(statement, 0);
        checksum = sqlite3_column_int64(statement, 1);
        present = sqlite3_column_int64(statement, 2);
        newest = sqlite3_column_int64(statement, 3);
    }
    int status = step == SQLITE_ROW || step == SQLITE_DONE ? STORE_OK : store_fail(store, "count the sweeps");
    sqlite3_finalize(statement);
    if (!status && (step == SQLITE_DONE || checksum != (int64_t)checksum_integer(TEXTS_HASH_START, sweeps))) {
        return store_damaged(store, "its count of sweeps is not as it was written");
    }
    if (!status && (present != sweeps || newest != sweeps)) {
        return store_damaged(store, "%" PRId64 " sweeps were begun, %" PRId64 " are there, the newest is %" PRId64,
                             sweeps, present, newest);
    }
    return status;
}

static int64_t plan_hash(const char *plan)
{
    return (int64_t)checksum_text(TEXTS_HASH_START, plan);
}

static int64_t sweep_checksum(const struct store_sweep *sweep)
{
    uint64_t hash = checksum_integer(TEXTS_HASH_START, sweep->id);
    hash = checksum_text(hash, sweep->name);
    hash = checksum_text(hash, sweep->plan);
    hash = checksum_text(hash, sweep->context);
    hash = checksum_integer(hash, (int64_t)sweep->seed);
    hash = checksum_integer(hash, sweep->started_unix_s);
    hash = checksum_integer(hash, sweep->repeats_planned);
    return (int64_t)checksum_integer(hash, sweep->extra);
}

static int begin_rows(struct store *store, struct store_sweep *sweep)
{
    int64_t sweeps = 0, newest = 0;
    int status = store_integer(store, "SELECT sweeps FROM store WHERE one = 1", &sweeps);
    if (!status) {
        status = store_integer(store, "SELECT coalesce(max(sweep_id), 0) FROM sweep", &newest);
    }
    if (status) {
        return STORE_FAILED;
    }
    struct store_sweep whole = *sweep;
    whole.id = newest + 1;
    whole.name = sweep->name ? sweep->name : "";
    whole.plan = sweep->plan ? sweep->plan : "";
    whole.context = sweep->context ? sweep->context : "";
    whole.started_unix_s = sweep->started_unix_s ? sweep->started_unix_s : (int64_t)time(NULL);
    char seed[24];
    snprintf(seed, sizeof(seed), "%" PRIu64, whole.seed);
    int64_t integers[] = {whole.id,    plan_hash(whole.plan), whole.started_unix_s, whole.repeats_planned,
                          whole.extra, sweep_checksum(&whole)};
    const char *texts[] = {whole.name, whole.plan, whole.context, seed};
    status =
        write_row(store, "begin a sweep",
                  "INSERT INTO sweep (sweep_id, plan_hash, started_unix_s, repeats_planned, extra, checksum, name, "
                  "plan, context, seed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                  integers, 6, texts, 4);
    if (!status) {
        status = store_write_sweeps(store, sweeps + 1);
    }
    if (!status) {
        status = store_write_progress(store, whole.id, 0, 0);
    }
    sweep->id = whole.id;
    sweep->started_unix_s = whole.started_unix_s;
    return status;
}

int store_sweep_begin(struct store *store, struct store_sweep *sweep)
{
    int status = store_begin(store, "begin a sweep");
    if (status) {
        return status;
    }
    status = begin_rows(store, sweep);
    if (status) {
        store_roll_back(store);
        return status;
    }
    return store_commit(store, "begin a sweep");
}

int store_sweep_finish(struct store *store, int64_t sweep_id)
{
    int64_t repeats_stored = 0, finished_unix_s = 0;
    int status = store_begin(store, "finish the sweep");
    if (status) {
        return status;
    }
    status = store_read_progress(store, sweep_id, &repeats_stored, &finished_unix_s);
    if (!status) {
        status = store_write_progress(store, sweep_id, repeats_stored, (int64_t)time(NULL));
    }
    if (status) {
        store_roll_back(store);
        return status;
    }
    return store_commit(store, "finish the sweep");
}

/* ---- reading ---- */

#define SELECT_SWEEP                                                                                                  \
    "SELECT s.sweep_id, s.name, s.plan, s.context, s.seed, s.started_unix_s, s.repeats_planned, s.extra, s.checksum " \
    "FROM sweep AS s "

static char *column_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return heap_text(text ? text : "");
}

/* The sweep in the statement's current row. */
static int read_sweep(struct store *store, sqlite3_stmt *statement, struct store_sweep *out)
{
    *out = (struct store_sweep){
        .id = sqlite3_column_int64(statement, 0),
        .name = column_text(statement, 1),
        .plan = column_text(statement, 2),
        .context = column_text(statement, 3),
        .started_unix_s = sqlite3_column_int64(statement, 5),
        .repeats_planned = sqlite3_column_int64(statement, 6),
        .extra = sqlite3_column_int64(statement, 7) != 0,
    };
    char *seed = column_text(statement, 4);
    out->seed = strtoull(seed, NULL, 10);
    free(seed);
    int status = STORE_OK;
    if (sqlite3_column_int64(statement, 8) != sweep_checksum(out)) {
        status = store_damaged(store, "sweep %" PRId64 " is not as it was written", out->id);
    } else {
        status = store_read_progress(store, out->id, &out->repeats_stored, &out->finished_unix_s);
        if (status == STORE_MISSING) {
            status = store_damaged(store, "the progress of sweep %" PRId64 " is missing", out->id);
        }
    }
    if (status) {
        store_sweep_fini(out);
    }
    return status;
}

/* The first sweep that a statement selects; STORE_MISSING without a message if there is none. Finalises it. */
static int first_sweep(struct store *store, sqlite3_stmt *statement, struct store_sweep *out)
{
    int step = statement ? sqlite3_step(statement) : SQLITE_ERROR;
    int status = step == SQLITE_ROW    ? read_sweep(store, statement, out)
                 : step == SQLITE_DONE ? STORE_MISSING
                                       : store_fail(store, "look for a sweep");
    sqlite3_finalize(statement);
    return status;
}

int store_sweep_with_plan(struct store *store, const char *plan, struct store_sweep *out)
{
    int64_t hash = plan_hash(plan);
    sqlite3_stmt *statement = store_prepare(
        store, SELECT_SWEEP "WHERE s.plan_hash = ? AND s.plan = ? ORDER BY s.sweep_id DESC LIMIT 1", &hash, 1);
    sqlite3_bind_text(statement, 2, plan, -1, SQLITE_STATIC);
    int status = first_sweep(store, statement, out);
    return status == STORE_MISSING ? store_miss(store, "no sweep of this plan in the store %s", store->path) : status;
}

int store_sweep_find(struct store *store, const char *selector, struct store_sweep *out)
{
    if (!selector || strcmp(selector, "last") == 0) {
        int status = first_sweep(
            store, store_prepare(store, SELECT_SWEEP "WHERE s.extra = 0 ORDER BY s.sweep_id DESC LIMIT 1", NULL, 0),
            out);
        return status == STORE_MISSING
                   ? store_miss(store, "the store %s holds no sweep yet; run one first", store->path)
                   : status;
    }
    errno = 0;
    char *end;
    int64_t id = strtoll(selector, &end, 10);
    if (selector[0] < '0' || selector[0] > '9' || *end != '\0' || errno != 0) {
        return store_miss(store, "'%.40s' names no sweep; expected 'last' or the number of one", selector);
    }
    int status = first_sweep(store, store_prepare(store, SELECT_SWEEP "WHERE s.sweep_id = ?", &id, 1), out);
    return status == STORE_MISSING ? store_miss(store,
                                                "no sweep %" PRId64 " in the store %s; a list of sweeps shows those "
                                                "that are there",
                                                id, store->path)
                                   : status;
}

int store_sweep_list(struct store *store, struct store_sweep **out, size_t *count)
{
    struct store_sweep *sweeps = NULL;
    size_t found = 0;
    sqlite3_stmt *statement = store_prepare(store, SELECT_SWEEP "ORDER BY s.sweep_id DESC", NULL, 0);
    int status = statement ? STORE_OK : store_fail(store, "list the sweeps");
    int step = SQLITE_DONE;
    while (!status && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        sweeps = heap_grow(sweeps, found, sizeof(*sweeps));
        status = read_sweep(store, statement, &sweeps[found]);
        if (!status && found > 0 && sweeps[found].id >= sweeps[found - 1].id) {
            status = store_damaged(store, "sweep %" PRId64 " is there twice", sweeps[found].id);
            store_sweep_fini(&sweeps[found]);
        }
        found += !status;
    }
    if (!status && step != SQLITE_DONE) {
        status = store_fail(store, "list the sweeps");
    }
    sqlite3_finalize(statement);
    for (size_t i = 0; status && i < found; i++) {
        store_sweep_fini(&sweeps[i]);
    }
    if (status) {
        free(sweeps);
        return status;
    }
    *out = sweeps;
    *count = found;
    return STORE_OK;
}
