/* SPDX-License-Identifier: MIT
 *
 * Promise: SIGKILL at any moment loses at most the repeat in progress. A child stores repeats and tells each one
 * through a pipe after store_insert has returned; it is killed at a random moment, 50 times on the same store. Every
 * repeat that was told is there exactly once, at most one more is, and the store is sound and goes on.
 *
 * KILLS=N in the environment: another number of kills. SEED=N: the seed that a failed run has printed.
 */
#include "store_sample.h"

#include <check.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define KILLS_DEFAULT 50

static char message[STORE_MESSAGE_SIZE];

/* The child: stores repeats from first on, for ever. */
static void store_for_ever(const char *path, int64_t sweep_id, int64_t first, int told)
{
    struct store *store;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (store_open(path, STORE_WRITE, &store, message) != STORE_OK) {
        fprintf(stderr, "%s\n", message);
        _exit(1);
    }
    for (int64_t repeat = first;; repeat++) {
        struct result row;
        sample_row(&row, sweep_id, (int)(repeat % 5), repeat);
        if (store_insert(store, &row) != STORE_OK) {
            fprintf(stderr, "%s\n", store_message(store));
            _exit(1);
        }
        result_fini(&row);
        if (write(told, &repeat, sizeof(repeat)) != sizeof(repeat)) {
            _exit(1);
        }
    }
}

/* Starts the child, kills it at a random moment, and returns the last repeat that it told (or first - 1). */
static int64_t run_and_kill(const char *path, int64_t sweep_id, int64_t first)
{
    int told[2], status;
    ck_assert_int_eq(pipe(told), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(told[0]);
        store_for_ever(path, sweep_id, first, told[1]);
    }
    close(told[1]);
    int64_t last = first - 1, repeat;
    long wanted = random() % 4; /* repeats that are waited for, then a random moment more: sometimes before the first */
    while (wanted-- > 0 && read(told[0], &repeat, sizeof(repeat)) == sizeof(repeat)) {
        last = repeat;
    }
    struct timespec more = {.tv_nsec = random() % 20000000};
    nanosleep(&more, NULL); /* the random moment, not an event that is waited for */
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the child ended by itself: status %d", status);
    while (read(told[0], &repeat, sizeof(repeat)) == sizeof(repeat)) {
        last = repeat;
    }
    close(told[0]);
    return last;
}

/* Repeats 1 to count must be there exactly once, as they were stored. Returns count, which is last or one more. */
static int64_t expect_rows(const char *path, int64_t sweep_id, int64_t last)
{
    struct store *store;
    struct result_set set;
    struct result row;
    ck_assert_msg(store_open(path, STORE_READ, &store, message) == STORE_OK, "%s", message);
    ck_assert_msg(store_check(store) == STORE_OK, "%s", store_message(store));
    ck_assert_msg(store_read(store, sweep_id, true, &set) == STORE_OK, "%s", store_message(store));
    int64_t count = (int64_t)set.count;
    ck_assert_msg(count == last || count == last + 1, "%jd repeats told, %jd there", (intmax_t)last, (intmax_t)count);
    for (int64_t i = 0; i < count; i++) {
        sample_row(&row, sweep_id, (int)((i + 1) % 5), i + 1);
        ck_assert_msg(sample_same(&row, &set.rows[i]), "repeat %jd is not as it was stored", (intmax_t)i + 1);
        result_fini(&row);
    }
    result_set_fini(&set);
    store_close(store);
    return count;
}

START_TEST(a_kill_loses_at_most_the_repeat_in_progress)
{
    const char *text = getenv("KILLS");
    long kills = text ? strtol(text, NULL, 10) : KILLS_DEFAULT;
    unsigned seed = sample_seed();
    char *folder = sample_folder(), *path = sample_path(folder, "a.db");
    struct store *store;
    int64_t stored = 0;
    srandom(seed);
    ck_assert_msg(store_open(path, STORE_WRITE, &store, message) == STORE_OK, "%s", message);
    int64_t sweep_id = sample_sweep(store, "killed", 0);
    store_close(store);
    for (long i = 0; i < kills; i++) {
        int64_t last = run_and_kill(path, sweep_id, stored + 1);
        stored = expect_rows(path, sweep_id, last);
    }
    ck_assert_int_gt(stored, 0);
    free(path);
    sample_folder_remove(folder);
}
END_TEST

/* A kill while the store is being made must leave nothing that the next start cannot use. */
START_TEST(a_kill_during_creation_is_harmless)
{
    unsigned seed = sample_seed();
    srandom(seed);
    for (int i = 0; i < 20; i++) {
        char *folder = sample_folder(), *path = sample_path(folder, "a.db");
        struct store *store;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            _exit(store_open(path, STORE_WRITE, &store, message) != STORE_OK);
        }
        struct timespec moment = {.tv_nsec = random() % 10000000};
        nanosleep(&moment, NULL); /* the random moment */
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        ck_assert_msg(store_open(path, STORE_WRITE, &store, message) == STORE_OK, "%s", message);
        int64_t sweep_id = sample_sweep(store, "after", 0);
        store_close(store);
        expect_rows(path, sweep_id, 0);
        free(path);
        sample_folder_remove(folder);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_kill");
    TCase *kills = tcase_create("kills");
    tcase_set_timeout(kills, 600);
    tcase_add_test(kills, a_kill_loses_at_most_the_repeat_in_progress);
    tcase_add_test(kills, a_kill_during_creation_is_harmless);
    suite_add_tcase(suite, kills);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
