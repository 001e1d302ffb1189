/* SPDX-License-Identifier: MIT
 *
 * One group of a report: its table and what can be said about it.
 *
 * Sources. Spearman's rank correlation; 1.96 / sqrt(n - 1) is its normal approximation at 95 %.
 */
#include "report_group.h"
#include "decimal.h"
#include "heap.h"

#include <math.h>

const struct measure measures[] = {
    {"rps", {"", "RPS"}, .has_bounds = true},
    {"router_cpu_percent", {"router", "CPU %"}, .has_bounds = true},
    {CELL_CPU_US, {"CPU us", "/request"}, .has_bounds = true},
    {"latency_us_p50", {"p50", "us"}, .is_paced_only = true},
    {"latency_us_p99", {"p99", "us"}, .is_paced_only = true},
    {"extension_cpu_percent", {"ext.", "CPU %"}},
    {"yields", {"yields", "/request"}, "yields", .is_per_request = true},
    {"wakes_sent", {"wakes", "/request"}, "wakes sent", .is_per_request = true},
    {"parks", {"parks", "/request"}, "parks", .is_per_request = true},
    {"involuntary_switches", {"invol.sw.", "/request"}, "involuntary switches", .is_per_request = true},
};
const size_t measure_count = sizeof(measures) / sizeof(*measures);
#define MEASURE_COUNT   (sizeof(measures) / sizeof(*measures))
#define CPU_PER_REQUEST 2 /* its place in measures */

/* The intervals of one cell, one per measure. */
struct line {
    const struct cell *cell;
    struct interval intervals[MEASURE_COUNT];
};

/* Which measures a table has. */
enum part { PART_ALL, PART_MEASURED, PART_COUNTERS };

void group_add_axis_columns(struct table *table, const struct axes *axes)
{
    char heading[AXIS_TEXT_SIZE];
    for (size_t i = 0; i < axes->count; i++) {
        if (axes->varies[i]) {
            table_add_column(table, "", axis_heading(axes->names[i], heading), 0);
        }
    }
}

size_t group_set_axes(struct table *table, const struct axes *axes, const struct cell *cell)
{
    char text[AXIS_TEXT_SIZE];
    size_t column = 0;
    for (size_t i = 0; i < axes->count; i++) {
        if (axes->varies[i]) {
            axis_text(cell, axes->names[i], text);
            table_set(table, column++, "%s", text[0] ? text : "-");
        }
    }
    return column;
}

/* disturbed_too: nothing is rejected. */
static void line_init(struct line *line, const struct cell *cell, bool disturbed_too)
{
    const char *mode = result_get_text(cell->first, "mode");
    bool paced = mode && strcmp(mode, "paced") == 0;
    line->cell = cell;
    for (size_t i = 0; i < MEASURE_COUNT; i++) {
        line->intervals[i] = measures[i].is_paced_only && !paced ? (struct interval){.median = NAN}
                             : measures[i].is_per_request
                                 ? cell_interval_per_request(cell, measures[i].name, disturbed_too)
                                 : cell_interval(cell, measures[i].name, disturbed_too);
    }
}

/* Digits after the point for a whole column: three significant ones for the largest median, one more where the smallest
 * is far below it and small. */
static int column_digits(const struct line *lines, size_t count, size_t measure)
{
    double smallest = INFINITY, largest = 0;
    for (size_t i = 0; i < count; i++) {
        double size = fabs(lines[i].intervals[measure].median);
        if (size > 0) { /* not for NaN */
            smallest = fmin(smallest, size);
            largest = fmax(largest, size);
        }
    }
    return decimal_digits(largest) + (smallest < largest / 20 && smallest < 100);
}

static bool is_in(enum part part, size_t measure)
{
    return part == PART_ALL || (part == PART_COUNTERS) == measures[measure].is_per_request;
}

static void add_measure_columns(struct table *table, enum part part)
{
    for (size_t i = 0; i < MEASURE_COUNT; i++) {
        if (is_in(part, i)) {
            table_add_column(table, measures[i].heading[0], measures[i].heading[1], TABLE_RIGHT);
            if (measures[i].has_bounds) {
                table_add_column(table, "", "", TABLE_ATTACHED);
            }
        }
    }
}

/* Sets the measures of a line in the newest row, from the given column on; returns the next one. */
static size_t set_measures(struct table *table, size_t column, const struct line *line, const int *digits,
                           enum part part)
{
    char median[DECIMAL_SIZE], low[DECIMAL_SIZE], high[DECIMAL_SIZE];
    for (size_t i = 0; i < MEASURE_COUNT; i++) {
        const struct interval *interval = &line->intervals[i];
        if (!is_in(part, i)) {
            continue;
        }
        if (interval->count > 0) {
            table_set(table, column, "%s", decimal_print_fixed(interval->median, digits[i], median));
        }
        if (interval->count > 1 && measures[i].has_bounds) { /* a single repeat has no range */
            decimal_print_fixed(interval->low, digits[i], low);
            decimal_print_fixed(interval->high, digits[i], high);
            table_set(table, column + 1, interval->is_range ? "(%s %s)" : "[%s %s]", low, high);
        }
        column += measures[i].has_bounds ? 2 : 1;
    }
    return column;
}

/* How many of a cell's repeats are used, invalid, disturbed (and valid). */
struct quality {
    uint32_t used, invalid, disturbed;
};

static struct quality quality_of(const struct cell *cell)
{
    struct quality quality = {0};
    for (uint32_t i = 0; i < cell->count; i++) {
        double valid = 0, disturbed = 0;
        result_get_number(cell->rows[i], "valid", &valid);
        result_get_number(cell->rows[i], "disturbed", &disturbed);
        quality.invalid += valid == 0;
        quality.disturbed += valid != 0 && disturbed != 0;
        quality.used += valid != 0 && disturbed == 0;
    }
    return quality;
}

static void set_quality(struct table *table, size_t column, const struct cell *cell)
{
    struct quality quality = quality_of(cell);
    table_set(table, column, "%u", quality.used);
    if (quality.invalid && quality.disturbed) {
        table_set(table, column + 1, "%u invalid, %u disturbed", quality.invalid, quality.disturbed);
    } else if (quality.invalid || quality.disturbed) {
        table_set(table, column + 1, "%u %s", quality.invalid + quality.disturbed,
                  quality.invalid ? "invalid" : "disturbed");
    }
}

/* Builds the table of some lines; quality: with what was left out. Else nothing was, and n counts all valid repeats. */
static void fill_table(struct table *table, const struct group *group, const struct line *lines, size_t count,
                       enum part part, bool quality)
{
    int digits[MEASURE_COUNT];
    table_init(table);
    group_add_axis_columns(table, &group->axes);
    add_measure_columns(table, part);
    table_add_column(table, "", "n", TABLE_RIGHT);
    table_add_column(table, "", "left out", 0);
    for (size_t i = 0; i < MEASURE_COUNT; i++) {
        digits[i] = column_digits(lines, count, i);
    }
    for (size_t i = 0; i < count; i++) {
        table_add_row(table);
        size_t column = group_set_axes(table, &group->axes, lines[i].cell);
        column = set_measures(table, column, &lines[i], digits, part);
        if (quality) {
            set_quality(table, column, lines[i].cell);
        } else if (part == PART_MEASURED) {
            struct quality all = quality_of(lines[i].cell);
            table_set(table, column, "%u", all.used + all.disturbed);
        }
    }
}

static bool has_counters(const struct line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < MEASURE_COUNT; k++) {
            if (measures[k].is_per_request && lines[i].intervals[k].count > 0) {
                return true;
            }
        }
    }
    return false;
}

/* In one table if it is not wider than width, else the counters in one of their own. */
static void write_lines(FILE *stream, const struct group *group, const struct line *lines, size_t width)
{
    struct table table;
    fill_table(&table, group, lines, group->count, PART_ALL, true);
    bool fits = table_width(&table) <= width;
    if (!fits) {
        table_fini(&table);
        fill_table(&table, group, lines, group->count, PART_MEASURED, true);
    }
    table_write(stream, &table);
    table_fini(&table);
    if (!fits && has_counters(lines, group->count)) {
        fill_table(&table, group, lines, group->count, PART_COUNTERS, false);
        putc('\n', stream);
        table_write(stream, &table);
        table_fini(&table);
    }
}

/* ---- what moves ---- */

/* Correlation of a measure with the CPU per request over the lines that have both. */
static double correlation_with_cpu(const struct line *lines, size_t count, size_t measure, size_t *used)
{
    double *cpu = heap_array(count, sizeof(double)), *other = heap_array(count, sizeof(double));
    *used = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isnan(lines[i].intervals[CPU_PER_REQUEST].median) && !isnan(lines[i].intervals[measure].median)) {
            cpu[*used] = lines[i].intervals[CPU_PER_REQUEST].median;
            other[(*used)++] = lines[i].intervals[measure].median;
        }
    }
    double correlation = statistics_rank_correlation(cpu, other, *used);
    free(cpu);
    free(other);
    return correlation;
}

static void write_moving(FILE *stream, const struct line *lines, size_t count, size_t width)
{
    struct word_list moving = {0}, still = {0};
    double threshold = REPORT_CORRELATION_MINIMUM;
    char text[DECIMAL_SIZE], head[128];
    for (size_t i = 0; i < MEASURE_COUNT; i++) {
        size_t used = 0;
        double correlation = measures[i].words ? correlation_with_cpu(lines, count, i, &used) : NAN;
        if (used < REPORT_CORRELATION_CELLS) {
            continue;
        }
        threshold = fmax(REPORT_CORRELATION_MINIMUM, 1.96 / sqrt((double)used - 1));
        word_list_add(correlation >= threshold ? &moving : &still, "%s %s", measures[i].words,
                      isnan(correlation) ? "constant" : decimal_print_fixed(correlation, 2, text));
    }
    snprintf(head, sizeof(head), "Moves with CPU per request (rank correlation over the cells, at least %s):",
             decimal_print_fixed(threshold, 2, text));
    if (moving.count == 0 && still.count > 0) {
        word_list_add(&moving, "nothing");
    }
    if (moving.count > 0) {
        word_list_write(stream, &moving, head, ",", "", width);
    }
    if (still.count > 0) {
        word_list_write(stream, &still, "Does not:", ",", "", width);
    }
    word_list_fini(&moving);
    word_list_fini(&still);
}

/* ---- more workers ---- */

/* The cells from first on that differ in max-workers only: the number of the one after the last. */
static size_t end_of_run(const struct group *group, size_t first)
{
    size_t end = first + 1;
    while (end < group->count &&
           axes_are_neighbours(&group->axes, group->cells[first], group->cells[end], "max_workers")) {
        end++;
    }
    return end;
}

static bool has_values(const struct cell *cell)
{
    return cell_interval(cell, CELL_CPU_US, false).count > 0;
}

/* "25 against 1 at spin-limit 0: 1.48 [1.41 1.55]", one line per run of cells that differ in max-workers only. */
static void write_most_against_fewest(FILE *stream, const struct group *group)
{
    size_t lines = 0;
    for (size_t first = 0, end; first < group->count; first = end) {
        end = end_of_run(group, first);
        const struct cell *fewest = group->cells[first], *most = group->cells[end - 1];
        if (end - first < 2 || !has_values(fewest) || !has_values(most)) {
            continue;
        }
        char *where = axes_describe(&group->axes, fewest, "max_workers"), *words;
        char above[AXIS_TEXT_SIZE], below[AXIS_TEXT_SIZE];
        bool only = strcmp(where, "the only cell") == 0;
        if (asprintf(&words, "%s against %s%s%s", axis_text(most, "max_workers", above),
                     axis_text(fewest, "max_workers", below), only ? "" : " at ", only ? "" : where) < 0) {
            heap_or_end(NULL);
        }
        fputs(lines++ == 0 ? "CPU per request, most against fewest max-workers:\n" : "", stream);
        report_ratio_line(stream, words, most, fewest, CELL_CPU_US);
        free(words);
        free(where);
    }
}

/* Adds the pair of neighbours if their interval includes 1; false if there is nothing to compare. */
static bool add_pair(struct word_list *together, const struct cell *below, const struct cell *above)
{
    char text[REPORT_RATIO_SIZE], first[AXIS_TEXT_SIZE], second[AXIS_TEXT_SIZE];
    struct interval ratio = cell_ratio(above, below, CELL_CPU_US);
    if (!isnan(ratio.median) && ratio.low <= 1 && ratio.high >= 1) {
        word_list_add(together, "%s and %s %s", axis_text(below, "max_workers", first),
                      axis_text(above, "max_workers", second), report_ratio_text(&ratio, text));
    }
    return !isnan(ratio.median);
}

/* One line per run of cells that differ in max-workers only. */
static void write_separation(FILE *stream, const struct group *group, size_t width)
{
    size_t compared = 0, lines = 0;
    for (size_t first = 0, end; first < group->count; first = end) {
        struct word_list together = {0};
        end = end_of_run(group, first);
        for (size_t i = first + 1; i < end; i++) {
            compared += add_pair(&together, group->cells[i - 1], group->cells[i]);
        }
        if (together.count > 0) {
            char *where = axes_describe(&group->axes, group->cells[first], "max_workers"), *head;
            if (asprintf(&head, "  %s:", where) < 0) {
                heap_or_end(NULL);
            }
            fputs(lines++ == 0
                      ? "Does not separate (max-workers, and the ratio of their CPU per request, which may be 1):\n"
                      : "",
                  stream);
            word_list_write(stream, &together, head, ";", "", width);
            free(head);
            free(where);
        }
        word_list_fini(&together);
    }
    if (compared > 0 && lines == 0) {
        fputs("All neighbouring max-workers separate in CPU per request.\n", stream);
    }
}

/* The medians with nothing rejected, of the cells where something was. */
static void write_unrejected(FILE *stream, const struct group *group)
{
    size_t disturbed = 0, count = 0;
    struct line *lines = heap_array(group->count, sizeof(*lines));
    for (size_t i = 0; i < group->count; i++) {
        uint32_t repeats = quality_of(group->cells[i]).disturbed;
        disturbed += repeats;
        if (repeats > 0) {
            line_init(&lines[count++], group->cells[i], true);
        }
    }
    if (count > 0) {
        struct table table;
        fprintf(stream, "With nothing rejected (%zu disturbed %s):\n", disturbed,
                disturbed == 1 ? "repeat" : "repeats");
        fill_table(&table, group, lines, count, PART_MEASURED, false);
        table_write(stream, &table);
        table_fini(&table);
    }
    free(lines);
}

/* Whether every cell has disturbed repeats and none that is used: then the table with nothing rejected says all. */
static bool is_all_disturbed(const struct group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        struct quality quality = quality_of(group->cells[i]);
        if (quality.used > 0 || quality.disturbed == 0) {
            return false;
        }
    }
    return group->count > 0;
}

void group_write(FILE *stream, const struct group *group, size_t width)
{
    if (is_all_disturbed(group)) {
        fputs("No repeat of these cells is valid and undisturbed. ", stream);
        write_unrejected(stream, group);
        return;
    }
    struct line *lines = heap_array(group->count, sizeof(*lines));
    for (size_t i = 0; i < group->count; i++) {
        line_init(&lines[i], group->cells[i], false);
    }
    write_lines(stream, group, lines, width);
    write_moving(stream, lines, group->count, width);
    free(lines);
    write_most_against_fewest(stream, group);
    write_separation(stream, group, width);
    write_unrejected(stream, group);
}
