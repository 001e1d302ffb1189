/* SPDX-License-Identifier: MIT
 *
 * Promise: whichever write, sync, truncation or deletion of the store is the last one before a kill, or fails, what was
 * acknowledged is there, nothing is there twice, and the store goes on. Every call is tried: the first, the second, and
 * so on, until a run passes without reaching the call that was to be struck.
 *
 * How it works. SQLite's own file system with these four calls counted. A child opens a store (new, or with one sweep),
 * begins a sweep and stores three repeats, telling the parent through shared memory what was acknowledged.
 */
#include "store_sample.h"

#include <check.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define REPEATS     3
#define CALLS_LIMIT 2000

enum strike { KILL, FAIL_ONCE };

/* What the child tells; shared. */
struct told {
    int64_t sweep_id; /* 0: not acknowledged */
    int64_t repeats;
    bool reached; /* the call to be struck */
};

static sqlite3_vfs *usual, counting;
/* SQLite has a table of methods for the database and another for journals: each gets a counting copy. */
static struct {
    const sqlite3_io_methods *usual;
    sqlite3_io_methods counting;
} tables[4];
static long remaining;
static enum strike strike;
static struct told *told;
static char message[STORE_MESSAGE_SIZE];

/* Whether this call fails. */
static bool is_struck(void)
{
    if (--remaining != 0) {
        return false;
    }
    told->reached = true;
    if (strike == KILL) {
        raise(SIGKILL);
    }
    return true;
}

static const sqlite3_io_methods *usual_methods(const sqlite3_file *file)
{
    size_t i = 0;
    while (file->pMethods != &tables[i].counting) {
        i++;
    }
    return tables[i].usual;
}

static int count_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset)
{
    return is_struck() ? SQLITE_FULL : usual_methods(file)->xWrite(file, bytes, size, offset);
}

static int count_sync(sqlite3_file *file, int flags)
{
    return is_struck() ? SQLITE_IOERR_FSYNC : usual_methods(file)->xSync(file, flags);
}

static int count_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return is_struck() ? SQLITE_IOERR_TRUNCATE : usual_methods(file)->xTruncate(file, size);
}

static int count_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    return is_struck() ? SQLITE_IOERR_DELETE : usual->xDelete(usual, name, sync);
}

static int count_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *flags_out)
{
    int status = usual->xOpen(usual, name, file, flags, flags_out);
    if (file->pMethods) {
        size_t i = 0;
        while (tables[i].usual && tables[i].usual != file->pMethods) {
            i++;
        }
        tables[i].usual = file->pMethods;
        tables[i].counting = *file->pMethods;
        tables[i].counting.xWrite = count_write;
        tables[i].counting.xSync = count_sync;
        tables[i].counting.xTruncate = count_truncate;
        file->pMethods = &tables[i].counting;
    }
    return status;
}

static void count_calls(void)
{
    usual = sqlite3_vfs_find(NULL);
    counting = *usual;
    counting.zName = "counting";
    counting.xOpen = count_open;
    counting.xDelete = count_delete;
    sqlite3_vfs_register(&counting, 1);
}

/* In the child: says what is wrong and ends it. */
static void require(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s: %s\n", what, message);
        _exit(1);
    }
}

/* Whether something that failed may be tried again: only the call that was struck may have made it fail, and it is
 * told. */
static void require_told(const char *text)
{
    require(told->reached && strike == FAIL_ONCE, "failed without a failing call");
    require(text[0] != '\0', "failed without a message");
}

/* Opens, begins and stores, trying again what failed. */
static void work(const char *path)
{
    struct store *store;
    struct store_sweep sweep = {.name = (char *)"struck", .plan = (char *)"p", .repeats_planned = REPEATS};
    while (store_open(path, STORE_WRITE, &store, message) != STORE_OK) {
        require_told(message);
        told->reached = false; /* it fails once only */
    }
    while (store_sweep_begin(store, &sweep) != STORE_OK) {
        memcpy(message, store_message(store), sizeof(message));
        require_told(message);
        told->reached = false;
    }
    told->sweep_id = sweep.id;
    for (int repeat = 1; repeat <= REPEATS; repeat++) {
        struct result row;
        sample_row(&row, sweep.id, 1, repeat);
        while (store_insert(store, &row) != STORE_OK) {
            memcpy(message, store_message(store), sizeof(message));
            require_told(message);
            told->reached = false;
        }
        result_fini(&row);
        told->repeats = repeat;
    }
    store_close(store);
}

/* The parent's view, without counting: what was told is there, at most one more. */
static void expect_sound(const char *path, bool finished, long call)
{
    struct store *store;
    struct store_sweep *sweeps;
    size_t count;
    ck_assert_msg(store_open(path, STORE_WRITE, &store, message) == STORE_OK, "call %ld: %s", call, message);
    ck_assert_msg(store_check(store) == STORE_OK, "call %ld: %s", call, store_message(store));
    ck_assert_msg(store_sweep_list(store, &sweeps, &count) == STORE_OK, "call %ld: %s", call, store_message(store));
    int64_t stored = -1;
    for (size_t i = 0; i < count; i++) {
        stored = sweeps[i].id == told->sweep_id ? sweeps[i].repeats_stored : stored;
        store_sweep_fini(&sweeps[i]);
    }
    free(sweeps);
    if (told->sweep_id != 0) {
        ck_assert_msg(stored == told->repeats || (!finished && stored == told->repeats + 1),
                      "call %ld: %jd repeats told, %jd there", call, (intmax_t)told->repeats, (intmax_t)stored);
    }
    if (finished) {
        ck_assert_int_eq(told->repeats, REPEATS);
    }
    store_close(store);
}

/* One run with this call struck; false if the run did not get that far. */
static bool run(const char *path, long call)
{
    int status;
    *told = (struct told){0};
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        remaining = call;
        count_calls();
        work(path);
        _exit(remaining <= 0 ? 0 : 77);
    }
    waitpid(child, &status, 0);
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && strike == KILL && told->reached;
    bool passed = WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
    ck_assert_msg(killed || passed, "call %ld: the child ended with status %d", call, status);
    expect_sound(path, !killed, call);
    return killed || WEXITSTATUS(status) == 0;
}

static void strike_every_call(enum strike kind, bool fresh)
{
    char *folder = sample_folder(), *path = sample_path(folder, "a.db");
    long call = 0;
    bool reached = true;
    told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(told, MAP_FAILED);
    strike = kind;
    while (reached && ++call < CALLS_LIMIT) {
        if (fresh) {
            unlink(path);
        }
        reached = run(path, call);
    }
    ck_assert_msg(!reached && call > 20, "%ld calls", call);
    printf("%ld calls\n", call - 1);
    munmap(told, sizeof(*told));
    free(path);
    sample_folder_remove(folder);
}

START_TEST(killed_at_every_call)
{
    strike_every_call(KILL, false);
}
END_TEST

START_TEST(killed_at_every_call_of_a_new_store)
{
    strike_every_call(KILL, true);
}
END_TEST

START_TEST(every_call_fails_once)
{
    strike_every_call(FAIL_ONCE, false);
}
END_TEST

START_TEST(every_call_of_a_new_store_fails_once)
{
    strike_every_call(FAIL_ONCE, true);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_calls");
    TCase *calls = tcase_create("calls");
    tcase_set_timeout(calls, 300);
    tcase_add_test(calls, killed_at_every_call);
    tcase_add_test(calls, killed_at_every_call_of_a_new_store);
    tcase_add_test(calls, every_call_fails_once);
    tcase_add_test(calls, every_call_of_a_new_store_fails_once);
    suite_add_tcase(suite, calls);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
