/* SPDX-License-Identifier: MIT
 *
 * Promise: medians, intervals and ratios are what the textbooks say, the same every time, and only valid, undisturbed
 * repeats of the same block are compared.
 *
 * Reference values. The bootstrap distribution of the median of an odd number n of values is known exactly: the median
 * of a resample is at most the k-th value with the probability that a binomial (n, k/n) is at least (n + 1) / 2. For n
 * = 7 that is 0.010 for k = 1 and 0.105 for k = 2; for n = 11 it is 0.007 for k = 2 and 0.052 for k = 3. So the 95 %
 * intervals go from the 2nd to the 6th and from the 3rd to the 9th value.
 */
#include "statistics.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NEAR(a, b) ck_assert_double_eq_tol(a, b, 1e-9)

static void shuffle(double *values, size_t count)
{
    for (size_t i = count - 1; i > 0; i--) {
        size_t j = (size_t)random() % (i + 1);
        double value = values[i];
        values[i] = values[j];
        values[j] = value;
    }
}

static int compare_numbers(const void *first, const void *second)
{
    double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

START_TEST(medians)
{
    ck_assert_double_nan(statistics_median(NULL, 0));
    NEAR(statistics_median((double[]){3}, 1), 3);
    NEAR(statistics_median((double[]){4, 1}, 2), 2.5);
    NEAR(statistics_median((double[]){9, 1, 5}, 3), 5);
    NEAR(statistics_median((double[]){2, 2, 2, 1, 2, 3}, 6), 2);
    double values[101], sorted[101];
    for (int i = 0; i < 101; i++) {
        values[i] = sorted[i] = i % 10 == 0 ? 0 : i; /* with ties */
    }
    for (int round = 0; round < 50; round++) {
        shuffle(values, 101);
        double first = values[0];
        NEAR(statistics_median(values, 101), 44); /* 11 zeros, then 39 numbers up to 43 that end in no zero */
        ck_assert(values[0] == first);            /* not changed */
    }
}
END_TEST

START_TEST(intervals_of_the_median)
{
    double values[11] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    for (int round = 0; round < 20; round++) {
        shuffle(values, 11);
        struct interval interval = statistics_interval(values, 11);
        NEAR(interval.median, 6);
        NEAR(interval.low, 3);
        NEAR(interval.high, 9);
        ck_assert(!interval.is_range);
        ck_assert_uint_eq(interval.count, 11);
    }
    struct interval seven = statistics_interval((double[]){70, 10, 20, 60, 30, 50, 40}, 7);
    NEAR(seven.median, 40);
    NEAR(seven.low, 20);
    NEAR(seven.high, 60);
    double many[1001]; /* ranks 501 +- 1.96 sqrt(1001) / 2 = 501 +- 31 */
    for (int i = 0; i < 1001; i++) {
        many[i] = i + 1;
    }
    struct interval large = statistics_interval(many, 1001);
    NEAR(large.median, 501);
    ck_assert_double_eq_tol(large.low, 470, 3);
    ck_assert_double_eq_tol(large.high, 532, 3);
}
END_TEST

/* Six values have 6^6 resamples: all of them are made, and the limits read off. */
START_TEST(intervals_are_those_of_all_resamples)
{
    enum { VALUES = 6, RESAMPLES = 46656 };
    static double medians_of_all[RESAMPLES];
    const double values[VALUES] = {1, 2, 4, 8, 16, 31};
    for (int i = 0; i < RESAMPLES; i++) {
        double drawn[VALUES];
        for (int k = 0, rest = i; k < VALUES; k++, rest /= VALUES) {
            drawn[k] = values[rest % VALUES];
        }
        medians_of_all[i] = statistics_median(drawn, VALUES);
    }
    qsort(medians_of_all, RESAMPLES, sizeof(double), compare_numbers);
    struct interval interval = statistics_interval(values, VALUES);
    NEAR(interval.low, medians_of_all[RESAMPLES * 25 / 1000]);
    NEAR(interval.high, medians_of_all[RESAMPLES - 1 - RESAMPLES * 25 / 1000]);
}
END_TEST

START_TEST(few_values_give_a_range)
{
    struct interval interval = statistics_interval((double[]){5, 1, 9, 2, 3}, 5);
    NEAR(interval.median, 3);
    NEAR(interval.low, 1);
    NEAR(interval.high, 9);
    ck_assert(interval.is_range);
    interval = statistics_interval((double[]){5, 1, 9, 2, 3, 4}, 6);
    ck_assert(!interval.is_range);
    interval = statistics_interval(NULL, 0);
    ck_assert_double_nan(interval.median);
    ck_assert_uint_eq(interval.count, 0);
}
END_TEST

/* Of 500 samples of 10 values each, the interval must cover the true median in about 95 % (the percentile interval of
 * so few is known to be a little too short, not much). */
START_TEST(intervals_cover_the_truth)
{
    int covered = 0;
    srandom(1);
    for (int sample = 0; sample < 500; sample++) {
        double values[10];
        for (int i = 0; i < 10; i++) {
            values[i] = exp((double)random() / RAND_MAX * 4 - 2); /* skewed; median 1 */
        }
        struct interval interval = statistics_interval(values, 10);
        covered += interval.low <= 1 && interval.high >= 1;
    }
    ck_assert_msg(covered >= 450 && covered <= 495, "covered %d of 500", covered);
}
END_TEST

START_TEST(ratios)
{
    double below[7] = {10, 20, 30, 40, 50, 60, 70}, above[7];
    for (int i = 0; i < 7; i++) {
        above[i] = 3 * below[i];
    }
    /* A drift that both sides of a block share cancels if they are paired, and only then. */
    struct interval paired = statistics_ratio(above, 7, below, 7, true),
                    apart = statistics_ratio(above, 7, below, 7, false);
    NEAR(paired.median, 3);
    NEAR(paired.low, 3);
    NEAR(paired.high, 3);
    NEAR(apart.median, 3);
    ck_assert(apart.low < 2 && apart.high > 4);
    /* Ranges below six. */
    struct interval range = statistics_ratio((double[]){4, 6}, 2, (double[]){2, 1, 3}, 3, false);
    NEAR(range.median, 2.5);
    NEAR(range.low, 4.0 / 3);
    NEAR(range.high, 6);
    ck_assert(range.is_range);
    range = statistics_ratio((double[]){4, 6, 1}, 3, (double[]){2, 1, 1}, 3, true);
    NEAR(range.median, 4);
    NEAR(range.low, 1);
    NEAR(range.high, 6);
    /* Nothing to divide by. */
    ck_assert_double_nan(statistics_ratio(above, 7, (double[]){0, 0, 0}, 3, false).median);
    ck_assert_double_nan(statistics_ratio(above, 7, NULL, 0, false).median);
    ck_assert_double_nan(statistics_ratio(NULL, 0, below, 7, false).low);
}
END_TEST

START_TEST(rank_correlation)
{
    /* The example with a tie has 0.8207826816681233 in every package. */
    NEAR(statistics_rank_correlation((double[]){1, 2, 3, 4, 5}, (double[]){5, 6, 7, 8, 7}, 5), 0.8207826816681233);
    NEAR(statistics_rank_correlation((double[]){1, 2, 3}, (double[]){-1, -20, -300}, 3), -1);
    NEAR(statistics_rank_correlation((double[]){1, 20, 3}, (double[]){0.1, 0.4, 0.2}, 3), 1);
    ck_assert_double_nan(statistics_rank_correlation((double[]){1, 2}, (double[]){1, 2}, 2));
    ck_assert_double_nan(statistics_rank_correlation((double[]){1, 2, 3}, (double[]){4, 4, 4}, 3));
}
END_TEST

/* ---- cells ---- */

static void fill(struct result *row, int sweep_id, const char *cell_id, int repeat, double cpu)
{
    result_init(row);
    result_set_number(row, RESULT_sweep_id, sweep_id);
    result_set_text(row, RESULT_cell_id, cell_id);
    result_set_number(row, RESULT_repeat, repeat);
    result_set_number(row, RESULT_valid, 1);
    result_set_number(row, RESULT_disturbed, 0);
    result_set_number(row, RESULT_requests, 100);
    result_set_number(row, RESULT_router_cpu_us_per_request, cpu);
    result_add_number(row, "yields", cpu * 10);
}

START_TEST(cells_are_grouped)
{
    enum { ROWS = 3000 };
    struct result_set set = {.rows = calloc(ROWS, sizeof(struct result)), .count = ROWS};
    for (int i = 0; i < ROWS; i++) {
        char cell_id[32];
        snprintf(cell_id, sizeof(cell_id), "c%d", (i * 7) % 1000);
        fill(&set.rows[i], 1, cell_id, 3 - i / 1000, i);
    }
    struct cell_set cells;
    cell_set_init(&cells, &set);
    ck_assert_uint_eq(cells.count, 1000);
    ck_assert_str_eq(cells.cells[0].cell_id, "c0");
    ck_assert_str_eq(cells.cells[1].cell_id, "c7"); /* the order of first appearance */
    for (size_t i = 0; i < cells.count; i++) {
        const struct cell *cell = &cells.cells[i];
        ck_assert_uint_eq(cell->count, 3);
        ck_assert_ptr_eq(cell->first, &set.rows[i]);
        for (uint32_t k = 0; k < 3; k++) { /* by repeat number */
            ck_assert_double_eq(cell->rows[k]->columns[RESULT_repeat].number, k + 1);
            ck_assert_str_eq(cell->rows[k]->columns[RESULT_cell_id].text, cell->cell_id);
        }
    }
    cell_set_fini(&cells);
    result_set_fini(&set);
    cell_set_init(&cells, &set); /* none at all */
    ck_assert_uint_eq(cells.count, 0);
    cell_set_fini(&cells);
}
END_TEST

START_TEST(only_valid_undisturbed_repeats_count)
{
    struct result_set set = {.rows = calloc(6, sizeof(struct result)), .count = 6};
    for (int i = 0; i < 6; i++) {
        fill(&set.rows[i], 1, "c", i + 1, (double[]){10, 20, 30, 1000, 2000, 40}[i]);
    }
    result_set_number(&set.rows[3], RESULT_disturbed, 1);
    result_set_number(&set.rows[4], RESULT_valid, 0);
    result_set_number(&set.rows[5], RESULT_valid, NAN); /* not known to be valid */
    struct cell_set cells;
    cell_set_init(&cells, &set);
    struct interval interval = cell_interval(&cells.cells[0], CELL_CPU_US, false);
    NEAR(interval.median, 20);
    ck_assert_uint_eq(interval.count, 3);
    interval = cell_interval(&cells.cells[0], CELL_CPU_US, true);
    NEAR(interval.median, 25);
    ck_assert_uint_eq(interval.count, 4);
    interval = cell_interval_per_request(&cells.cells[0], "yields", false);
    NEAR(interval.median, 2);
    result_set_number(&set.rows[1], RESULT_requests, 0); /* nothing per request then */
    ck_assert_uint_eq(cell_interval_per_request(&cells.cells[0], "yields", false).count, 2);
    /* With a backlog the window's counters belong to what was answered in it. */
    result_add_number(&set.rows[0], "completions", 0);
    ck_assert_uint_eq(cell_interval_per_request(&cells.cells[0], "yields", false).count, 1);
    ck_assert_uint_eq(cell_interval(&cells.cells[0], "no_such_number", false).count, 0);
    cell_set_fini(&cells);
    result_set_fini(&set);
}
END_TEST

/* Where a side has no undisturbed repeat, a ratio stands on the disturbed ones of both, and says so. */
START_TEST(a_ratio_of_disturbed_repeats_is_told)
{
    struct result_set set = {.rows = calloc(4, sizeof(struct result)), .count = 4};
    for (int i = 0; i < 4; i++) {
        fill(&set.rows[i], 1, i < 2 ? "below" : "above", i % 2 + 1, (double[]){10, 30, 60, 120}[i]);
    }
    result_set_number(&set.rows[3], RESULT_disturbed, 1);
    struct cell_set cells;
    cell_set_init(&cells, &set);
    const struct cell *below = &cells.cells[0], *above = &cells.cells[1];
    bool disturbed = true;
    NEAR(cell_ratio_or_disturbed(above, below, CELL_CPU_US, &disturbed).median, 6); /* of the first repeats */
    ck_assert(!disturbed);
    result_set_number(&set.rows[2], RESULT_disturbed, 1);
    NEAR(cell_ratio_or_disturbed(above, below, CELL_CPU_US, &disturbed).median, 4.5); /* 90 to 20 */
    ck_assert(disturbed);
    NEAR(cell_ratio_or_disturbed(below, above, CELL_CPU_US, &disturbed).median, 20.0 / 90);
    ck_assert(disturbed);
    result_set_number(&set.rows[2], RESULT_valid, 0);
    result_set_number(&set.rows[3], RESULT_valid, 0);
    ck_assert_double_nan(cell_ratio_or_disturbed(above, below, CELL_CPU_US, &disturbed).median);
    ck_assert(!disturbed); /* it stands on nothing */
    cell_set_fini(&cells);
    result_set_fini(&set);
}
END_TEST

/* By the numbers, not by the words; a word that only a target can resolve is no number. */
START_TEST(the_base_is_one_worker_that_does_not_spin)
{
    static const struct {
        const char *workers, *spin;
        double workers_resolved, spin_resolved;
        bool is_base;
    } settings[] = {
        {"1", "0", 1, 0, true},           {"1", "0", NAN, NAN, true},      {"default", "0", 1, 0, true},
        {"1", "default", 1, 0, true},     {"1", "default", 1, 70, false},  {"12", "0", 12, 0, false},
        {"default", "0", NAN, 0, false},  {"1", "default", 1, NAN, false}, {NULL, "0", NAN, 0, false},
        {NULL, NULL, NAN, NAN, false},
    };
    struct result_set set = {.rows = calloc(1, sizeof(struct result)), .count = 1};
    struct cell_set cells;
    fill(&set.rows[0], 1, "c", 1, 10);
    result_set_text(&set.rows[0], RESULT_max_workers, settings[_i].workers);
    result_set_text(&set.rows[0], RESULT_spin_limit, settings[_i].spin);
    result_set_number(&set.rows[0], RESULT_max_workers_resolved, settings[_i].workers_resolved);
    result_set_number(&set.rows[0], RESULT_spin_limit_resolved, settings[_i].spin_resolved);
    cell_set_init(&cells, &set);
    ck_assert_int_eq(cell_is_base(&cells.cells[0]), settings[_i].is_base);
    cell_set_fini(&cells);
    result_set_fini(&set);
}
END_TEST

/* Two cells of one sweep whose blocks drift together; the second one's repeats come in another order and lack some. */
START_TEST(cells_of_a_sweep_are_paired_by_repeat)
{
    struct result_set set = {.rows = calloc(16, sizeof(struct result)), .count = 16};
    for (int i = 0; i < 8; i++) {
        double drift = (i + 1) * 10;
        fill(&set.rows[i], 1, "below", i + 1, drift);
        fill(&set.rows[8 + i], 1, "above", 8 - i, 2 * (8 - i) * 10.0);
    }
    result_set_number(&set.rows[2], RESULT_disturbed, 1); /* repeat 3 below */
    result_set_number(&set.rows[8], RESULT_valid, 0);     /* repeat 8 above */
    struct cell_set cells;
    cell_set_init(&cells, &set);
    struct interval ratio = cell_ratio(&cells.cells[1], &cells.cells[0], CELL_CPU_US);
    NEAR(ratio.median, 2);
    NEAR(ratio.low, 2);
    NEAR(ratio.high, 2);
    ck_assert_uint_eq(ratio.count, 6);
    ratio = cell_ratio_apart(&cells.cells[1], &cells.cells[0], CELL_CPU_US);
    ck_assert_uint_eq(ratio.count, 7);
    ck_assert(ratio.low < 1.8 && ratio.high > 2.2);
    for (int i = 8; i < 16; i++) {
        result_set_number(&set.rows[i], RESULT_sweep_id, 2); /* another sweep: never paired */
    }
    ratio = cell_ratio(&cells.cells[1], &cells.cells[0], CELL_CPU_US);
    ck_assert_uint_eq(ratio.count, 7);
    cell_set_fini(&cells);
    result_set_fini(&set);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("statistics");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, medians);
    tcase_add_test(all, intervals_of_the_median);
    tcase_add_test(all, intervals_are_those_of_all_resamples);
    tcase_add_test(all, few_values_give_a_range);
    tcase_add_test(all, intervals_cover_the_truth);
    tcase_add_test(all, ratios);
    tcase_add_test(all, rank_correlation);
    tcase_add_test(all, cells_are_grouped);
    tcase_add_test(all, only_valid_undisturbed_repeats_count);
    tcase_add_test(all, a_ratio_of_disturbed_repeats_is_told);
    tcase_add_loop_test(all, the_base_is_one_worker_that_does_not_spin, 0, 10);
    tcase_add_test(all, cells_of_a_sweep_are_paired_by_repeat);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
