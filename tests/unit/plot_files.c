/* SPDX-License-Identifier: MIT
 *
 * Promises: a picture's file is complete or not there, and is not replaced unasked; without a working gnuplot there is
 * one line, status 3 and the same chart as bars of text; no process and no folder is left behind but the script that
 * failed.
 *
 * Method: fake gnuplots in PATH that fail in each way; a limit on the size of files plays the full disk.
 */
#include "plot_fixture.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- files ---- */

START_TEST(test_an_existing_file_is_not_replaced_unasked)
{
    made_sweep_high_cpu(&made);
    fake_gnuplot("echo drawn > picture");
    FILE *file = fopen(in_folder("a.svg"), "w");
    fputs("mine", file);
    fclose(file);
    struct plot_request request = {.kind = PLOT_HEATMAP, .output = in_folder("a.svg")};
    free(draw(request, 2));
    expect_text(message, "--force");
    char *text = content(in_folder("a.svg"));
    ck_assert_str_eq(text, "mine");
    free(text);
    request.force = true;
    free(draw(request, 0));
    text = content(in_folder("a.svg"));
    ck_assert_str_eq(text, "drawn\n");
    free(text);
    ck_assert_uint_eq(entries(folder), 3); /* the file, bin and the temporary folder */
}
END_TEST

START_TEST(test_a_file_that_appears_meanwhile_is_not_replaced)
{
    char script[1024];
    made_sweep_high_cpu(&made);
    snprintf(script, sizeof script, "echo drawn > picture; echo mine > '%s'", in_folder("a.png"));
    fake_gnuplot(script);
    free(draw((struct plot_request){.kind = PLOT_HEATMAP, .output = in_folder("a.png")}, 2));
    char *text = content(in_folder("a.png"));
    ck_assert_str_eq(text, "mine\n");
    free(text);
    ck_assert_uint_eq(entries(folder), 3);
}
END_TEST

START_TEST(test_requests_that_cannot_be_met)
{
    static const struct {
        struct plot_request request;
        const char *name, *said;
        int status;
    } requests[] = {
        {{0}, "a.gif", ".png, .svg or .pdf", 2},
        {{0}, ".svg", ".png, .svg or .pdf", 2},
        {{.width = 100, .height = 100}, "a.png", "too small", 2},
        {{.width = 100000, .height = 100}, "a.png", "too large", 2},
        {{.published = "/nonexistent.csv"}, "a.png", "/nonexistent.csv", 3},
        {{0}, "missing/a.png", "No such file or directory", 3},
    };
    made_sweep_high_cpu(&made);
    fake_gnuplot("echo drawn > picture");
    struct plot_request request = requests[_i].request;
    request.output = requests[_i].name[0] == '.' ? requests[_i].name : in_folder(requests[_i].name);
    free(draw(request, requests[_i].status));
    expect_text(message, requests[_i].said);
    ck_assert_uint_eq(entries(folder), 2);
    ck_assert_uint_eq(entries(temporary), 0);
}
END_TEST

/* Lets no file of this process grow beyond a limit: what a full disk does. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

START_TEST(test_a_failed_write_leaves_no_file)
{
    static const rlim_t limits[] = {1000, 100000}; /* the script does not fit; the picture does not */
    made_sweep_high_cpu(&made);
    fake_gnuplot("ulimit -S -f unlimited; head -c 500000 /dev/zero > picture");
    limit_files(limits[_i]);
    char *text = draw((struct plot_request){.kind = PLOT_HEATMAP, .output = in_folder("a.png")}, 3);
    limit_files(RLIM_INFINITY);
    expect_text(message, "File too large");
    ck_assert_str_eq(text, "");
    free(text);
    ck_assert_uint_eq(entries(folder), 2); /* bin and the temporary folder */
    ck_assert_uint_eq(entries(temporary), 0);
}
END_TEST

/* ---- gnuplot's failures ---- */

START_TEST(test_without_gnuplot_the_chart_is_bars)
{
    made_sweep_high_cpu(&made);
    without_gnuplot();
    char *text = draw((struct plot_request){.kind = PLOT_CPU_VS_THREADS, .output = in_folder("a.png")}, 3);
    expect_text(message, "gnuplot");
    expect_text(text, "spin default");
    expect_text(text, "  12      |#");
    expect_text(text, "kernel: Linux 6.1.0");
    free(text);
    ck_assert_uint_eq(entries(folder), 1);
    ck_assert_uint_eq(entries(temporary), 0);
}
END_TEST

static const struct {
    const char *script, *said;
} failures[] = {
    {"exit 0", "wrote nothing"},
    {": > picture", "wrote nothing"},
    {"echo 6.0; echo '\"plot.gp\" line 2: unknown terminal type' >&2; exit 1", "unknown terminal type"},
    {"echo 5.0 >&2; exit 1", "gnuplot 5 is too old"},
    {"kill -9 $$", "signal 9"},
    {"sleep 1000 & sleep 1000", "did not finish within 1 s"},
};

START_TEST(test_a_failing_gnuplot_is_one_line_and_bars)
{
    made_sweep_high_cpu(&made);
    fake_gnuplot(failures[_i].script);
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    struct plot_request request = {.kind = PLOT_HEATMAP, .output = in_folder("a.png"), .limit_s = 1};
    char *text = draw(request, 3);
    expect_text(message, failures[_i].said);
    expect_text(text, "max-workers");
    free(text);
    ck_assert_int_ne(access(in_folder("a.png"), F_OK), 0);
    ck_assert_uint_eq(entries(folder), 2);
    ck_assert_uint_eq(entries(temporary), 1); /* the script, for a look */
    while (waitpid(-1, NULL, 0) > 0) {        /* hangs here if a process of gnuplot's was left running */
    }
    ck_assert_int_eq(errno, ECHILD);
}
END_TEST

/* Ctrl-C while gnuplot draws: nothing is left, and the signal does what it would have done. */
START_TEST(test_an_interrupted_plot_leaves_nothing)
{
    made_sweep_high_cpu(&made);
    fake_gnuplot("kill -TERM $PPID; sleep 1000");
    pid_t child = fork();
    if (child == 0) {
        struct plot_request request = {
            .kind = PLOT_HEATMAP, .set = &made.set, .sweep = &made.sweep, .output = in_folder("a.png")};
        signal(SIGTERM, SIG_DFL);
        plot_write(&request, message);
        _exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    ck_assert_uint_eq(entries(folder), 2);
    ck_assert_uint_eq(entries(temporary), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plot_files");
    TCase *tests = tcase_create("files");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, test_an_existing_file_is_not_replaced_unasked);
    tcase_add_test(tests, test_a_file_that_appears_meanwhile_is_not_replaced);
    tcase_add_loop_test(tests, test_requests_that_cannot_be_met, 0, 6);
    tcase_add_loop_test(tests, test_a_failed_write_leaves_no_file, 0, 2);
    tcase_add_test(tests, test_without_gnuplot_the_chart_is_bars);
    tcase_add_loop_test(tests, test_a_failing_gnuplot_is_one_line_and_bars, 0, sizeof failures / sizeof *failures);
    tcase_add_test(tests, test_an_interrupted_plot_leaves_nothing);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
