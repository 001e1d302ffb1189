/* SPDX-License-Identifier: MIT
 *
 * Comparing two sweeps; see compare.h.
 */
#include "compare.h"
#include "decimal.h"
#include "heap.h"
#include "report.h"
#include "report_group.h"
#include "table.h"

#include <math.h>

#define SPREAD_SHARE 0.95

static const struct {
    const char *column, *words;
    bool more_is_better;
} numbers[COMPARE_NUMBER_COUNT] = {
#define COMPARE_ROW(name, column, words, more) {column, words, more},
    COMPARE_NUMBERS(COMPARE_ROW)
#undef COMPARE_ROW
};

struct pair {
    struct cell *first, *second;
};

/* Cells of both, sorted by cell_id. */
struct matching {
    struct pair *pairs;
    size_t count, only_first, only_second;
};

static int compare_ids(const void *first, const void *second)
{
    return strcmp((*(struct cell *const *)first)->cell_id, (*(struct cell *const *)second)->cell_id);
}

/* Cells sorted by cell_id; the caller frees the list. */
static struct cell **sorted_cells(const struct cell_set *cells)
{
    struct cell **list = heap_array(cells->count, sizeof(*list));
    for (size_t i = 0; i < cells->count; i++) {
        list[i] = &cells->cells[i];
    }
    qsort(list, cells->count, sizeof(*list), compare_ids);
    return list;
}

static void match(struct matching *matching, const struct cell_set *first, const struct cell_set *second)
{
    struct cell **a = sorted_cells(first), **b = sorted_cells(second);
    size_t i = 0, j = 0;
    *matching = (struct matching){0};
    while (i < first->count || j < second->count) {
        int order = i == first->count ? 1 : j == second->count ? -1 : strcmp(a[i]->cell_id, b[j]->cell_id);
        if (order == 0) {
            matching->pairs = heap_grow(matching->pairs, matching->count, sizeof(*matching->pairs));
            matching->pairs[matching->count++] = (struct pair){.first = a[i], .second = b[j]};
        }
        matching->only_first += order < 0;
        matching->only_second += order > 0;
        i += order <= 0;
        j += order >= 0;
    }
    free(a);
    free(b);
}

/* ---- A/A spread ---- */

struct distances {
    double *values; /* |ln ratio| */
    size_t count;
};

static void add_distance(struct distances *distances, double above, double below)
{
    if (above > 0 && below > 0) {
        distances->values = heap_grow(distances->values, distances->count, sizeof(double));
        distances->values[distances->count++] = fabs(log(above / below));
    }
}

/* Medians of the odd and the even repeats of each cell against each other. */
static void add_halves(struct distances *distances, const struct cell_set *cells, const char *column)
{
    for (size_t i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->cells[i];
        struct cell halves[2];
        for (uint32_t k = 0; k < 2; k++) {
            halves[k] = (struct cell){
                .cell_id = cell->cell_id, .first = cell->first, .rows = heap_array(cell->count, sizeof(*cell->rows))};
        }
        for (uint32_t k = 0; k < cell->count; k++) {
            struct cell *half = &halves[k % 2];
            half->rows[half->count++] = cell->rows[k];
        }
        add_distance(distances, cell_interval(&halves[0], column, false).median,
                     cell_interval(&halves[1], column, false).median);
        free(halves[0].rows);
        free(halves[1].rows);
    }
}

static int compare_doubles(const void *first, const void *second)
{
    double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

static double spread_of(struct distances *distances)
{
    double spread = NAN;
    if (distances->count > 0) {
        qsort(distances->values, distances->count, sizeof(double), compare_doubles);
        size_t rank = (size_t)ceil(SPREAD_SHARE * (double)distances->count);
        spread = expm1(distances->values[rank - 1]);
    }
    free(distances->values);
    return spread;
}

static void find_spread(struct compare_verdict *verdict, const struct cell_set *first, const struct cell_set *second,
                        const struct compare_options *options)
{
    struct cell_set again = {0};
    struct matching matching = {0};
    if (options->again) {
        cell_set_init(&again, options->again);
        match(&matching, first, &again);
    }
    for (int k = 0; k < COMPARE_NUMBER_COUNT; k++) {
        struct distances distances = {0};
        for (size_t i = 0; i < matching.count; i++) {
            add_distance(&distances, cell_interval(matching.pairs[i].second, numbers[k].column, false).median,
                         cell_interval(matching.pairs[i].first, numbers[k].column, false).median);
        }
        if (!options->again) {
            add_halves(&distances, first, numbers[k].column);
            add_halves(&distances, second, numbers[k].column);
        }
        verdict->spread[k] = spread_of(&distances);
    }
    free(matching.pairs);
    cell_set_fini(&again);
}

/* ---- the table ---- */

/* -1: regressed, 1: improved, 0: neither. */
static int judge(const struct interval *ratio, enum compare_number number, const struct compare_verdict *verdict,
                 const struct compare_options *options)
{
    double spread = isnan(verdict->spread[number]) ? 0 : verdict->spread[number];
    double limit = 1 + (options->has_threshold ? options->threshold : spread);
    if (isnan(ratio->median)) {
        return 0;
    }
    int direction = ratio->low > limit ? 1 : ratio->high < 1 / limit ? -1 : 0;
    return numbers[number].more_is_better ? direction : -direction;
}

/* Judges one pair, in the newest row of the table from the given column on. */
static void compare_pair(struct table *table, size_t column, const struct pair *pair, struct compare_verdict *verdict,
                         const struct compare_options *options)
{
    char text[REPORT_RATIO_SIZE], words[160] = "";
    bool regressed = false, improved = false;
    for (int k = 0; k < COMPARE_NUMBER_COUNT; k++) {
        struct interval ratio = cell_ratio_apart(pair->second, pair->first, numbers[k].column);
        int judgement = judge(&ratio, k, verdict, options);
        if (k == COMPARE_CPU && ratio.count == 0) {
            verdict->not_measured++;
            snprintf(words, sizeof(words), "not measured");
        }
        if (!isnan(ratio.median)) {
            table_set(table, column + (size_t)k, "%s", report_ratio_text(&ratio, text));
        }
        if (judgement != 0) {
            size_t used = strlen(words);
            snprintf(words + used, sizeof(words) - used, "%s%s %s", used ? ", " : "", numbers[k].words,
                     judgement < 0 ? "regressed" : "improved");
        }
        regressed = regressed || judgement < 0;
        improved = improved || judgement > 0;
    }
    table_set(table, column + COMPARE_NUMBER_COUNT, "%s", words[0] ? words : "-");
    verdict->regressed += regressed;
    verdict->improved += improved && !regressed;
}

static int compare_pair_to_id(const void *cell_id, const void *pair)
{
    return strcmp(cell_id, ((const struct pair *)pair)->first->cell_id);
}

static void write_group(FILE *stream, const struct group *group, const struct matching *matching,
                        struct compare_verdict *verdict, const struct compare_options *options)
{
    struct table table;
    table_init(&table);
    group_add_axis_columns(&table, &group->axes);
    for (int k = 0; k < COMPARE_NUMBER_COUNT; k++) {
        table_add_column(&table, "", numbers[k].words, 0);
    }
    table_add_column(&table, "", "verdict", 0);
    for (size_t i = 0; i < group->count; i++) {
        const struct pair *pair = bsearch(group->cells[i]->cell_id, matching->pairs, matching->count,
                                          sizeof(*matching->pairs), compare_pair_to_id);
        table_add_row(&table);
        compare_pair(&table, group_set_axes(&table, &group->axes, group->cells[i]), pair, verdict, options);
    }
    table_write(stream, &table);
    table_fini(&table);
}

static void write_groups(FILE *stream, const struct matching *matching, struct compare_verdict *verdict,
                         const struct compare_options *options)
{
    struct grouping grouping;
    struct group group;
    struct cell **cells = heap_array(matching->count, sizeof(*cells));
    for (size_t i = 0; i < matching->count; i++) {
        cells[i] = matching->pairs[i].first;
    }
    grouping_init(&grouping, cells, matching->count);
    free(cells);
    grouping_write_constants(stream, &grouping, options->width);
    for (size_t next = 0; grouping_next(&grouping, &next, &group);) {
        group_write_heading(stream, &grouping, &group, options->width);
        write_group(stream, &group, matching, verdict, options);
        group_fini(&group);
    }
    grouping_fini(&grouping);
}

static void write_spread(FILE *stream, const struct compare_verdict *verdict, const struct compare_options *options)
{
    struct word_list words = {0};
    char text[DECIMAL_SIZE];
    for (int k = 0; k < COMPARE_NUMBER_COUNT; k++) {
        double percent = verdict->spread[k] * 100;
        if (!isnan(percent)) {
            word_list_add(&words, "%s %s %%", numbers[k].words, decimal_print_fixed(percent, 1, text));
        }
    }
    if (words.count == 0) {
        word_list_add(&words, "unknown (it needs two repeats of a cell)");
    }
    word_list_write(
        stream, &words,
        options->again ? "A/A spread (a repetition of the first):" : "A/A spread (odd against even repeats):", ",", "",
        options->width);
    if (options->has_threshold) {
        fprintf(stream, "Regressed: the interval lies wholly beyond %s %%.\n",
                decimal_print_fixed(options->threshold * 100, 1, text));
    } else {
        fputs("Regressed: the interval lies wholly beyond the spread.\n", stream);
    }
    word_list_fini(&words);
}

int compare_write(FILE *stream, const struct compare_side *first, const struct compare_side *second,
                  const struct compare_options *options, struct compare_verdict *out)
{
    struct cell_set cells[2];
    struct matching matching;
    *out = (struct compare_verdict){0};
    cell_set_init(&cells[0], first->set);
    cell_set_init(&cells[1], second->set);
    match(&matching, &cells[0], &cells[1]);
    out->matched = matching.count;
    out->only_first = matching.only_first;
    out->only_second = matching.only_second;
    fprintf(stream,
            "%s against %s: ratios of medians with 95 %% intervals [low high], ranges (low high) below six repeats\n",
            second->name, first->name);
    find_spread(out, &cells[0], &cells[1], options);
    write_spread(stream, out, options);
    if (matching.count > 0) {
        write_groups(stream, &matching, out, options);
        putc('\n', stream);
    }
    if (out->not_measured > 0) {
        fputs("Not measured: on one of the two sides no repeat of the cell is valid and undisturbed.\n", stream);
    }
    fprintf(stream,
            "%zu %s compared: %zu regressed, %zu improved, %zu not measured; only in the first: %zu, only in the "
            "second: %zu\n",
            out->matched, out->matched == 1 ? "cell" : "cells", out->regressed, out->improved, out->not_measured,
            out->only_first, out->only_second);
    free(matching.pairs);
    cell_set_fini(&cells[0]);
    cell_set_fini(&cells[1]);
    return ferror(stream) ? -1 : 0;
}
