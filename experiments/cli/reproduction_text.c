/* SPDX-License-Identifier: MIT
 *
 * The paragraph of the reproduction: what was seen, what does not separate, what this machine cannot show, and whether
 * the measurement can be trusted. Each sentence is chosen by the numbers that it holds; see reproduction.h.
 */
#include "reproduction.h"

#include "decimal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PUBLISHED_WORKLOAD "router"

#define SAME_RATE_PERCENT   5.0 /* medians of the closed loop further apart are not the same rate */
#define COUNTER_MOVES_RATIO 1.5 /* a counter per request that grows less has not moved */
#define LOST_PERCENT        0.1
#define UNACCOUNTED_PERCENT 5.0
#define STAMP_PERCENT       2.0

static bool median_of(const struct cell *cell, const char *name, double *out)
{
    if (cell == NULL)
        return false;
    struct interval interval = cell_interval(cell, name, false);
    *out = interval.median;
    return interval.count > 0;
}

static bool is_mode(const struct cell *cell, const char *mode)
{
    const char *text = result_get_text(cell->first, "mode");
    return text != NULL && strcmp(text, mode) == 0;
}

/* ---- the closed loop ---- */

static void say_rate(const struct cell_set *cells, FILE *out)
{
    double low = INFINITY, high = -INFINITY, rps;
    size_t count = 0, measured = 0;
    for (size_t i = 0; i < cells->count; i++) {
        if (!is_mode(&cells->cells[i], "closed"))
            continue;
        measured++;
        if (!median_of(&cells->cells[i], "rps", &rps))
            continue;
        low = fmin(low, rps);
        high = fmax(high, rps);
        count++;
    }
    if (count < measured)
        reproduction_say(out, "Closed loop: %zu of %zu settings have no undisturbed repeat and are left out here.",
                         measured - count, measured);
    if (count < 2)
        return;
    double apart = 100 * (high / low - 1);
    if (apart <= SAME_RATE_PERCENT)
        reproduction_say(
            out,
            "Closed loop: the rate is the same at every setting (%.0f to %.0f requests/s, %.1f %% apart), as "
            "published: whatever CPU is added buys no request.",
            low, high, apart);
    else
        reproduction_say(
            out,
            "Closed loop: the rate differs between settings (%.0f to %.0f requests/s, %.1f %% apart), unlike "
            "published: compare CPU per request, not CPU %%.",
            low, high, apart);
}

/* How the CPU of one cell stands to another one's. spread: A/A, or NaN where unknown. */
static void say_growth(const char *what, const struct cell *above, const struct cell *below, const char *name,
                       const char *unit, const char *published, FILE *out)
{
    double from, to;
    if (below == NULL || above == NULL)
        return;
    if (!median_of(below, name, &from) || !median_of(above, name, &to)) {
        reproduction_say(out, "%s: cannot be told, there are no undisturbed repeats.", what);
        return;
    }
    const struct cell *pair[] = {above, below};
    struct interval ratio = cell_ratio(above, below, name);
    double spread = reproduction_spread(pair, 2, name, false);
    char text[96];
    reproduction_interval(&ratio, 2, text, sizeof text);
    double margin = isnan(spread) ? 0 : spread;
    const char *verb = ratio.low > 1 + margin          ? "grows"
                       : ratio.high < 1 / (1 + margin) ? "falls"
                                                       : "does not change beyond the noise";
    reproduction_say(out, "%s: router CPU %s, from %.1f to %.1f %s, a ratio of %s.%s", what, verb, from, to, unit, text,
                     published);
}

static void say_closed(const struct published_figures *published, const struct cell_set *cells, FILE *out)
{
    const struct published_figure *one = published_find(published, "1", "default");
    const struct published_figure *many = published_find(published, "25", "default");
    char beside[160] = "";
    if (one != NULL && many != NULL)
        snprintf(beside, sizeof beside,
                 " (Published, 1 against 25 workers, both at the default spin limit: %.0f to %.0f-%.0f %%.)",
                 one->router_cpu_percent_low, many->router_cpu_percent_low, many->router_cpu_percent_high);
    say_rate(cells, out);
    say_growth("One worker without spinning against 25 workers at the default spin limit, closed loop",
               reproduction_find(cells, "closed", 0, "25", "default"), reproduction_find(cells, "closed", 0, "1", "0"),
               CELL_CPU_PERCENT, "%", beside, out);
}

/* ---- what moves with it ---- */

static void say_counters(const struct cell_set *cells, FILE *out)
{
    static const char *const names[] = {
        "yields", "spins", "wakes_sent", "parks", "steals_tried", "voluntary_switches", "involuntary_switches"};
    const struct cell *above = reproduction_find(cells, "paced", REPRODUCTION_RATE_RPS, "25", "default");
    const struct cell *below = reproduction_find(cells, "paced", REPRODUCTION_RATE_RPS, "1", "0");
    if (above == NULL || below == NULL)
        return;
    char moving[512] = "", resting[512] = "";
    size_t moving_used = 0, resting_used = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        double from = cell_interval_per_request(below, names[i], false).median;
        double to = cell_interval_per_request(above, names[i], false).median;
        if (isnan(from) || isnan(to))
            continue;
        bool moves = to > COUNTER_MOVES_RATIO * from && to >= 0.1;
        char *text = moves ? moving : resting;
        size_t *used = moves ? &moving_used : &resting_used;
        if (*used < sizeof moving)
            *used += (size_t)snprintf(text + *used, sizeof moving - *used, "%s%s %.1f to %.1f", *used > 0 ? ", " : "",
                                      names[i], from, to);
    }
    reproduction_say(out,
                     "Counters that move with it (per request, 1 worker and spin 0 to 25 workers and default): %s.",
                     moving_used > 0 ? moving : "none");
    if (resting_used > 0)
        reproduction_say(out, "Those that do not: %s.", resting);
}

/* ---- what does not separate ---- */

static void say_pair(const struct cell_set *cells, const char *more, const char *fewer, const char *spin, FILE *out)
{
    const struct cell *above = reproduction_find(cells, "paced", REPRODUCTION_RATE_RPS, more, spin);
    const struct cell *below = reproduction_find(cells, "paced", REPRODUCTION_RATE_RPS, fewer, spin);
    if (above == NULL || below == NULL)
        return;
    const struct cell *pair[] = {above, below};
    struct interval ratio = cell_ratio(above, below, CELL_CPU_US);
    if (ratio.count == 0)
        return;
    double spread = reproduction_spread(pair, 2, CELL_CPU_US, false);
    double margin = isnan(spread) ? 0 : spread;
    bool separate = ratio.low > 1 + margin || ratio.high < 1 / (1 + margin);
    char text[96];
    reproduction_interval(&ratio, 2, text, sizeof text);
    reproduction_say(out, "%s and %s workers at spin limit %s %s: CPU per request in a ratio of %s.", more, fewer, spin,
                     separate ? "separate" : "do not separate", text);
}

static void say_separation(const struct cell_set *cells, FILE *out)
{
    static const char *const pairs[][2] = {{"2", "1"}, {"12", "2"}, {"20", "12"}, {"25", "20"}, {"25", "12"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        say_pair(cells, pairs[i][0], pairs[i][1], "default", out);
    say_pair(cells, "25", "12", "0", out);
}

/* ---- what this machine cannot show ---- */

static void say_machine(const struct published_figures *published, const struct cell_set *cells, FILE *out)
{
    double cores = NAN, most = 0, workers = NAN;
    bool delay = false, has_default = false, has_collapsed = false, is_target = false;
    double most_published = 0;
    for (size_t i = 0; i < published->count; i++)
        most_published = fmax(most_published, published->rows[i].router_cpu_percent_high);
    const char *machine = NULL, *workload = NULL;
    for (size_t i = 0; i < cells->count; i++) {
        const struct result *first = cells->cells[i].first;
        workload = result_get_text(first, "workload");
        is_target = is_target || result_is_of_target(first); /* its default is its own matter */
        result_get_number(first, "cores", &cores);
        machine = result_get_text(first, "machine");
        if (result_get_number(first, "max_workers_resolved", &workers))
            most = fmax(most, workers);
        has_collapsed = has_collapsed || workers == cores;
        const char *mode = result_get_text(first, "extension_mode_resolved");
        delay = delay || (mode != NULL && strcmp(mode, "delay") == 0);
        const char *max_workers = result_get_text(first, "max_workers");
        has_default = has_default || (max_workers != NULL && strcmp(max_workers, "default") == 0);
    }
    bool is_router = workload == NULL || strcmp(workload, PUBLISHED_WORKLOAD) == 0;
    if (!is_router)
        reproduction_say(out,
                         "The workload is %s; the published figures are of the %s, and stand here for their order "
                         "alone.",
                         workload, PUBLISHED_WORKLOAD);
    if (!isnan(cores) && most > cores)
        reproduction_say(out,
                         "What this machine cannot show: it has %.0f usable CPUs, shared by the load generator%s, so "
                         "at most %.0f of up to %.0f workers run at once, and the router's CPU is "
                         "bounded by %.0f %%; the published one reached %.0f %%.",
                         cores, is_router ? ", the router and the extension" : " and the server", cores, most,
                         100 * cores, most_published);
    if (!isnan(cores) && !has_default && !is_target)
        reproduction_say(out, "max-workers default means %.0f here and was %s.", cores,
                         has_collapsed ? "measured under that number" : "not measured");
    if (delay)
        reproduction_say(out,
                         "The extension only delays (mode delay, absolute deadlines), to leave the CPUs to the router; "
                         "the published one computed, at about 90 %% of one CPU.");
    if (machine != NULL && strcmp(machine, "simulated") == 0)
        reproduction_say(out, "These figures are simulated.");
}

/* ---- whether it can be trusted ---- */

struct tally {
    uint64_t repeats, invalid, disturbed, split;   /* split: those whose CPU is told apart by what it was used for */
    double arrivals, requests, worst_lost_percent; /* paced */
    double worst_unaccounted_percent, repeat_unaccounted_percent; /* of the router's CPU: a cell's median, one repeat */
    double worst_stamp_percent;                                   /* a cell's median */
    const struct cell *worst_stamp_cell;
};

/* A cell's median cost of the accounting, by the measured price of a stamp. */
static void count_stamps(struct tally *tally, const struct cell *cell)
{
    struct interval cost = cell_interval(cell, "stamp_cost_percent", true);
    if (cost.count == 0 || cost.median <= tally->worst_stamp_percent)
        return;
    tally->worst_stamp_percent = cost.median;
    tally->worst_stamp_cell = cell;
}

/* A cell's median of what the split does not explain, and the worst of its repeats. */
static void count_unaccounted(struct tally *tally, const struct cell *cell)
{
    double *percents = calloc(cell->count + 1, sizeof(double)), number, cpu;
    size_t count = 0;
    for (uint32_t i = 0; percents != NULL && i < cell->count; i++) {
        const struct result *row = cell->rows[i];
        if (!result_is_used(row, true) || !result_get_number(row, CELL_CPU_PERCENT, &cpu) || cpu <= 0 ||
            !result_get_number(row, "unaccounted_cpu_percent", &number))
            continue;
        percents[count++] = 100 * number / cpu;
        tally->split++;
        tally->repeat_unaccounted_percent = fmax(tally->repeat_unaccounted_percent, fabs(100 * number / cpu));
    }
    if (count > 0)
        tally->worst_unaccounted_percent =
            fmax(tally->worst_unaccounted_percent, fabs(statistics_median(percents, count)));
    free(percents);
}

static void count_row(struct tally *tally, const struct result *row)
{
    double number, requests;
    tally->repeats++;
    if (!result_is_used(row, true)) {
        tally->invalid++;
        return;
    }
    tally->disturbed += result_get_number(row, "disturbed", &number) && number != 0;
    const char *mode = result_get_text(row, "mode");
    if (!result_get_number(row, "requests", &requests))
        return;
    if (mode != NULL && strcmp(mode, "paced") == 0 && result_get_number(row, "arrivals", &number) && number > 0) {
        tally->arrivals += number;
        tally->requests += requests;
        tally->worst_lost_percent = fmax(tally->worst_lost_percent, 100 * fabs(number - requests) / number);
    }
}

static void say_trust(const struct cell_set *cells, FILE *out)
{
    struct tally tally = {0};
    for (size_t i = 0; i < cells->count; i++) {
        for (uint32_t r = 0; r < cells->cells[i].count; r++)
            count_row(&tally, cells->cells[i].rows[r]);
        count_stamps(&tally, &cells->cells[i]);
        count_unaccounted(&tally, &cells->cells[i]);
    }
    if (tally.arrivals > 0)
        reproduction_say(out,
                         "Paced: %.0f of %.0f scheduled arrivals completed; worst repeat %.3f %% apart (%s %.1f %%).",
                         tally.requests, tally.arrivals, tally.worst_lost_percent,
                         tally.worst_lost_percent <= LOST_PERCENT ? "within" : "OVER", LOST_PERCENT);
    if (tally.split == 0)
        reproduction_say(out, "What the CPU was used for is not known: nobody stamps a foreign server.");
    else
        reproduction_say(
            out,
            "Unaccounted CPU: at most %.1f %% of the router's CPU in a cell's median (%s %.0f %%), %.1f %% in a "
            "single repeat.",
            tally.worst_unaccounted_percent, tally.worst_unaccounted_percent <= UNACCOUNTED_PERCENT ? "within" : "OVER",
            UNACCOUNTED_PERCENT, tally.repeat_unaccounted_percent);
    if (tally.worst_stamp_cell != NULL)
        reproduction_say(
            out,
            "Cost of the accounting: at most %.1f %% of the router's CPU in a cell's median (%s %.0f %%), at "
            "%.1f stamps per request and %.0f ns per stamp, sampled readings of the CPU clock included.",
            tally.worst_stamp_percent, tally.worst_stamp_percent <= STAMP_PERCENT ? "within" : "OVER", STAMP_PERCENT,
            cell_interval(tally.worst_stamp_cell, "stamps_per_request", true).median,
            cell_interval(tally.worst_stamp_cell, "stamp_ns", true).median);
    if (tally.disturbed > 0)
        reproduction_say(out, "A ~ marks a cell of which every repeat was disturbed: its figures include them.");
    reproduction_say(out,
                     "Repeats: %llu, of which %llu invalid and %llu disturbed; medians are over the valid and "
                     "undisturbed ones.",
                     (unsigned long long)tally.repeats, (unsigned long long)tally.invalid,
                     (unsigned long long)tally.disturbed);
}

void reproduction_print_text(const struct published_figures *published, const struct cell_set *cells, FILE *out)
{
    say_closed(published, cells, out);
    say_counters(cells, out);
    say_separation(cells, out);
    say_machine(published, cells, out);
    say_trust(cells, out);
}
