/* SPDX-License-Identifier: MIT
 *
 * Promise: a report says what the stored numbers say: nothing pooled that must not be, invalid and disturbed repeats
 * told, what moves and what does not separate named, in lines that fit. A comparison finds a regression that is there,
 * and none in a sweep compared with itself or with its repetition.
 */
#include "compare.h"
#include "report.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS 6

/* What an invented cell shows. */
struct invention {
    const char *mode, *max_workers, *spin_limit;
    double max_workers_resolved, cpu_us, yields_per_request;
};

static const struct invention high_cpu[] = {
    {"closed", "1", "default", 1, 100, 0.1}, {"closed", "2", "default", 2, 200, 1},
    {"closed", "25", "default", 25, 201, 2}, {"closed", "1", "0", 1, 80, 0.05},
    {"closed", "2", "0", 2, 120, 0.2},       {"closed", "default", "0", 4, 90, 0.07},
    {"paced", "1", "default", 1, 3000, 11},  {"paced", "25", "default", 25, 6000, 22},
};
#define CELLS (sizeof(high_cpu) / sizeof(*high_cpu))

static void fill(struct result *row, int sweep_id, const struct invention *cell, int repeat, double factor)
{
    char cell_id[64];
    bool paced = strcmp(cell->mode, "paced") == 0;
    int wave = strcmp(cell->max_workers, "25") == 0 ? 2 - repeat % 3 : repeat % 3; /* 25 workers against the others */
    double cpu = cell->cpu_us * factor * (1 + 0.01 * wave), rps = paced ? 2000 : 2400 + repeat;
    snprintf(cell_id, sizeof(cell_id), "%s/%s/%s", cell->mode, cell->max_workers, cell->spin_limit);
    result_init(row);
    result_set_number(row, RESULT_sweep_id, sweep_id);
    result_set_text(row, RESULT_cell_id, cell_id);
    result_set_number(row, RESULT_repeat, repeat);
    result_set_text(row, RESULT_machine, "real");
    result_set_text(row, RESULT_label, "chase-lev");
    result_set_text(row, RESULT_scheduler, "chase-lev");
    result_set_text(row, RESULT_workload, "router");
    result_set_text(row, RESULT_mode, cell->mode);
    if (paced) {
        result_set_number(row, RESULT_rate_rps, 2000);
        result_set_number(row, RESULT_latency_us_p99, 1500);
    }
    result_set_text(row, RESULT_max_workers, cell->max_workers);
    result_set_number(row, RESULT_max_workers_resolved, cell->max_workers_resolved);
    result_set_text(row, RESULT_spin_limit, cell->spin_limit);
    result_set_number(row, RESULT_spin_limit_resolved, strcmp(cell->spin_limit, "0") == 0 ? 0 : 70);
    result_set_number(row, RESULT_duration_s, 1);
    result_set_number(row, RESULT_valid, 1);
    result_set_number(row, RESULT_disturbed, 0);
    result_set_number(row, RESULT_tries, 1);
    result_set_number(row, RESULT_rps, rps);
    result_set_number(row, RESULT_requests, rps);
    result_set_number(row, RESULT_router_cpu_us_per_request, cpu);
    result_set_number(row, RESULT_router_cpu_percent, cpu * rps / 1e4);
    result_add_number(row, "yields", cell->yields_per_request * rps);
    result_add_number(row, "parks", (repeat + (int)cell->cpu_us % 7) * rps);
    result_add_setting(row, "extension_mode", paced ? "burn" : "delay");
    result_add_setting(row, "lifo_slot", "on");
}

static void make_set(struct result_set *set, int sweep_id, int repeats, double factor)
{
    *set = (struct result_set){.rows = calloc(CELLS * (size_t)repeats, sizeof(struct result)), .count = 0};
    for (int repeat = 1; repeat <= repeats; repeat++) {
        for (size_t i = 0; i < CELLS; i++) {
            fill(&set->rows[set->count++], sweep_id, &high_cpu[(i * 3 + (size_t)repeat) % CELLS], repeat, factor);
        }
    }
}

static char *report_text(const struct result_set *set, const struct report_options *options)
{
    struct store_sweep sweep = {.id = 7,
                                .name = (char *)"high-cpu",
                                .context = (char *)"CPU: invented\nkernel: 6.1\n",
                                .seed = 42,
                                .repeats_planned = 48};
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    ck_assert_int_eq(report_write(stream, NULL, &sweep, set, options), 0);
    fclose(stream);
    return text;
}

static void expect(const char *text, const char *words)
{
    ck_assert_msg(strstr(text, words) != NULL, "expected '%s' in:\n%s", words, text);
}

static void expect_not(const char *text, const char *words)
{
    ck_assert_msg(strstr(text, words) == NULL, "unexpected '%s' in:\n%s", words, text);
}

static size_t longest_line(const char *text)
{
    size_t longest = 0;
    while (*text) {
        size_t length = strcspn(text, "\n");
        longest = length > longest ? length : longest;
        text += length + (text[length] == '\n');
    }
    return longest;
}

START_TEST(the_table_of_a_sweep)
{
    struct result_set set;
    make_set(&set, 7, REPEATS, 1);
    char *text = report_text(&set, &(struct report_options){.width = 100});
    expect(text, "Sweep 7, high-cpu: 8 cells, 48 of 48 repeats, seed 42");
    expect(text, "unfinished");
    expect(text, "Same in all cells: machine real, workload router, label chase-lev, lifo-slot on\n");
    expect(text, "\nClosed loop, windows of 1.00 s, extension-mode delay:\n");
    expect(text, "\nPaced at 2000 requests/s, windows of 1.00 s, extension-mode burn, spin-limit default (70):\n");
    expect(text, "\n  0             1 ");
    expect(text, "default (4)"); /* what the user's word meant */
    expect(text, "default (70)");
    expect(text, "81 [80 82]");        /* closed loop, 1 worker, spin 0: medians of 80, 80.8, 81.6, each twice */
    expect(text, "\n  25           "); /* paced: spin does not vary there and has no column */
    expect(text, "Measured on: CPU: invented; kernel: 6.1\n");
    expect_not(text, "left out: ");
    expect_not(text, "With nothing rejected");
    ck_assert_uint_le(longest_line(text), 100);
    free(text);
    text = report_text(&set, &(struct report_options){.width = 70});
    expect(text, "\nPaced at 2000 requests/s, windows of 1.00 s, extension-mode burn,\n  spin-limit default (70):\n");
    free(text);
    text = report_text(&set, &(struct report_options){.width = 160});
    ck_assert_uint_le(longest_line(text), 160);
    free(text);
    result_set_fini(&set);
}
END_TEST

START_TEST(modes_and_rates_are_never_pooled)
{
    struct result_set set;
    make_set(&set, 7, REPEATS, 1);
    for (size_t i = 0; i < set.count; i++) {
        result_set_number(&set.rows[i], RESULT_rate_rps, 2000); /* now only the mode tells them apart */
    }
    char *text = report_text(&set, &(struct report_options){0});
    expect(text, "\nClosed loop, ");
    expect(text, "\nPaced at 2000 ");
    free(text);
    for (size_t i = 0; i < set.count; i++) {
        result_set_text(&set.rows[i], RESULT_mode, "paced"); /* and now only the rate */
        result_set_number(&set.rows[i], RESULT_rate_rps, i % 2 ? 2000 : 5000);
        result_set_text(&set.rows[i], RESULT_cell_id, i % 2 ? "a" : "b");
    }
    text = report_text(&set, &(struct report_options){0});
    expect(text, "\nPaced at 2000 ");
    expect(text, "\nPaced at 5000 ");
    free(text);
    result_set_fini(&set);
}
END_TEST

START_TEST(rows_stand_in_the_order_of_their_numbers)
{
    struct result_set set;
    make_set(&set, 7, REPEATS, 1);
    char *text = report_text(&set, &(struct report_options){0});
    static const char *const order[] = {"\n  0             1 ",
                                        "\n  0             2 ",
                                        "\n  0             default (4)",
                                        "\n  default (70)  1 ",
                                        "\n  default (70)  2 ",
                                        "\n  default (70)  25 ",
                                        "\nPaced at"};
    const char *place = text;
    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
        place = strstr(place, order[i]);
        ck_assert_msg(place != NULL, "'%s' is not in its place in:\n%s", order[i] + 1, text);
    }
    free(text);
    result_set_fini(&set);
}
END_TEST

START_TEST(what_moves_and_what_does_not_separate)
{
    struct result_set set;
    make_set(&set, 7, REPEATS, 1);
    char *text = report_text(&set, &(struct report_options){0});
    expect(text, "Moves with CPU per request (rank correlation over the cells, at least 0.88): yields 1.00\n");
    expect(text, "Does not: parks");
    expect(text, "Does not separate");
    expect(text, "  spin-limit default (70): 2 and 25 1.00 [0.99 1.03]");
    expect_not(text, "1 and 2 2.00");
    /* Two paced cells: too few for a correlation, and they separate. */
    expect(strstr(text, "Paced at"), "All neighbouring max-workers separate");
    expect_not(strstr(text, "Paced at"), "Moves with");
    free(text);
    result_set_fini(&set);
}
END_TEST

START_TEST(below_six_repeats_stand_ranges)
{
    struct result_set set;
    make_set(&set, 7, 5, 1);
    char *text = report_text(&set, &(struct report_options){0});
    expect(text, "(80 82)");
    expect_not(text, "[80 82]");
    free(text);
    result_set_fini(&set);
}
END_TEST

START_TEST(rejected_repeats_are_told)
{
    struct result_set set;
    make_set(&set, 7, REPEATS, 1);
    for (size_t i = 0; i < set.count; i++) {
        struct result *row = &set.rows[i];
        if (strcmp(result_get_text(row, "cell_id"), "paced/25/default") != 0) {
            continue;
        }
        if (row->columns[RESULT_repeat].number == 2) {
            result_set_number(row, RESULT_valid, 0);
            result_set_invalid_reason(row, "sent 10, answered 9\x1b[31m");
            result_set_number(row, RESULT_router_cpu_us_per_request, 1e9);
        } else {
            result_set_number(row, RESULT_disturbed, row->columns[RESULT_repeat].number == 5);
        }
    }
    char *text = report_text(&set, &(struct report_options){0});
    expect(text, "1 invalid, 1 disturbed");
    expect(text, "With nothing rejected (1 disturbed repeat):");
    expect(text, "Invalid, left out: repeat 2 of max-workers 25: sent 10, answered 9?[31m\n");
    expect_not(text, "1000000000");
    free(text);
    result_set_fini(&set);
}
END_TEST

/* The first cell becomes one of a scheduler without workers. */
START_TEST(what_a_label_lacks_is_no_axis)
{
    struct result_set set;
    make_set(&set, 7, REPEATS, 1);
    for (size_t i = 0; i < set.count; i++) {
        struct result *row = &set.rows[i];
        if (strcmp(result_get_text(row, "cell_id"), "paced/25/default") == 0) {
            result_set_text(row, RESULT_label, "inline");
            result_set_text(row, RESULT_scheduler, "inline");
        } else {
            result_set_text(row, RESULT_min_workers, "default");
        }
    }
    char *text = report_text(&set, &(struct report_options){0});
    expect(text, "Same in all cells: machine real, workload router, lifo-slot on\n");
    expect(text, "Same in all cells that have it: min-workers default\n");
    expect_not(text, "scheduler");
    free(text);
    result_set_fini(&set);
}
END_TEST

START_TEST(all_disturbed_is_one_table)
{
    struct result_set set;
    make_set(&set, 7, REPEATS, 1);
    for (size_t i = 0; i < set.count; i++) {
        result_set_number(&set.rows[i], RESULT_disturbed, 1);
    }
    char *text = report_text(&set, &(struct report_options){0});
    expect(text, "No repeat of these cells is valid and undisturbed. With nothing rejected (36 disturbed repeats):\n");
    expect_not(text, "left out");
    free(text);
    result_set_fini(&set);
}
END_TEST

START_TEST(raw_repeats_one_per_line)
{
    struct result_set set;
    make_set(&set, 7, REPEATS, 1);
    char *text = report_text(&set, &(struct report_options){.all = true});
    int lines = 0;
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        lines += strncmp(line, "  0  ", 5) == 0 || strncmp(line, "  default (70)  ", 16) == 0 ||
                 strncmp(line, "  1 ", 4) == 0 || strncmp(line, "  25 ", 5) == 0;
    }
    ck_assert_int_eq(lines, (int)(CELLS * REPEATS));
    expect_not(text, "[");
    free(text);
    result_set_fini(&set);
}
END_TEST

START_TEST(poor_sweeps_make_sentences)
{
    struct result_set none = {0}, one = {.rows = calloc(1, sizeof(struct result)), .count = 1};
    char *text = report_text(&none, &(struct report_options){0});
    expect(text, "No repeat is stored yet.");
    free(text);
    result_set_number(&one.rows[0], RESULT_sweep_id, 7); /* nothing else is known: not valid */
    text = report_text(&one, &(struct report_options){0});
    expect(text, "1 invalid");
    expect(text, "Invalid, left out: repeat 0 of the only cell: no reason is stored");
    free(text);
    result_set_fini(&one);
}
END_TEST

START_TEST(what_the_most_workers_cost)
{
    struct result_set set;
    make_set(&set, 7, REPEATS, 1);
    char *text = report_text(&set, &(struct report_options){0});
    expect(text, "CPU per request, most against fewest max-workers:\n"
                 "  default (4) against 1 at spin-limit 0: 1.12 [1.12 1.12]\n"
                 "  25 against 1 at spin-limit default (70): 2.01 [1.97 2.05]\n");
    expect(strstr(text, "\nPaced"), "  25 against 1: 2.00 [1.96 2.04]\n");
    free(text);
    result_set_fini(&set);
}
END_TEST

/* ---- comparisons ---- */

static char *compare_text(const struct result_set *first, const struct result_set *second,
                          const struct compare_options *options, struct compare_verdict *verdict)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    struct compare_side sides[2] = {{"old", first}, {"new", second}};
    ck_assert_int_eq(compare_write(stream, &sides[0], &sides[1], options, verdict), 0);
    fclose(stream);
    ck_assert_uint_le(longest_line(text), 120);
    return text;
}

START_TEST(the_same_does_not_regress)
{
    struct result_set first, second;
    struct compare_verdict verdict;
    make_set(&first, 1, REPEATS, 1);
    make_set(&second, 1, REPEATS, 1); /* the same number of another store */
    char *text = compare_text(&first, &second, &(struct compare_options){0}, &verdict);
    ck_assert_uint_eq(verdict.matched, CELLS);
    ck_assert_uint_eq(verdict.regressed, 0);
    ck_assert_uint_eq(verdict.improved, 0);
    expect(text, "odd against even repeats");
    ck_assert(verdict.spread[COMPARE_CPU] >= 0 && verdict.spread[COMPARE_CPU] < 0.03);
    free(text);
    result_set_fini(&first);
    result_set_fini(&second);
}
END_TEST

START_TEST(a_regression_is_found)
{
    struct result_set first, second;
    struct compare_verdict verdict;
    make_set(&first, 1, REPEATS, 1);
    make_set(&second, 2, REPEATS, 1.2);
    char *text = compare_text(&first, &second, &(struct compare_options){0}, &verdict);
    ck_assert_uint_eq(verdict.regressed, CELLS);
    expect(text, "CPU per request regressed");
    free(text);
    text = compare_text(&second, &first, &(struct compare_options){0}, &verdict);
    ck_assert_uint_eq(verdict.regressed, 0);
    ck_assert_uint_eq(verdict.improved, CELLS);
    free(text);
    struct compare_options lenient = {.has_threshold = true, .threshold = 0.3};
    text = compare_text(&first, &second, &lenient, &verdict);
    ck_assert_uint_eq(verdict.regressed, 0);
    expect(text, "beyond 30.0 %");
    free(text);
    result_set_fini(&first);
    result_set_fini(&second);
}
END_TEST

START_TEST(more_requests_are_better)
{
    struct result_set first, second;
    struct compare_verdict verdict;
    make_set(&first, 1, REPEATS, 1);
    make_set(&second, 2, REPEATS, 1);
    for (size_t i = 0; i < second.count; i++) {
        result_set_number(&second.rows[i], RESULT_rps, second.rows[i].columns[RESULT_rps].number / 2);
    }
    char *text = compare_text(&first, &second, &(struct compare_options){0}, &verdict);
    ck_assert_uint_eq(verdict.regressed, CELLS);
    expect(text, "RPS regressed");
    free(text);
    result_set_fini(&first);
    result_set_fini(&second);
}
END_TEST

START_TEST(a_repetition_sets_the_spread)
{
    struct result_set first, second, again;
    struct compare_verdict verdict;
    make_set(&first, 1, REPEATS, 1);
    make_set(&second, 2, REPEATS, 1.2);
    make_set(&again, 3, REPEATS, 1.25); /* the same code was once this much slower: 20 % is within the spread */
    char *text = compare_text(&first, &second, &(struct compare_options){.again = &again}, &verdict);
    ck_assert_double_eq_tol(verdict.spread[COMPARE_CPU], 0.25, 1e-9);
    ck_assert_uint_eq(verdict.regressed, 0);
    expect(text, "a repetition of the first): CPU per request 25.0 %");
    free(text);
    result_set_fini(&first);
    result_set_fini(&second);
    result_set_fini(&again);
}
END_TEST

START_TEST(cells_of_one_side_are_counted)
{
    struct result_set first, second, none = {0};
    struct compare_verdict verdict;
    make_set(&first, 1, REPEATS, 1);
    make_set(&second, 2, REPEATS, 1);
    for (size_t i = 0; i < second.count; i++) {
        const char *cell_id = result_get_text(&second.rows[i], "cell_id");
        if (strcmp(cell_id, "closed/1/0") == 0) {
            result_set_text(&second.rows[i], RESULT_cell_id, "elsewhere");
        } else if (strcmp(cell_id, "closed/2/0") == 0) {
            result_set_number(&second.rows[i], RESULT_valid, 0);
        }
    }
    char *text = compare_text(&first, &second, &(struct compare_options){0}, &verdict);
    ck_assert_uint_eq(verdict.matched, CELLS - 1);
    ck_assert_uint_eq(verdict.only_first, 1);
    ck_assert_uint_eq(verdict.only_second, 1);
    ck_assert_uint_eq(verdict.not_measured, 1);
    free(text);
    text = compare_text(&first, &none, &(struct compare_options){0}, &verdict);
    ck_assert_uint_eq(verdict.matched, 0);
    ck_assert_uint_eq(verdict.only_first, CELLS);
    free(text);
    result_set_fini(&first);
    result_set_fini(&second);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("report");
    TCase *reports = tcase_create("reports"), *comparisons = tcase_create("comparisons");
    tcase_set_timeout(reports, 60);
    tcase_add_test(reports, the_table_of_a_sweep);
    tcase_add_test(reports, modes_and_rates_are_never_pooled);
    tcase_add_test(reports, rows_stand_in_the_order_of_their_numbers);
    tcase_add_test(reports, what_moves_and_what_does_not_separate);
    tcase_add_test(reports, below_six_repeats_stand_ranges);
    tcase_add_test(reports, rejected_repeats_are_told);
    tcase_add_test(reports, what_a_label_lacks_is_no_axis);
    tcase_add_test(reports, all_disturbed_is_one_table);
    tcase_add_test(reports, raw_repeats_one_per_line);
    tcase_add_test(reports, poor_sweeps_make_sentences);
    tcase_add_test(reports, what_the_most_workers_cost);
    tcase_add_test(comparisons, the_same_does_not_regress);
    tcase_add_test(comparisons, a_regression_is_found);
    tcase_add_test(comparisons, more_requests_are_better);
    tcase_add_test(comparisons, a_repetition_sets_the_spread);
    tcase_add_test(comparisons, cells_of_one_side_are_counted);
    suite_add_tcase(suite, reports);
    suite_add_tcase(suite, comparisons);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
