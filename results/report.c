/* SPDX-License-Identifier: MIT
 *
 * Reports; see report.h.
 */
#include "report.h"
#include "decimal.h"
#include "heap.h"
#include "report_group.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>

#define WIDTH_DEFAULT  100
#define INVALID_SHOWN  10   /* invalid repeats of a group that are listed */
#define ALL_TABLE_ROWS 5000 /* repeats per table: the columns are laid out anew after that many */

struct report {
    FILE *stream;
    size_t width;
    struct cell_set cells;
    struct grouping grouping;
};

/* ---- parts for other reports ---- */

const char *report_ratio_text(const struct interval *interval, char out[REPORT_RATIO_SIZE])
{
    char median[DECIMAL_SIZE], low[DECIMAL_SIZE], high[DECIMAL_SIZE];
    int digits = interval->median < 0.1 ? 3 : 2;
    if (isnan(interval->median)) {
        snprintf(out, REPORT_RATIO_SIZE, "-");
        return out;
    }
    snprintf(out, REPORT_RATIO_SIZE, interval->is_range ? "%.28s (%.28s %.28s)" : "%.28s [%.28s %.28s]",
             decimal_print_fixed(interval->median, digits, median), decimal_print_fixed(interval->low, digits, low),
             decimal_print_fixed(interval->high, digits, high));
    return out;
}

struct interval report_ratio_line(FILE *stream, const char *words, const struct cell *above, const struct cell *below,
                                  const char *number)
{
    char text[REPORT_RATIO_SIZE];
    struct interval ratio = cell_ratio(above, below, number);
    fprintf(stream, "  %s: %s\n", words, isnan(ratio.median) ? "not measured" : report_ratio_text(&ratio, text));
    return ratio;
}

/* ---- headings ---- */

static void write_time(FILE *stream, int64_t unix_s)
{
    char text[64];
    time_t moment = (time_t)unix_s;
    struct tm parts;
    gmtime_r(&moment, &parts);
    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &parts);
    fputs(text, stream);
}

static void write_heading(const struct report *report, struct store *store, const struct store_sweep *sweep,
                          const struct result_set *set)
{
    FILE *stream = report->stream;
    fprintf(stream, "Sweep %" PRId64 ", %s: %zu %s, %zu of %" PRId64 " repeats, seed %" PRIu64 ", ", sweep->id,
            sweep->name, report->cells.count, report->cells.count == 1 ? "cell" : "cells", set->count,
            sweep->repeats_planned, sweep->seed);
    write_time(stream, sweep->started_unix_s);
    fprintf(stream, ", %s%s%s\n", sweep->finished_unix_s ? "finished" : "unfinished", store ? "\nStore: " : "",
            store ? store_file(store) : "");
}

/* "name: value" lines of the sweep's context, joined. */
static void write_context(const struct report *report, const struct store_sweep *sweep)
{
    struct word_list words = {0};
    const char *line = sweep->context;
    while (line && *line) {
        size_t length = strcspn(line, "\n");
        if (length > 0) {
            word_list_add(&words, "%.*s", (int)length, line);
        }
        line += length + (line[length] == '\n');
    }
    if (words.count > 0) {
        putc('\n', report->stream);
        word_list_write(report->stream, &words, "Measured on:", ";", "", report->width);
    }
    word_list_fini(&words);
}

static void report_init(struct report *report, FILE *stream, const struct result_set *set,
                        const struct report_options *options)
{
    *report = (struct report){.stream = stream, .width = options->width ? options->width : WIDTH_DEFAULT};
    cell_set_init(&report->cells, set);
    struct cell **list = heap_array(report->cells.count, sizeof(*list));
    for (size_t i = 0; i < report->cells.count; i++) {
        list[i] = &report->cells.cells[i];
    }
    grouping_init(&report->grouping, list, report->cells.count);
    free(list);
}

static void report_fini(struct report *report)
{
    grouping_fini(&report->grouping);
    cell_set_fini(&report->cells);
}

/* ---- repeats ---- */

static const struct {
    enum result_column column;
    const char *heading[2];
} repeat_columns[] = {
    {RESULT_repeat, {"re-", "peat"}}, {RESULT_valid, {"", "valid"}},       {RESULT_disturbed, {"dis-", "turbed"}},
    {RESULT_tries, {"", "tries"}},    {RESULT_requests, {"", "requests"}},
};
#define REPEAT_COLUMN_COUNT (sizeof(repeat_columns) / sizeof(*repeat_columns))

static void begin_repeats(struct table *table, const struct group *group)
{
    table_init(table);
    group_add_axis_columns(table, &group->axes);
    for (size_t i = 0; i < REPEAT_COLUMN_COUNT; i++) {
        table_add_column(table, repeat_columns[i].heading[0], repeat_columns[i].heading[1], TABLE_RIGHT);
    }
    for (size_t i = 0; i < measure_count; i++) {
        table_add_column(table, measures[i].heading[0], measures[i].heading[1], TABLE_RIGHT);
    }
}

static void add_repeat(struct table *table, const struct group *group, const struct cell *cell,
                       const struct result *row)
{
    char text[DECIMAL_SIZE];
    double value, answered = result_answered(row);
    table_add_row(table);
    size_t column = group_set_axes(table, &group->axes, cell);
    for (size_t i = 0; i < REPEAT_COLUMN_COUNT; i++, column++) {
        if (result_get_number(row, result_column_name(repeat_columns[i].column), &value)) {
            table_set(table, column, "%s", decimal_print_fixed(value, 0, text));
        }
    }
    for (size_t i = 0; i < measure_count; i++, column++) {
        if (result_get_number(row, measures[i].name, &value) && (!measures[i].is_per_request || answered > 0)) {
            value /= measures[i].is_per_request ? answered : 1;
            table_set(table, column, "%s", decimal_print_fixed(value, decimal_digits(value), text));
        }
    }
}

static void write_repeats(FILE *stream, const struct group *group)
{
    struct table table;
    size_t rows = 0;
    begin_repeats(&table, group);
    for (size_t i = 0; i < group->count; i++) {
        const struct cell *cell = group->cells[i];
        for (uint32_t j = 0; j < cell->count; j++) {
            add_repeat(&table, group, cell, cell->rows[j]);
            if (++rows % ALL_TABLE_ROWS == 0) {
                table_write(stream, &table);
                table_fini(&table);
                begin_repeats(&table, group);
            }
        }
    }
    if (table.row_count > 0) {
        table_write(stream, &table);
    }
    table_fini(&table);
}

/* ---- what was invalid ---- */

static void write_invalid_row(FILE *stream, const struct group *group, const struct cell *cell,
                              const struct result *row, size_t width)
{
    struct word_list words = {0};
    double repeat = 0;
    char head[64];
    char *where = axes_describe(&group->axes, cell, NULL);
    result_get_number(row, "repeat", &repeat);
    snprintf(head, sizeof(head), "Invalid, left out: repeat %.0f of", repeat);
    word_list_add(&words, "%s:", where);
    word_list_add(&words, "%s", row->invalid_reason ? row->invalid_reason : "no reason is stored");
    word_list_write(stream, &words, head, "", "", width);
    word_list_fini(&words);
    free(where);
}

static void write_invalid(FILE *stream, const struct group *group, size_t width)
{
    size_t found = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct cell *cell = group->cells[i];
        for (uint32_t j = 0; j < cell->count; j++) {
            double valid = 0;
            if (result_get_number(cell->rows[j], "valid", &valid) && valid != 0) {
                continue;
            }
            if (++found <= INVALID_SHOWN) {
                write_invalid_row(stream, group, cell, cell->rows[j], width);
            }
        }
    }
    if (found > INVALID_SHOWN) {
        fprintf(stream, "Invalid, left out: %zu more\n", found - INVALID_SHOWN);
    }
}

/* ---- groups ---- */

static void write_groups(const struct report *report, bool all)
{
    struct group group;
    for (size_t next = 0; grouping_next(&report->grouping, &next, &group);) {
        group_write_heading(report->stream, &report->grouping, &group, report->width);
        if (all) {
            write_repeats(report->stream, &group);
        } else {
            group_write(report->stream, &group, report->width);
        }
        write_invalid(report->stream, &group, report->width);
        group_fini(&group);
    }
}

int report_write(FILE *stream, struct store *store, const struct store_sweep *sweep, const struct result_set *set,
                 const struct report_options *options)
{
    struct report report;
    report_init(&report, stream, set, options);
    write_heading(&report, store, sweep, set);
    if (set->count == 0) {
        fputs("No repeat is stored yet.\n", stream);
    } else {
        grouping_write_constants(stream, &report.grouping, report.width);
        if (!options->all) {
            fputs("Medians with 95 % intervals [low high], or ranges (low high) below six repeats.\n", stream);
        }
        write_groups(&report, options->all);
    }
    write_context(&report, sweep);
    report_fini(&report);
    return ferror(stream) ? -1 : 0;
}
