/* SPDX-License-Identifier: MIT
 *
 * Promises: a target is built by one program at a time; whoever waits says so, goes on waiting when a signal comes, and
 * leaves when it is told to stop; where a folder cannot be locked nothing is built. A command that is at work when that
 * happens is ended and waited for; one whose end is not told has failed, and is not waited for; one that was to tell a
 * version and does not is named. Nothing that a command started is left, in whatever session, when it ends, is ended,
 * or loses the program that has asked for it; until then its folder is locked; what cannot be killed is told. Its
 * processes have their limits, and so has what is kept of their words.
 *
 * Method: a build that leaves a trace, beside a lock that this program holds, and signals from a timer. Three calls of
 * the C library are this program's own, so that they can fail, or take their time.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runner/process_tree.h"
#include "runner/target_prepare.h"

/* Between two signals; a command is looked at more often. */
#define SIGNAL_EVERY_US 100000

static bool no_locks;

int flock(int descriptor, int operation)
{
    errno = ENOLCK;
    return no_locks ? -1 : (int)syscall(SYS_flock, descriptor, operation);
}

/* Waits that a signal ends. */
static int broken_waits;

pid_t waitpid(pid_t process, int *status, int options)
{
    if (broken_waits == 0 || options != 0)
        return wait4(process, status, options, NULL);
    broken_waits--;
    errno = EINTR;
    return -1;
}

static bool no_kills, slow_kills;

int kill(pid_t process, int number)
{
    const struct timespec pause = {.tv_nsec = slow_kills ? 300000000 : 0};
    nanosleep(&pause, NULL);
    errno = EPERM;
    return no_kills ? -1 : (int)syscall(SYS_kill, process, number);
}

/* ---- signals ---- */

static volatile int signals, stop, stop_at, unlock_at, lock = -1;

static void on_signal(int number)
{
    signals++;
    if (signals == stop_at)
        stop = number;
    if (signals == unlock_at)
        close(lock);
}

static void send_signals(void)
{
    const struct sigaction action = {.sa_handler = on_signal}; /* as in a sweep: calls are not taken up again */
    const struct itimerval often = {{0, SIGNAL_EVERY_US}, {0, SIGNAL_EVERY_US}};
    ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
}

/* ---- targets ---- */

static char folder[PATH_MAX], ini[PATH_MAX + 16], trace[PATH_MAX + 16];

static void setup(void)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/targets-XXXXXX", temporary != NULL ? temporary : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(ini, sizeof ini, "%s/mine.ini", folder);
    snprintf(trace, sizeof trace, "%s/built", folder);
}

/* What the build leaves in its folder goes with it. */
static void teardown(void)
{
    const struct target_use *use = target_find(ini);
    char log[PATH_MAX + 16];
    if (use != NULL) {
        snprintf(log, sizeof log, "%s/build.log", use->build);
        unlink(log);
        rmdir(use->build);
    }
    unlink(trace);
    unlink(ini);
    rmdir(folder);
}

static struct target_use *write_target(const char *lines)
{
    FILE *stream = fopen(ini, "w");
    ck_assert_ptr_nonnull(stream);
    fprintf(stream, "[target]\nstart = server {port}\n%s\n", lines);
    ck_assert_int_eq(fclose(stream), 0);
    struct target_use *use = target_find(ini);
    ck_assert_ptr_nonnull(use);
    return use;
}

static bool is_built(void)
{
    return access(trace, F_OK) == 0;
}

/* In a process of its own, so that it is not known as built here; the folder is there then, and is locked. */
static void build_once_and_lock(const struct target_use *use)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        char message[CELL_MESSAGE_SIZE];
        _exit(target_prepare(target_find(ini), NULL, message) == CELL_MEASURED ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(unlink(trace), 0);
    lock = open(use->build, O_RDONLY | O_DIRECTORY);
    ck_assert_int_ge(lock, 0);
    ck_assert_int_eq(flock(lock, LOCK_EX), 0);
}

#define BUILD "build = touch {folder}/built"

START_TEST(test_waits_for_another_build)
{
    struct target_use *use = write_target(BUILD);
    char message[CELL_MESSAGE_SIZE], text[512] = "";
    int ends[2];
    build_once_and_lock(use);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_ge(dup2(ends[1], STDERR_FILENO), 0);
    unlock_at = 5;
    send_signals();
    ck_assert_int_eq(target_prepare(use, &stop, message), CELL_MEASURED);
    ck_assert_int_ge(signals, unlock_at);
    ck_assert(is_built());
    ck_assert_int_gt(read(ends[0], text, sizeof text - 1), 0);
    ck_assert_str_eq(text, "pilfer: target mine: waiting for another build\npilfer: building target mine\n");
}
END_TEST

START_TEST(test_stops_waiting)
{
    struct target_use *use = write_target(BUILD);
    char message[CELL_MESSAGE_SIZE];
    build_once_and_lock(use);
    stop_at = 3;
    send_signals();
    ck_assert_int_eq(target_prepare(use, &stop, message), CELL_INTERRUPTED);
    ck_assert(!is_built());
}
END_TEST

START_TEST(test_needs_its_lock)
{
    struct target_use *use = write_target(BUILD);
    static const char expected[] = "target mine: cannot lock its build folder ";
    char message[CELL_MESSAGE_SIZE] = "";
    no_locks = true;
    ck_assert_int_eq(target_prepare(use, &stop, message), CELL_SURROUNDINGS);
    ck_assert_msg(strncmp(message, expected, strlen(expected)) == 0 && strstr(message, strerror(ENOLCK)) != NULL, "%s",
                  message);
    ck_assert(!is_built());
}
END_TEST

/* ---- what a command leaves behind ---- */

/* In a session of its own; what follows has to close the quotes. */
#define LEAVES                                                       \
    "sh -c 'setsid sh -c \"echo \\$\\$ >{folder}/built; exec sleep 50\" &" \
    " until test -s {folder}/built; do sleep 0.01; done; "

/* Its id; waits until it is there. */
static pid_t read_left(void)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    long process = 0;
    for (int tries = 0; tries < 3000 && process == 0; tries++) {
        FILE *stream = fopen(trace, "r");
        if (stream == NULL || fscanf(stream, "%ld", &process) != 1)
            nanosleep(&pause, NULL);
        if (stream != NULL)
            fclose(stream);
    }
    ck_assert_int_gt(process, 0);
    return (pid_t)process;
}

static const char *const leaving[] = {"build = " LEAVES "'", "build = " LEAVES "exit 1'",
                                      "version = " LEAVES "echo 1'"};

START_TEST(test_nothing_is_left)
{
    struct target_use *use = write_target(leaving[_i]);
    char message[CELL_MESSAGE_SIZE];
    target_prepare(use, NULL, message);
    ck_assert(!process_is_alive(read_left()));
}
END_TEST

START_TEST(test_what_is_left_is_told)
{
    struct target_use *use = write_target(leaving[2]);
    char message[CELL_MESSAGE_SIZE], text[512] = "";
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_ge(dup2(ends[1], STDERR_FILENO), 0);
    no_kills = true;
    ck_assert_int_eq(target_prepare(use, NULL, message), CELL_MEASURED);
    ck_assert_int_eq(syscall(SYS_kill, read_left(), SIGKILL), 0);
    ck_assert_int_gt(read(ends[0], text, sizeof text - 1), 0);
    ck_assert_str_eq(text, "pilfer: target mine: version command: not all of its processes could be killed\n");
    ck_assert_str_eq(use->version, "1");
}
END_TEST

START_TEST(test_nothing_outlives_the_program)
{
    struct target_use *use = write_target("build = " LEAVES "sleep 50'");
    const struct timespec pause = {.tv_nsec = 1000000};
    int tries = 0;
    pid_t program = fork();
    if (program == 0) {
        char message[CELL_MESSAGE_SIZE];
        slow_kills = true; /* so that a lock which does not wait for them is there first */
        target_prepare(use, NULL, message);
        _exit(0);
    }
    pid_t left = read_left();
    lock = open(use->build, O_RDONLY | O_DIRECTORY);
    ck_assert_int_ge(lock, 0);
    ck_assert_int_ne(flock(lock, LOCK_EX | LOCK_NB), 0);
    ck_assert_int_eq(kill(program, SIGKILL), 0);
    ck_assert_int_eq(waitpid(program, NULL, 0), program);
    while (flock(lock, LOCK_EX | LOCK_NB) != 0 && tries++ < 20000)
        nanosleep(&pause, NULL);
    ck_assert_int_lt(tries, 20000);
    ck_assert(!process_is_alive(left));
}
END_TEST

static const char *const slow[] = {"build = sleep 15", "version = sleep 15", "build = " LEAVES "sleep 15'"};

START_TEST(test_ends_what_is_at_work)
{
    struct target_use *use = write_target(slow[_i]);
    char message[CELL_MESSAGE_SIZE];
    stop_at = broken_waits = 2;
    send_signals();
    ck_assert_int_eq(target_prepare(use, &stop, message), CELL_INTERRUPTED);
    ck_assert_int_lt(signals, 100);
    ck_assert_int_eq(broken_waits, 0);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
    ck_assert_str_eq(use->version, "");
    ck_assert(!is_built() || !process_is_alive(read_left()));
}
END_TEST

/* Nobody can say how a process ended whose end was to be ignored. */
START_TEST(test_an_end_that_is_not_told)
{
    struct target_use *use = write_target(BUILD);
    static const char expected[] = "target mine: its build failed; see ";
    char message[CELL_MESSAGE_SIZE] = "";
    signal(SIGCHLD, SIG_IGN);
    ck_assert_int_eq(target_prepare(use, &stop, message), CELL_SURROUNDINGS);
    ck_assert_msg(strncmp(message, expected, strlen(expected)) == 0, "%s", message);
}
END_TEST

static const struct {
    const char *line, *told;
} versions[] = {
    {"version = true", "pilfer: target mine: its version command tells no version: true\n"},
    {"version = sh -c 'echo 1; exit 3'",
     "pilfer: target mine: its version command tells no version: sh -c 'echo 1; exit 3'\n"},
    {"version = echo 1.2", ""},
    {"version = sh -c 'echo 1.2; head -c 1000000 /dev/zero'", ""},
    {"", ""},
};

START_TEST(test_says_that_no_version_is_told)
{
    struct target_use *use = write_target(versions[_i].line);
    char message[CELL_MESSAGE_SIZE], text[512] = "";
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_NONBLOCK), 0);
    ck_assert_int_ge(dup2(ends[1], STDERR_FILENO), 0);
    ck_assert_int_eq(target_prepare(use, &stop, message), CELL_MEASURED);
    ck_assert(read(ends[0], text, sizeof text - 1) > 0 || errno == EAGAIN);
    ck_assert_str_eq(text, versions[_i].told);
}
END_TEST

/* ---- limits ---- */

static const struct {
    const char *line;
    bool is_cut;
} logs[] = {{"build = head -c 8388608 /dev/zero", false}, {"build = head -c 8400000 /dev/zero", true}};

START_TEST(test_a_long_log)
{
    static const char expected[] = "\npilfer: the rest is left out: it is more than 8 MiB\n";
    struct target_use *use = write_target(logs[_i].line);
    char message[CELL_MESSAGE_SIZE], path[PATH_MAX], text[sizeof expected] = "";
    struct stat status;
    ck_assert_int_eq(target_prepare(use, NULL, message), CELL_MEASURED);
    snprintf(path, sizeof path, "%.4000s/build.log", use->build);
    int log = open(path, O_RDONLY);
    ck_assert_int_ge(log, 0);
    ck_assert_int_eq(fstat(log, &status), 0);
    ck_assert_int_eq(status.st_size, TARGET_LOG_MAX + (logs[_i].is_cut ? sizeof expected - 1 : 0));
    ck_assert_int_ge(pread(log, text, sizeof text - 1, TARGET_LOG_MAX), 0);
    ck_assert_str_eq(text, logs[_i].is_cut ? expected : "");
    close(log);
}
END_TEST

/* Neither core files, nor CPU without end for what could not be killed. */
static const rlim_t cpu_limits[] = {RLIM_INFINITY, 50}; /* of this program */

START_TEST(test_limits)
{
    struct target_use *use = write_target("build = sh -c 'ulimit -c; ulimit -H -c; ulimit -t'");
    char message[CELL_MESSAGE_SIZE], path[PATH_MAX];
    unsigned long long core, core_max, cpu_s;
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_CORE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_CORE, &limit), 0);
    ck_assert_int_eq(getrlimit(RLIMIT_CPU, &limit), 0);
    limit.rlim_cur = cpu_limits[_i] < limit.rlim_max ? cpu_limits[_i] : limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_CPU, &limit), 0);
    ck_assert_int_eq(target_prepare(use, NULL, message), CELL_MEASURED);
    snprintf(path, sizeof path, "%.4000s/build.log", use->build);
    FILE *log = fopen(path, "r");
    ck_assert_ptr_nonnull(log);
    ck_assert_int_eq(fscanf(log, "%llu %llu %llu", &core, &core_max, &cpu_s), 3);
    fclose(log);
    ck_assert(core == 0 && core_max == 0);
    if (limit.rlim_cur < TARGET_BUILD_LIMIT_S)
        ck_assert_uint_eq(cpu_s, limit.rlim_cur);
    else
        ck_assert_uint_ge(cpu_s, TARGET_BUILD_LIMIT_S);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("target_prepare");
    TCase *cases = tcase_create("all");
    suite_add_tcase(suite, cases);
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, test_waits_for_another_build);
    tcase_add_test(cases, test_stops_waiting);
    tcase_add_test(cases, test_needs_its_lock);
    tcase_add_loop_test(cases, test_ends_what_is_at_work, 0, sizeof slow / sizeof slow[0]);
    tcase_add_loop_test(cases, test_nothing_is_left, 0, sizeof leaving / sizeof leaving[0]);
    tcase_add_test(cases, test_what_is_left_is_told);
    tcase_add_test(cases, test_nothing_outlives_the_program);
    tcase_add_test(cases, test_an_end_that_is_not_told);
    tcase_add_loop_test(cases, test_says_that_no_version_is_told, 0, sizeof versions / sizeof versions[0]);
    tcase_add_loop_test(cases, test_a_long_log, 0, sizeof logs / sizeof logs[0]);
    tcase_add_loop_test(cases, test_limits, 0, sizeof cpu_limits / sizeof cpu_limits[0]);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
