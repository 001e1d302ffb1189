/* SPDX-License-Identifier: MIT
 *
 * Opening a store: finding the file, telling whose it is, making the tables, proving that it can be written.
 *
 * How it works. The file's own header is looked at before SQLite touches it, so a foreign file is never changed. The
 * log is emptied into the file after each commit: what is lost or damaged with the log is at most the last repeat, and
 * readers never wait. On file systems without shared memory the rollback journal takes the log's place. SQLite opens
 * its files close-on-exec.
 *
 * Sources. SQLite file format and WAL documentation (sqlite.org/fileformat2.html, sqlite.org/wal.html).
 */
#include "store_internal.h"
#include "heap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#define STORE_APPLICATION_ID 0x70696c66 /* "pilf" */
#define STORE_VERSION        1
#define STORE_QUICK_BYTES    (128 * 1024 * 1024) /* up to this size, opening for writing checks the whole file */
#define COUNT_OBJECTS        "SELECT count(*) FROM sqlite_schema"

#define TEXT_OF(x)   #x
#define STRING_OF(x) TEXT_OF(x)

static const char schema_template[] =
#include "schema.sql.inc"
    ;

/* ---- the file ---- */

/* Creates the folders of path that are missing. */
static int make_folders(struct store *store, const char *path)
{
    char *folder = heap_text(path);
    int error = 0;
    for (char *slash = strchr(folder + 1, '/'); slash && !error; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
            error = errno;
            store_refuse(store, "cannot create the folder %s for the store %s: %s; name another place", folder, path,
                         strerror(error));
        }
        *slash = '/';
    }
    free(folder);
    return error ? STORE_FAILED : STORE_OK;
}

/* Sets store->path: absolute, links resolved, so that every process names the log beside the file alike. */
static int resolve_path(struct store *store, const char *path)
{
    store->path = heap_text(path);
    if (path[0] == '\0') {
        return store_refuse(store, "the name of the store is empty; name a file");
    }
    if (store->mode == STORE_WRITE && make_folders(store, path)) {
        return STORE_FAILED;
    }
    char *whole = realpath(path, NULL);
    if (!whole && errno == ENOENT) {
        const char *slash = strrchr(path, '/');
        char *folder = slash ? heap_or_end(strndup(path, (size_t)(slash - path) + 1)) : heap_text(".");
        char *real_folder = realpath(folder, NULL);
        free(folder);
        if (real_folder && asprintf(&whole, "%s/%s", real_folder, slash ? slash + 1 : path) < 0) {
            whole = heap_or_end(NULL);
        }
        free(real_folder);
    }
    if (!whole) {
        int status = errno == ENOENT ? STORE_MISSING : STORE_FAILED;
        store_refuse(store, "no store at %s: %s; name another file, or run a sweep first", path, strerror(errno));
        return status;
    }
    free(store->path);
    store->path = whole;
    return STORE_OK;
}

/* Size of the file beside the store with this suffix, or -1. */
static int64_t beside_size(const struct store *store, const char *suffix, ino_t *inode)
{
    char *path;
    struct stat status;
    if (asprintf(&path, "%s%s", store->path, suffix) < 0) {
        heap_or_end(NULL);
    }
    int64_t size = stat(path, &status) == 0 ? status.st_size : -1;
    if (size >= 0 && inode) {
        *inode = status.st_ino;
    }
    free(path);
    return size;
}

/* SQLite makes the log before its index (-shm) and removes it after: an index that stays without a log is a lost log.
 */
static bool is_log_lost(const struct store *store)
{
    ino_t before, after;
    return beside_size(store, "-shm", &before) >= 0 && beside_size(store, "-wal", NULL) < 0 &&
           beside_size(store, "-shm", &after) >= 0 && before == after;
}

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Whether the file's header is that of a store that this program understands. */
static int check_header(struct store *store)
{
    unsigned char header[100];
    int descriptor = open(store->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t size = descriptor >= 0 ? pread(descriptor, header, sizeof(header), 0) : -1;
    int error = errno;
    if (descriptor >= 0) {
        close(descriptor);
    }
    if (size < 0) {
        return store_refuse(store, "cannot read the store %s: %s; change its permissions or name another file",
                            store->path, strerror(error));
    }
    if (size < (ssize_t)sizeof(header) || memcmp(header, "SQLite format 3", 16) != 0) {
        return store_refuse(store,
                            "%s is not a pilfer store, or its beginning is damaged; it was not touched; name "
                            "another file",
                            store->path);
    }
    uint32_t application = big_endian(header + 68), version = big_endian(header + 60);
    if (application != STORE_APPLICATION_ID) {
        return store_refuse(store,
                            "%s is a database of another program (application id %u, not %u); it was not "
                            "touched; name another file",
                            store->path, application, STORE_APPLICATION_ID);
    }
    if (version > STORE_VERSION) {
        return store_refuse(store,
                            "the store %s was written by a newer pilfer (store version %u, this one knows %d); "
                            "use that, or name another file",
                            store->path, version, STORE_VERSION);
    }
    if (version < STORE_VERSION) {
        return store_damaged(store, "its header says version %u", version);
    }
    return STORE_OK;
}

/* Looks at the file before SQLite does. */
static int look(struct store *store)
{
    struct stat status;
    bool is_new = stat(store->path, &status) != 0;
    if (is_new && errno != ENOENT) {
        return store_refuse(store, "cannot look at the store %s: %s; name another file", store->path, strerror(errno));
    }
    if (is_new && beside_size(store, "-wal", NULL) > 0) {
        return store_refuse(store,
                            "%s is missing but its log %s-wal is there; put the store back, or move the log away",
                            store->path, store->path);
    }
    if (is_new && store->mode == STORE_READ) {
        return store_miss(store, "no store at %s; run a sweep first, or name another file", store->path);
    }
    if (is_new) {
        return STORE_OK;
    }
    if (!S_ISREG(status.st_mode)) {
        return store_refuse(store, "%s is not a file and cannot be a store; name another one", store->path);
    }
    if (store->mode == STORE_WRITE && status.st_nlink > 1) {
        return store_refuse(store,
                            "the store %s has %ju names (hard links), and each would have a log of its own; "
                            "make a copy and write to that",
                            store->path, (uintmax_t)status.st_nlink);
    }
    is_new = status.st_size == 0;
    if (is_new && store->mode == STORE_READ) {
        return store_miss(store, "the store %s is still empty; run a sweep first, or name another file", store->path);
    }
    if (is_log_lost(store)) {
        return store_refuse(store,
                            "the store %s has lost its log %s-wal, and with it perhaps the last repeat; put the "
                            "log back, or remove %s-shm to go on without",
                            store->path, store->path, store->path);
    }
    return is_new ? STORE_OK : check_header(store);
}

/* ---- opening ---- */

/* "file:" address of the path, for a file that nobody can change; the caller frees it. */
static char *unchanging_address(const char *path)
{
    char *address;
    size_t size;
    FILE *stream = heap_or_end(open_memstream(&address, &size));
    fputs("file:", stream);
    for (const char *letter = path; *letter; letter++) {
        bool plain = strchr("?#%", *letter) == NULL;
        fprintf(stream, plain ? "%c" : "%%%02x", (unsigned char)*letter);
    }
    fputs("?immutable=1", stream);
    return heap_or_end(fclose(stream) == 0 ? address : NULL);
}

static int connect(struct store *store, const char *name, int flags)
{
    if (sqlite3_open_v2(name, &store->database, flags, NULL) != SQLITE_OK) {
        return store_fail(store, "open a connection");
    }
    sqlite3_extended_result_codes(store->database, 1);
    sqlite3_busy_timeout(store->database, STORE_BUSY_MS);
    sqlite3_db_config(store->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return store_execute(store,
                         "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON;"
                         "PRAGMA synchronous = EXTRA; PRAGMA wal_autocheckpoint = 1",
                         "open a connection");
}

/* Opens for reading. Also writable where it may be, so that what a killed writer left behind is tidied up; a store in a
 * folder that cannot be written has no log and is read as an unchanging file. */
static int connect_reader(struct store *store)
{
    int64_t objects = 1;
    int status = connect(store, store->path, SQLITE_OPEN_READWRITE);
    if (!status) {
        status = store_integer(store, COUNT_OBJECTS, &objects);
    }
    if (objects == 0) {
        return store_miss(store, "the store %s is still empty; run a sweep first, or name another file", store->path);
    }
    int code = sqlite3_errcode(store->database) & 0xff;
    bool unwritable = code == SQLITE_CANTOPEN || code == SQLITE_READONLY;
    if (status == STORE_FAILED && unwritable && beside_size(store, "-wal", NULL) <= 0) {
        char *address = unchanging_address(store->path);
        sqlite3_close(store->database);
        store->database = NULL;
        status = connect(store, address, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
        free(address);
    }
    return status ? status : store_execute(store, "PRAGMA query_only = ON", "open a connection");
}

/* The schema with the fixed columns put in; the caller frees it. */
static char *make_schema(void)
{
    static const char columns[] =
#define SCHEMA_COLUMN(name, type) "\"" #name "\" " #type ",\n    "
        RESULT_COLUMNS(SCHEMA_COLUMN);
#undef SCHEMA_COLUMN
    static const char mark[] = "/*RESULT_COLUMNS*/\n    ";
    const char *place = heap_or_end(strstr(schema_template, mark));
    char *schema;
    if (asprintf(&schema, "%.*s%s%s", (int)(place - schema_template), schema_template, columns,
                 place + sizeof(mark) - 1) < 0) {
        heap_or_end(NULL);
    }
    return schema;
}

/* Creates the tables in one transaction of the rollback journal, so that the file's header says whose it is as soon as
 * there is one. Does nothing if another process was faster. */
static int create_tables(struct store *store)
{
    int64_t objects = 0;
    int status = store_execute(store, "BEGIN IMMEDIATE", "create the tables");
    if (!status) {
        status = store_integer(store, COUNT_OBJECTS, &objects);
    }
    if (!status && objects == 0) {
        char *schema = make_schema();
        status = store_execute(store, schema, "create the tables");
        free(schema);
        if (!status) {
            status = store_execute(store,
                                   "PRAGMA application_id = " STRING_OF(
                                       STORE_APPLICATION_ID) "; PRAGMA user_version = " STRING_OF(STORE_VERSION),
                                   "create the tables");
        }
        if (!status) {
            status = store_write_sweeps(store, 0);
        }
    }
    if (status || store_execute(store, "COMMIT", "create the tables")) {
        store_roll_back(store);
        return STORE_FAILED;
    }
    return STORE_OK;
}

static bool is_network(const char *path)
{
    struct statfs status;
    if (statfs(path, &status) != 0) {
        return false;
    }
    switch ((unsigned long)status.f_type) {
    case NFS_SUPER_MAGIC:
    case SMB_SUPER_MAGIC:
    case CODA_SUPER_MAGIC:
    case AFS_SUPER_MAGIC:
    case V9FS_MAGIC:
    case 0xff534d42: /* CIFS */
    case 0xfe534d42: /* SMB2 */
    case 0x00c36400: /* Ceph */
        return true;
    }
    return false;
}

static int choose_journal(struct store *store)
{
    bool network = is_network(store->path);
    sqlite3_stmt *statement =
        store_prepare(store, network ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL", NULL, 0);
    if (!statement || sqlite3_step(statement) != SQLITE_ROW) {
        sqlite3_finalize(statement);
        return store_fail(store, "choose the journal");
    }
    const char *journal = (const char *)sqlite3_column_text(statement, 0);
    if (!journal || strcmp(journal, "wal") != 0) {
        snprintf(
            store->notice, sizeof(store->notice),
            "the store %s is on a file system without a write-ahead log%s; a rollback journal is used: as safe, but "
            "readers wait while a repeat is stored",
            store->path, network ? " (network)" : "");
    }
    sqlite3_finalize(statement);
    return STORE_OK;
}

/* Proves that repeats can be stored: a real commit of the room that the next ones need, then another to give it back
 * (SQLite keeps it in the file for reuse). */
static int prove_writable(struct store *store)
{
    static const char what[] = "make a trial write";
    int status = store_begin(store, what);
    if (!status && (status = store_execute(
                        store, "INSERT INTO probe VALUES (zeroblob(" STRING_OF(STORE_PROBE_BYTES) "))", what))) {
        store_roll_back(store);
    }
    if (!status && !(status = store_commit(store, what)) && !(status = store_begin(store, what))) {
        if ((status = store_execute(store, "DELETE FROM probe", what))) {
            store_roll_back(store);
            return status;
        }
        status = store_commit(store, what);
    }
    return status;
}

/* Every table, index and trigger must be there as this program makes it. */
static int check_schema(struct store *store)
{
    sqlite3 *model = NULL;
    sqlite3_stmt *expected = NULL, *present = NULL;
    char *schema = make_schema();
    int status = STORE_OK;
    if (sqlite3_open(":memory:", &model) != SQLITE_OK || sqlite3_exec(model, schema, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(model, "SELECT type, name, sql FROM sqlite_schema", -1, &expected, NULL) != SQLITE_OK) {
        status = store_refuse(store, "cannot make the tables of a store: %s", sqlite3_errmsg(model));
    } else if (!(present = store_prepare(store, "SELECT 1 FROM sqlite_schema WHERE type = ? AND name = ? AND sql IS ?",
                                         NULL, 0))) {
        status = store_fail(store, "read the tables");
    }
    while (!status && sqlite3_step(expected) == SQLITE_ROW) {
        /* A value that could not be bound would be looked for as NULL, and the table taken for missing. */
        bool bound = true;
        for (int i = 0; i < 3; i++) {
            bound = bound && sqlite3_bind_value(present, i + 1, sqlite3_column_value(expected, i)) == SQLITE_OK;
        }
        int found = bound ? sqlite3_step(present) : SQLITE_NOMEM;
        if (found == SQLITE_DONE) {
            status = store_damaged(store, "its %s %s is missing or not as it was made",
                                   sqlite3_column_text(expected, 0), sqlite3_column_text(expected, 1));
        } else if (found != SQLITE_ROW) {
            status = store_fail(store, "read the tables");
        }
        sqlite3_reset(present);
    }
    sqlite3_finalize(expected);
    sqlite3_finalize(present);
    sqlite3_close(model);
    free(schema);
    return status;
}

/* The structure of the whole file, while that takes no noticeable time. */
static int check_structure(struct store *store)
{
    struct stat status;
    if (stat(store->path, &status) != 0 || status.st_size > STORE_QUICK_BYTES) {
        return STORE_OK;
    }
    sqlite3_stmt *statement = store_prepare(store, "PRAGMA quick_check(1)", NULL, 0);
    int result = STORE_OK;
    if (!statement || sqlite3_step(statement) != SQLITE_ROW) {
        result = store_fail(store, "check the structure");
    } else if (strcmp((const char *)sqlite3_column_text(statement, 0), "ok") != 0) {
        result = store_damaged(store, "%s", sqlite3_column_text(statement, 0));
    }
    sqlite3_finalize(statement);
    return result;
}

static int open_writer(struct store *store)
{
    int64_t objects = 1;
    struct stat file;
    int status = connect(store, store->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (!status) {
        status = store_integer(store, COUNT_OBJECTS, &objects);
    }
    if (objects == 0) { /* new, or its creation was interrupted */
        status = create_tables(store);
    }
    if (!status && stat(store->path, &file) == 0) {
        store->device = file.st_dev;
        store->inode = file.st_ino;
    }
    if (!status) {
        status = choose_journal(store);
    }
    if (!status) {
        status = check_structure(store);
    }
    return status ? status : prove_writable(store);
}

int store_open(const char *path, enum store_mode mode, struct store **out, char *message)
{
    struct store *store = heap_array(1, sizeof(*store));
    *store = (struct store){.mode = mode};
    *out = NULL;
    int status = resolve_path(store, path);
    if (!status) {
        status = look(store);
    }
    if (!status) {
        status = mode == STORE_WRITE ? open_writer(store) : connect_reader(store);
    }
    if (!status) {
        status = check_schema(store);
    }
    if (!status) {
        status = store_check_sweeps(store);
    }
    if (status) {
        memcpy(message, store->message, STORE_MESSAGE_SIZE);
        store_close(store);
        return status;
    }
    *out = store;
    return STORE_OK;
}
