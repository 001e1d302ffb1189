/* SPDX-License-Identifier: MIT
 *
 * The store: messages, transactions, checksums. Promises in store.h, the tables in schema.sql, opening in store_open.c.
 *
 * How it works. Commits go to a write-ahead log with full sync. SQLite's errors become one line that says what was
 * tried, on which file, why it failed and what to do. Before and after each commit the file at the path must be the
 * open one.
 *
 * Worst case. A commit waits for another writer up to STORE_BUSY_MS, then fails.
 */
#include "store_internal.h"
#include "heap.h"
#include "texts.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

/* ---- messages ---- */

static int write_message(struct store *store, int status, const char *line, va_list arguments)
{
    vsnprintf(store->message, sizeof(store->message), line, arguments);
    return status;
}

int store_refuse(struct store *store, const char *line, ...)
{
    va_list arguments;
    va_start(arguments, line);
    write_message(store, STORE_FAILED, line, arguments);
    va_end(arguments);
    return STORE_FAILED;
}

int store_miss(struct store *store, const char *line, ...)
{
    va_list arguments;
    va_start(arguments, line);
    write_message(store, STORE_MISSING, line, arguments);
    va_end(arguments);
    return STORE_MISSING;
}

int store_damaged(struct store *store, const char *what, ...)
{
    char detail[256];
    va_list arguments;
    va_start(arguments, what);
    vsnprintf(detail, sizeof(detail), what, arguments);
    va_end(arguments);
    return store_refuse(store,
                        "the store %s is damaged: %s; keep a copy of it, then save what is left with: "
                        "sqlite3 FILE .recover",
                        store->path, detail);
}

/* Whether files may not grow beyond a limit of this process; SQLite does not pass that errno on. */
static bool is_limited(int code, struct rlimit *limit)
{
    return code == SQLITE_IOERR_WRITE && getrlimit(RLIMIT_FSIZE, limit) == 0 && limit->rlim_cur != RLIM_INFINITY;
}

static bool is_no_space(int code, int error)
{
    return (code & 0xff) == SQLITE_FULL || error == ENOSPC || error == EDQUOT || error == EFBIG;
}

/* Reason and advice for SQLite's last error. */
static void explain(struct store *store, char *out, size_t size)
{
    int code = sqlite3_extended_errcode(store->database);
    int error = sqlite3_system_errno(store->database);
    const char *text = sqlite3_errmsg(store->database);
    struct statvfs space;
    struct rlimit limit;
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        snprintf(out, size, "another program has kept it locked for %d s; let that end, or use another store",
                 STORE_BUSY_MS / 1000);
        return;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
        snprintf(out, size,
                 "it cannot be written (%s); change the permissions of the file and its folder, or use "
                 "another store",
                 error ? strerror(error) : text);
        return;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        snprintf(out, size, "it is damaged (%s); keep a copy of it, then save what is left with: sqlite3 FILE .recover",
                 text);
        return;
    }
    if (is_limited(code, &limit)) {
        snprintf(out, size,
                 "no space (files may not grow beyond %ju KiB here); lift the limit (ulimit -f), then resume",
                 (uintmax_t)limit.rlim_cur / 1024);
        return;
    }
    if (is_no_space(code, error)) {
        unsigned long free_kib = 0;
        if (statvfs(store->path, &space) == 0) {
            free_kib = (unsigned long)((uint64_t)space.f_bavail * space.f_frsize / 1024);
        }
        snprintf(out, size, "no space (%s; %lu KiB free, a repeat needs up to %d KiB); make room, then resume",
                 error ? strerror(error) : text, free_kib, STORE_PROBE_BYTES / 1024);
        return;
    }
    snprintf(out, size, "%s%s%s (SQLite status %d); look at the file and its disk", text, error ? ": " : "",
             error ? strerror(error) : "", code);
}

int store_fail(struct store *store, const char *what, ...)
{
    char subject[192], reason[256];
    va_list arguments;
    va_start(arguments, what);
    vsnprintf(subject, sizeof(subject), what, arguments);
    va_end(arguments);
    explain(store, reason, sizeof(reason));
    return store_refuse(store, "cannot %s in the store %s: %s", subject, store->path, reason);
}

const char *store_message(const struct store *store)
{
    return store->message;
}

const char *store_notice(const struct store *store)
{
    return store->notice;
}

const char *store_file(const struct store *store)
{
    return store->path;
}

/* ---- statements, transactions, checksums ---- */

sqlite3_stmt *store_prepare(struct store *store, const char *sql, const int64_t *integers, int count)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL) != SQLITE_OK) {
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        sqlite3_bind_int64(statement, i + 1, integers[i]);
    }
    return statement;
}

int store_execute(struct store *store, const char *sql, const char *what)
{
    if (sqlite3_exec(store->database, sql, NULL, NULL, NULL) != SQLITE_OK) {
        return store_fail(store, "%s", what);
    }
    return STORE_OK;
}

int store_integer(struct store *store, const char *sql, int64_t *out)
{
    sqlite3_stmt *statement = store_prepare(store, sql, NULL, 0);
    int status = statement ? sqlite3_step(statement) : SQLITE_ERROR;
    if (status == SQLITE_ROW) {
        *out = sqlite3_column_int64(statement, 0);
    } else if (status != SQLITE_DONE) {
        store_fail(store, "read");
    }
    sqlite3_finalize(statement);
    return status == SQLITE_ROW ? STORE_OK : status == SQLITE_DONE ? STORE_MISSING : STORE_FAILED;
}

/* The file at path must still be the one that is open. */
static int check_place(struct store *store)
{
    struct stat status;
    if (stat(store->path, &status) != 0) {
        return store_refuse(store,
                            "the store %s was deleted or moved while it was in use (%s); nothing more is stored; "
                            "put it back, then resume",
                            store->path, strerror(errno));
    }
    if (status.st_dev != store->device || status.st_ino != store->inode) {
        return store_refuse(store,
                            "the store %s was replaced by another file while it was in use; nothing more is "
                            "stored; put the old one back, then resume",
                            store->path);
    }
    return STORE_OK;
}

int store_begin(struct store *store, const char *what)
{
    if (store->mode != STORE_WRITE) {
        return store_refuse(store, "cannot %s: the store %s was opened for reading", what, store->path);
    }
    int status = check_place(store);
    return status ? status : store_execute(store, "BEGIN IMMEDIATE", what);
}

int store_commit(struct store *store, const char *what)
{
    if (store_execute(store, "COMMIT", what)) {
        store_roll_back(store);
        return STORE_FAILED;
    }
    return check_place(store);
}

/* Keeps the message of what made it necessary. Nothing to do if SQLite has rolled back by itself. */
void store_roll_back(struct store *store)
{
    if (!sqlite3_get_autocommit(store->database)) {
        sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    }
}

uint64_t checksum_integer(uint64_t hash, int64_t integer)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)((uint64_t)integer >> (8 * i));
    }
    return texts_hash(hash, bytes, sizeof(bytes));
}

uint64_t checksum_number(uint64_t hash, double number)
{
    int64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    return checksum_integer(hash, bits);
}

uint64_t checksum_text(uint64_t hash, const char *text)
{
    return text ? texts_hash(texts_hash(hash, "t", 1), text, strlen(text) + 1) : texts_hash(hash, "n", 1);
}

void store_close(struct store *store)
{
    if (store) {
        sqlite3_close(store->database);
        free(store->path);
        free(store);
    }
}
