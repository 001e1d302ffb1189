/* SPDX-License-Identifier: MIT
 *
 * Promises: in a sweep of the model and of real servers, both are named and told apart in every kind of picture, one
 * spin limit has one colour, and what a foreign process does not say is left out with a note, not drawn as zero.
 * Fidelity shows ratios to the own cell with one worker at spin limit 0, block by block, or says in one line what it
 * lacks.
 *
 * Method: made-up sweeps printed as bars of text, and the script that gnuplot would get.
 */
#include "plot_fixture.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static void expect_no_text(const char *text, const char *unwanted)
{
    ck_assert_msg(strstr(text, unwanted) == NULL, "found \"%s\" in:\n%s", unwanted, text);
}

/* The line of a text that begins, after spaces, with these words, cut into a buffer. */
static const char *line_of(const char *text, const char *begins)
{
    static char line[512];
    for (const char *at = text; at != NULL; at = strchr(at, '\n')) {
        at += strspn(at, " \n");
        if (strncmp(at, begins, strlen(begins)) == 0) {
            snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
            return line;
        }
    }
    ck_abort_msg("no line that begins with \"%s\": %.3000s", begins, text);
}

/* The script for a kind of picture of the made-up sweep. */
static char *script_of(enum plot_kind kind)
{
    fake_gnuplot("cp plot.gp picture");
    return draw_file((struct plot_request){.kind = kind}, "a.png");
}

static void add_cell(const char *label, const char *target, const char *workers, const char *spin, double cpu_percent)
{
    made_sweep_add(&made, (struct made_cell){.label = label,
                                             .target = target,
                                             .target_version = target != NULL ? ".NET 10.0.12" : NULL,
                                             .max_workers = workers,
                                             .spin_limit = spin,
                                             .cpu_percent = cpu_percent});
}

/* ---- every kind ---- */

/* The scheduler that models a runtime is called like the target; a target may be called as no target is on the command
 * line. */
START_TEST(test_model_and_target_of_one_name_are_two)
{
    add_cell("dotnet", NULL, "2", "0", 20);
    add_cell(NULL, _i == 0 ? "dotnet" : "none", "2", "0", 80);
    char *text = draw((struct plot_request){.kind = PLOT_CPU_VS_THREADS}, 0);
    expect_text(line_of(text, "model dotnet"), " 20.0");
    expect_text(line_of(text, ".NET 10.0.12"), " 80.0");
    free(text);
    text = draw((struct plot_request){.kind = PLOT_HEATMAP}, 0);
    expect_text(text, "model dotnet (");
    expect_text(text, ".NET 10.0.12 (");
    free(text);
}
END_TEST

START_TEST(test_targets_are_named_by_what_they_are)
{
    static const struct {
        const char *target, *version, *other, *named;
    } names[] = {
        {"dotnet", ".NET 10.0.12", NULL, ".NET 10.0.12"},
        {"mine", NULL, NULL, "mine"},
        {"mine", "nightly", NULL, "mine (nightly)"},
        {"java", "openjdk version \"17.0.15\" 2025-04-15", NULL, "java 17.0.15"},
        {"node", "v22.1.0", NULL, "node 22.1.0"},
        {"dotnet", ".NET 10.0.12", "dotnet-router", "dotnet 10.0.12"},
    };
    made_sweep_add(&made, (struct made_cell){.target = names[_i].target,
                                             .target_version = names[_i].version,
                                             .max_workers = "1",
                                             .cpu_percent = 20});
    if (names[_i].other != NULL) {
        add_cell(NULL, names[_i].other, "1", NULL, 30);
    }
    char *text = draw((struct plot_request){.kind = PLOT_HEATMAP}, 0);
    expect_text(text, names[_i].named);
    expect_no_text(text, "model");
    free(text);
}
END_TEST

START_TEST(test_colour_is_the_spin_limit_and_dashes_are_what_executes)
{
    made_sweep_high_cpu(&made);
    made_sweep_add_real(&made);
    char *text = script_of(_i == 0 ? PLOT_CPU_VS_THREADS : PLOT_FIDELITY);
    static const char *const key[] = {"= 110\nseries_title[1] = '.NET 10.0.12'", "= 81\nseries_title[2] = 'spin 0'",
                                      "= 710\nseries_title[3] = 'model chase-lev'",
                                      "= 82\nseries_title[4] = 'spin default'"};
    for (size_t i = 0; i < 4; i++) {
        expect_text(text, key[i]);
    }
    expect_text(text, "key_is_broken = 1\n");
    expect_text(text, "series_style[1] = 101\nseries_style[2] = 102\nseries_style[3] = 701\nseries_style[4] = 702\n");
    free(text);
}
END_TEST

/* A target's default is handed on as nothing: no number is known, and nobody counts its threads. */
START_TEST(test_default_has_a_place_of_its_own)
{
    made_sweep_add_real(&made);
    made_sweep_high_cpu(&made);
    char *text = script_of((enum plot_kind)_i);
    expect_text(text, "('1' 1, '2' 2, '12' 3, '25' 4, 'default' 5.4)");
    expect_no_text(text, "engaged");
    free(text);
}
END_TEST

START_TEST(test_published_figures_have_the_colours_of_the_key)
{
    FILE *file = fopen(in_folder("published.csv"), "w");
    fputs("max_workers,spin_limit,router_cpu_low,router_cpu_high\n1,default,20,30\n1,5,10,20\n", file);
    fclose(file);
    made_sweep_high_cpu(&made);
    made_sweep_add_real(&made);
    fake_gnuplot("cp plot.gp picture");
    struct plot_request request = {.kind = PLOT_CPU_VS_THREADS, .published = in_folder("published.csv")};
    char *text = draw_file(request, "a.png");
    expect_text(text, "= 82\nseries_title[4] = 'spin default'");
    expect_text(text, "= 83\nseries_title[6] = 'spin 5'");
    expect_text(text, "series_style[1] = 1202\nseries_style[2] = 1203\n"); /* the same colours */
    free(text);
}
END_TEST

START_TEST(test_spins_of_a_target_are_in_order)
{
    add_cell("chase-lev", NULL, "1", "0", 20);
    add_cell(NULL, "dotnet", "1", "0", 80);
    add_cell(NULL, "dotnet", "1", "default", 90);
    add_cell(NULL, "dotnet", "1", "5", 85);
    char *text = script_of(PLOT_CPU_VS_THREADS); /* no default of the model tells what the target's may be */
    expect_text(text, "'spin 0'");
    const char *five = strstr(text, "'spin 5'"), *last = strstr(text, "'spin default'");
    ck_assert(five != NULL && last != NULL && five < last);
    free(text);
}
END_TEST

START_TEST(test_too_many_lines_get_panels_by_spin_limit)
{
    static const char *const labels[] = {"a", "b", "c", "d", "e"};
    for (int i = 0; i < 5; i++) {
        add_cell(labels[i], NULL, "1", "0", 20);
        add_cell(labels[i], NULL, "1", "5", 20);
    }
    add_cell(NULL, "dotnet", "1", "0", 80);
    add_cell(NULL, "dotnet", "1", "5", 80);
    char *text = script_of(PLOT_CPU_VS_THREADS);
    expect_text(text, "'closed loop, spin 5'");
    expect_text(text, "'.NET 10.0.12'");
    expect_text(text, "'model e'");
    free(text);
}
END_TEST

START_TEST(test_what_nobody_stamps_is_left_out)
{
    made_sweep_high_cpu(&made);
    made_sweep_add_real(&made);
    char *text = draw((struct plot_request){.kind = PLOT_CPU_SPLIT, .width = 400}, 0);
    expect_text(text, "20 cells of targets are left out: nobody stamps what a foreign process does.");
    expect_no_text(text, ".NET");
    free(text);
}
END_TEST

/* No axis can be made of max-workers that nothing has: a line across would be all there is. */
START_TEST(test_servers_without_the_knob_are_points)
{
    enum plot_kind kind = (enum plot_kind)_i;
    add_cell(NULL, "go", NULL, NULL, 20);
    add_cell(NULL, "java", NULL, NULL, 30);
    char *text = script_of(kind);
    expect_text(text, " ('(no knob)' 1)\n");
    expect_text(text, "reference_count = 0\n");
    expect_text(text, "series_count = 2\nline_count = 2\n");
    free(text);
    add_cell(NULL, "dotnet", "1", "0", 40); /* beside one that has it, they are lines across */
    text = draw_file((struct plot_request){.kind = kind, .force = true}, "a.png");
    expect_no_text(text, "(no knob)");
    expect_text(text, "('1' 1)\n");
    expect_text(text, "reference_count = 3\n"); /* and the one worker */
    free(text);
}
END_TEST

/* ---- fidelity ---- */

START_TEST(test_ratios_are_to_the_own_first_cell)
{
    made_sweep_high_cpu(&made);
    made_sweep_add_real(&made);
    char *text = draw((struct plot_request){.kind = PLOT_FIDELITY, .width = 110}, 0);
    static const char *const lines[][3] = {
        {".NET 10.0.12, spin 0", "1", " 1.00  [1.00 to 1.00]"},
        {".NET 10.0.12, spin default", "25", " 5.00  [5.00 to 5.00]"},
        {"model chase-lev, spin 0", "default", " 3.00  [3.00 to 3.00]"},
        {"model chase-lev, spin default", "1", " 2.00  [2.00 to 2.00]"},
    };
    for (size_t i = 0; i < 4; i++) { /* what all cells of a block have in common cancels: no width is left */
        char begins[64];
        snprintf(begins, sizeof begins, "%-31s%-8s|", lines[i][0], lines[i][1]);
        expect_text(line_of(text, begins), lines[i][2]);
    }
    const char *paced = strstr(text, "paced, 2,000 requests/s"), *closed = strstr(text, "closed loop");
    ck_assert(paced != NULL && closed != NULL && paced < closed);
    expect_text(text, "Spin default is 70 in the model.");
    free(text);
}
END_TEST

START_TEST(test_each_variant_has_a_row)
{
    made_sweep_high_cpu(&made);
    made_sweep_add_real(&made);
    add_cell("inline", NULL, "1", "0", 20);
    char *text = script_of(PLOT_FIDELITY);
    const char *const titles[] = {"'paced, 2,000 requests/s, model chase-lev'", "'closed loop, model chase-lev'",
                                  "'paced, 2,000 requests/s, model inline,'", "'not measured'",
                                  "'closed loop, model inline'"};
    const char *at = text;
    for (size_t i = 0; i < 5; i++) {
        at = strstr(at, titles[i]);
        ck_assert_msg(at != NULL, "expected %s after: %.3000s", titles[i], text);
    }
    free(text);
}
END_TEST

START_TEST(test_wide_spans_are_logarithmic)
{
    static const double most[] = {60, 600};
    add_cell("chase-lev", NULL, "1", "0", 20);
    add_cell("chase-lev", NULL, "2", "0", most[_i]);
    add_cell(NULL, "dotnet", "1", "0", 80);
    char *text = script_of(PLOT_FIDELITY);
    ck_assert_int_eq(strstr(text, "set logscale y") != NULL, _i == 1);
    free(text);
}
END_TEST

START_TEST(test_fidelity_says_what_it_leaves_out)
{
    made_sweep_high_cpu(&made);
    made_sweep_add_real(&made);
    made_sweep_add(&made, (struct made_cell){.label = "chase-lev",
                                             .mode = "paced",
                                             .rate_rps = 4000,
                                             .max_workers = "1",
                                             .spin_limit = "0",
                                             .cpu_percent = 20});
    made_sweep_add(&made, (struct made_cell){.target = "dotnet",
                                             .target_version = ".NET 10.0.12",
                                             .mode = "paced",
                                             .rate_rps = 5000,
                                             .max_workers = "2",
                                             .spin_limit = "0",
                                             .cpu_percent = 20});
    made_sweep_add(
        &made, (struct made_cell){
                   .label = "chase-lev", .max_workers = "3", .spin_limit = "0", .cpu_percent = 20, .disturbed = true});
    char *text = draw((struct plot_request){.kind = PLOT_FIDELITY, .width = 400}, 0);
    expect_text(text, "1 cell is left out, for want of one of the same executor with one worker at spin 0.");
    expect_text(text, "1 cell is left out, as only one side was measured there.");
    expect_text(text, "1 cell was disturbed in all repeats and is shown with them.");
    expect_no_text(text, "4,000");
    free(text);
}
END_TEST

START_TEST(test_what_fidelity_lacks_is_a_sentence)
{
    static const struct {
        bool model, real;
        const char *workers, *said;
    } sweeps[] = {
        {true, false, "1", "holds no real runtime to set beside the model"},
        {false, true, "1", "holds no model to set beside the real runtime"},
        {true, true, "2", "2 cells lack a valid cell of the same executor, mode and rate with max-workers 1"},
    };
    if (sweeps[_i].model) {
        add_cell("dotnet", NULL, sweeps[_i].workers, "0", 20);
    }
    if (sweeps[_i].real) {
        add_cell(NULL, "dotnet", sweeps[_i].workers, "0", 80);
    }
    char *text = draw((struct plot_request){.kind = PLOT_FIDELITY}, 1);
    ck_assert_str_eq(text, "");
    expect_text(message, sweeps[_i].said);
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plot_mixed");
    TCase *tests = tcase_create("mixed");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, test_model_and_target_of_one_name_are_two, 0, 2);
    tcase_add_loop_test(tests, test_servers_without_the_knob_are_points, PLOT_CPU_VS_THREADS, PLOT_CPU_PER_REQUEST + 1);
    tcase_add_loop_test(tests, test_targets_are_named_by_what_they_are, 0, 6);
    tcase_add_loop_test(tests, test_colour_is_the_spin_limit_and_dashes_are_what_executes, 0, 2);
    tcase_add_test(tests, test_published_figures_have_the_colours_of_the_key);
    tcase_add_test(tests, test_spins_of_a_target_are_in_order);
    tcase_add_test(tests, test_too_many_lines_get_panels_by_spin_limit);
    tcase_add_test(tests, test_what_nobody_stamps_is_left_out);
    tcase_add_loop_test(tests, test_default_has_a_place_of_its_own, PLOT_CPU_VS_THREADS, PLOT_CPU_PER_REQUEST + 1);
    tcase_add_loop_test(tests, test_default_has_a_place_of_its_own, PLOT_HEATMAP, PLOT_FIDELITY + 1);
    tcase_add_test(tests, test_ratios_are_to_the_own_first_cell);
    tcase_add_test(tests, test_each_variant_has_a_row);
    tcase_add_loop_test(tests, test_wide_spans_are_logarithmic, 0, 2);
    tcase_add_test(tests, test_fidelity_says_what_it_leaves_out);
    tcase_add_loop_test(tests, test_what_fidelity_lacks_is_a_sentence, 0, 3);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
