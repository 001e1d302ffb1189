/* SPDX-License-Identifier: MIT
 *
 * Promises: the report of the sweep `fidelity` holds each model against the real runtime by ratios, not by absolute
 * figures, and tells a model that follows the runtime from one that does not; disturbed repeats do not count where
 * there are others; a model may have the target's name; a runtime that does not repeat its own order judges no model;
 * windows that did not wait, and cells without a place in the tables, are told. The item cost is the one at which the
 * model would take what the runtime takes, never below 0, and unknown where the cells do not give it; it is told with
 * the mode and the rate of the cells from which it was set.
 */
#include "cli/fidelity_costs.h"
#include "cli/fidelity_report.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPEATS 4
#define ROWS    200

/* One executor in one mode: CPU per request by setting, in the order of the settings below; 0 is not measured. */
struct invention {
    const char *label;
    bool real;
    const char *mode;
    double rate_rps, cpu_us[6];
};

static const char *const settings[6][2] = {{"1", "0"},       {"1", "default"},       {"2", "0"},
                                           {"2", "default"}, {"default", "default"}, {"12", "5"}};

static struct result rows[ROWS];
static struct result_set set;

static void add(const struct invention *invention, int setting, int repeat, double factor, bool disturbed)
{
    struct result *row = &rows[set.count++];
    char id[128];
    double cpu_us = invention->cpu_us[setting] * factor;
    snprintf(id, sizeof id, "%d %s %s %g %d", invention->real, invention->label, invention->mode, invention->rate_rps,
             setting);
    result_init(row);
    result_set_number(row, RESULT_sweep_id, 1);
    result_set_text(row, RESULT_cell_id, id);
    result_set_number(row, RESULT_repeat, repeat);
    result_set_text(row, RESULT_label, invention->label);
    if (invention->real) {
        result_set_text(row, RESULT_target, invention->label);
        result_add_setting(row, "target_version", "Runtime 1.2.3");
    } else {
        result_add_setting(row, "item_cost_percent", "33");
        result_add_number(row, "yields", 7 * 1000);
    }
    result_set_text(row, RESULT_mode, invention->mode);
    if (strcmp(invention->mode, "paced") == 0)
        result_set_number(row, RESULT_rate_rps, invention->rate_rps);
    result_set_text(row, RESULT_max_workers, settings[setting][0]);
    result_set_text(row, RESULT_spin_limit, settings[setting][1]);
    result_set_number(row, RESULT_valid, 1);
    result_set_number(row, RESULT_disturbed, disturbed);
    result_set_number(row, RESULT_requests, 1000);
    result_set_number(row, RESULT_router_cpu_us_per_request, cpu_us);
    result_add_number(row, "voluntary_switches", 2500);
}

static void add_all(const struct invention *invention)
{
    for (int setting = 0; setting < 6; setting++) {
        for (int repeat = 1; repeat <= REPEATS && invention->cpu_us[setting] > 0; repeat++)
            add(invention, setting, repeat, 1 + 0.001 * repeat, false);
    }
}

static void begin(void)
{
    set = (struct result_set){.rows = rows};
}

static void end(void)
{
    for (size_t i = 0; i < set.count; i++)
        result_fini(&rows[i]);
}

/* The report in one line with single blanks; the caller frees. */
static char *report(size_t *count)
{
    char *text = NULL;
    size_t size = 0, used = 0;
    FILE *stream = open_memstream(&text, &size);
    size_t figures = fidelity_report_print(&set, "as given", stream);
    fclose(stream);
    if (count != NULL)
        *count = figures;
    for (const char *next = text; *next != '\0'; next++) {
        char byte = *next == '\n' ? ' ' : *next;
        if (byte != ' ' || (used > 0 && text[used - 1] != ' '))
            text[used++] = byte;
    }
    text[used] = '\0';
    return text;
}

static void expect(const char *text, const char *part, bool there)
{
    bool found = strstr(text, part) != NULL;
    ck_assert_msg(found == there, "'%s' is %sin: %s", part, found ? "" : "not ", text);
}

static const struct invention real = {"dotnet", true, "paced", 1000, {40, 80, 60, 200, 240, 70}};

START_TEST(ratios)
{
    /* Half the CPU everywhere: the same ratios. And the target's name. */
    const struct invention model = {"dotnet", false, "paced", 1000, {20, 40, 30, 100, 120, 35}};
    size_t count;
    add_all(&real);
    add_all(&model);
    char *text = report(&count);
    ck_assert_uint_eq(count, 5);
    expect(text, "target dotnet, Runtime 1.2.3", true);
    expect(text, "Its items cost 33 % of the published estimates, as given", true);
    expect(text, "No window waited for steady CPU", true);
    expect(text, "are in none of these tables", false);
    expect(text, "Paced at 1000 requests/s", true);
    expect(text, "1 default 80.2 2.00 (2.00 2.00) 2.00 (2.00 2.00) 1.00", true);
    expect(text, "rank correlation 1.00 over 6 settings; noise ceiling 1.00", true);
    expect(text, "1.00 of it, which meets the aim of 0.9", true);
    expect(text, "5 of 5 ratios are within a factor 1.5 of the real one, as aimed at", true);
    expect(text, "1 default 2.50/2.50 -/- 7.00 - -", true);
    /* Numbers ascending, default behind them. */
    ck_assert(strstr(text, "12 5 70.2") < strstr(text, "default default 240.6"));
    ck_assert(strstr(text, "2 0 60.2") < strstr(text, "12 5 70.2"));
    free(text);
}
END_TEST

START_TEST(another_order)
{
    const struct invention model = {"dotnet-9", false, "paced", 1000, {40, 240, 200, 60, 44, 70}};
    add_all(&real);
    add_all(&model);
    char *text = report(NULL);
    expect(text, "below the aim of 0.9", true);
    expect(text, "1 of 5 ratios are within a factor 1.5 of the real one; the aim is all", true);
    expect(text, "The farthest: max-workers default, spin-limit default, 0.18 times the real ratio", true);
    free(text);
}
END_TEST

START_TEST(groups_are_apart)
{
    const struct invention closed = {"dotnet", true, "closed", 0, {10, 20, 30, 40, 50, 60}};
    const struct invention model = {"m", false, "closed", 0, {10, 20, 30, 40, 50, 60}};
    add_all(&closed);
    add_all(&model);
    add_all(&real);
    size_t count;
    char *text = report(&count);
    ck_assert_uint_eq(count, 5); /* none of the paced ones: the model has no cell there */
    ck_assert(strstr(text, "Paced at 1000") < strstr(text, "Closed loop"));
    expect(text, "m: no rank correlation", true);
    expect(text, "m: rank correlation 1.00", true);
    expect(text, "of the real one. The farthest", true); /* no factor is aimed at in the closed loop */
    free(text);
}
END_TEST

/* The index-th row of model m becomes a disturbed one of a hundred times the CPU. */
static void disturb(size_t index)
{
    double cpu_us = rows[index].columns[RESULT_router_cpu_us_per_request].number;
    result_set_number(&rows[index], RESULT_disturbed, 1);
    result_set_number(&rows[index], RESULT_router_cpu_us_per_request, 100 * cpu_us);
}

START_TEST(disturbed_ones)
{
    const struct invention model = {"m", false, "paced", 1000, {40, 80, 60, 200, 240, 70}};
    add_all(&real);
    size_t first = set.count;
    add_all(&model);
    disturb(first + REPEATS + 1); /* of one worker, default */
    char *text = report(NULL);
    expect(text, "1 default 80.2 2.00 (2.00 2.00) 2.00 (2.00 2.00) 1.00", true); /* it is left out */
    expect(text, "~2", false);
    free(text);
    for (size_t i = first; i < set.count; i++)
        result_set_number(&rows[i], RESULT_disturbed, 1);
    text = report(NULL);
    expect(text, "1 default 80.2 2.00 (2.00 2.00) ~2.00 (2.00 200", true); /* it is all that there is */
    free(text);
}
END_TEST

/* Odd repeats of one invention, even ones of the other. */
static void add_halves(const struct invention *odd, const struct invention *even)
{
    for (int setting = 0; setting < 6; setting++) {
        for (int repeat = 1; repeat <= REPEATS; repeat++)
            add(repeat % 2 == 1 ? odd : even, setting, repeat, 1, false);
    }
}

START_TEST(noise)
{
    /* A runtime whose order is another in each half: nothing can follow it. */
    const struct invention first = {"r", true, "paced", 1000, {10, 20, 30, 40, 50, 60}};
    const struct invention second = {"r", true, "paced", 1000, {20, 10, 40, 30, 60, 50}};
    const struct invention model = {"m", false, "paced", 1000, {10, 20, 30, 40, 50, 60}};
    add_halves(&first, &second);
    add_all(&model);
    char *text = report(NULL);
    expect(text, "noise ceiling 0.83", true); /* 1 - 6 * 6 / (6 * 35) */
    free(text);
}
END_TEST

START_TEST(chance)
{
    /* A runtime whose halves agree no better than two orders drawn at random do in more than one of 20 times. */
    const struct invention first = {"r", true, "paced", 1000, {10, 20, 30, 40, 50, 60}};
    const struct invention second = {"r", true, "paced", 1000, {30, 10, 20, 60, 40, 50}};
    const struct invention model = {"m", false, "paced", 1000, {10, 20, 30, 40, 50, 60}};
    add_halves(&first, &second);
    add_all(&model);
    char *text = report(NULL);
    expect(text, "better than chance would (0.66", true); /* 1 - 6 * 12 / (6 * 35) */
    expect(text, "the aim of 0.9", false);
    free(text);
}
END_TEST

START_TEST(disturbed_settings)
{
    /* One setting was never measured undisturbed: its ratio is shown and marked, and the order is not judged. */
    const struct invention model = {"m", false, "paced", 1000, {40, 80, 60, 200, 240, 70}};
    for (int setting = 0; setting < 6; setting++) {
        for (int repeat = 1; repeat <= REPEATS; repeat++)
            add(&real, setting, repeat, 1, setting == 3);
    }
    add_all(&model);
    char *text = report(NULL);
    expect(text, "rank correlation 1.00 over 6 settings", true);
    expect(text, "which judges nothing", true);
    expect(text, "1 of these settings stand on disturbed repeats alone", true);
    expect(text, "the aim of 0.9", false);
    free(text);
}
END_TEST

START_TEST(no_target)
{
    const struct invention model = {"m", false, "paced", 1000, {10, 20, 30, 40, 50, 60}};
    size_t count;
    add_all(&model);
    char *text = report(&count);
    ck_assert_uint_eq(count, 0);
    expect(text, "No real runtime was measured", true);
    free(text);
}
END_TEST

START_TEST(no_order)
{
    /* The second half turns the first round. */
    const struct invention first = {"r", true, "paced", 1000, {10, 20, 30, 40, 50, 60}};
    const struct invention second = {"r", true, "paced", 1000, {60, 50, 40, 30, 20, 10}};
    const struct invention model = {"m", false, "paced", 1000, {60, 50, 40, 30, 20, 10}};
    for (int setting = 0; setting < 6; setting++) {
        for (int repeat = 1; repeat <= REPEATS; repeat++)
            add(repeat % 2 == 1 ? &first : &second, setting, repeat, 1 + 0.1 * (repeat == 1), false);
    }
    add_all(&model);
    char *text = report(NULL);
    expect(text, "the runtime does not repeat its own order better than chance would (-1.00", true);
    expect(text, "no model can be judged by it here", true);
    expect(text, "the aim of 0.9", false);
    free(text);
}
END_TEST

START_TEST(common_settings)
{
    /* The ceiling is that of the settings which the model has too: without 2 workers, whose halves differ. */
    const struct invention first = {"r", true, "paced", 1000, {10, 20, 90, 1, 50, 60}};
    const struct invention second = {"r", true, "paced", 1000, {10, 20, 1, 90, 50, 60}};
    const struct invention model = {"m", false, "paced", 1000, {10, 20, 0, 0, 50, 60}};
    add_halves(&first, &second);
    add_all(&model);
    char *text = report(NULL);
    expect(text, "rank correlation 1.00 over 4 settings; noise ceiling 1.00", true);
    free(text);
}
END_TEST

START_TEST(doubts)
{
    const struct invention model = {"m", false, "paced", 1000, {40, 80, 60, 200, 240, 70}};
    const struct invention other = {"java", true, "paced", 1000, {1, 2, 3, 4, 5, 6}};
    add_all(&real);
    add_all(&model);
    for (size_t i = 0; i < set.count; i++)
        result_add_number(&rows[i], "cpu_steady", i != 3);
    add_all(&other);
    char *text = report(NULL);
    expect(text, "The window of 47 of 48 repeats began with steady CPU", true);
    expect(text, "6 of 18 cells are in none of these tables", true);
    expect(text, "rank correlation 1.00", true);
    free(text);
}
END_TEST

/* A cell of a model at a cost, or of the runtime where that is "". */
static void add_cost(const char *label, const char *cost, double cpu_us, bool disturbed)
{
    const struct invention invention = {label, cost[0] == '\0', "paced", 1000, {cpu_us}};
    add(&invention, 0, 1, 1, disturbed);
    if (cost[0] != '\0')
        result_add_setting(&rows[set.count - 1], "item_cost_percent", cost);
    char id[64];
    snprintf(id, sizeof id, "%s at %s", label, cost);
    result_set_text(&rows[set.count - 1], RESULT_cell_id, id);
}

static void add_costs(double real_us, double at_0_us, double at_100_us)
{
    add_cost("dotnet", "100", at_100_us, false);
    add_cost("dotnet", "", real_us, false);
    add_cost("dotnet", "0", at_0_us, false);
}

START_TEST(item_cost)
{
    add_costs(35, 20, 60);
    ck_assert_double_eq_tol(fidelity_costs_find(&set), 37.5, 1e-9);
}
END_TEST

START_TEST(item_cost_below_nothing)
{
    add_costs(15, 20, 60);
    ck_assert_double_eq(fidelity_costs_find(&set), 0);
}
END_TEST

START_TEST(item_cost_of_disturbed_repeats)
{
    add_cost("dotnet", "100", 60, true);
    add_cost("dotnet", "", 35, true);
    add_cost("dotnet", "0", 20, true);
    ck_assert_double_eq_tol(fidelity_costs_find(&set), 37.5, 1e-9);
}
END_TEST

START_TEST(item_cost_of_one_population)
{
    /* One cell has disturbed repeats only: those of the others count as well. */
    add_cost("dotnet", "100", 60, false);
    add_cost("dotnet", "", 35, true);
    add_cost("dotnet", "0", 20, false);
    ck_assert(fidelity_costs_are_disturbed(&set));
    const struct invention model = {"dotnet", false, "paced", 1000, {100}};
    add(&model, 0, 2, 1, true); /* a second, disturbed one of the dear cell: its median is then 80 */
    result_add_setting(&rows[set.count - 1], "item_cost_percent", "100");
    result_set_text(&rows[set.count - 1], RESULT_cell_id, "dotnet at 100");
    ck_assert_double_eq_tol(fidelity_costs_find(&set), 25, 1e-9);
}
END_TEST

START_TEST(item_cost_unknown)
{
    static const struct {
        const char *labels[4], *costs[4];
        double cpu_us[4];
    } cases[] = {
        {{"r", "m"}, {"", "0"}, {35, 20}},                            /* one model */
        {{"m", "m"}, {"0", "100"}, {20, 60}},                         /* no runtime */
        {{"r", "m", "m"}, {"", "0", "100"}, {35, 60, 20}},            /* falls */
        {{"r", "m", "m"}, {"", "0", "100"}, {35, 20, 20}},            /* level */
        {{"r", "m", "n"}, {"", "0", "100"}, {35, 20, 60}},            /* two models */
        {{"r", "m", "m", "m"}, {"", "0", "50", "100"}, {35, 20, 40, 60}}, /* three costs */
        {{"r", "s", "m", "m"}, {"", "", "0", "100"}, {35, 35, 20, 60}},   /* two runtimes */
        {{"r", "m", "m"}, {"", "0", "100"}, {1000, 20, 60}},          /* above what a cell may have */
        {{"r", "m", "m"}, {"", "0", "100"}, {35, 20, 60}},            /* no valid repeat of the runtime, below */
    };
    for (size_t i = 0; i < 4 && cases[_i].labels[i] != NULL; i++)
        add_cost(cases[_i].labels[i], cases[_i].costs[i], cases[_i].cpu_us[i], false);
    if (_i == 8)
        result_set_number(&rows[0], RESULT_valid, 0);
    ck_assert_double_nan(fidelity_costs_find(&set));
}
END_TEST

/* What is told of the costs on standard error; the caller frees. */
static char *said(double cost)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    fidelity_costs_say(&set, cost);
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    ck_assert_int_gt(getdelim(&text, &size, '\0', file), 0);
    fclose(file);
    return text;
}

START_TEST(item_cost_is_told_with_its_cells)
{
    add_costs(35, 20, 60);
    char *text = said(37.5);
    expect(text, "paced at 1000/s, one worker, spin limit 0: target dotnet: 35.0 ", true);
    expect(text, "paced at 1000/s, one worker, spin limit 0: model dotnet with item costs of 100: 60.0 ", true);
    expect(text, "item-cost-percent is set to 37.5", true);
    free(text);
    for (size_t i = 0; i < set.count; i++) { /* what `--set mode=closed` makes of the cells */
        result_set_text(&rows[i], RESULT_mode, "closed");
        result_set_number(&rows[i], RESULT_rate_rps, NAN);
    }
    text = said(37.5);
    expect(text, "closed loop, one worker, spin limit 0: target dotnet: 35.0 ", true);
    expect(text, "paced", false);
    free(text);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("fidelity");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, ratios);
    tcase_add_test(tests, another_order);
    tcase_add_test(tests, groups_are_apart);
    tcase_add_test(tests, disturbed_ones);
    tcase_add_test(tests, noise);
    tcase_add_test(tests, chance);
    tcase_add_test(tests, disturbed_settings);
    tcase_add_test(tests, no_order);
    tcase_add_test(tests, common_settings);
    tcase_add_test(tests, doubts);
    tcase_add_test(tests, no_target);
    tcase_add_test(tests, item_cost);
    tcase_add_test(tests, item_cost_below_nothing);
    tcase_add_test(tests, item_cost_of_disturbed_repeats);
    tcase_add_test(tests, item_cost_of_one_population);
    tcase_add_loop_test(tests, item_cost_unknown, 0, 9);
    tcase_add_test(tests, item_cost_is_told_with_its_cells);
    Suite *suite = suite_create("fidelity");
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
