/* SPDX-License-Identifier: MIT
 *
 * Models of a pool beside the runtime itself; see fidelity_report.h.
 */
#include "fidelity_report.h"

#include "decimal.h"
#include "report.h"
#include "reproduction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CPU_US "router_cpu_us_per_request"

#define EXECUTORS_MAX 8
#define SETTINGS_MAX  256
#define GROUPS_MAX    16

/* One setting in one group, with the cell of each executor; NULL where it was not measured. */
struct row {
    const char *max_workers, *spin_limit;
    const struct cell *cells[EXECUTORS_MAX];
};

/* One mode, and one rate if it is paced. */
struct group {
    const char *mode;
    double rate_rps; /* 0: closed loop */
    struct row rows[SETTINGS_MAX];
    size_t count;
};

struct fidelity {
    struct cell_set cells;
    const char *executors[EXECUTORS_MAX]; /* labels; the first is the real runtime, NULL if none was measured */
    size_t executor_count;
    struct group *groups; /* owned */
    size_t group_count;
    FILE *out;
};

/* ---- order in the cells ---- */

static const char *text_of(const struct cell *cell, const char *name)
{
    const char *text = result_get_text(cell->first, name);
    return text != NULL ? text : "";
}

static bool is_real(const struct cell *cell)
{
    const char *target = text_of(cell, "target");
    return target[0] != '\0' && strcmp(target, "none") != 0;
}

/* The first place is the real runtime's: a model may have the same name. */
static size_t executor_index(struct fidelity *fidelity, const struct cell *cell)
{
    const char *label = text_of(cell, "label");
    if (is_real(cell)) {
        if (fidelity->executors[0] == NULL)
            fidelity->executors[0] = label;
        return strcmp(fidelity->executors[0], label) == 0 ? 0 : EXECUTORS_MAX;
    }
    for (size_t i = 1; i < fidelity->executor_count; i++) {
        if (strcmp(fidelity->executors[i], label) == 0)
            return i;
    }
    if (fidelity->executor_count == EXECUTORS_MAX)
        return EXECUTORS_MAX;
    fidelity->executors[fidelity->executor_count] = label;
    return fidelity->executor_count++;
}

static struct group *group_of(struct fidelity *fidelity, const struct cell *cell)
{
    const char *mode = text_of(cell, "mode");
    double rate_rps = 0;
    if (strcmp(mode, "paced") == 0)
        result_get_number(cell->first, "rate_rps", &rate_rps);
    for (size_t i = 0; i < fidelity->group_count; i++) {
        if (strcmp(fidelity->groups[i].mode, mode) == 0 && fidelity->groups[i].rate_rps == rate_rps)
            return &fidelity->groups[i];
    }
    if (fidelity->group_count == GROUPS_MAX)
        return NULL;
    struct group *group = &fidelity->groups[fidelity->group_count++];
    group->mode = mode;
    group->rate_rps = rate_rps;
    return group;
}

/* NULL when there is no room. */
static struct row *row_of(struct group *group, const struct cell *cell)
{
    const char *max_workers = text_of(cell, "max_workers"), *spin_limit = text_of(cell, "spin_limit");
    for (size_t i = 0; i < group->count; i++) {
        if (strcmp(group->rows[i].max_workers, max_workers) == 0 && strcmp(group->rows[i].spin_limit, spin_limit) == 0)
            return &group->rows[i];
    }
    if (group->count == SETTINGS_MAX)
        return NULL;
    struct row *row = &group->rows[group->count++];
    row->max_workers = max_workers;
    row->spin_limit = spin_limit;
    return row;
}

/* Numbers ascending, words ("default") behind them. */
static int compare_words(const char *left, const char *right)
{
    double a = INFINITY, b = INFINITY;
    decimal_parse(left, &a);
    decimal_parse(right, &b);
    return a == b ? 0 : a < b ? -1 : 1;
}

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    int workers = compare_words(a->max_workers, b->max_workers);
    return workers != 0 ? workers : compare_words(a->spin_limit, b->spin_limit);
}

/* Paced first, by rate. */
static int compare_groups(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    if ((a->rate_rps == 0) != (b->rate_rps == 0))
        return a->rate_rps == 0 ? 1 : -1;
    return a->rate_rps == b->rate_rps ? 0 : a->rate_rps < b->rate_rps ? -1 : 1;
}

static void add_cell(struct fidelity *fidelity, const struct cell *cell)
{
    size_t executor = executor_index(fidelity, cell);
    struct group *group = executor < EXECUTORS_MAX ? group_of(fidelity, cell) : NULL;
    struct row *row = group != NULL ? row_of(group, cell) : NULL;
    if (row != NULL)
        row->cells[executor] = cell;
}

static int compare_labels(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* False without memory, or when no target was measured. */
static bool sort_cells(struct fidelity *fidelity, const struct result_set *set)
{
    cell_set_init(&fidelity->cells, set);
    fidelity->groups = calloc(GROUPS_MAX, sizeof *fidelity->groups);
    fidelity->executor_count = 1;
    for (size_t i = 0; i < fidelity->cells.count; i++)
        executor_index(fidelity, &fidelity->cells.cells[i]);
    qsort(fidelity->executors + 1, fidelity->executor_count - 1, sizeof fidelity->executors[0], compare_labels);
    for (size_t i = 0; fidelity->groups != NULL && i < fidelity->cells.count; i++)
        add_cell(fidelity, &fidelity->cells.cells[i]);
    for (size_t i = 0; i < fidelity->group_count; i++)
        qsort(fidelity->groups[i].rows, fidelity->groups[i].count, sizeof(struct row), compare_rows);
    if (fidelity->group_count > 0)
        qsort(fidelity->groups, fidelity->group_count, sizeof(struct group), compare_groups);
    return fidelity->executors[0] != NULL;
}

/* ---- numbers ---- */

static const struct cell *base_of(const struct group *group, size_t executor)
{
    for (size_t i = 0; i < group->count; i++) {
        if (strcmp(group->rows[i].max_workers, "1") == 0 && strcmp(group->rows[i].spin_limit, "0") == 0)
            return group->rows[i].cells[executor];
    }
    return NULL;
}

/* Whether the cell has no undisturbed repeat to stand on. */
static bool is_disturbed(const struct cell *cell)
{
    return cell != NULL && cell_interval(cell, CPU_US, false).count == 0;
}

static double median_of(const struct cell *cell, const char *name, bool per_request)
{
    if (cell == NULL)
        return NAN;
    bool disturbed = is_disturbed(cell);
    return (per_request ? cell_interval_per_request(cell, name, disturbed) : cell_interval(cell, name, disturbed))
        .median;
}

static struct interval ratio_of(const struct group *group, const struct row *row, size_t executor)
{
    const struct cell *cell = row->cells[executor], *base = base_of(group, executor);
    if (cell == NULL || base == NULL)
        return (struct interval){.median = NAN, .low = NAN, .high = NAN};
    bool disturbed = is_disturbed(cell) || is_disturbed(base);
    return disturbed ? cell_ratio_unrejected(cell, base, CPU_US) : cell_ratio(cell, base, CPU_US);
}

/* The ratio of the model in units of the runtime's; NaN where one of them is missing. */
static double factor_of(const struct group *group, const struct row *row, size_t executor)
{
    return ratio_of(group, row, executor).median / ratio_of(group, row, 0).median;
}

static bool is_base(const struct row *row)
{
    return strcmp(row->max_workers, "1") == 0 && strcmp(row->spin_limit, "0") == 0;
}

/* The median of every second repeat. */
static double half_median(const struct cell *cell, uint32_t half)
{
    double values[256];
    size_t count = 0;
    bool disturbed_too = is_disturbed(cell);
    for (uint32_t i = 0; cell != NULL && i < cell->count; i++) {
        double repeat, valid, disturbed, value;
        const struct result *row = cell->rows[i];
        if (!result_get_number(row, "repeat", &repeat) || (uint64_t)repeat % 2 != half ||
            !result_get_number(row, "valid", &valid) || valid == 0 ||
            (!disturbed_too && result_get_number(row, "disturbed", &disturbed) && disturbed != 0))
            continue;
        if (result_get_number(row, CPU_US, &value) && count < sizeof values / sizeof values[0])
            values[count++] = value;
    }
    return statistics_median(values, count);
}

/* How well the order of the settings repeats itself in the real runtime. */
static double noise_ceiling(const struct group *group)
{
    double halves[2][SETTINGS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        for (uint32_t half = 0; half < 2; half++)
            halves[half][count] = half_median(group->rows[i].cells[0], half);
        count += isfinite(halves[0][count]) && isfinite(halves[1][count]);
    }
    return statistics_rank_correlation(halves[0], halves[1], count);
}

static double correlation(const struct group *group, size_t executor, size_t *count)
{
    double real[SETTINGS_MAX], model[SETTINGS_MAX];
    *count = 0;
    for (size_t i = 0; i < group->count; i++) {
        real[*count] = median_of(group->rows[i].cells[0], CPU_US, false);
        model[*count] = median_of(group->rows[i].cells[executor], CPU_US, false);
        *count += isfinite(real[*count]) && isfinite(model[*count]);
    }
    return statistics_rank_correlation(real, model, *count);
}

/* ---- tables ---- */

static const char *fixed(double number, int digits, char out[DECIMAL_SIZE])
{
    return isfinite(number) ? decimal_print_fixed(number, digits, out) : "-";
}

static void print_setting(const struct fidelity *fidelity, const char *max_workers, const char *spin_limit)
{
    fprintf(fidelity->out, "%-11s  %-10s", max_workers, spin_limit);
}

/* "1.92 [1.71 2.10]", with "~" where it stands on disturbed repeats alone. */
static void print_ratio(const struct fidelity *fidelity, const struct group *group, const struct row *row,
                        size_t executor)
{
    char text[REPORT_RATIO_SIZE], marked[REPORT_RATIO_SIZE + 1];
    struct interval ratio = ratio_of(group, row, executor);
    bool disturbed = is_disturbed(row->cells[executor]) || is_disturbed(base_of(group, executor));
    report_ratio_text(&ratio, text);
    snprintf(marked, sizeof marked, "%s%s", ratio.count > 0 && disturbed ? "~" : "", text);
    fprintf(fidelity->out, "  %-18s", marked);
}

static void print_ratios(const struct fidelity *fidelity, const struct group *group)
{
    print_setting(fidelity, "max-workers", "spin-limit");
    fprintf(fidelity->out, "  %9s  %-18s", "real us", "real");
    for (size_t i = 1; i < fidelity->executor_count; i++)
        fprintf(fidelity->out, "  %-18.18s  %6s", fidelity->executors[i], "x real");
    fprintf(fidelity->out, "\n");
    for (size_t i = 0; i < group->count; i++) {
        char text[DECIMAL_SIZE];
        const struct row *row = &group->rows[i];
        print_setting(fidelity, row->max_workers, row->spin_limit);
        fprintf(fidelity->out, "  %9s", fixed(median_of(row->cells[0], CPU_US, false), 1, text));
        print_ratio(fidelity, group, row, 0);
        for (size_t executor = 1; executor < fidelity->executor_count; executor++) {
            print_ratio(fidelity, group, row, executor);
            fprintf(fidelity->out, "  %6s", fixed(factor_of(group, row, executor), 2, text));
        }
        fprintf(fidelity->out, "\n");
    }
    fprintf(fidelity->out, "\n");
}

/* What explains a difference: a counter that one side has too much of. The real runtime's are those of the kernel. */
static const struct {
    const char *name, *head;
    bool real_too;
} counters[] = {
    {"voluntary_switches", "blocked", true},
    {"involuntary_switches", "preempted", true},
    {"yields", "yields", false},
    {"wakes_sent", "wakes", false},
    {"dispatches_empty", "empty turns", false},
};
#define COUNTERS (sizeof counters / sizeof counters[0])

/* A counter of all executors in their order, "3.83/2.78"; short, for it stands in a column. */
static void print_counter(const struct fidelity *fidelity, const struct row *row, size_t counter)
{
    char texts[EXECUTORS_MAX * 16], text[DECIMAL_SIZE];
    size_t used = 0;
    for (size_t i = counters[counter].real_too ? 0 : 1; i < fidelity->executor_count; i++) {
        double number = median_of(row->cells[i], counters[counter].name, true);
        used += (size_t)snprintf(texts + used, sizeof texts - used, "%s%.12s", used > 0 ? "/" : "",
                                 fixed(number, number < 10 ? 2 : 1, text));
    }
    fprintf(fidelity->out, "  %*s", counters[counter].real_too ? 15 : 10, texts);
}

static void print_counters(const struct fidelity *fidelity, const struct group *group)
{
    fprintf(fidelity->out, "Per request, real");
    for (size_t i = 1; i < fidelity->executor_count; i++)
        fprintf(fidelity->out, "/%s", fidelity->executors[i]);
    fprintf(fidelity->out, "; yields, wakes and empty turns are known of models only\n\n");
    print_setting(fidelity, "max-workers", "spin-limit");
    for (size_t i = 0; i < COUNTERS; i++)
        fprintf(fidelity->out, "  %*s", counters[i].real_too ? 15 : 10, counters[i].head);
    fprintf(fidelity->out, "\n");
    for (size_t i = 0; i < group->count; i++) {
        print_setting(fidelity, group->rows[i].max_workers, group->rows[i].spin_limit);
        for (size_t counter = 0; counter < COUNTERS; counter++)
            print_counter(fidelity, &group->rows[i], counter);
        fprintf(fidelity->out, "\n");
    }
    fprintf(fidelity->out, "\n");
}

/* ---- what follows ---- */

static void say_correlation(const struct fidelity *fidelity, const struct group *group, size_t executor)
{
    char own[DECIMAL_SIZE], ceiling[DECIMAL_SIZE], share[DECIMAL_SIZE];
    size_t count;
    double found = correlation(group, executor, &count), highest = noise_ceiling(group);
    if (!isfinite(found) || !isfinite(highest)) {
        reproduction_say(fidelity->out,
                         "%s: no rank correlation: it takes three settings, measured on both, and two repeats each.",
                         fidelity->executors[executor]);
        return;
    }
    reproduction_say(fidelity->out,
                     "%s: rank correlation %s over %zu settings; noise ceiling %s (odd repeats of the real runtime "
                     "against even ones): %s of it, %s the aim of %g.",
                     fidelity->executors[executor], fixed(found, 2, own), count, fixed(highest, 2, ceiling),
                     fixed(found / highest, 2, share),
                     found / highest >= FIDELITY_CEILING_SHARE ? "which meets" : "below", FIDELITY_CEILING_SHARE);
}

/* Returns how many ratios there are. */
static size_t say_factors(const struct fidelity *fidelity, const struct group *group, size_t executor)
{
    size_t count = 0, near = 0;
    const struct row *farthest = NULL;
    double most = 0;
    for (size_t i = 0; i < group->count; i++) {
        double distance = fabs(log(factor_of(group, &group->rows[i], executor)));
        if (!isfinite(distance) || is_base(&group->rows[i]))
            continue;
        count++;
        near += distance <= log(FIDELITY_FACTOR);
        if (distance >= most) {
            most = distance;
            farthest = &group->rows[i];
        }
    }
    if (farthest == NULL)
        return 0;
    char text[DECIMAL_SIZE];
    reproduction_say(fidelity->out,
                     "%s: %zu of %zu ratios are within a factor %g of the real one%s. The farthest: max-workers %s, "
                     "spin-limit %s, %s times the real ratio.",
                     fidelity->executors[executor], near, count, FIDELITY_FACTOR,
                     group->rate_rps == 0 ? "" : near == count ? ", as aimed at" : "; the aim is all",
                     farthest->max_workers, farthest->spin_limit,
                     fixed(factor_of(group, farthest, executor), 2, text));
    return count;
}

static size_t print_group(const struct fidelity *fidelity, const struct group *group)
{
    size_t count = 0;
    char rate[DECIMAL_SIZE];
    if (group->rate_rps > 0)
        fprintf(fidelity->out, "Paced at %s requests/s", decimal_print(group->rate_rps, rate));
    else
        fprintf(fidelity->out, "Closed loop");
    fprintf(fidelity->out, ": CPU per request as ratio to one worker with spin limit 0\n\n");
    print_ratios(fidelity, group);
    print_counters(fidelity, group);
    for (size_t executor = 1; executor < fidelity->executor_count; executor++) {
        say_correlation(fidelity, group, executor);
        count += say_factors(fidelity, group, executor);
    }
    fprintf(fidelity->out, "\n");
    return count;
}

/* The settings that the models have in common, and the runtime's version. */
static void say_what(const struct fidelity *fidelity)
{
    const char *version = "", *costs = NULL;
    for (size_t i = 0; i < fidelity->cells.count; i++) {
        const struct cell *cell = &fidelity->cells.cells[i];
        if (is_real(cell))
            version = text_of(cell, "target_version");
        else if (costs == NULL)
            costs = result_get_text(cell->first, "item_cost_percent");
    }
    fprintf(fidelity->out, "Models beside the real runtime: target %s%s%s\n\n", fidelity->executors[0],
            version[0] != '\0' ? ", " : "", version);
    if (costs != NULL)
        reproduction_say(fidelity->out,
                         "Items of the models cost %s %% of the published estimates; nothing else is set.", costs);
    reproduction_say(fidelity->out, "~ stands on disturbed repeats alone.");
    fprintf(fidelity->out, "\n");
}

size_t fidelity_report_print(const struct result_set *set, FILE *out)
{
    struct fidelity fidelity = {.out = out};
    size_t count = 0;
    if (sort_cells(&fidelity, set)) {
        say_what(&fidelity);
        for (size_t i = 0; i < fidelity.group_count; i++)
            count += print_group(&fidelity, &fidelity.groups[i]);
    } else {
        reproduction_say(out, "No real runtime was measured in this sweep: nothing to hold the models against.");
    }
    cell_set_fini(&fidelity.cells);
    free(fidelity.groups);
    return count;
}
