/* SPDX-License-Identifier: MIT
 *
 * Promise: the store gives back what it was given, all of it, and nothing else; it tells its own files from foreign,
 * newer, damaged, moved and lost ones with a line that names the file, and touches none of those.
 */
#include "../fault/store_sample.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

static char *folder, *path;
static char message[STORE_MESSAGE_SIZE];

static void set_up(void)
{
    folder = sample_folder();
    path = sample_path(folder, "a.db");
    message[0] = '\0';
}

static void tear_down(void)
{
    free(path);
    sample_folder_remove(folder);
}

static struct store *open_store(enum store_mode mode)
{
    struct store *store;
    ck_assert_msg(store_open(path, mode, &store, message) == STORE_OK, "%s", message);
    return store;
}

static void insert(struct store *store, int64_t sweep_id, int cell, int64_t repeat)
{
    struct result row;
    sample_row(&row, sweep_id, cell, repeat);
    ck_assert_msg(store_insert(store, &row) == STORE_OK, "%s", store_message(store));
    result_fini(&row);
}

/* A store with one sweep of three repeats, closed. */
static int64_t make_store(void)
{
    struct store *store = open_store(STORE_WRITE);
    int64_t sweep_id = sample_sweep(store, "sample", 3);
    for (int repeat = 1; repeat <= 3; repeat++) {
        insert(store, sweep_id, 1, repeat);
    }
    store_close(store);
    return sweep_id;
}

/* Runs SQL on the file behind the store's back. */
static void alter(const char *sql)
{
    sqlite3 *database;
    char *error = NULL;
    ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(database, sql, NULL, NULL, &error) == SQLITE_OK, "%s", error);
    sqlite3_close(database);
}

/* The store must be refused with this status and these words, and the file must stay as it is. */
static void expect_refused(enum store_mode mode, int status, const char *words)
{
    struct store *store;
    struct stat before = {0}, after = {0};
    int existed = stat(path, &before);
    ck_assert_int_eq(store_open(path, mode, &store, message), status);
    ck_assert_ptr_null(store);
    ck_assert_msg(strstr(message, words) != NULL, "expected '%s' in: %s", words, message);
    ck_assert_msg(strstr(message, path) != NULL, "expected the file's name in: %s", message);
    ck_assert_ptr_null(strchr(message, '\n'));
    ck_assert_int_eq(stat(path, &after), existed);
    ck_assert(before.st_size == after.st_size && before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
              before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
}

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

/* ---- rows ---- */

START_TEST(every_kind_of_value_comes_back)
{
    struct store *store = open_store(STORE_WRITE);
    struct result row;
    int64_t sweep_id = sample_sweep(store, "all", 1);
    sample_row(&row, sweep_id, 1, 1);
    for (int i = 0; i < RESULT_COLUMN_COUNT; i++) {
        if (row.columns[i].kind != RESULT_UNKNOWN) {
            continue;
        }
        if (result_column_type(i) == RESULT_TEXT) {
            result_set_text(&row, i, "it's \"quoted\", \xc3\xa4\n\xff");
        } else if (result_column_type(i) == RESULT_INTEGER) {
            result_set_number(&row, i, -9007199254740992.0 + i);
        } else {
            result_set_number(&row, i, 1e-300 * i);
        }
    }
    result_set_invalid_reason(&row, "because");
    ck_assert_msg(store_insert(store, &row) == STORE_OK, "%s", store_message(store));
    store_close(store);
    store = open_store(STORE_READ);
    struct result_set set;
    ck_assert_int_eq(store_read(store, sweep_id, true, &set), STORE_OK);
    ck_assert_uint_eq(set.count, 1);
    ck_assert(sample_same(&row, &set.rows[0]));
    result_set_fini(&set);
    ck_assert_int_eq(store_read(store, sweep_id, false, &set), STORE_OK);
    ck_assert_uint_eq(set.rows[0].histogram_size, 0);
    result_set_fini(&set);
    result_fini(&row);
    store_close(store);
}
END_TEST

START_TEST(unknown_stays_unknown)
{
    struct store *store = open_store(STORE_WRITE);
    struct result row;
    int64_t sweep_id = sample_sweep(store, "unknown", 1);
    result_init(&row);
    result_set_number(&row, RESULT_sweep_id, (double)sweep_id);
    result_set_text(&row, RESULT_cell_id, "");
    result_set_number(&row, RESULT_repeat, 0);
    result_set_number(&row, RESULT_rps, 0.0 / 0.0);
    result_set_number(&row, RESULT_router_cpu_percent, -0.0);
    ck_assert_int_eq(store_insert(store, &row), STORE_OK);
    struct result_set set;
    ck_assert_msg(store_read(store, sweep_id, true, &set) == STORE_OK, "%s", store_message(store));
    ck_assert(sample_same(&row, &set.rows[0]));
    ck_assert_int_eq(set.rows[0].columns[RESULT_rps].kind, RESULT_UNKNOWN);
    result_set_fini(&set);
    result_fini(&row);
    store_close(store);
}
END_TEST

START_TEST(rows_come_in_the_order_of_storing_and_of_one_sweep_only)
{
    struct store *store = open_store(STORE_WRITE);
    int64_t first = sample_sweep(store, "first", 3), second = sample_sweep(store, "second", 2);
    insert(store, first, 3, 1);
    insert(store, second, 1, 1);
    insert(store, first, 1, 1);
    insert(store, second, 2, 1);
    insert(store, first, 2, 1);
    struct result_set set;
    ck_assert_int_eq(store_read(store, first, false, &set), STORE_OK);
    ck_assert_uint_eq(set.count, 3);
    ck_assert_str_eq(result_get_text(&set.rows[0], "cell_id"), "cell 3");
    ck_assert_str_eq(result_get_text(&set.rows[1], "cell_id"), "cell 1");
    ck_assert_str_eq(result_get_text(&set.rows[2], "cell_id"), "cell 2");
    result_set_fini(&set);
    store_close(store);
}
END_TEST

START_TEST(a_repeat_is_stored_once_and_never_changes)
{
    struct store *store = open_store(STORE_WRITE);
    struct result row;
    int64_t sweep_id = sample_sweep(store, "once", 1);
    insert(store, sweep_id, 1, 7);
    ck_assert(store_has(store, sweep_id, "cell 1", 7));
    ck_assert(!store_has(store, sweep_id, "cell 1", 8));
    ck_assert(!store_has(store, sweep_id, "cell 2", 7));
    sample_row(&row, sweep_id, 1, 7);
    ck_assert_int_eq(store_insert(store, &row), STORE_FAILED);
    ck_assert_ptr_nonnull(strstr(store_message(store), "stored already"));
    result_fini(&row);
    insert(store, sweep_id, 1, 8); /* and the store goes on */
    sqlite3 *database;
    ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
    static const char *const changes[] = {"UPDATE run SET rps = 1", "DELETE FROM run", "UPDATE value SET number = 1",
                                          "DELETE FROM setting", "DELETE FROM sweep"};
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        ck_assert_msg(sqlite3_exec(database, changes[i], NULL, NULL, NULL) == SQLITE_CONSTRAINT, "%s", changes[i]);
    }
    sqlite3_close(database);
    store_close(store);
}
END_TEST

START_TEST(what_cannot_be_stored_exactly_is_refused)
{
    struct store *store = open_store(STORE_WRITE);
    struct result row;
    int64_t sweep_id = sample_sweep(store, "exact", 1);
    sample_row(&row, sweep_id, 1, 1);
    result_set_number(&row, RESULT_seed, 18446744073709551615.0);
    ck_assert_int_eq(store_insert(store, &row), STORE_FAILED);
    ck_assert_ptr_nonnull(strstr(store_message(store), "seed"));
    result_set_number(&row, RESULT_seed, 0.5);
    ck_assert_int_eq(store_insert(store, &row), STORE_FAILED);
    result_set_number(&row, RESULT_seed, 1);
    result_set_number(&row, RESULT_sweep_id, 99);
    ck_assert_int_eq(store_insert(store, &row), STORE_MISSING);
    result_fini(&row);
    struct store_sweep sweep;
    ck_assert_int_eq(store_sweep_find(store, "last", &sweep), STORE_OK);
    ck_assert_int_eq(sweep.repeats_stored, 0);
    store_sweep_fini(&sweep);
    store_close(store);
}
END_TEST

START_TEST(the_table_has_the_columns_of_the_list)
{
    make_store();
    sqlite3 *database;
    sqlite3_stmt *statement;
    ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
    ck_assert_int_eq(
        sqlite3_prepare_v2(database, "SELECT name, type FROM pragma_table_info('run')", -1, &statement, NULL),
        SQLITE_OK);
    static const char *const types[] = {[RESULT_TEXT] = "TEXT", [RESULT_INTEGER] = "INTEGER", [RESULT_REAL] = "REAL"};
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW); /* the key */
    for (int i = 0; i < RESULT_COLUMN_COUNT; i++) {
        ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
        ck_assert_str_eq((const char *)sqlite3_column_text(statement, 0), result_column_name(i));
        ck_assert_str_eq((const char *)sqlite3_column_text(statement, 1), types[result_column_type(i)]);
    }
    sqlite3_finalize(statement);
    sqlite3_close(database);
}
END_TEST

/* ---- sweeps ---- */

START_TEST(sweeps_are_found)
{
    struct store *store = open_store(STORE_WRITE);
    struct store_sweep sweep;
    ck_assert_int_eq(store_sweep_find(store, NULL, &sweep), STORE_MISSING);
    ck_assert_int_eq(store_sweep_with_plan(store, "a", &sweep), STORE_MISSING);
    int64_t first = sample_sweep(store, "a", 6);
    insert(store, first, 1, 1);
    sample_sweep(store, "b", 4);
    int64_t third = sample_sweep(store, "a", 5);
    struct store_sweep extra = {.name = (char *)"part", .plan = (char *)"p", .extra = true};
    ck_assert_int_eq(store_sweep_begin(store, &extra), STORE_OK);
    ck_assert_int_eq(store_sweep_find(store, "last", &sweep), STORE_OK);
    ck_assert_int_eq(sweep.id, third); /* not the extra one */
    store_sweep_fini(&sweep);
    ck_assert_int_eq(store_sweep_with_plan(store, "a", &sweep), STORE_OK);
    ck_assert_int_eq(sweep.id, third); /* the newest of the plan */
    store_sweep_fini(&sweep);
    ck_assert_int_eq(store_sweep_finish(store, first), STORE_OK);
    ck_assert_int_eq(store_sweep_find(store, "1", &sweep), STORE_OK);
    ck_assert_int_eq(sweep.id, first);
    ck_assert_int_eq(sweep.repeats_stored, 1);
    ck_assert_int_eq(sweep.repeats_planned, 6);
    ck_assert(sweep.finished_unix_s >= sweep.started_unix_s && sweep.started_unix_s > 0);
    ck_assert(sweep.seed == UINT64_MAX);
    ck_assert_str_eq(sweep.context, "CPU: invented\nkernel: none\n");
    store_sweep_fini(&sweep);
    static const char *const wrong[] = {"0", "99", "-1", "", "1x", "first", " 1", "99999999999999999999"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        ck_assert_msg(store_sweep_find(store, wrong[i], &sweep) == STORE_MISSING, "'%s'", wrong[i]);
    }
    struct store_sweep *list;
    size_t count;
    ck_assert_int_eq(store_sweep_list(store, &list, &count), STORE_OK);
    ck_assert_uint_eq(count, 4);
    ck_assert_int_eq(list[0].id, extra.id);
    ck_assert_int_eq(list[3].id, first);
    for (size_t i = 0; i < count; i++) {
        store_sweep_fini(&list[i]);
    }
    free(list);
    struct result_set set;
    ck_assert_int_eq(store_read(store, 99, false, &set), STORE_MISSING);
    ck_assert_int_eq(store_sweep_finish(store, 99), STORE_MISSING);
    store_close(store);
}
END_TEST

/* ---- files ---- */

START_TEST(a_missing_store_is_told_and_a_new_one_made_with_its_folders)
{
    expect_refused(STORE_READ, STORE_MISSING, "no store");
    free(path);
    path = sample_path(folder, "deep/er/a.db");
    struct store *store = open_store(STORE_WRITE);
    ck_assert_str_eq(store_file(store), path);
    ck_assert_str_eq(store_notice(store), "");
    store_close(store);
    store = open_store(STORE_READ);
    ck_assert_int_eq(store_sweep_begin(store, &(struct store_sweep){.name = (char *)"x"}), STORE_FAILED);
    ck_assert_ptr_nonnull(strstr(store_message(store), "opened for reading"));
    store_close(store);
}
END_TEST

START_TEST(foreign_files_are_refused_untouched)
{
    write_file("");
    expect_refused(STORE_READ, STORE_MISSING, "still empty");
    write_file("label,rps\nchase-lev,2000\n");
    expect_refused(STORE_READ, STORE_FAILED, "not a pilfer store");
    expect_refused(STORE_WRITE, STORE_FAILED, "not a pilfer store");
    unlink(path);
    alter("CREATE TABLE person (name TEXT)");
    expect_refused(STORE_READ, STORE_FAILED, "another program");
    expect_refused(STORE_WRITE, STORE_FAILED, "another program");
    unlink(path);
    ck_assert_int_eq(mkdir(path, 0777), 0);
    expect_refused(STORE_WRITE, STORE_FAILED, "not a file");
    rmdir(path);
    ck_assert_int_eq(mkfifo(path, 0666), 0);
    expect_refused(STORE_READ, STORE_FAILED, "not a file");
}
END_TEST

START_TEST(a_newer_store_is_refused_untouched)
{
    make_store();
    alter("PRAGMA user_version = 2");
    expect_refused(STORE_READ, STORE_FAILED, "newer pilfer");
    expect_refused(STORE_WRITE, STORE_FAILED, "newer pilfer");
}
END_TEST

START_TEST(an_empty_file_becomes_a_store)
{
    write_file("");
    make_store();
    store_close(open_store(STORE_READ));
}
END_TEST

START_TEST(a_missing_index_or_trigger_is_told)
{
    make_store();
    alter("DROP INDEX run_by_sweep");
    expect_refused(STORE_READ, STORE_FAILED, "index run_by_sweep is missing");
    unlink(path);
    make_store();
    alter("DROP TRIGGER run_stays");
    expect_refused(STORE_READ, STORE_FAILED, "trigger run_stays is missing");
}
END_TEST

START_TEST(lost_and_changed_rows_are_told)
{
    static const char *const changes[] = {
        "DROP TRIGGER run_stays; DELETE FROM run WHERE repeat = 2;"
        "CREATE TRIGGER run_stays BEFORE DELETE ON run\nBEGIN SELECT RAISE(ABORT, 'stored rows never change'); END",
        "DROP TRIGGER value_stays; DELETE FROM value WHERE run = 2 AND name = 'yields';"
        "CREATE TRIGGER value_stays BEFORE DELETE ON value\nBEGIN SELECT RAISE(ABORT, 'stored rows never change'); END",
        "INSERT INTO setting VALUES (2, 'added', 'later')",
        "DROP TRIGGER run_never_changes; UPDATE run SET rps = rps + 1e-9 WHERE repeat = 3;"
        "CREATE TRIGGER run_never_changes BEFORE UPDATE ON run\nBEGIN SELECT RAISE(ABORT, 'stored rows never change'); "
        "END",
        "DROP TRIGGER run_never_changes; UPDATE run SET histogram = zeroblob(300) WHERE repeat = 3;"
        "CREATE TRIGGER run_never_changes BEFORE UPDATE ON run\nBEGIN SELECT RAISE(ABORT, 'stored rows never change'); "
        "END",
        "UPDATE progress SET repeats_stored = 2",
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        struct result_set set;
        int64_t sweep_id = make_store();
        alter(changes[i]);
        struct store *store = open_store(STORE_READ);
        ck_assert_msg(store_read(store, sweep_id, true, &set) == STORE_FAILED, "not noticed: %s", changes[i]);
        ck_assert_ptr_nonnull(strstr(store_message(store), "damaged"));
        ck_assert_int_eq(store_check(store), STORE_FAILED);
        store_close(store);
        unlink(path);
    }
    make_store();
    alter("DROP TRIGGER sweep_stays; DELETE FROM progress; PRAGMA foreign_keys = OFF; DELETE FROM sweep;"
          "CREATE TRIGGER sweep_stays BEFORE DELETE ON sweep\nBEGIN SELECT RAISE(ABORT, 'stored rows never change'); "
          "END");
    expect_refused(STORE_READ, STORE_FAILED, "1 sweeps were begun, 0 are there");
}
END_TEST

START_TEST(a_store_that_was_moved_or_replaced_takes_nothing_more)
{
    struct store *store = open_store(STORE_WRITE);
    struct result row;
    int64_t sweep_id = sample_sweep(store, "moved", 3);
    char *elsewhere = sample_path(folder, "b.db");
    sample_row(&row, sweep_id, 1, 1);
    ck_assert_int_eq(rename(path, elsewhere), 0);
    ck_assert_int_eq(store_insert(store, &row), STORE_FAILED);
    ck_assert_ptr_nonnull(strstr(store_message(store), "deleted or moved"));
    write_file("something else");
    ck_assert_int_eq(store_insert(store, &row), STORE_FAILED);
    ck_assert_ptr_nonnull(strstr(store_message(store), "replaced"));
    ck_assert_int_eq(rename(elsewhere, path), 0);
    ck_assert_int_eq(store_insert(store, &row), STORE_OK);
    result_fini(&row);
    free(elsewhere);
    store_close(store);
}
END_TEST

START_TEST(a_store_with_two_names_is_read_only)
{
    make_store();
    char *second = sample_path(folder, "b.db");
    ck_assert_int_eq(link(path, second), 0);
    expect_refused(STORE_WRITE, STORE_FAILED, "hard links");
    store_close(open_store(STORE_READ));
    free(second);
}
END_TEST

START_TEST(a_link_to_a_store_is_the_store)
{
    make_store();
    char *target = path, *name = sample_path(folder, "link.db");
    ck_assert_int_eq(symlink("a.db", name), 0);
    path = name;
    struct store *store = open_store(STORE_WRITE);
    ck_assert_str_eq(store_file(store), target);
    store_close(store);
    free(target);
}
END_TEST

START_TEST(a_lost_log_is_told)
{
    struct store *store = open_store(STORE_WRITE);
    char *log = sample_path(folder, "a.db-wal"), *index = sample_path(folder, "a.db-shm");
    ck_assert_int_eq(access(index, F_OK), 0);
    ck_assert_int_eq(unlink(log), 0);
    expect_refused(STORE_READ, STORE_FAILED, "lost its log");
    store_close(store);
    unlink(index);
    make_store();
    unlink(path);
    FILE *file = fopen(log, "w");
    fputs("remains", file);
    fclose(file);
    expect_refused(STORE_WRITE, STORE_FAILED, "is missing but its log");
    free(log);
    free(index);
}
END_TEST

START_TEST(readers_work_while_a_sweep_writes)
{
    struct store *writer = open_store(STORE_WRITE), *reader = open_store(STORE_READ);
    struct result_set set;
    sqlite3 *other;
    int64_t sweep_id = sample_sweep(writer, "live", 9);
    for (int repeat = 1; repeat <= 3; repeat++) {
        insert(writer, sweep_id, 1, repeat);
        ck_assert_msg(store_read(reader, sweep_id, true, &set) == STORE_OK, "%s", store_message(reader));
        ck_assert_uint_eq(set.count, (size_t)repeat);
        result_set_fini(&set);
    }
    ck_assert_int_eq(sqlite3_open(path, &other), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(other, "BEGIN IMMEDIATE; DELETE FROM probe", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(store_read(reader, sweep_id, false, &set), STORE_OK);
    ck_assert_uint_eq(set.count, 3);
    result_set_fini(&set);
    sqlite3_close(other);
    store_close(reader);
    store_close(writer);
}
END_TEST

START_TEST(no_descriptor_is_inherited)
{
    struct store *store = open_store(STORE_WRITE);
    sample_sweep(store, "x", 1);
    DIR *descriptors = opendir("/proc/self/fd");
    size_t ours = 0;
    for (struct dirent *entry; (entry = readdir(descriptors));) {
        char target[4096];
        ssize_t length = readlinkat(dirfd(descriptors), entry->d_name, target, sizeof(target) - 1);
        if (length <= 0) {
            continue;
        }
        target[length] = '\0';
        if (strncmp(target, path, strlen(path)) == 0) {
            ck_assert_msg(fcntl((int)strtol(entry->d_name, NULL, 10), F_GETFD) & FD_CLOEXEC, "%s", target);
            ours++;
        }
    }
    closedir(descriptors);
    ck_assert_uint_ge(ours, 2);
    store_close(store);
}
END_TEST

/* ---- a file system without shared memory ---- */

/* SQLite's own file system with the methods for shared memory taken away, as on a network. */
static sqlite3_io_methods plain_methods[2]; /* of the database, and of everything else, which is not locked */
static sqlite3_vfs plain_vfs, *usual_vfs;

static int plain_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *flags_out)
{
    int status = usual_vfs->xOpen(usual_vfs, name, file, flags, flags_out);
    if (status == SQLITE_OK && file->pMethods) {
        sqlite3_io_methods *methods = &plain_methods[(flags & SQLITE_OPEN_MAIN_DB) == 0];
        *methods = *file->pMethods;
        methods->iVersion = 1;
        file->pMethods = methods;
    }
    return status;
}

START_TEST(without_a_log_the_journal_is_used_and_told)
{
    usual_vfs = sqlite3_vfs_find(NULL);
    plain_vfs = *usual_vfs;
    plain_vfs.zName = "plain";
    plain_vfs.xOpen = plain_open;
    ck_assert_int_eq(sqlite3_vfs_register(&plain_vfs, 1), SQLITE_OK);
    struct store *store = open_store(STORE_WRITE);
    ck_assert_msg(strstr(store_notice(store), "rollback journal") != NULL, "notice: %s", store_notice(store));
    int64_t sweep_id = sample_sweep(store, "journal", 1);
    insert(store, sweep_id, 1, 1);
    store_close(store);
    sqlite3_vfs_register(usual_vfs, 1);
    sqlite3_vfs_unregister(&plain_vfs);
    store = open_store(STORE_READ);
    struct result_set set;
    ck_assert_int_eq(store_read(store, sweep_id, true, &set), STORE_OK);
    ck_assert_uint_eq(set.count, 1);
    result_set_fini(&set);
    store_close(store);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store");
    TCase *rows = tcase_create("rows"), *sweeps = tcase_create("sweeps"), *files = tcase_create("files");
    TCase *cases[] = {rows, sweeps, files};
    for (size_t i = 0; i < 3; i++) {
        tcase_add_checked_fixture(cases[i], set_up, tear_down);
        tcase_set_timeout(cases[i], 60);
        suite_add_tcase(suite, cases[i]);
    }
    tcase_add_test(rows, every_kind_of_value_comes_back);
    tcase_add_test(rows, unknown_stays_unknown);
    tcase_add_test(rows, rows_come_in_the_order_of_storing_and_of_one_sweep_only);
    tcase_add_test(rows, a_repeat_is_stored_once_and_never_changes);
    tcase_add_test(rows, what_cannot_be_stored_exactly_is_refused);
    tcase_add_test(rows, the_table_has_the_columns_of_the_list);
    tcase_add_test(sweeps, sweeps_are_found);
    tcase_add_test(files, a_missing_store_is_told_and_a_new_one_made_with_its_folders);
    tcase_add_test(files, foreign_files_are_refused_untouched);
    tcase_add_test(files, a_newer_store_is_refused_untouched);
    tcase_add_test(files, an_empty_file_becomes_a_store);
    tcase_add_test(files, a_missing_index_or_trigger_is_told);
    tcase_add_test(files, lost_and_changed_rows_are_told);
    tcase_add_test(files, a_store_that_was_moved_or_replaced_takes_nothing_more);
    tcase_add_test(files, a_store_with_two_names_is_read_only);
    tcase_add_test(files, a_link_to_a_store_is_the_store);
    tcase_add_test(files, a_lost_log_is_told);
    tcase_add_test(files, readers_work_while_a_sweep_writes);
    tcase_add_test(files, no_descriptor_is_inherited);
    tcase_add_test(files, without_a_log_the_journal_is_used_and_told);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
