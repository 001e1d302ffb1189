/* SPDX-License-Identifier: MIT
 *
 * Promise: a damaged store never crashes the program and never loses or changes a row silently. 200 random byte flips
 * and 100 truncations, of the store and of a log that a killed writer left, and 40 pages swapped: each time a child
 * reads everything, and either gets every row as it was stored or is told (STORE_FAILED).
 *
 * DAMAGES=N in the environment: N times as many. SEED=N: the seed that a failed run has printed.
 */
#include "store_sample.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SWEEPS     3
#define REPEATS    20
#define PAGE_BYTES 4096

enum verdict { WHOLE = 0, TOLD = 4, SILENT = 1 };

static char *folder, *path, *log_path, *kept, *kept_log;
static char message[STORE_MESSAGE_SIZE];
static long factor = 1;

static void copy_file(const char *from, const char *to)
{
    static char buffer[1 << 22];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t size = in ? fread(buffer, 1, sizeof(buffer), in) : 0;
    ck_assert(out && size < sizeof(buffer) && fwrite(buffer, 1, size, out) == size);
    ck_assert_int_eq(fclose(out), 0);
    if (in) {
        fclose(in);
    }
}

static void fill(struct store *store)
{
    for (int sweep = 1; sweep <= SWEEPS; sweep++) {
        int64_t sweep_id = sample_sweep(store, "damaged", REPEATS);
        for (int repeat = 1; repeat <= REPEATS; repeat++) {
            struct result row;
            sample_row(&row, sweep_id, repeat % 4, repeat);
            if (store_insert(store, &row) != STORE_OK) {
                fprintf(stderr, "%s\n", store_message(store));
                exit(99);
            }
            result_fini(&row);
        }
    }
}

/* Makes the store in a child. killed: the child ends without closing it, and its log stays. */
static void make_store(bool killed)
{
    folder = sample_folder();
    path = sample_path(folder, "a.db");
    log_path = sample_path(folder, "a.db-wal");
    kept = sample_path(folder, "kept");
    kept_log = sample_path(folder, "kept-wal");
    pid_t child = fork();
    if (child == 0) {
        struct store *store;
        if (store_open(path, STORE_WRITE, &store, message) != STORE_OK) {
            _exit(99);
        }
        fill(store);
        if (killed) {
            raise(SIGKILL);
        }
        store_close(store);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    ck_assert(killed ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0);
    copy_file(path, kept);
    if (killed) {
        copy_file(log_path, kept_log);
    }
}

static void remove_store(void)
{
    free(path);
    free(log_path);
    free(kept);
    free(kept_log);
    sample_folder_remove(folder);
}

static enum verdict read_sweep(struct store *store, int64_t sweep_id)
{
    struct result_set set;
    if (store_read(store, sweep_id, true, &set) != STORE_OK) {
        return TOLD;
    }
    bool whole = set.count == REPEATS;
    for (int repeat = 1; whole && repeat <= REPEATS; repeat++) {
        struct result row;
        sample_row(&row, sweep_id, repeat % 4, repeat);
        whole = sample_same(&row, &set.rows[repeat - 1]);
        result_fini(&row);
    }
    result_set_fini(&set);
    return whole ? WHOLE : SILENT;
}

/* Reads everything there should be. */
static enum verdict read_all(enum store_mode mode)
{
    struct store *store;
    struct store_sweep *sweeps;
    size_t count;
    if (store_open(path, mode, &store, message) != STORE_OK) {
        return message[0] ? TOLD : SILENT;
    }
    enum verdict verdict = TOLD;
    if (store_sweep_list(store, &sweeps, &count) == STORE_OK) {
        verdict = count == SWEEPS ? WHOLE : SILENT;
        for (size_t i = 0; i < count; i++) {
            verdict = verdict == WHOLE ? read_sweep(store, sweeps[i].id) : verdict;
            store_sweep_fini(&sweeps[i]);
        }
        free(sweeps);
    }
    store_close(store);
    return verdict;
}

/* In a child, since it may crash or hang (an alarm ends it). */
static void expect_whole_or_told(enum store_mode mode, const char *damage, long at)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(read_all(mode));
    }
    waitpid(child, &status, 0);
    ck_assert_msg(WIFEXITED(status), "%s at %ld: ended by signal %d", damage, at, WTERMSIG(status));
    ck_assert_msg(WEXITSTATUS(status) == WHOLE || WEXITSTATUS(status) == TOLD, "%s at %ld: not told (status %d)",
                  damage, at, WEXITSTATUS(status));
}

static void restore(bool with_log)
{
    char *index = sample_path(folder, "a.db-shm");
    unlink(index);
    unlink(log_path);
    free(index);
    copy_file(kept, path);
    if (with_log) {
        copy_file(kept_log, log_path);
    }
}

static long size_of(const char *name)
{
    struct stat status;
    ck_assert_int_eq(stat(name, &status), 0);
    return (long)status.st_size;
}

static void flip(const char *name, long at)
{
    unsigned char byte;
    int descriptor = open(name, O_RDWR);
    ck_assert_int_eq(pread(descriptor, &byte, 1, at), 1);
    byte ^= (unsigned char)(1u << (random() % 8));
    ck_assert_int_eq(pwrite(descriptor, &byte, 1, at), 1);
    close(descriptor);
}

static void swap_pages(long first, long second)
{
    char pages[2][PAGE_BYTES];
    int descriptor = open(path, O_RDWR);
    ck_assert_int_eq(pread(descriptor, pages[0], PAGE_BYTES, first * PAGE_BYTES), PAGE_BYTES);
    ck_assert_int_eq(pread(descriptor, pages[1], PAGE_BYTES, second * PAGE_BYTES), PAGE_BYTES);
    ck_assert_int_eq(pwrite(descriptor, pages[0], PAGE_BYTES, second * PAGE_BYTES), PAGE_BYTES);
    ck_assert_int_eq(pwrite(descriptor, pages[1], PAGE_BYTES, first * PAGE_BYTES), PAGE_BYTES);
    close(descriptor);
}

static void start(void)
{
    const char *text = getenv("DAMAGES");
    unsigned seed = sample_seed();
    factor = text ? strtol(text, NULL, 10) : 1;
    srandom(seed);
}

START_TEST(an_undamaged_store_is_whole)
{
    make_store(false);
    ck_assert_int_eq(read_all(STORE_READ), WHOLE);
    remove_store();
    make_store(true);
    ck_assert_int_eq(read_all(STORE_WRITE), WHOLE);
    remove_store();
}
END_TEST

START_TEST(flipped_bytes_are_harmless_or_told)
{
    start();
    make_store(false);
    for (long i = 0; i < 200 * factor; i++) {
        restore(false);
        long at = random() % size_of(path);
        flip(path, at);
        expect_whole_or_told(i % 2 ? STORE_READ : STORE_WRITE, "byte flipped", at);
    }
    remove_store();
}
END_TEST

START_TEST(truncations_are_told)
{
    start();
    make_store(false);
    for (long i = 0; i < 100 * factor; i++) {
        restore(false);
        long at = 1 + random() % (size_of(path) - 1); /* an empty file cannot be told from a new one */
        ck_assert_int_eq(truncate(path, at), 0);
        expect_whole_or_told(i % 2 ? STORE_READ : STORE_WRITE, "truncated", at);
    }
    remove_store();
}
END_TEST

START_TEST(swapped_pages_are_harmless_or_told)
{
    start();
    make_store(false);
    long pages = size_of(path) / PAGE_BYTES;
    for (long i = 0; i < 40 * factor; i++) {
        restore(false);
        long first = random() % pages;
        swap_pages(first, (first + 1 + random() % (pages - 1)) % pages);
        expect_whole_or_told(STORE_READ, "page swapped", first);
    }
    remove_store();
}
END_TEST

START_TEST(a_damaged_log_is_harmless_or_told)
{
    start();
    make_store(true);
    ck_assert_int_gt(size_of(kept_log), 0);
    for (long i = 0; i < 100 * factor; i++) {
        restore(true);
        long at = random() % size_of(log_path);
        flip(log_path, at);
        expect_whole_or_told(i % 2 ? STORE_READ : STORE_WRITE, "byte of the log flipped", at);
        restore(true);
        ck_assert_int_eq(truncate(log_path, at), 0);
        expect_whole_or_told(i % 2 ? STORE_READ : STORE_WRITE, "log truncated", at);
    }
    remove_store();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_damage");
    TCase *damages = tcase_create("damages");
    tcase_set_timeout(damages, 600);
    tcase_add_test(damages, an_undamaged_store_is_whole);
    tcase_add_test(damages, flipped_bytes_are_harmless_or_told);
    tcase_add_test(damages, truncations_are_told);
    tcase_add_test(damages, swapped_pages_are_harmless_or_told);
    tcase_add_test(damages, a_damaged_log_is_harmless_or_told);
    suite_add_tcase(suite, damages);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
