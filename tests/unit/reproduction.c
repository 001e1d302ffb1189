/* SPDX-License-Identifier: MIT
 *
 * Promise: every sentence of the reproduction's report follows from the stored numbers. Invented sweeps in which the
 * finding is there, is not there, or is lost in noise must be told apart, and nothing is said of cells that are
 * missing.
 */
#include "cli/published_report.h"
#include "cli/reproduction.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* What an invented cell shows. */
struct invention {
    const char *mode, *workers, *spin;
    double rps, cpu_percent, yields_per_request;
};

#define REPEATS_MAX 12

static void fill(struct result *row, const struct invention *cell, uint32_t index, int repeat, double noise)
{
    char id[96];
    snprintf(id, sizeof id, "%s %s %s", cell->mode, cell->workers, cell->spin);
    /* Odd repeats above, even ones below: an A/A spread that grows with noise, medians that do not move. */
    double factor = 1 + (repeat % 2 == 1 ? noise : -noise) + 0.001 * repeat;
    double cpu = cell->cpu_percent * factor, requests = cell->rps;
    result_init(row);
    result_set_number(row, RESULT_sweep_id, 1);
    result_set_text(row, RESULT_cell_id, id);
    result_set_number(row, RESULT_repeat, repeat);
    result_set_text(row, RESULT_mode, cell->mode);
    result_set_number(row, RESULT_rate_rps, REPRODUCTION_RATE_RPS);
    result_set_text(row, RESULT_max_workers, cell->workers);
    result_set_text(row, RESULT_spin_limit, cell->spin);
    if (strcmp(cell->spin, "default") == 0)
        result_set_number(row, RESULT_spin_limit_resolved, 70);
    result_set_number(row, RESULT_max_workers_resolved, strtod(cell->workers, NULL));
    result_set_number(row, RESULT_cores, 2);
    result_set_number(row, RESULT_valid, 1);
    result_set_number(row, RESULT_disturbed, 0);
    result_set_number(row, RESULT_rps, cell->rps);
    result_set_number(row, RESULT_requests, requests);
    result_set_number(row, RESULT_router_cpu_percent, cpu);
    result_set_number(row, RESULT_router_cpu_us_per_request, cpu / 100 * 1e6 / cell->rps);
    result_set_number(row, RESULT_unaccounted_cpu_percent, 0.01 * cpu);
    result_add_number(row, "arrivals", requests);
    result_add_number(row, "yields", cell->yields_per_request * requests);
    result_add_number(row, "stamp_cost_percent", 0.2);
    result_add_number(row, "stamp_ns", 10);
    result_add_number(row, "stamps_per_request", 20);
}

/* The report of a set in one line, so that the place where a sentence was broken does not matter; the caller frees. */
static char *report_of(const struct result_set *set)
{
    struct store_sweep sweep = {.id = 1, .name = "high-cpu", .seed = 7};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    reproduction_print(&sweep, set, stream);
    fclose(stream);
    for (char *next = text; *next != '\0'; next++)
        *next = *next == '\n' ? ' ' : *next;
    return text;
}

/* The report of an invented sweep; the caller frees. */
static char *report(const struct invention *cells, size_t count, int repeats, double noise)
{
    struct result_set set = {.rows = calloc(count * REPEATS_MAX, sizeof *set.rows)};
    for (int repeat = 1; repeat <= repeats; repeat++) {
        for (size_t i = 0; i < count; i++)
            fill(&set.rows[set.count++], &cells[i], (uint32_t)i, repeat, noise);
    }
    char *text = report_of(&set);
    result_set_fini(&set);
    return text;
}

static void expect(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fprintf(stderr, "%s\n", text);
    ck_assert_msg(strstr(text, part) != NULL, "'%s' is not in the report", part);
}

static void expect_not(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fprintf(stderr, "%s\n", text);
    ck_assert_msg(strstr(text, part) == NULL, "'%s' is in the report", part);
}

static const struct invention there[] = {
    {"closed", "1", "0", 2400, 25, 1},        {"closed", "1", "default", 2410, 42, 29},
    {"closed", "25", "0", 2420, 30, 1},       {"closed", "25", "default", 2430, 77, 56},
    {"paced", "1", "0", 2000, 20, 1.4},       {"paced", "1", "default", 2000, 28, 29},
    {"paced", "12", "default", 2000, 58, 56}, {"paced", "20", "default", 2000, 58, 56},
    {"paced", "25", "0", 2000, 29, 1.4},      {"paced", "25", "default", 2000, 58, 56},
};
#define THERE (sizeof there / sizeof there[0])

START_TEST(finding_is_seen)
{
    char *text = report(there, THERE, 6, 0.005);
    expect(text, "the rate is the same at every setting (2400 to 2430");
    expect(text, "router CPU grows, from 25.1 to 77.3 %");
    expect(text, "25 and 12 workers at spin limit default do not separate");
    expect(text, "yields 1.4 to 56.0");
    expect(text, "Paced: 72000 of 72000 scheduled arrivals completed");
    expect(text, "beyond the A/A spread");
    expect_not(text, "OVER");
    expect_not(text, "does not change");
    /* The published figures stand beside: 124 % at one worker, 500 to 600 % at 25. */
    expect(text, "500 to 600");
    expect(text, "both at the default spin limit: 124 to 500-600 %");
    /* Nobody measured max-workers default here: 2 CPUs. */
    expect(text, "max-workers default means 2 here and was not measured");
    free(text);
}
END_TEST

START_TEST(absence_is_said)
{
    struct invention flat[THERE];
    memcpy(flat, there, sizeof flat);
    for (size_t i = 0; i < THERE; i++) {
        flat[i].cpu_percent = 30;
        flat[i].yields_per_request = 2;
    }
    char *text = report(flat, THERE, 6, 0.005);
    expect(text, "router CPU does not change beyond the noise");
    expect(text, "Counters that move with it (per request, 1 worker and spin 0 to 25 workers and default): none.");
    expect_not(text, "router CPU grows");
    expect_not(text, "      beyond the A/A spread");
    free(text);
}
END_TEST

/* The same medians with an A/A spread of a half: a ratio of 1.45 is nothing any more. */
START_TEST(noise_is_not_a_finding)
{
    const struct invention noisy[] = {
        {"paced", "1", "0", 2000, 20, 1}, {"paced", "25", "default", 2000, 29, 1}, {"paced", "25", "0", 2000, 20, 1}};
    char *text = report(noisy, 3, 6, 0.25);
    expect(text, "within the A/A spread");
    expect_not(text, "  beyond the A/A spread");
    free(text);
    text = report(noisy, 3, 6, 0.005);
    expect(text, "  beyond the A/A spread");
    free(text);
}
END_TEST

START_TEST(different_rates_are_said)
{
    struct invention cells[] = {{"closed", "1", "0", 2400, 25, 1}, {"closed", "25", "default", 1800, 77, 56}};
    char *text = report(cells, 2, 6, 0.005);
    expect(text, "the rate differs between settings (1800 to 2400");
    expect_not(text, "the same at every setting (");
    free(text);
}
END_TEST

START_TEST(missing_cells_are_not_mentioned)
{
    char *text = report(there, 4, 3, 0.005);
    expect_not(text, "Paced");
    expect_not(text, "workers at spin limit");
    expect_not(text, "scheduled arrivals");
    /* Three repeats: ranges, and no yardstick. */
    expect(text, "A/A: odd against even repeats        needs 6 repeats");
    expect_not(text, "within the A/A spread");
    free(text);
}
END_TEST

START_TEST(disturbance_is_said)
{
    struct result_set set = {.rows = calloc(4, sizeof *set.rows), .count = 4};
    for (uint32_t i = 0; i < 4; i++) {
        fill(&set.rows[i], &there[i], i, 1, 0);
        result_set_number(&set.rows[i], RESULT_disturbed, 1);
    }
    char *text = report_of(&set);
    expect(text, "4 of 4 settings have no undisturbed repeat");
    expect(text, "cannot be told, there are no undisturbed repeats");
    expect(text, "~25.0");
    expect(text, "both: 25, default against 1, spin 0  -     ");
    expect_not(text, "grows");
    expect_not(text, "same at every setting (");
    free(text);
    result_set_fini(&set);
}
END_TEST

START_TEST(losses_are_said)
{
    struct result_set set = {.rows = calloc(1, sizeof *set.rows), .count = 1};
    fill(&set.rows[0], &there[4], 0, 1, 0);
    result_add_number(&set.rows[0], "arrivals", 2010);
    result_set_number(&set.rows[0], RESULT_unaccounted_cpu_percent, -2);
    result_add_number(&set.rows[0], "stamp_cost_percent", 3);
    char *text = report_of(&set);
    expect(text, "OVER 0.1 %");
    expect(text, "OVER 5 %");
    expect(text, "OVER 2 %");
    free(text);
    result_set_fini(&set);
}
END_TEST

/* A cell may lack the knobs of the published rows (scheduler inline, a foreign server). */
START_TEST(cells_without_knobs_have_no_published_row)
{
    const struct invention cell = {"closed", "1", "default", 2400, 25, 1};
    struct result_set set = {.rows = calloc(2, sizeof *set.rows)};
    for (int repeat = 1; repeat <= 2; repeat++) {
        fill(&set.rows[set.count], &cell, 0, repeat, 0);
        result_set_text(&set.rows[set.count], RESULT_max_workers, NULL);
        result_set_text(&set.rows[set.count++], RESULT_spin_limit, NULL);
    }
    char *text = report_of(&set);
    expect(text, "-            -             2400 (2400 to 2400)");
    free(text);
    result_set_fini(&set);
}
END_TEST

/* One repeat of a published row; false: it is disturbed. */
static void add_row(struct result_set *set, const char *workers, const char *completion, double cpu, bool disturbed)
{
    const struct invention cell = {"closed", workers, "default", 2400, cpu, 1};
    struct result *row = &set->rows[set->count++];
    char id[64];
    fill(row, &cell, 0, 1, 0);
    snprintf(id, sizeof id, "%s %s", workers, completion);
    result_set_text(row, RESULT_cell_id, id);
    result_set_number(row, RESULT_disturbed, disturbed);
    result_add_setting(row, "max_completion_threads", completion);
    result_add_number(row, "goal_median", 11);
    result_add_number(row, "workers_engaged_mean", 1.25);
}

START_TEST(a_published_row_counts_with_a_measured_value)
{
    struct result_set set = {.rows = calloc(4, sizeof *set.rows)};
    add_row(&set, "default", "default", 70, false);
    add_row(&set, "1", "default", 20, true);
    add_row(&set, "25", "1", 50, false);
    result_set_number(&set.rows[2], RESULT_valid, 0); /* no value */
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    ck_assert_uint_eq(published_report_print(&set, stream), 2);
    fclose(stream);
    expect(text, "\ndefault     default                default            700       70.1 (70.1-70.1) ");
    expect(text, "\n1           default                default            124       20.0 (20.0-20.0)~ ");
    expect(text, "\n25          1                      default        500-600          - - ");
    expect(text, "\n12          1                      default            290          - - ");
    expect(text, "2 of 9 rows");
    expect(text, "~ 1 rows");
    expect(text, "the original");
    free(text);
    ck_assert(published_has_completion_threads(&set));
    set.count = 2;
    ck_assert(!published_has_completion_threads(&set));
    set.count = 3;
    result_set_fini(&set);
}
END_TEST

/* The repeats of a published row by one executor: a label, or a target. */
static void add_labelled(struct result_set *set, const char *label, const char *target, const char *workers, double cpu)
{
    struct result *row = &set->rows[set->count];
    char id[64];
    add_row(set, workers, "1", cpu, false);
    snprintf(id, sizeof id, "%s %s %s", label, target != NULL ? target : "", workers);
    result_set_text(row, RESULT_cell_id, id);
    result_set_text(row, RESULT_label, label);
    result_set_text(row, RESULT_target, target);
    result_set_text(row, RESULT_min_workers, "1");
}

/* Stored in any order: the pool with the smaller name is neither first nor in the other's table. */
START_TEST(labels_are_not_mixed)
{
    struct result_set set = {.rows = calloc(9, sizeof *set.rows)};
    add_labelled(&set, "dotnet+hill-climbing=0", NULL, "1", 50);
    add_labelled(&set, "chase-lev", NULL, "1", 90);
    add_labelled(&set, "dotnet", NULL, "1", 20);
    add_labelled(&set, "dotnet+hill-climbing=0", NULL, "2", 40);
    add_labelled(&set, "dotnet", NULL, "2", 30);
    add_labelled(&set, "dotnet", NULL, "25", 40);
    add_labelled(&set, "dotnet+hill-climbing=0", NULL, "25", 30);
    add_labelled(&set, "dotnet", "dotnet", "1", 95); /* a target of the same name */
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    ck_assert_uint_eq(published_report_print(&set, stream), 8);
    fclose(stream);
    const char *plain = strstr(text, "The published rows, dotnet: router"),
               *other = strstr(text, "The published rows, chase-lev: router"),
               *fixed = strstr(text, "The published rows, dotnet+hill-climbing=0: router"),
               *target = strstr(text, "The published rows, target dotnet: router");
    ck_assert(plain == text && other > plain && fixed > other && target > fixed);
    expect(fixed, "\n1           1                      default            125       50.0 ");
    ck_assert(strstr(fixed, "       50.0 ") < target);
    expect(fixed, "3 of 9 rows have a measured value beside the published one.\n");
    expect(fixed, "Rank correlation of published and measured, 3 rows: -1.00\n");
    expect(fixed, "Of 3 pairs of rows 3 separate (their spreads do not meet), 0 of them");
    expect(target, "\n1           1                      default            125       95.1 ");
    char *first = strndup(text, (size_t)(other - text));
    expect(first, "\n1           1                      default            125       20.0 ");
    expect(first, "Rank correlation of published and measured, 3 rows: 1.00\n");
    expect(first, "Of 3 pairs of rows 3 separate (their spreads do not meet), 3 of them");
    free(first);
    free(text);
    result_set_fini(&set);
}
END_TEST

/* Cells that differ in min-workers alone: the row is the one that was published; where none is, there is no value. */
START_TEST(min_workers_tells_rows_apart)
{
    struct result_set set = {.rows = calloc(6, sizeof *set.rows)};
    const char *const minima[] = {"2", "1", "3"};
    for (int i = 0; i < 6; i++) {
        const char *minimum = i < 3 ? minima[i] : i == 3 ? "4" : "5";
        char id[32];
        add_labelled(&set, "dotnet", NULL, i < 3 ? "25" : i < 5 ? "20" : "12", 10 * (i + 1));
        snprintf(id, sizeof id, "%d", i);
        result_set_text(&set.rows[i], RESULT_cell_id, id);
        result_set_text(&set.rows[i], RESULT_min_workers, minimum);
    }
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    ck_assert_uint_eq(published_report_print(&set, stream), 2);
    fclose(stream);
    expect(text, "\n25          1                      default        500-600       20.0 ");
    expect(text, "\n20          1                      default            300          - - ");
    expect(text, "\n12          1                      default            290       60.1 ");
    expect(text, "\n1 rows fit several cells");
    free(text);
    result_set_fini(&set);
}
END_TEST

/* The report of the finding: each executor has its own. */
START_TEST(finding_of_two_labels)
{
    const struct invention low = {"closed", "1", "0", 2400, 25, 1}, high = {"closed", "25", "default", 2400, 77, 56};
    struct result_set set = {.rows = calloc(4, sizeof *set.rows)};
    for (int i = 0; i < 4; i++) {
        char id[32];
        fill(&set.rows[set.count++], i % 2 == 0 ? &low : &high, 0, 1, 0);
        snprintf(id, sizeof id, "%d", i);
        result_set_text(&set.rows[i], RESULT_cell_id, id);
        result_set_text(&set.rows[i], RESULT_label, i < 2 ? "global-queue" : "dotnet");
        if (i >= 2)
            result_set_number(&set.rows[i], RESULT_router_cpu_percent, i == 2 ? 50 : 60);
    }
    char *text = report_of(&set);
    const char *second = strstr(text, "The finding on this machine, global-queue: sweep 1");
    ck_assert(strncmp(text, "The finding on this machine, dotnet: sweep 1", 44) == 0 && second != NULL);
    expect(second, "both: 25, default against 1, spin 0  3.08 ");
    expect_not(second, "1.20 (");
    char *first = strndup(text, (size_t)(second - text));
    expect(first, "both: 25, default against 1, spin 0  1.20 ");
    free(first);
    free(text);
    result_set_fini(&set);
}
END_TEST

/* Nothing is said of a target that is the model's: what its default means, what its CPU was used for. */
START_TEST(finding_of_a_target)
{
    const struct invention low = {"closed", "1", "0", 2400, 25, 1}, high = {"closed", "25", "default", 2400, 77, 56};
    struct result_set set = {.rows = calloc(2, sizeof *set.rows)};
    for (int i = 0; i < 2; i++) {
        struct result *row = &set.rows[set.count++];
        fill(row, i == 0 ? &low : &high, 0, 1, 0);
        result_set_text(row, RESULT_target, "dotnet");
        result_set_text(row, RESULT_label, "dotnet");
        result_set_text(row, RESULT_workload, "echo");
        result_set_number(row, RESULT_spin_limit_resolved, NAN);
        result_set_number(row, RESULT_unaccounted_cpu_percent, NAN);
    }
    char *text = report_of(&set);
    ck_assert(strncmp(text, "The finding on this machine, target dotnet: sweep 1", 51) == 0);
    expect(text, "25           default       2400 ");
    expect(text, "The workload is echo; the published figures are of the router,");
    expect(text, "shared by the load generator and the server, so at most 2 of up to 25 workers");
    expect(text, "nobody stamps a foreign server.");
    expect_not(text, "Unaccounted");
    expect_not(text, "max-workers default means");
    free(text);
    for (int i = 0; i < 2; i++)
        result_set_text(&set.rows[i], RESULT_workload, "router");
    text = report_of(&set);
    expect(text, "shared by the load generator, the router and the extension, so");
    expect_not(text, "The workload is");
    free(text);
    result_set_fini(&set);
}
END_TEST

/* A target is not told the second number of the calls, and may lack other knobs: then it is as by default. */
START_TEST(published_rows_of_a_target)
{
    struct result_set set = {.rows = calloc(4, sizeof *set.rows)};
    static const char *const workers[] = {"default", "default", "25"}, *const minima[] = {"default", "1", "1"};
    for (int i = 0; i < 3; i++) {
        const struct invention cell = {"closed", workers[i], "default", 2400, 10 * (i + 1), 1};
        struct result *row = &set.rows[set.count++];
        char id[32];
        fill(row, &cell, 0, 1, 0);
        snprintf(id, sizeof id, "%d", i);
        result_set_text(row, RESULT_cell_id, id);
        result_set_text(row, RESULT_target, "dotnet-router");
        result_set_text(row, RESULT_min_workers, minima[i]);
        result_set_text(row, RESULT_spin_limit, NULL);
    }
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    ck_assert_uint_eq(published_report_print(&set, stream), 3);
    fclose(stream);
    expect(text, "\ndefault     default                default            700       10.0 ");
    expect(text, "\ndefault     1                      default            720       20.0 ");
    expect(text, "\n25          1                      default        500-600       30.0 ");
    expect(text, "\ndefault     default                5                  320          - ");
    expect(text, "rows that differ in it alone are the same cell");
    expect(text, "No window waited for a steady target");
    expect_not(text, "the original");
    expect_not(text, "goal is where it began");
    expect_not(text, "goal: workers");
    free(text);
    result_add_number(&set.rows[0], "cpu_steady", 1);
    result_add_number(&set.rows[1], "cpu_steady", 0);
    stream = open_memstream(&text, &size);
    published_report_print(&set, stream);
    fclose(stream);
    expect(text, "The window of 1 of 2 repeats began with a steady CPU of the target");
    free(text);
    result_set_fini(&set);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("reproduction");
    tcase_add_test(tests, finding_is_seen);
    tcase_add_test(tests, absence_is_said);
    tcase_add_test(tests, noise_is_not_a_finding);
    tcase_add_test(tests, different_rates_are_said);
    tcase_add_test(tests, missing_cells_are_not_mentioned);
    tcase_add_test(tests, disturbance_is_said);
    tcase_add_test(tests, losses_are_said);
    tcase_add_test(tests, cells_without_knobs_have_no_published_row);
    tcase_add_test(tests, a_published_row_counts_with_a_measured_value);
    tcase_add_test(tests, labels_are_not_mixed);
    tcase_add_test(tests, min_workers_tells_rows_apart);
    tcase_add_test(tests, finding_of_two_labels);
    tcase_add_test(tests, finding_of_a_target);
    tcase_add_test(tests, published_rows_of_a_target);
    Suite *suite = suite_create("reproduction");
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
