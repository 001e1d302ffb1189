/* SPDX-License-Identifier: MIT
 *
 * Promise: a full disk, a locked store and a store that may not be written are told with the file's name and what to
 * do, before anything is measured if possible; what was stored stays readable, and the store goes on once the cause is
 * gone.
 *
 * The full disk is a small file system in memory where this may mount one, and a limit on the size of files everywhere.
 * What root may do anyway is tried as another user.
 */
#include "store_sample.h"

#include <check.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SKIPPED      77
#define OTHER_USER   65534
#define ROWS_AT_MOST 100000

static char *folder, *path;
static char message[STORE_MESSAGE_SIZE];

static void set_up(void)
{
    folder = sample_folder();
    path = sample_path(folder, "a.db");
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

static int insert(struct store *store, int64_t sweep_id, int64_t repeat)
{
    struct result row;
    sample_row(&row, sweep_id, 1, repeat);
    int status = store_insert(store, &row);
    result_fini(&row);
    return status;
}

static void expect_words(const char *text, const char *words)
{
    ck_assert_msg(strstr(text, words) != NULL, "expected '%s' in: %s", words, text);
}

static void expect_rows(struct store *store, int64_t sweep_id, int64_t count)
{
    struct result_set set;
    ck_assert_msg(store_read(store, sweep_id, true, &set) == STORE_OK, "%s", store_message(store));
    ck_assert_int_eq((int64_t)set.count, count);
    result_set_fini(&set);
    ck_assert_msg(store_check(store) == STORE_OK, "%s", store_message(store));
}

/* Runs body in a child, which may change what it is allowed; its assertions end it, and this test with it. */
static void in_child(int (*body)(void))
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        _exit(body());
    }
    waitpid(child, &status, 0);
    ck_assert_msg(WIFEXITED(status), "the child ended by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) == SKIPPED) {
        printf("skipped: this user may not do what the test needs\n");
        return;
    }
    ck_assert_msg(WEXITSTATUS(status) == 0, "the child ended with status %d", WEXITSTATUS(status));
}

/* In a child: says what is wrong and ends it. */
static void require(bool good, const char *what, const char *detail)
{
    if (!good) {
        fprintf(stderr, "%s: %s\n", what, detail);
        _exit(1);
    }
}

/* Stores until there is no room; returns how many repeats were stored. */
static int64_t store_until_full(struct store *store, int64_t sweep_id)
{
    int64_t repeat = 1;
    int status = STORE_OK;
    while (status == STORE_OK && repeat < ROWS_AT_MOST) {
        status = insert(store, sweep_id, repeat);
        repeat += status == STORE_OK;
    }
    require(status == STORE_FAILED, "never full", path);
    require(strstr(store_message(store), "no space") != NULL, "expected 'no space'", store_message(store));
    require(strstr(store_message(store), path) != NULL, "expected the store's name", store_message(store));
    return repeat - 1;
}

/* ---- full ---- */

static int fill_to_a_limit(void)
{
    struct store *store = open_store(STORE_WRITE);
    struct rlimit limit = {.rlim_cur = 400 * 1024, .rlim_max = RLIM_INFINITY};
    int64_t sweep_id = sample_sweep(store, "full", 0);
    signal(SIGXFSZ, SIG_IGN);
    require(setrlimit(RLIMIT_FSIZE, &limit) == 0, "cannot limit", "RLIMIT_FSIZE");
    int64_t stored = store_until_full(store, sweep_id);
    require(stored > 10, "full too early", path);
    expect_rows(store, sweep_id, stored);
    store_close(store);
    require(store_open(path, STORE_WRITE, &store, message) == STORE_FAILED, "a full store was opened for writing",
            path);
    require(strstr(message, "no space") != NULL, "expected 'no space'", message);
    limit.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &limit);
    store = open_store(STORE_WRITE);
    expect_rows(store, sweep_id, stored);
    require(insert(store, sweep_id, stored + 1) == STORE_OK, "does not go on", store_message(store));
    expect_rows(store, sweep_id, stored + 1);
    store_close(store);
    return 0;
}

START_TEST(a_limit_on_the_size_of_files)
{
    in_child(fill_to_a_limit);
}
END_TEST

static int fill_a_file_system(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", folder, "tmpfs", 0, "size=640k") != 0) {
        return SKIPPED;
    }
    struct store *store = open_store(STORE_WRITE);
    int64_t sweep_id = sample_sweep(store, "full", 0);
    int64_t stored = store_until_full(store, sweep_id);
    require(stored > 10, "full too early", path);
    store_close(store);
    store = open_store(STORE_READ);
    expect_rows(store, sweep_id, stored);
    store_close(store);
    require(store_open(path, STORE_WRITE, &store, message) == STORE_FAILED, "a full store was opened for writing",
            path);
    require(mount("tmpfs", folder, "tmpfs", MS_REMOUNT, "size=4m") == 0, "cannot make room", folder);
    store = open_store(STORE_WRITE);
    require(insert(store, sweep_id, stored + 1) == STORE_OK, "does not go on", store_message(store));
    expect_rows(store, sweep_id, stored + 1);
    store_close(store);
    return 0;
}

START_TEST(a_full_file_system)
{
    in_child(fill_a_file_system);
}
END_TEST

/* ---- locked ---- */

START_TEST(another_writer_keeps_it_locked)
{
    struct store *store = open_store(STORE_WRITE), *second;
    int64_t sweep_id = sample_sweep(store, "locked", 2);
    sqlite3 *other;
    ck_assert_int_eq(insert(store, sweep_id, 1), STORE_OK);
    ck_assert_int_eq(sqlite3_open(path, &other), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(insert(store, sweep_id, 2), STORE_FAILED); /* returns: the wait is bounded */
    expect_words(store_message(store), "locked");
    expect_words(store_message(store), path);
    ck_assert_int_eq(store_open(path, STORE_WRITE, &second, message), STORE_FAILED);
    expect_words(message, "locked");
    expect_rows(store, sweep_id, 1);
    ck_assert_int_eq(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
    ck_assert_int_eq(insert(store, sweep_id, 2), STORE_OK);
    expect_rows(store, sweep_id, 2);
    store_close(store);
}
END_TEST

/* ---- read-only ---- */

static int64_t make_store(void)
{
    struct store *store = open_store(STORE_WRITE);
    int64_t sweep_id = sample_sweep(store, "read-only", 1);
    ck_assert_int_eq(insert(store, sweep_id, 1), STORE_OK);
    store_close(store);
    return sweep_id;
}

/* The child's view: reports work, measuring is refused before the first cell. */
static int read_but_not_write(void)
{
    struct store *store;
    if (geteuid() == 0 && (setegid(OTHER_USER) != 0 || seteuid(OTHER_USER) != 0)) {
        return SKIPPED;
    }
    require(store_open(path, STORE_READ, &store, message) == STORE_OK, "cannot be read", message);
    expect_rows(store, 1, 1);
    store_close(store);
    require(store_open(path, STORE_WRITE, &store, message) == STORE_FAILED, "could be opened for writing", path);
    require(strstr(message, "cannot be written") != NULL, "expected 'cannot be written'", message);
    require(strstr(message, path) != NULL, "expected the store's name", message);
    return 0;
}

START_TEST(a_read_only_file)
{
    make_store();
    ck_assert_int_eq(chmod(path, 0444), 0);
    ck_assert_int_eq(chmod(folder, 0777), 0);
    in_child(read_but_not_write);
}
END_TEST

START_TEST(a_read_only_folder)
{
    make_store();
    ck_assert_int_eq(chmod(path, 0666), 0);
    ck_assert_int_eq(chmod(folder, 0555), 0);
    in_child(read_but_not_write);
    chmod(folder, 0755);
}
END_TEST

/* A writer is killed while a reader keeps its last two repeats in the log. */
static int leave_a_log(void)
{
    struct store *store = open_store(STORE_WRITE);
    sqlite3 *reader;
    int64_t sweep_id = sample_sweep(store, "log", 3);
    require(insert(store, sweep_id, 1) == STORE_OK, "cannot store", store_message(store));
    require(sqlite3_open(path, &reader) == SQLITE_OK &&
                sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM run", NULL, NULL, NULL) == SQLITE_OK,
            "cannot read", path);
    require(insert(store, sweep_id, 2) == STORE_OK, "cannot store", store_message(store));
    require(insert(store, sweep_id, 3) == STORE_OK, "cannot store", store_message(store));
    _exit(0); /* nothing is closed */
}

static int read_the_log_or_tell(void)
{
    struct store *store;
    if (geteuid() == 0 && (setegid(OTHER_USER) != 0 || seteuid(OTHER_USER) != 0)) {
        return SKIPPED;
    }
    if (store_open(path, STORE_READ, &store, message) == STORE_OK) {
        expect_rows(store, 1, 3);
        store_close(store);
    } else {
        require(strstr(message, path) != NULL, "expected the store's name", message);
    }
    return 0;
}

START_TEST(a_log_that_cannot_be_read_is_not_passed_over)
{
    char *log = sample_path(folder, "a.db-wal"), *index = sample_path(folder, "a.db-shm");
    struct stat status;
    in_child(leave_a_log);
    ck_assert(stat(log, &status) == 0 && status.st_size > 0);
    ck_assert_int_eq(unlink(index), 0);
    ck_assert_int_eq(chmod(folder, 0555), 0);
    in_child(read_the_log_or_tell);
    chmod(folder, 0755);
    struct store *store = open_store(STORE_READ);
    expect_rows(store, 1, 3);
    store_close(store);
    free(log);
    free(index);
}
END_TEST

static int read_only_file_system(void)
{
    struct store *store;
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(folder, folder, NULL, MS_BIND, NULL) != 0 ||
        mount(NULL, folder, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) != 0) {
        return SKIPPED;
    }
    require(store_open(path, STORE_READ, &store, message) == STORE_OK, "cannot be read", message);
    expect_rows(store, 1, 1);
    store_close(store);
    require(store_open(path, STORE_WRITE, &store, message) == STORE_FAILED, "could be opened for writing", path);
    require(strstr(message, "cannot be written") != NULL, "expected 'cannot be written'", message);
    return 0;
}

START_TEST(a_read_only_file_system)
{
    make_store();
    in_child(read_only_file_system);
}
END_TEST

static int make_in_a_foreign_folder(void)
{
    struct store *store;
    if (geteuid() == 0 && (setegid(OTHER_USER) != 0 || seteuid(OTHER_USER) != 0)) {
        return SKIPPED;
    }
    require(store_open(path, STORE_WRITE, &store, message) == STORE_FAILED, "could be made", path);
    require(strstr(message, folder) != NULL, "expected the folder's name", message);
    return 0;
}

START_TEST(a_folder_that_cannot_be_written)
{
    ck_assert_int_eq(chmod(folder, 0555), 0);
    in_child(make_in_a_foreign_folder);
    free(path);
    path = sample_path(folder, "deeper/a.db");
    in_child(make_in_a_foreign_folder);
    chmod(folder, 0755);
}
END_TEST

/* The folder stops being writable in the middle of a sweep. */
static int lose_permission(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", folder, "tmpfs", 0, "size=4m") != 0) {
        return SKIPPED;
    }
    struct store *store = open_store(STORE_WRITE);
    int64_t sweep_id = sample_sweep(store, "permission", 0);
    struct rlimit limit = {.rlim_cur = 0, .rlim_max = RLIM_INFINITY};
    require(insert(store, sweep_id, 1) == STORE_OK, "cannot store", store_message(store));
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    require(insert(store, sweep_id, 2) == STORE_FAILED, "stored without permission", path);
    expect_rows(store, sweep_id, 1);
    limit.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &limit);
    require(insert(store, sweep_id, 2) == STORE_OK, "does not go on", store_message(store));
    expect_rows(store, sweep_id, 2);
    store_close(store);
    return 0;
}

START_TEST(no_byte_can_be_written_any_more)
{
    in_child(lose_permission);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_surroundings");
    TCase *surroundings = tcase_create("surroundings");
    tcase_add_checked_fixture(surroundings, set_up, tear_down);
    tcase_set_timeout(surroundings, 300);
    tcase_add_test(surroundings, a_limit_on_the_size_of_files);
    tcase_add_test(surroundings, a_full_file_system);
    tcase_add_test(surroundings, another_writer_keeps_it_locked);
    tcase_add_test(surroundings, a_read_only_file);
    tcase_add_test(surroundings, a_read_only_folder);
    tcase_add_test(surroundings, a_log_that_cannot_be_read_is_not_passed_over);
    tcase_add_test(surroundings, a_read_only_file_system);
    tcase_add_test(surroundings, a_folder_that_cannot_be_written);
    tcase_add_test(surroundings, no_byte_can_be_written_any_more);
    suite_add_tcase(suite, surroundings);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
