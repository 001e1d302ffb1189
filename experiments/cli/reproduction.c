/* SPDX-License-Identifier: MIT
 *
 * Tables and ratios of the reproduction; see reproduction.h.
 */
#include "reproduction.h"

#include "decimal.h"
#include "executor_parts.h"
#include "published.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 100

/* ---- cells ---- */

static bool text_is(const struct cell *cell, const char *name, const char *expected)
{
    const char *text = result_get_text(cell->first, name);
    return text != NULL && strcmp(text, expected) == 0;
}

const struct cell *reproduction_find(const struct cell_set *cells, const char *mode, double rate_rps,
                                     const char *max_workers, const char *spin_limit)
{
    for (size_t i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->cells[i];
        double rate;
        if (!text_is(cell, "mode", mode) || !text_is(cell, "max_workers", max_workers) ||
            !text_is(cell, "spin_limit", spin_limit))
            continue;
        if (strcmp(mode, "paced") != 0 || (result_get_number(cell->first, "rate_rps", &rate) && rate == rate_rps))
            return cell;
    }
    return NULL;
}

/* Ratio of the medians of every second repeat; NaN below STATISTICS_INTERVAL_MINIMUM. */
static double half_ratio(const struct cell *cell, const char *name, bool disturbed_too)
{
    double *values[2] = {calloc(cell->count + 1, sizeof(double)), calloc(cell->count + 1, sizeof(double))};
    size_t counts[2] = {0, 0};
    for (uint32_t i = 0; values[0] != NULL && values[1] != NULL && i < cell->count; i++) {
        double number;
        if (result_is_used(cell->rows[i], disturbed_too) && result_get_number(cell->rows[i], name, &number))
            values[i % 2][counts[i % 2]++] = number;
    }
    double ratio = NAN;
    if (counts[0] + counts[1] >= STATISTICS_INTERVAL_MINIMUM && counts[0] > 0 && counts[1] > 0)
        ratio = statistics_median(values[0], counts[0]) / statistics_median(values[1], counts[1]);
    free(values[0]);
    free(values[1]);
    return ratio;
}

double reproduction_spread(const struct cell *const *cells, size_t count, const char *name, bool disturbed_too)
{
    double largest = 1;
    for (size_t i = 0; i < count; i++) {
        if (cells[i] == NULL)
            continue;
        double ratio = half_ratio(cells[i], name, disturbed_too);
        if (isnan(ratio))
            return NAN;
        largest = fmax(largest, fmax(ratio, 1 / ratio));
    }
    return largest - 1;
}

/* ---- words ---- */

void reproduction_interval(const struct interval *interval, int digits, char *out, size_t size)
{
    char median[DECIMAL_SIZE], low[DECIMAL_SIZE], high[DECIMAL_SIZE];
    if (interval->count == 0) {
        snprintf(out, size, "-");
        return;
    }
    snprintf(out, size, interval->is_range ? "%s (%s to %s)" : "%s [%s, %s]",
             decimal_print_fixed(interval->median, digits, median), decimal_print_fixed(interval->low, digits, low),
             decimal_print_fixed(interval->high, digits, high));
}

void reproduction_cell(const struct cell *cell, const char *name, int digits, char *out, size_t size)
{
    struct interval interval = cell_interval(cell, name, false);
    size_t mark = 0;
    if (interval.count == 0) {
        interval = cell_interval(cell, name, true);
        if (interval.count > 0)
            out[mark++] = '~';
    }
    reproduction_interval(&interval, digits, out + mark, size - mark);
}

void reproduction_say(FILE *out, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t column = 0;
    for (const char *word = text; *word != '\0';) {
        size_t length = strcspn(word, " ");
        if (strncmp(word + length, " %", 2) == 0) /* a number keeps its unit */
            length += 2 + strcspn(word + length + 2, " ");
        if (column > 0 && column + 1 + length > WIDTH) {
            fputc('\n', out);
            column = 0;
        }
        column += (size_t)fprintf(out, "%s%.*s", column > 0 ? " " : "", (int)length, word);
        word += length;
        word += strspn(word, " ");
    }
    fputc('\n', out);
}

/* ---- tables ---- */

/* Numbers ascending, words ("default") behind them. */
static double rank(const struct cell *cell, const char *name)
{
    const char *text = result_get_text(cell->first, name);
    double number;
    return text != NULL && decimal_parse(text, &number) ? number : INFINITY;
}

static int compare_cells(const void *left, const void *right)
{
    const struct cell *a = *(const struct cell *const *)left, *b = *(const struct cell *const *)right;
    double workers_a = rank(a, "max_workers"), workers_b = rank(b, "max_workers");
    if (workers_a != workers_b)
        return workers_a < workers_b ? -1 : 1;
    double spin_a = rank(a, "spin_limit"), spin_b = rank(b, "spin_limit");
    return spin_a == spin_b ? 0 : spin_a < spin_b ? -1 : 1;
}

/* The cells of a part in the order of the table; the caller frees. */
static const struct cell **part(const struct cell_set *cells, const char *mode, double rate_rps, size_t *count)
{
    const struct cell **found = calloc(cells->count + 1, sizeof *found);
    *count = 0;
    for (size_t i = 0; found != NULL && i < cells->count; i++) {
        const struct cell *cell = &cells->cells[i];
        double rate;
        if (text_is(cell, "mode", mode) &&
            (strcmp(mode, "paced") != 0 || (result_get_number(cell->first, "rate_rps", &rate) && rate == rate_rps)))
            found[(*count)++] = cell;
    }
    if (*count > 0)
        qsort(found, *count, sizeof *found, compare_cells);
    return found;
}

/* The word, and in brackets what it meant here. */
static void setting_text(const struct cell *cell, const char *name, char *out, size_t size)
{
    const char *text = result_get_text(cell->first, name);
    char resolved_name[64];
    double resolved;
    snprintf(resolved_name, sizeof resolved_name, "%s_resolved", name);
    if (text == NULL)
        snprintf(out, size, "-");
    else if (strcmp(text, "default") == 0 && result_get_number(cell->first, resolved_name, &resolved))
        snprintf(out, size, "default (%.0f)", resolved);
    else
        snprintf(out, size, "%s", text);
}

static void published_text(const struct published_figure *figure, char *rps, char *cpu, size_t size)
{
    snprintf(rps, size, "%s", "");
    snprintf(cpu, size, "%s", "");
    if (figure == NULL)
        return;
    if (!isnan(figure->rps))
        snprintf(rps, size, "%.0f", figure->rps);
    const char *mark = strcmp(figure->max_io, "default") == 0 ? "" : "*";
    if (figure->router_cpu_percent_low == figure->router_cpu_percent_high)
        snprintf(cpu, size, "%.0f%s", figure->router_cpu_percent_low, mark);
    else
        snprintf(cpu, size, "%.0f to %.0f%s", figure->router_cpu_percent_low, figure->router_cpu_percent_high, mark);
}

/* A line without blanks at its end. */
static __attribute__((format(printf, 2, 3))) void print_row(FILE *out, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    size_t length = strlen(line);
    while (length > 0 && line[length - 1] == ' ')
        length--;
    fprintf(out, "%.*s\n", (int)length, line);
}

#define CLOSED_ROW "%-12s %-13s %-22s %-22s %-22s | %-10s %s"

/* Published rows that no measured cell carries the words of: `default` where it collapsed into a number. */
static void print_unmatched(const struct published_figures *published, const struct cell_set *cells, FILE *out)
{
    for (size_t i = 0; i < published->count; i++) {
        const struct published_figure *figure = &published->rows[i];
        if (reproduction_find(cells, "closed", 0, figure->max_workers, figure->spin_limit) != NULL ||
            published_find(published, figure->max_workers, figure->spin_limit) != figure)
            continue;
        char rps[32], cpu[32];
        published_text(figure, rps, cpu, sizeof rps);
        print_row(out, CLOSED_ROW, figure->max_workers, figure->spin_limit, "", "", "", rps, cpu);
    }
}

static void print_closed(const struct published_figures *published, const struct cell_set *cells, FILE *out)
{
    size_t count;
    const struct cell **sorted = part(cells, "closed", 0, &count);
    if (count > 0) {
        fprintf(out, "Closed loop: requests per second, and the router's CPU\n\n");
        print_row(out, CLOSED_ROW, "", "", "measured here", "", "", "published", "");
        print_row(out, CLOSED_ROW, "max-workers", "spin-limit", "requests/s", "router CPU %", "CPU us/request",
                  "requests/s", "router CPU %");
    }
    for (size_t i = 0; i < count; i++) {
        char workers[32], spin[32], rps[96], cpu[96], us[96], published_rps[32], published_cpu[32];
        setting_text(sorted[i], "max_workers", workers, sizeof workers);
        setting_text(sorted[i], "spin_limit", spin, sizeof spin);
        reproduction_cell(sorted[i], "rps", 0, rps, sizeof rps);
        reproduction_cell(sorted[i], CELL_CPU_PERCENT, 1, cpu, sizeof cpu);
        reproduction_cell(sorted[i], CELL_CPU_US, 0, us, sizeof us);
        published_text(published_find(published, result_get_text(sorted[i]->first, "max_workers"),
                                      result_get_text(sorted[i]->first, "spin_limit")),
                       published_rps, published_cpu, sizeof published_rps);
        print_row(out, CLOSED_ROW, workers, spin, rps, cpu, us, published_rps, published_cpu);
    }
    if (count > 0) {
        print_unmatched(published, cells, out);
        fprintf(out, "\n");
        reproduction_say(out, "%s", published->source);
        fprintf(out, "* published with one I/O completion thread\n\n");
    }
    free(sorted);
}

#define PACED_ROW "%-12s %-13s %-24s %-22s %12s %12s %12s"

static void print_paced(const struct cell_set *cells, double rate_rps, FILE *out)
{
    size_t count;
    const struct cell **sorted = part(cells, "paced", rate_rps, &count);
    if (count > 0) {
        fprintf(out, "Paced, %.0f requests/s: CPU per request, and what a request costs in events\n\n", rate_rps);
        print_row(out, PACED_ROW, "max-workers", "spin-limit", "CPU us/request", "router CPU %", "yields", "wakes sent",
                  "involuntary");
    }
    for (size_t i = 0; i < count; i++) {
        char workers[32], spin[32], us[96], cpu[96], events[3][DECIMAL_SIZE];
        static const char *const names[] = {"yields", "wakes_sent", "involuntary_switches"};
        setting_text(sorted[i], "max_workers", workers, sizeof workers);
        setting_text(sorted[i], "spin_limit", spin, sizeof spin);
        reproduction_cell(sorted[i], CELL_CPU_US, 0, us, sizeof us);
        reproduction_cell(sorted[i], CELL_CPU_PERCENT, 1, cpu, sizeof cpu);
        for (int n = 0; n < 3; n++)
            decimal_print_fixed(cell_interval_per_request(sorted[i], names[n], false).median, 1, events[n]);
        print_row(out, PACED_ROW, workers, spin, us, cpu, events[0], events[1], events[2]);
    }
    if (count > 0)
        fprintf(out, "\n");
    free(sorted);
}

/* ---- ratios ---- */

static const struct {
    const char *title;
    const char *above_workers, *above_spin, *below_workers, *below_spin;
} ratios[] = {
    {"25 against 1 worker, default spin", "25", "default", "1", "default"},
    {"default spin against 0, 25 workers", "25", "default", "25", "0"},
    {"both: 25, default against 1, spin 0", "25", "default", "1", "0"},
    {"25 against 1 worker, spin 0", "25", "0", "1", "0"},
};
#define RATIO_COUNT (sizeof ratios / sizeof ratios[0])

#define RATIO_ROW "%-36s %-24s %-24s %s"

static const char *verdict(const struct interval *ratio, double spread)
{
    return ratio->count == 0 || isnan(spread) ? ""
           : ratio->low > 1 + spread          ? "beyond the A/A spread"
           : ratio->high < 1 / (1 + spread)   ? "below 1, beyond the A/A spread"
                                              : "within the A/A spread";
}

/* The A/A spreads, without and with disturbed repeats. */
static void print_spreads(const double spreads[2], FILE *out)
{
    char text[2][32];
    for (int i = 0; i < 2; i++) {
        if (isnan(spreads[i]))
            snprintf(text[i], sizeof text[i], "needs %d repeats", STATISTICS_INTERVAL_MINIMUM);
        else
            snprintf(text[i], sizeof text[i], "%.2f", 1 + spreads[i]);
    }
    print_row(out, RATIO_ROW, "A/A: odd against even repeats", text[0], text[1], "");
}

static void print_ratios(const struct cell_set *cells, const char *mode, const char *name, const char *what, FILE *out)
{
    const struct cell *compared[2 * RATIO_COUNT];
    bool any = false;
    for (size_t i = 0; i < RATIO_COUNT; i++) {
        compared[2 * i] =
            reproduction_find(cells, mode, REPRODUCTION_RATE_RPS, ratios[i].above_workers, ratios[i].above_spin);
        compared[2 * i + 1] =
            reproduction_find(cells, mode, REPRODUCTION_RATE_RPS, ratios[i].below_workers, ratios[i].below_spin);
        any = any || (compared[2 * i] != NULL && compared[2 * i + 1] != NULL);
    }
    if (!any)
        return;
    const double spreads[2] = {reproduction_spread(compared, 2 * RATIO_COUNT, name, false),
                               reproduction_spread(compared, 2 * RATIO_COUNT, name, true)};
    fprintf(out, "Ratios of %s\n\n", what);
    print_row(out, RATIO_ROW, "", "undisturbed repeats", "nothing rejected", "");
    for (size_t i = 0; i < RATIO_COUNT; i++) {
        const struct cell *above = compared[2 * i], *below = compared[2 * i + 1];
        if (above == NULL || below == NULL)
            continue;
        char text[2][96];
        struct interval ratio = cell_ratio(above, below, name), all = cell_ratio_unrejected(above, below, name);
        reproduction_interval(&ratio, 2, text[0], sizeof text[0]);
        reproduction_interval(&all, 2, text[1], sizeof text[1]);
        /* Judged by an interval, if one of the two is there. */
        bool few = ratio.count == 0 || (ratio.is_range && !all.is_range);
        print_row(out, RATIO_ROW, ratios[i].title, text[0], text[1],
                  few ? verdict(&all, spreads[1]) : verdict(&ratio, spreads[0]));
    }
    print_spreads(spreads, out);
    fprintf(out, "\n");
}

static void print_part(const struct published_figures *published, const struct store_sweep *sweep,
                       const struct executor_part *part, FILE *out)
{
    struct cell_set cells;
    cell_set_init(&cells, &part->rows);
    fprintf(out, "The finding on this machine%s%s: sweep %lld, %s, seed %llu\n", part->name[0] != '\0' ? ", " : "",
            part->name, (long long)sweep->id, sweep->name, (unsigned long long)sweep->seed);
    reproduction_say(out, "Medians with 95 %% intervals [from %d repeats up], or ranges (low to high) below.",
                     STATISTICS_INTERVAL_MINIMUM);
    fprintf(out, "\n");
    print_closed(published, &cells, out);
    print_ratios(&cells, "closed", CELL_CPU_PERCENT, "router CPU %, closed loop", out);
    print_paced(&cells, REPRODUCTION_RATE_RPS, out);
    print_ratios(&cells, "paced", CELL_CPU_US, "router CPU per request, paced", out);
    reproduction_print_text(published, &cells, out);
    cell_set_fini(&cells);
}

void reproduction_print(const struct store_sweep *sweep, const struct result_set *set, FILE *out)
{
    struct published_figures published;
    struct executor_parts parts;
    published_read(&published);
    executor_parts_init(&parts, set);
    for (size_t i = 0; i < parts.count; i++) {
        if (i > 0)
            fprintf(out, "\n");
        print_part(&published, sweep, &parts.parts[i], out);
    }
    executor_parts_fini(&parts);
}
