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

const struct report_counter report_counters[] = {
    {"yields", {"yields", "/request"}, "yields"},
    {"wakes_sent", {"wakes", "/request"}, "wakes sent"},
    {"parks", {"parks", "/request"}, "parks"},
    {"involuntary_switches", {"invol.sw.", "/request"}, "involuntary switches"},
};
const size_t report_counter_count = sizeof(report_counters) / sizeof(*report_counters);

/* A measured number with its interval, or only its median. */
struct measure {
    const char *name, *heading[2];
    bool bounds, paced_only;
};
static const struct measure measures[] = {
    {"rps", {"", "RPS"}, true, false},
    {"router_cpu_percent", {"router", "CPU %"}, true, false},
    {"router_cpu_us_per_request", {"CPU us", "/request"}, true, false},
    {"latency_us_p50", {"p50", "us"}, false, true},
    {"latency_us_p99", {"p99", "us"}, false, true},
    {"extension_cpu_percent", {"ext.", "CPU %"}, false, false},
};
#define MEASURE_COUNT (sizeof(measures) / sizeof(*measures))

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

static void add_measure_columns(struct table *table)
{
    for (size_t i = 0; i < MEASURE_COUNT; i++) {
        table_add_column(table, measures[i].heading[0], measures[i].heading[1], TABLE_RIGHT);
        if (measures[i].bounds) {
            table_add_column(table, "", "", TABLE_ATTACHED);
        }
    }
}

/* Median and bounds with the same digits after the point. */
static size_t set_interval(struct table *table, size_t column, const struct interval *interval, bool bounds)
{
    char median[DECIMAL_SIZE], low[DECIMAL_SIZE], high[DECIMAL_SIZE];
    int digits = decimal_digits(interval->median);
    if (interval->count > 0) {
        table_set(table, column, "%s", decimal_print_fixed(interval->median, digits, median));
    }
    if (bounds && interval->count > 0) {
        decimal_print_fixed(interval->low, digits, low);
        decimal_print_fixed(interval->high, digits, high);
        table_set(table, column + 1, interval->is_range ? "(%s %s)" : "[%s %s]", low, high);
    }
    return column + 1 + bounds;
}

static size_t set_measures(struct table *table, size_t column, const struct cell *cell, bool disturbed_too)
{
    const char *mode = result_get_text(cell->first, "mode");
    bool paced = mode && strcmp(mode, "paced") == 0;
    for (size_t i = 0; i < MEASURE_COUNT; i++) {
        if (measures[i].paced_only && !paced) {
            column += 1 + measures[i].bounds;
            continue;
        }
        struct interval interval = cell_interval(cell, measures[i].name, disturbed_too);
        column = set_interval(table, column, &interval, measures[i].bounds);
    }
    return column;
}

static void add_counter_columns(struct table *table)
{
    for (size_t i = 0; i < report_counter_count; i++) {
        table_add_column(table, report_counters[i].heading[0], report_counters[i].heading[1], TABLE_RIGHT);
    }
}

static size_t set_counters(struct table *table, size_t column, const struct cell *cell)
{
    for (size_t i = 0; i < report_counter_count; i++) {
        struct interval interval = cell_interval_per_request(cell, report_counters[i].name, false);
        column = set_interval(table, column, &interval, false);
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

static void begin_table(struct table *table, const struct group *group, bool counters)
{
    table_init(table);
    group_add_axis_columns(table, &group->axes);
    add_measure_columns(table);
    if (counters) {
        add_counter_columns(table);
    }
    table_add_column(table, "", "n", TABLE_RIGHT);
    table_add_column(table, "", "left out", 0);
}

static void fill_table(struct table *table, const struct group *group, bool counters)
{
    begin_table(table, group, counters);
    for (size_t i = 0; i < group->count; i++) {
        const struct cell *cell = group->cells[i];
        table_add_row(table);
        size_t column = group_set_axes(table, &group->axes, cell);
        column = set_measures(table, column, cell, false);
        column = counters ? set_counters(table, column, cell) : column;
        set_quality(table, column, cell);
    }
}

static void write_counters(FILE *stream, const struct group *group)
{
    struct table table;
    table_init(&table);
    group_add_axis_columns(&table, &group->axes);
    add_counter_columns(&table);
    for (size_t i = 0; i < group->count; i++) {
        table_add_row(&table);
        set_counters(&table, group_set_axes(&table, &group->axes, group->cells[i]), group->cells[i]);
    }
    putc('\n', stream);
    table_write(stream, &table);
    table_fini(&table);
}

/* ---- what moves ---- */

/* Correlation of a counter per request with the CPU per request over the cells that have both. */
static double counter_correlation(const struct group *group, const char *name, size_t *cells)
{
    double *cpu = heap_array(group->count, sizeof(double)), *counter = heap_array(group->count, sizeof(double));
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        struct interval a = cell_interval(group->cells[i], "router_cpu_us_per_request", false);
        struct interval b = cell_interval_per_request(group->cells[i], name, false);
        if (a.count > 0 && b.count > 0) {
            cpu[count] = a.median;
            counter[count++] = b.median;
        }
    }
    double correlation = statistics_rank_correlation(cpu, counter, count);
    free(cpu);
    free(counter);
    *cells = count;
    return correlation;
}

static void write_moving(FILE *stream, const struct group *group, size_t width)
{
    struct word_list moving = {0}, still = {0};
    size_t cells = 0, most = 0;
    for (size_t i = 0; i < report_counter_count; i++) {
        double correlation = counter_correlation(group, report_counters[i].name, &cells);
        if (cells < REPORT_CORRELATION_CELLS) {
            continue;
        }
        most = cells > most ? cells : most;
        double threshold = fmax(REPORT_CORRELATION_MINIMUM, 1.96 / sqrt((double)cells - 1));
        char text[DECIMAL_SIZE];
        decimal_print_fixed(correlation, 2, text);
        if (isnan(correlation)) {
            word_list_add(&still, "%s (constant)", report_counters[i].words);
        } else {
            word_list_add(correlation >= threshold ? &moving : &still, "%s %s", report_counters[i].words, text);
        }
    }
    if (most > 0) {
        double threshold = fmax(REPORT_CORRELATION_MINIMUM, 1.96 / sqrt((double)most - 1));
        char head[128], text[DECIMAL_SIZE];
        snprintf(head, sizeof(head), "Moves with CPU per request (rank correlation over %zu cells, at least %s):", most,
                 decimal_print_fixed(threshold, 2, text));
        if (moving.count == 0) {
            word_list_add(&moving, "nothing");
        }
        word_list_write(stream, &moving, head, ",", width);
    }
    if (still.count > 0) {
        word_list_write(stream, &still, "Does not:", ",", width);
    }
    word_list_fini(&moving);
    word_list_fini(&still);
}

/* ---- what does not separate ---- */

/* Adds the pair of neighbours if their interval includes 1; false if there is nothing to compare. */
static bool add_pair(struct word_list *together, const struct cell *below, const struct cell *above)
{
    char text[REPORT_INTERVAL_SIZE], first[AXIS_TEXT_SIZE], second[AXIS_TEXT_SIZE];
    struct interval ratio = cell_ratio(above, below, "router_cpu_us_per_request");
    if (!isnan(ratio.median) && ratio.low <= 1 && ratio.high >= 1) {
        word_list_add(together, "%s and %s %s", axis_text(below, "max_workers", first),
                      axis_text(above, "max_workers", second), report_interval_text(&ratio, text));
    }
    return !isnan(ratio.median);
}

/* One line per run of cells that differ in max-workers only. */
static void write_separation(FILE *stream, const struct group *group, size_t width)
{
    size_t compared = 0, lines = 0;
    for (size_t first = 0, i; first < group->count; first = i) {
        struct word_list together = {0};
        for (i = first + 1; i < group->count; i++) {
            const struct cell *below = group->cells[i - 1], *above = group->cells[i];
            if (!axes_are_neighbours(&group->axes, below, above, "max_workers")) {
                break;
            }
            compared += add_pair(&together, below, above);
        }
        if (together.count > 0) {
            char *where = axes_describe(&group->axes, group->cells[first], "max_workers"), *head;
            if (asprintf(&head, "  %s:", where) < 0) {
                heap_or_end(NULL);
            }
            fputs(lines++ == 0 ? "Does not separate (max-workers, and the ratio of their CPU per request, which may be 1):\n"
                               : "",
                  stream);
            word_list_write(stream, &together, head, ";", width);
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
    struct table table;
    size_t disturbed = 0;
    begin_table(&table, group, false);
    for (size_t i = 0; i < group->count; i++) {
        struct quality quality = quality_of(group->cells[i]);
        if (quality.disturbed > 0) {
            table_add_row(&table);
            size_t column = group_set_axes(&table, &group->axes, group->cells[i]);
            column = set_measures(&table, column, group->cells[i], true);
            table_set(&table, column, "%u", quality.used + quality.disturbed);
            disturbed += quality.disturbed;
        }
    }
    if (disturbed > 0) {
        fprintf(stream, "With nothing rejected (%zu disturbed %s):\n", disturbed, disturbed == 1 ? "repeat" : "repeats");
        table_write(stream, &table);
    }
    table_fini(&table);
}

void group_write(FILE *stream, const struct group *group, size_t width)
{
    struct table table;
    fill_table(&table, group, true);
    bool fits = table_width(&table) <= width;
    if (!fits) {
        table_fini(&table);
        fill_table(&table, group, false);
    }
    table_write(stream, &table);
    table_fini(&table);
    if (!fits) {
        write_counters(stream, group);
    }
    write_moving(stream, group, width);
    write_separation(stream, group, width);
    write_unrejected(stream, group);
}
