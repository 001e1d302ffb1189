/* SPDX-License-Identifier: MIT
 *
 * The store's rows: one measured repeat in, all repeats of a sweep out.
 *
 * How it works. A repeat is one row of run plus its rows of setting and value, in one transaction together with the
 * count in progress. Reading goes along the index of a sweep's runs in the order of storing and never looks at another
 * sweep; every row's checksum, the order of the rows and their count are verified, so a damaged store is told, not
 * shown with rows missing or doubled.
 */
#include "store_internal.h"
#include "heap.h"
#include "texts.h"

#include <inttypes.h>
#include <math.h>

#define INTEGER_MAX 9007199254740992.0 /* 2^53: what a double holds exactly */

#define QUOTED_NAME(name, type) "\"" #name "\", "
#define PLACEHOLDER(name, type) "?, "

enum {
    ROW_INVALID_REASON = RESULT_COLUMN_COUNT, /* columns after the fixed ones, in both statements */
    ROW_CHECKSUM,
    ROW_HISTOGRAM_CHECKSUM,
    ROW_EXTRA, /* insert and read with histograms: the blob; then (read) the row's key */
    ROW_KEY,
};

static const char insert_sql[] =
    "INSERT INTO run (" RESULT_COLUMNS(QUOTED_NAME) "invalid_reason, checksum, histogram_checksum, histogram) "
                                                    "VALUES (" RESULT_COLUMNS(PLACEHOLDER) "?, ?, ?, ?)";

#define SELECT_ROWS(blob)                                                                                \
    "SELECT " RESULT_COLUMNS(QUOTED_NAME) "invalid_reason, checksum, histogram_checksum, " blob ", run " \
                                          "FROM run INDEXED BY run_by_sweep WHERE sweep_id = ? ORDER BY run"

/* ---- checksums ---- */

static int64_t histogram_checksum(const uint8_t *bytes, size_t size)
{
    return (int64_t)texts_hash(checksum_integer(TEXTS_HASH_START, (int64_t)size), bytes, size);
}

/* Over what is known, each with its name, so that a column that is unknown everywhere changes nothing. */
static int64_t row_checksum(const struct result *result, bool has_histogram, int64_t histogram)
{
    uint64_t hash = TEXTS_HASH_START;
    for (int i = 0; i < RESULT_COLUMN_COUNT; i++) {
        const struct result_value *value = &result->columns[i];
        if (value->kind != RESULT_UNKNOWN) {
            hash = checksum_text(hash, result_column_name(i));
            hash = value->kind == RESULT_KNOWN_TEXT ? checksum_text(hash, value->text)
                                                    : checksum_number(hash, value->number);
        }
    }
    for (uint32_t i = 0; i < result->setting_count; i++) {
        hash = checksum_text(checksum_text(hash, result->settings[i].name), result->settings[i].text);
    }
    for (uint32_t i = 0; i < result->number_count; i++) {
        hash = checksum_number(checksum_text(hash, result->numbers[i].name), result->numbers[i].number);
    }
    hash = checksum_text(hash, result->invalid_reason);
    return (int64_t)(has_histogram ? checksum_integer(hash, histogram) : hash);
}

/* ---- storing ---- */

/* "store repeat 3 of cell ..." for messages. */
static const char *name_row(const struct result *result, char *out, size_t size)
{
    const struct result_value *columns = result->columns;
    snprintf(out, size, "store repeat %.0f of cell %.96s (sweep %.0f)", columns[RESULT_repeat].number,
             columns[RESULT_cell_id].text ? columns[RESULT_cell_id].text : "?", columns[RESULT_sweep_id].number);
    return out;
}

/* Binds the fixed columns; a number in an INTEGER column must be one. */
static int bind_columns(struct store *store, sqlite3_stmt *statement, const struct result *result)
{
    for (int i = 0; i < RESULT_COLUMN_COUNT; i++) {
        const struct result_value *value = &result->columns[i];
        if (value->kind == RESULT_KNOWN_TEXT) {
            sqlite3_bind_text(statement, i + 1, value->text, -1, SQLITE_STATIC);
        } else if (value->kind == RESULT_KNOWN_NUMBER && result_column_type(i) == RESULT_INTEGER) {
            if (fabs(value->number) > INTEGER_MAX || value->number != trunc(value->number)) {
                return store_refuse(store,
                                    "cannot store %s = %.17g: not an integer of at most 2^53; this is an error in "
                                    "what measured it",
                                    result_column_name(i), value->number);
            }
            sqlite3_bind_int64(statement, i + 1, (int64_t)value->number);
        } else if (value->kind == RESULT_KNOWN_NUMBER) {
            sqlite3_bind_double(statement, i + 1, value->number);
        }
    }
    return STORE_OK;
}

static int insert_run(struct store *store, const struct result *result, const char *what)
{
    bool has_histogram = result->histogram_size > 0;
    int64_t histogram = has_histogram ? histogram_checksum(result->histogram, result->histogram_size) : 0;
    sqlite3_stmt *statement = store_prepare(store, insert_sql, NULL, 0);
    if (!statement) {
        return store_fail(store, "%s", what);
    }
    int status = bind_columns(store, statement, result);
    if (result->invalid_reason) {
        sqlite3_bind_text(statement, ROW_INVALID_REASON + 1, result->invalid_reason, -1, SQLITE_STATIC);
    }
    sqlite3_bind_int64(statement, ROW_CHECKSUM + 1, row_checksum(result, has_histogram, histogram));
    if (has_histogram) {
        sqlite3_bind_int64(statement, ROW_HISTOGRAM_CHECKSUM + 1, histogram);
        sqlite3_bind_blob64(statement, ROW_EXTRA + 1, result->histogram, result->histogram_size, SQLITE_STATIC);
    }
    if (!status && sqlite3_step(statement) != SQLITE_DONE) {
        int code = sqlite3_extended_errcode(store->database);
        status = code == SQLITE_CONSTRAINT_UNIQUE
                     ? store_refuse(store,
                                    "cannot %s: it is stored already, and stored rows never change; use another "
                                    "repeat number or sweep",
                                    what)
                     : store_fail(store, "%s", what);
    }
    sqlite3_finalize(statement);
    return status;
}

static int insert_named(struct store *store, const struct result *result, const char *what)
{
    int64_t run = sqlite3_last_insert_rowid(store->database);
    sqlite3_stmt *setting = store_prepare(store, "INSERT INTO setting (run, name, text) VALUES (?, ?, ?)", &run, 1);
    sqlite3_stmt *value = store_prepare(store, "INSERT INTO value (run, name, number) VALUES (?, ?, ?)", &run, 1);
    bool good = setting && value;
    for (uint32_t i = 0; good && i < result->setting_count; i++) {
        sqlite3_bind_text(setting, 2, result->settings[i].name, -1, SQLITE_STATIC);
        sqlite3_bind_text(setting, 3, result->settings[i].text, -1, SQLITE_STATIC);
        good = sqlite3_step(setting) == SQLITE_DONE;
        sqlite3_reset(setting);
    }
    for (uint32_t i = 0; good && i < result->number_count; i++) {
        sqlite3_bind_text(value, 2, result->numbers[i].name, -1, SQLITE_STATIC);
        sqlite3_bind_double(value, 3, result->numbers[i].number);
        good = sqlite3_step(value) == SQLITE_DONE;
        sqlite3_reset(value);
    }
    int status = good ? STORE_OK : store_fail(store, "%s", what);
    sqlite3_finalize(setting);
    sqlite3_finalize(value);
    return status;
}

int store_insert_row(struct store *store, const struct result *result)
{
    char what[192];
    int64_t sweep_id = (int64_t)result->columns[RESULT_sweep_id].number, repeats_stored, finished_unix_s;
    name_row(result, what, sizeof(what));
    int status = store_read_progress(store, sweep_id, &repeats_stored, &finished_unix_s);
    if (!status) {
        status = insert_run(store, result, what);
    }
    if (!status) {
        status = insert_named(store, result, what);
    }
    if (!status) {
        status = store_write_progress(store, sweep_id, repeats_stored + 1, finished_unix_s);
    }
    return status;
}

int store_insert(struct store *store, const struct result *result)
{
    char what[192];
    int status = store_begin(store, name_row(result, what, sizeof(what)));
    if (status) {
        return status;
    }
    status = store_insert_row(store, result);
    if (status) {
        store_roll_back(store);
        return status;
    }
    return store_commit(store, what);
}

bool store_has(struct store *store, int64_t sweep_id, const char *cell_id, int64_t repeat)
{
    int64_t integers[] = {sweep_id, repeat};
    sqlite3_stmt *statement =
        store_prepare(store, "SELECT 1 FROM run WHERE sweep_id = ? AND repeat = ? AND cell_id = ?", integers, 2);
    sqlite3_bind_text(statement, 3, cell_id, -1, SQLITE_STATIC);
    bool has = statement && sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    return has;
}

/* ---- reading ---- */

/* The statements that read one sweep, and what is done with each row: row takes the result over. */
struct reader {
    struct store *store;
    sqlite3_stmt *runs, *settings, *values;
    int64_t sweep_id, last_run; /* of the rows so far: keys only grow */
    bool histograms;
    struct texts *texts;
    void (*row)(struct reader *reader, struct result *result);
    struct result_set *set;
};

static const char *text_of(sqlite3_stmt *statement, int column)
{
    return (const char *)sqlite3_column_text(statement, column);
}

/* Rows of setting or value that belong to a run, in the order of names; false on an error. */
static bool read_named(sqlite3_stmt *statement, int64_t run, struct result *result, bool numbers)
{
    int step;
    sqlite3_reset(statement);
    sqlite3_bind_int64(statement, 1, run);
    while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *name = text_of(statement, 0);
        if (!name || result_column_find(name) >= 0) {
            continue; /* not written like this: the checksum tells */
        }
        if (numbers) {
            result->numbers = heap_grow(result->numbers, result->number_count, sizeof(*result->numbers));
            result->numbers[result->number_count++] = (struct result_number){
                .name = texts_keep(result->texts, name), .number = sqlite3_column_double(statement, 1)};
        } else {
            const char *text = text_of(statement, 1);
            result->settings = heap_grow(result->settings, result->setting_count, sizeof(*result->settings));
            result->settings[result->setting_count++] = (struct result_setting){
                .name = texts_keep(result->texts, name), .text = texts_keep(result->texts, text ? text : "")};
        }
    }
    return step == SQLITE_DONE;
}

static int read_row(struct reader *reader, struct result *result)
{
    sqlite3_stmt *runs = reader->runs;
    for (int i = 0; i < RESULT_COLUMN_COUNT; i++) {
        if (sqlite3_column_type(runs, i) == SQLITE_NULL) {
            continue;
        }
        if (result_column_type(i) == RESULT_TEXT) {
            result_set_text(result, i, text_of(runs, i));
        } else {
            result_set_number(result, i, sqlite3_column_double(runs, i));
        }
    }
    result_set_invalid_reason(result, text_of(runs, ROW_INVALID_REASON));
    bool has_histogram = sqlite3_column_type(runs, ROW_HISTOGRAM_CHECKSUM) != SQLITE_NULL;
    int64_t histogram = sqlite3_column_int64(runs, ROW_HISTOGRAM_CHECKSUM);
    int64_t run = sqlite3_column_int64(runs, ROW_KEY);
    if (run <= reader->last_run || result->columns[RESULT_sweep_id].number != (double)reader->sweep_id) {
        return store_damaged(reader->store, "its index of the rows of sweep %" PRId64 " leads to row %" PRId64,
                             reader->sweep_id, run);
    }
    reader->last_run = run;
    if (!read_named(reader->settings, run, result, false) || !read_named(reader->values, run, result, true)) {
        return store_fail(reader->store, "read row %" PRId64, run);
    }
    if (reader->histograms && has_histogram) {
        const uint8_t *bytes = sqlite3_column_blob(runs, ROW_EXTRA);
        result_set_histogram(result, bytes, (size_t)sqlite3_column_bytes(runs, ROW_EXTRA));
        if (histogram_checksum(result->histogram, result->histogram_size) != histogram) {
            return store_damaged(reader->store, "the histogram of row %" PRId64 " is not as it was written", run);
        }
    }
    if (row_checksum(result, has_histogram, histogram) != sqlite3_column_int64(runs, ROW_CHECKSUM)) {
        return store_damaged(reader->store, "row %" PRId64 " is not as it was written", run);
    }
    return STORE_OK;
}

static int read_rows(struct reader *reader)
{
    int64_t sweep_id = reader->sweep_id, expected, finished, found = 0;
    int status = store_read_progress(reader->store, sweep_id, &expected, &finished);
    int step = SQLITE_DONE;
    while (!status && (step = sqlite3_step(reader->runs)) == SQLITE_ROW) {
        struct result result;
        result_init(&result);
        result.texts = reader->texts;
        status = read_row(reader, &result);
        if (status) {
            result_fini(&result);
        } else {
            reader->row(reader, &result);
            found++;
        }
    }
    if (!status && step != SQLITE_DONE) {
        return store_fail(reader->store, "read the rows of sweep %" PRId64, sweep_id);
    }
    if (!status && found != expected) {
        return store_damaged(reader->store, "sweep %" PRId64 " has %" PRId64 " repeats, %" PRId64 " are there",
                             sweep_id, expected, found);
    }
    return status;
}

/* Reads one sweep as it is at one moment. */
static int visit_rows(struct reader *reader)
{
    struct store *store = reader->store;
    if (store_execute(store, "BEGIN", "read the rows")) {
        return STORE_FAILED;
    }
    reader->runs =
        store_prepare(store, reader->histograms ? SELECT_ROWS("histogram") : SELECT_ROWS("NULL"), &reader->sweep_id, 1);
    reader->settings = store_prepare(store, "SELECT name, text FROM setting WHERE run = ? ORDER BY name", NULL, 0);
    reader->values = store_prepare(store, "SELECT name, number FROM value WHERE run = ? ORDER BY name", NULL, 0);
    bool ready = reader->runs && reader->settings && reader->values;
    int status = ready ? read_rows(reader) : store_fail(store, "read the rows");
    sqlite3_finalize(reader->runs);
    sqlite3_finalize(reader->settings);
    sqlite3_finalize(reader->values);
    sqlite3_exec(store->database, "COMMIT", NULL, NULL, NULL); /* of reads only: nothing can be lost */
    return status;
}

static void append_row(struct reader *reader, struct result *result)
{
    struct result_set *set = reader->set;
    set->rows = heap_grow(set->rows, set->count, sizeof(*set->rows));
    set->rows[set->count++] = *result;
}

int store_read(struct store *store, int64_t sweep_id, bool histograms, struct result_set *out)
{
    *out = (struct result_set){.texts = texts_create()};
    struct reader reader = {.store = store,
                            .sweep_id = sweep_id,
                            .histograms = histograms,
                            .texts = out->texts,
                            .row = append_row,
                            .set = out};
    int status = visit_rows(&reader);
    if (status) {
        result_set_fini(out);
    }
    return status;
}

static void drop_row(struct reader *reader, struct result *result)
{
    result_fini(result);
}

int store_check(struct store *store)
{
    struct store_sweep *sweeps;
    size_t count;
    sqlite3_stmt *statement = store_prepare(store, "PRAGMA integrity_check(1)", NULL, 0);
    int status = STORE_OK;
    if (!statement || sqlite3_step(statement) != SQLITE_ROW) {
        status = store_fail(store, "check the integrity");
    } else if (strcmp(text_of(statement, 0), "ok") != 0) {
        status = store_damaged(store, "%s", text_of(statement, 0));
    }
    sqlite3_finalize(statement);
    if (!status) {
        status = store_check_sweeps(store);
    }
    if (status || (status = store_sweep_list(store, &sweeps, &count))) {
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        struct texts *texts = texts_create();
        struct reader reader = {
            .store = store, .sweep_id = sweeps[i].id, .histograms = true, .texts = texts, .row = drop_row};
        status = status ? status : visit_rows(&reader);
        texts_destroy(texts);
        store_sweep_fini(&sweeps[i]);
    }
    free(sweeps);
    return status;
}
