/* SPDX-License-Identifier: MIT
 *
 * The tables of the published rows; see published_report.h.
 */
#include "published_report.h"

#include "decimal.h"
#include "executor_parts.h"
#include "published.h"
#include "reproduction.h"

#include <math.h>
#include <string.h>

#define PUBLISHED_CORES 12

#define ROW "%-11s %-22s %-10s %11s %10s %-18s %10s %14s %6s %7s %8s\n"

/* How the text of a knob is kept. A target without the knob is as by default. */
static bool knob_is(const struct cell *cell, const char *name, const char *expected)
{
    const char *text = result_get_text(cell->first, name);
    if (text == NULL && result_is_of_target(cell->first))
        text = "default";
    return text != NULL && strcmp(text, expected) == 0;
}

/* No target is told that number, which changes nothing: its cells stand for both rows. */
static bool fits_completion_threads(const struct cell *cell, const char *expected)
{
    const char *text = result_get_text(cell->first, "max_completion_threads");
    return text != NULL ? strcmp(text, expected) == 0 : result_is_of_target(cell->first);
}

/* A row with numbers calls SetMinThreads first, with 1; one without calls nothing. */
static const char *published_minimum(const struct published_figure *figure)
{
    bool no_call = strcmp(figure->max_workers, "default") == 0 && strcmp(figure->max_io, "default") == 0;
    return no_call ? "default" : "1";
}

/* The cell of a row; NULL if there is none, or if several fit and nothing tells them apart (*several out). */
static const struct cell *find_row(const struct cell_set *cells, const struct published_figure *figure, bool *several)
{
    const struct cell *found = NULL;
    size_t fits = 0;
    bool same_minimum = false;
    for (size_t i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->cells[i];
        if (!knob_is(cell, "max_workers", figure->max_workers) || !knob_is(cell, "spin_limit", figure->spin_limit) ||
            !fits_completion_threads(cell, figure->max_io))
            continue;
        bool is_same = knob_is(cell, "min_workers", published_minimum(figure));
        if (same_minimum && !is_same)
            continue;
        fits = is_same == same_minimum ? fits + 1 : 1;
        same_minimum = is_same;
        found = cell;
    }
    *several = fits > 1;
    return fits == 1 ? found : NULL;
}

static void published_percent(const struct published_figure *figure, char *out, size_t size)
{
    if (figure->router_cpu_percent_low == figure->router_cpu_percent_high)
        snprintf(out, size, "%.0f", figure->router_cpu_percent_low);
    else
        snprintf(out, size, "%.0f-%.0f", figure->router_cpu_percent_low, figure->router_cpu_percent_high);
}

/* The median of a number over the repeats that the row stands on, or "-". */
static const char *median(const struct cell *cell, const char *name, bool disturbed_too, int digits,
                          char out[DECIMAL_SIZE])
{
    double number = cell != NULL ? cell_interval(cell, name, disturbed_too).median : NAN;
    if (isnan(number))
        return "-";
    return decimal_print_fixed(number, digits, out);
}

static void spread_text(const struct cell *cell, bool disturbed_too, char *out, size_t size)
{
    char low[DECIMAL_SIZE], high[DECIMAL_SIZE];
    struct interval interval = {.count = 0};
    if (cell != NULL)
        interval = cell_interval(cell, CELL_CPU_PERCENT, disturbed_too);
    if (interval.count == 0) {
        snprintf(out, size, "-");
        return;
    }
    decimal_print_fixed(interval.low, 1, low);
    decimal_print_fixed(interval.high, 1, high);
    snprintf(out, size, interval.is_range ? "(%s-%s)%s" : "[%s-%s]%s", low, high, disturbed_too ? "~" : "");
}

/* The rows that count, as pairs. */
struct pairs {
    double published[PUBLISHED_FIGURES_MAX], measured[PUBLISHED_FIGURES_MAX];
    double low[PUBLISHED_FIGURES_MAX], high[PUBLISHED_FIGURES_MAX]; /* of the measured */
    size_t count;
};

static void add_pair(struct pairs *pairs, const struct published_figure *figure, const struct cell *cell,
                     bool disturbed_too)
{
    const struct interval interval = cell_interval(cell, CELL_CPU_PERCENT, disturbed_too);
    pairs->published[pairs->count] = (figure->router_cpu_percent_low + figure->router_cpu_percent_high) / 2;
    pairs->low[pairs->count] = interval.low;
    pairs->high[pairs->count] = interval.high;
    pairs->measured[pairs->count++] = interval.median;
}

/* What of the order is more than luck: two rows whose intervals do not meet. */
static void say_separation(const struct pairs *pairs, FILE *out)
{
    size_t all = 0, separate = 0, as_published = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        for (size_t j = i + 1; j < pairs->count; j++, all++) {
            const bool rises = pairs->high[i] < pairs->low[j], falls = pairs->high[j] < pairs->low[i];
            separate += rises || falls;
            as_published += (rises && pairs->published[i] < pairs->published[j]) ||
                            (falls && pairs->published[i] > pairs->published[j]);
        }
    }
    if (all > 0)
        reproduction_say(out,
                         "Of %zu pairs of rows %zu separate (their spreads do not meet), %zu of them in the published "
                         "order; the order of the others is luck, and so is their part of the correlation.",
                         all, separate, as_published);
}

/* Figures of another machine: what can be compared is the order of the rows. */
static void say_order(const struct pairs *pairs, FILE *out)
{
    double correlation = statistics_rank_correlation(pairs->published, pairs->measured, pairs->count);
    char text[DECIMAL_SIZE];
    if (isfinite(correlation))
        reproduction_say(out, "Rank correlation of published and measured, %zu rows: %s", pairs->count,
                         decimal_print_fixed(correlation, 2, text));
}

static void say_cores(const struct result_set *set, FILE *out)
{
    double cores;
    if (set->count > 0 && result_get_number(&set->rows[0], "cores", &cores) && cores < PUBLISHED_CORES)
        reproduction_say(out,
                         "The published machine had %d cores, this one has %.0f: no row can be above %.0f %% here, "
                         "and it is the order of the rows that separate which can be compared.",
                         PUBLISHED_CORES, cores, 100 * cores);
}

/* Prints a row; true if it counts. *disturbed out: all its repeats were. */
static bool print_row(const struct published_figure *figure, const struct cell *cell, bool *disturbed, FILE *out)
{
    char published[32], spread[64], texts[6][DECIMAL_SIZE];
    bool counts = cell != NULL && cell_interval(cell, CELL_CPU_PERCENT, true).count > 0;
    *disturbed = counts && cell_interval(cell, CELL_CPU_PERCENT, false).count == 0;
    published_percent(figure, published, sizeof published);
    spread_text(cell, *disturbed, spread, sizeof spread);
    fprintf(out, ROW, figure->max_workers, figure->max_io, figure->spin_limit, published,
            median(cell, CELL_CPU_PERCENT, *disturbed, 1, texts[0]), spread,
            median(cell, "rps", *disturbed, 0, texts[1]),
            median(cell, CELL_CPU_US, *disturbed, 0, texts[2]),
            median(cell, "goal_median", *disturbed, 0, texts[3]),
            median(cell, "workers_engaged_mean", *disturbed, 1, texts[4]),
            median(cell, "warmup_s", *disturbed, 1, texts[5]));
    return counts;
}

bool published_has_completion_threads(const struct result_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const char *text = result_get_text(&set->rows[i], "max_completion_threads");
        if (text != NULL && strcmp(text, "default") != 0)
            return true;
    }
    return false;
}

void published_say_completion_threads(FILE *out)
{
    reproduction_say(out, "max-completion-threads changes nothing, as in the original: the number is checked and given "
                          "back, but on Unix there are no such threads. What sockets complete runs on the workers.");
}

/* Repeats that waited until something was steady, and those for which it was not when the longest warm-up was over. */
static size_t count_waited(const struct result_set *set, const char *name, size_t *unsteady)
{
    size_t waited = 0;
    *unsteady = 0;
    for (size_t i = 0; i < set->count; i++) {
        double steady;
        if (!result_get_number(&set->rows[i], name, &steady))
            continue;
        waited++;
        *unsteady += steady == 0;
    }
    return waited;
}

/* A target's goal is not known; it may have waited for its CPU. */
static void say_unsteady_target(const struct result_set *set, FILE *out)
{
    size_t unsteady, waited = count_waited(set, "cpu_steady", &unsteady);
    if (waited == 0)
        reproduction_say(out, "No window waited for a steady target (--set warmup-until=cpu would): its runtime may "
                              "still have been compiling.");
    else
        reproduction_say(out,
                         "The window of %zu of %zu repeats began with a steady CPU of the target, the others after the "
                         "longest warm-up.",
                         waited - unsteady, waited);
    reproduction_say(out, "No target is told max-completion-threads: rows that differ in it alone are the same cell.");
}

static void say_unsteady(const struct result_set *set, FILE *out)
{
    size_t unsteady, waited = count_waited(set, "goal_steady", &unsteady);
    if (set->count > 0 && result_is_of_target(&set->rows[0]))
        say_unsteady_target(set, out);
    else if (waited == 0)
        reproduction_say(out, "No window waited for a steady goal: with so short a warm-up the goal is where it began "
                              "or on its way.");
    else
        reproduction_say(out,
                         "The window of %zu of %zu repeats began with a steady goal (median of 5 s as of the 5 s "
                         "before), the others after the longest warm-up.",
                         waited - unsteady, waited);
}

/* The table of one label and what is said of it. Returns the rows that count. */
static size_t print_part(const struct published_figures *figures, const struct executor_part *part, FILE *out)
{
    struct cell_set cells;
    struct pairs pairs = {.count = 0};
    size_t disturbed_rows = 0, unclear_rows = 0;
    cell_set_init(&cells, &part->rows);
    fprintf(out, "The published rows%s%s: router CPU in percent of one CPU\n\n", part->name[0] != '\0' ? ", " : "",
            part->name);
    fprintf(out, ROW, "max-workers", "max-completion-threads", "spin-limit", "published %", "measured %", "spread",
            "requests/s", "CPU us/request", "goal", "engaged", "warmup s");
    for (size_t i = 0; i < figures->count; i++) {
        bool disturbed, several;
        const struct cell *cell = find_row(&cells, &figures->rows[i], &several);
        if (print_row(&figures->rows[i], cell, &disturbed, out))
            add_pair(&pairs, &figures->rows[i], cell, disturbed);
        disturbed_rows += disturbed;
        unclear_rows += several;
    }
    fprintf(out, "\n");
    reproduction_say(out, "%zu of %zu rows have a measured value beside the published one.", pairs.count,
                     figures->count);
    if (unclear_rows > 0)
        reproduction_say(out, "%zu rows fit several cells, which differ in other settings: they are below, not here.",
                         unclear_rows);
    if (disturbed_rows > 0)
        reproduction_say(out, "~ %zu rows stand on disturbed repeats alone: the machine was busy with other work.",
                         disturbed_rows);
    say_unsteady(&part->rows, out);
    say_order(&pairs, out);
    say_separation(&pairs, out);
    fprintf(out, "\n");
    cell_set_fini(&cells);
    return pairs.count;
}

size_t published_report_print(const struct result_set *set, FILE *out)
{
    struct published_figures figures;
    struct executor_parts parts;
    size_t counting = 0;
    bool has_model = false;
    for (size_t i = 0; i < set->count; i++)
        has_model = has_model || !result_is_of_target(&set->rows[i]);
    published_read(&figures);
    executor_parts_init(&parts, set);
    for (size_t i = 0; i < parts.count; i++)
        counting += print_part(&figures, &parts.parts[i], out);
    executor_parts_fini(&parts);
    if (has_model)
        reproduction_say(out, "goal: workers that may be engaged at once, median in the window; engaged: the mean "
                              "number that were, those that have been promised a signal included.");
    say_cores(set, out);
    if (has_model)
        published_say_completion_threads(out);
    reproduction_say(out, "%s", figures.source);
    fprintf(out, "\n");
    return counting;
}
