/* SPDX-License-Identifier: MIT
 *
 * Promises: the CPU of a tree is that of every process in it, however deep, in whatever session, with what ended inside
 * it, and where it goes back that is told; its threads and switches are seen; killing it leaves none alive, and none to
 * wait for; a list of children is read whatever its length, and no number of it that may have been cut.
 *
 * Method: small trees of this program, whose processes report their own clocks, against what is read from outside.
 * Three calls of the C library are this program's own, so that a list can come out empty, long or cut, and a process
 * withstand.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runner/child.h"
#include "runner/process_tree.h"
#include "runner/usage.h"

/* The thread sanitizer has threads of its own in each process. */
#ifdef __SANITIZE_THREAD__
#define ARE_THREADS(found, expected) ((found) >= (expected))
#else
#define ARE_THREADS(found, expected) ((found) == (expected))
#endif

/* What a failed test leaves behind ends by itself. */
#define ORPHAN_LIFE_S 60

/* So many are given to a process that ends them. */
#define ORPHANS 400

/* Two readings of one clock that runs on in between. */
#define READINGS_APART_NS 100000000.0

/* ---- calls that fail when asked to ---- */

static int blind_lists;
static pid_t unkillable;

DIR *opendir(const char *path)
{
    int folder = blind_lists > 0 ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    blind_lists -= blind_lists > 0;
    return folder >= 0 ? fdopendir(folder) : NULL;
}

int kill(pid_t process, int number)
{
    errno = EPERM;
    return process == unkillable ? -1 : (int)syscall(SYS_kill, process, number);
}

/* What files read as while it is set; behind its end there is nothing more, or an error. */
static const char *told;
static size_t told_at;
static bool told_breaks;

ssize_t read(int file, void *out, size_t size)
{
    if (told == NULL)
        return syscall(SYS_read, file, out, size);
    size_t left = strlen(told + told_at), count = left < size ? left : size;
    memcpy(out, told + told_at, count);
    told_at += count;
    errno = EIO;
    return count == 0 && told_breaks ? -1 : (ssize_t)count;
}

/* ---- trees ---- */

static void burn_ns(uint64_t ns)
{
    uint64_t start_ns = usage_of_self();
    while (usage_of_self() - start_ns < ns)
        continue;
}

static void nap_ms(long ms)
{
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* A child that starts a grandchild in a session of its own and leaves it behind: an orphan, which this process, as the
 * keeper of a target does, takes over. Returns the grandchild. */
static pid_t start_orphan(void (*run)(void))
{
    int ends[2];
    pid_t grandchild;
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        grandchild = fork();
        if (grandchild == 0) {
            setsid();
            alarm(ORPHAN_LIFE_S);
            run();
            _exit(0);
        }
        ck_assert_int_eq(write(ends[1], &grandchild, sizeof grandchild), sizeof grandchild);
        _exit(0);
    }
    ck_assert_int_eq(read(ends[0], &grandchild, sizeof grandchild), sizeof grandchild);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    close(ends[0]);
    close(ends[1]);
    return grandchild;
}

static void burn_for_ever(void)
{
    for (;;)
        burn_ns(1000000000);
}

static void wait_for_ever(void)
{
    for (;;)
        pause();
}

START_TEST(test_cpu_of_an_orphan)
{
    uint64_t first_ns, last_ns, own_first_ns, own_last_ns;
    ck_assert(process_tree_is_known());
    pid_t burner = start_orphan(burn_for_ever);
    do {
        nap_ms(20);
        ck_assert_int_eq(usage_of_process(burner, &own_first_ns), 0);
    } while (own_first_ns < 50000000);
    first_ns = process_tree_cpu(getpid());
    do {
        nap_ms(20);
        ck_assert_int_eq(usage_of_process(burner, &own_last_ns), 0);
    } while (own_last_ns - own_first_ns < 400000000);
    last_ns = process_tree_cpu(getpid());
    ck_assert_double_eq_tol((double)(last_ns - first_ns), (double)(own_last_ns - own_first_ns), READINGS_APART_NS);
    process_tree_kill(getpid());
    ck_assert(!process_is_alive(burner));
}
END_TEST

/* What a process used that has ended inside the tree does not vanish with it: not as a zombie, and not when its parent
 * has waited for it. */
START_TEST(test_cpu_of_what_has_ended)
{
    uint64_t first_ns = process_tree_cpu(getpid());
    siginfo_t information;
    pid_t child = fork();
    if (child == 0) {
        burn_ns(300000000);
        _exit(0);
    }
    ck_assert_int_eq(waitid(P_PID, (id_t)child, &information, WEXITED | WNOWAIT), 0);
    ck_assert_double_eq_tol((double)(process_tree_cpu(getpid()) - first_ns), 3e8, 4e7);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_double_eq_tol((double)(process_tree_cpu(getpid()) - first_ns), 3e8, 4e7);
}
END_TEST

/* Nor when its parent, which has waited for it, is deeper in the tree and goes on. */
START_TEST(test_cpu_of_what_has_ended_below)
{
    int ends[2];
    char done;
    uint64_t first_ns = process_tree_cpu(getpid());
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        pid_t grandchild = fork();
        if (grandchild == 0) {
            burn_ns(300000000);
            _exit(0);
        }
        waitpid(grandchild, NULL, 0);
        ck_assert_int_eq(write(ends[1], "", 1), 1);
        wait_for_ever();
    }
    ck_assert_int_eq(read(ends[0], &done, 1), 1);
    ck_assert_double_eq_tol((double)(process_tree_cpu(getpid()) - first_ns), 3e8, 4e7);
    process_tree_kill(getpid());
}
END_TEST

static void *sleep_often(void *count)
{
    for (int i = 0; i < *(int *)count; i++)
        nap_ms(1);
    for (;;)
        pause();
    return NULL;
}

static void run_threads(void)
{
    static int often = 100;
    pthread_t threads[5];
    for (size_t i = 0; i < 5; i++)
        pthread_create(&threads[i], NULL, sleep_often, &often);
    wait_for_ever();
}

START_TEST(test_threads_and_switches)
{
    struct tree_sample first, last;
    struct tree_difference difference;
    process_tree_sample(getpid(), &first);
    ck_assert_uint_eq(first.thread_count, 0);
    start_orphan(run_threads);
    for (;;) {
        process_tree_sample(getpid(), &last);
        tree_difference(&first, &last, &difference);
        if (difference.voluntary >= 500)
            break;
        tree_sample_fini(&last);
        nap_ms(10);
    }
    ck_assert_uint_eq(last.process_count, 1);
    ck_assert(ARE_THREADS(last.thread_count, 6));
    ck_assert(ARE_THREADS(difference.threads_started, 6));
    ck_assert(last.memory_mib > 0 && last.memory_peak_mib >= last.memory_mib);
    ck_assert(difference.run_ns > 0);
    tree_difference(&last, &first, &difference);
    ck_assert(ARE_THREADS(difference.threads_ended, 6));
    tree_sample_fini(&first);
    tree_sample_fini(&last);
    process_tree_kill(getpid());
}
END_TEST

/* What happened is told by thread: numbers of one that is in one sample only are not taken from another's. */
START_TEST(test_difference)
{
    struct tree_thread before[] = {{10, 100, 10, 5, 50}, {11, 1000, 20, 6, 60}, {20, 9, 9, 9, 9}};
    struct tree_thread after[] = {{10, 150, 11, 7, 53}, {12, 7, 1, 1, 2}, {20, 9, 9, 9, 9}};
    const struct tree_sample first = {.threads = before, .thread_count = 3, .cpu_ns = 40};
    const struct tree_sample last = {.threads = after, .thread_count = 3, .cpu_ns = 100};
    struct tree_difference difference;
    tree_difference(&first, &last, &difference);
    ck_assert_uint_eq(difference.cpu_ns, 60);
    ck_assert_uint_eq(difference.run_ns, 50 + 7);
    ck_assert_uint_eq(difference.delay_ns, 1 + 1);
    ck_assert_uint_eq(difference.voluntary, 2 + 1);
    ck_assert_uint_eq(difference.involuntary, 3 + 2);
    ck_assert_uint_eq(difference.threads_started, 1);
    ck_assert_uint_eq(difference.threads_ended, 1);
}
END_TEST

/* A number that was given to another thread in between, which has done less, belongs to one that is new. */
START_TEST(test_difference_of_reused_numbers)
{
    struct tree_thread before[] = {
        {10, 100, 10, 5, 50}, {11, 100, 10, 5, 50}, {12, 100, 10, 5, 50}, {13, 100, 10, 5, 50}};
    struct tree_thread after[] = {{10, 99, 10, 5, 50}, {11, 100, 9, 5, 50}, {12, 100, 10, 4, 50}, {13, 100, 10, 5, 49}};
    const struct tree_sample first = {.threads = before, .thread_count = 4, .cpu_ns = 40};
    const struct tree_sample last = {.threads = after, .thread_count = 4, .cpu_ns = 40};
    struct tree_difference difference;
    tree_difference(&first, &last, &difference);
    ck_assert_uint_eq(difference.run_ns, 99 + 3 * 100);
    ck_assert_uint_eq(difference.delay_ns, 9 + 3 * 10);
    ck_assert_uint_eq(difference.voluntary, 4 + 3 * 5);
    ck_assert_uint_eq(difference.involuntary, 49 + 3 * 50);
    ck_assert_uint_eq(difference.threads_started, 4);
    ck_assert_uint_eq(difference.threads_ended, 4);
    ck_assert(!difference.cpu_went_back);
}
END_TEST

/* A child that used CPU and has ended without anybody waiting for it takes its clock with it. */
START_TEST(test_cpu_that_goes_back)
{
    struct tree_sample first, last;
    struct tree_difference difference;
    int ends[2];
    char byte;
    ck_assert_int_eq(pipe(ends), 0);
    signal(SIGCHLD, SIG_IGN);
    pid_t child = fork();
    if (child == 0) {
        burn_ns(100000000);
        ck_assert_int_eq(write(ends[1], "", 1), 1);
        wait_for_ever();
    }
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    process_tree_sample(getpid(), &first);
    ck_assert_uint_ge(first.cpu_ns, 100000000);
    kill(child, SIGKILL);
    int got;
    while ((got = waitpid(child, NULL, 0)) < 0 && errno == EINTR)
        continue;
    ck_assert_int_eq(got, -1);  /* nobody is told of it */
    while (kill(child, 0) == 0) /* and it may still be leaving */
        nap_ms(1);
    process_tree_sample(getpid(), &last);
    tree_difference(&first, &last, &difference);
    ck_assert(difference.cpu_went_back);
    ck_assert_uint_eq(difference.cpu_ns, 0);
    tree_sample_fini(&first);
    tree_sample_fini(&last);
}
END_TEST

/* One look at which nobody seems to be there is not believed. */
START_TEST(test_kill_looks_twice)
{
    pid_t child = fork();
    if (child == 0)
        wait_for_ever();
    blind_lists = 1;
    ck_assert(process_tree_kill(getpid()));
    ck_assert_int_eq(blind_lists, 0);
    ck_assert(!process_is_alive(child));
}
END_TEST

START_TEST(test_kill_says_that_it_failed)
{
    pid_t child = fork();
    if (child == 0)
        wait_for_ever();
    unkillable = child;
    ck_assert(!process_tree_kill(getpid()));
    ck_assert(process_is_alive(child));
    unkillable = 0;
    ck_assert(process_tree_kill(getpid()));
    ck_assert(!process_is_alive(child));
}
END_TEST

/* The state behind the name is not that of a zombie. */
static bool first_thread_is_there(pid_t process)
{
    char path[64], state = 'Z';
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    FILE *stream = fopen(path, "r");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(fscanf(stream, "%*d %*s %c", &state), 1);
    fclose(stream);
    return state != 'Z';
}

static void *wait_in_thread(void *unused)
{
    wait_for_ever();
    return unused;
}

static void leave_it_to_a_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, wait_in_thread, NULL);
    pthread_exit(NULL);
}

/* It looks ended, but one of its threads goes on. */
START_TEST(test_kill_without_a_first_thread)
{
    pid_t process = start_orphan(leave_it_to_a_thread);
    while (first_thread_is_there(process))
        nap_ms(1);
    ck_assert(process_is_alive(process));
    ck_assert(process_tree_kill(getpid()));
    ck_assert_int_eq(syscall(SYS_kill, process, 0), -1);
}
END_TEST

/* Nothing of them is left, not even what is to be waited for. */
START_TEST(test_kill_of_many_orphans)
{
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    for (int i = 0; i < ORPHANS; i++) {
        pid_t child = fork();
        if (child == 0 && fork() == 0) {
            setsid();
            alarm(ORPHAN_LIFE_S);
            wait_for_ever();
        }
        if (child == 0)
            _exit(0);
    }
    ck_assert(process_tree_kill(getpid()));
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
}
END_TEST

/* The runner says so, and ends the keeper of the tree all the same. */
START_TEST(test_what_cannot_be_killed_is_told)
{
    struct child keeper;
    char text[256] = "";
    int ends[2];
    child_init(&keeper, "target");
    keeper.keeps_tree = true;
    ck_assert_int_eq(pipe(ends), 0);
    keeper.pid = fork();
    if (keeper.pid == 0) {
        pid_t server = fork();
        alarm(ORPHAN_LIFE_S);
        if (server > 0)
            ck_assert_int_eq(write(ends[1], &server, sizeof server), sizeof server);
        wait_for_ever();
    }
    ck_assert_int_eq(read(ends[0], &unkillable, sizeof unkillable), sizeof unkillable);
    ck_assert_int_ge(dup2(ends[1], STDERR_FILENO), 0);
    child_end(&keeper);
    ck_assert_int_gt(read(ends[0], text, sizeof text - 1), 0);
    ck_assert_str_eq(text, "pilfer: target: not all of its processes could be killed\n");
    ck_assert(keeper.ended && process_is_alive(unkillable));
    ck_assert_int_eq(syscall(SYS_kill, unkillable, SIGKILL), 0);
}
END_TEST

/* ---- lists ---- */

/* Numbers above those that a process can have: nobody is there whose children could be asked for. */
#define FIRST_PID 5000000
#define LIST_SIZE 3000

/* Reads lists of children from a text. */
static void list_told(const char *text, bool breaks, struct process_list *out)
{
    told = text;
    told_at = 0;
    told_breaks = breaks;
    process_tree_list(getpid(), out);
    told = NULL;
}

START_TEST(test_a_long_list)
{
    static char text[LIST_SIZE * 8 + 1];
    struct process_list list;
    for (int i = 0; i < LIST_SIZE; i++)
        snprintf(text + i * 8, 9, "%d ", FIRST_PID + i);
    list_told(text, _i != 0, &list);
    ck_assert_uint_eq(list.count, LIST_SIZE);
    for (int i = 0; i < LIST_SIZE; i++)
        ck_assert_int_eq(list.pids[i], FIRST_PID + i);
    process_list_fini(&list);
}
END_TEST

/* The number at which it is cut could be that of any process. */
START_TEST(test_a_list_that_is_cut)
{
    struct process_list list;
    list_told("5000000 5000", _i != 0, &list);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_int_eq(list.pids[0], FIRST_PID);
    process_list_fini(&list);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("process_tree");
    TCase *cases = tcase_create("all");
    suite_add_tcase(suite, cases);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, test_cpu_of_an_orphan);
    tcase_add_test(cases, test_cpu_of_what_has_ended);
    tcase_add_test(cases, test_cpu_of_what_has_ended_below);
    tcase_add_test(cases, test_threads_and_switches);
    tcase_add_test(cases, test_difference);
    tcase_add_test(cases, test_difference_of_reused_numbers);
    tcase_add_test(cases, test_cpu_that_goes_back);
    tcase_add_test(cases, test_kill_looks_twice);
    tcase_add_test(cases, test_kill_says_that_it_failed);
    tcase_add_test(cases, test_kill_without_a_first_thread);
    tcase_add_test(cases, test_kill_of_many_orphans);
    tcase_add_test(cases, test_what_cannot_be_killed_is_told);
    tcase_add_loop_test(cases, test_a_long_list, 0, 2);
    tcase_add_loop_test(cases, test_a_list_that_is_cut, 0, 2);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
