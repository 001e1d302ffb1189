/* SPDX-License-Identifier: MIT
 *
 * Cells in the order of the comparison; see fidelity_cells.h.
 */
#include "fidelity_cells.h"

#include "cli/memory.h"
#include "decimal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- order in the cells ---- */

const char *fidelity_text(const struct cell *cell, const char *name)
{
    const char *text = result_get_text(cell->first, name);
    return text != NULL ? text : "";
}

/* The first place is the real runtime's: a model may have the same name. */
static size_t executor_index(struct fidelity_cells *fidelity, const struct cell *cell)
{
    const char *label = fidelity_text(cell, "label");
    if (result_is_of_target(cell->first)) {
        if (fidelity->executors[0] == NULL)
            fidelity->executors[0] = label;
        return strcmp(fidelity->executors[0], label) == 0 ? 0 : FIDELITY_EXECUTORS_MAX;
    }
    for (size_t i = 1; i < fidelity->executor_count; i++) {
        if (strcmp(fidelity->executors[i], label) == 0)
            return i;
    }
    if (fidelity->executor_count == FIDELITY_EXECUTORS_MAX)
        return FIDELITY_EXECUTORS_MAX;
    fidelity->executors[fidelity->executor_count] = label;
    return fidelity->executor_count++;
}

static struct fidelity_group *group_of(struct fidelity_cells *fidelity, const struct cell *cell)
{
    const char *mode = fidelity_text(cell, "mode");
    double rate_rps = 0;
    if (strcmp(mode, "paced") == 0)
        result_get_number(cell->first, "rate_rps", &rate_rps);
    for (size_t i = 0; i < fidelity->group_count; i++) {
        if (strcmp(fidelity->groups[i].mode, mode) == 0 && fidelity->groups[i].rate_rps == rate_rps)
            return &fidelity->groups[i];
    }
    if (fidelity->group_count == FIDELITY_GROUPS_MAX)
        return NULL;
    struct fidelity_group *group = &fidelity->groups[fidelity->group_count++];
    group->mode = mode;
    group->rate_rps = rate_rps;
    return group;
}

/* NULL when there is no room. */
static struct fidelity_row *row_of(struct fidelity_group *group, const struct cell *cell)
{
    const char *max_workers = fidelity_text(cell, "max_workers"), *spin_limit = fidelity_text(cell, "spin_limit");
    for (size_t i = 0; i < group->count; i++) {
        if (strcmp(group->rows[i].max_workers, max_workers) == 0 && strcmp(group->rows[i].spin_limit, spin_limit) == 0)
            return &group->rows[i];
    }
    if (group->count == FIDELITY_ROWS_MAX)
        return NULL;
    struct fidelity_row *row = &group->rows[group->count++];
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
    const struct fidelity_row *a = left, *b = right;
    int workers = compare_words(a->max_workers, b->max_workers);
    return workers != 0 ? workers : compare_words(a->spin_limit, b->spin_limit);
}

/* Paced first, by rate. */
static int compare_groups(const void *left, const void *right)
{
    const struct fidelity_group *a = left, *b = right;
    if ((a->rate_rps == 0) != (b->rate_rps == 0))
        return a->rate_rps == 0 ? 1 : -1;
    return a->rate_rps == b->rate_rps ? 0 : a->rate_rps < b->rate_rps ? -1 : 1;
}

static void add_cell(struct fidelity_cells *fidelity, const struct cell *cell)
{
    size_t executor = executor_index(fidelity, cell);
    struct fidelity_group *group = executor < FIDELITY_EXECUTORS_MAX ? group_of(fidelity, cell) : NULL;
    struct fidelity_row *row = group != NULL ? row_of(group, cell) : NULL;
    if (row != NULL && row->cells[executor] == NULL)
        row->cells[executor] = cell;
    else
        fidelity->left_over++;
}

static int compare_labels(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

void fidelity_cells_init(struct fidelity_cells *fidelity, const struct result_set *set)
{
    *fidelity = (struct fidelity_cells){.executor_count = 1};
    cell_set_init(&fidelity->cells, set);
    fidelity->groups = memory_allocate(FIDELITY_GROUPS_MAX, sizeof *fidelity->groups);
    for (size_t i = 0; i < fidelity->cells.count; i++)
        executor_index(fidelity, &fidelity->cells.cells[i]);
    qsort(fidelity->executors + 1, fidelity->executor_count - 1, sizeof fidelity->executors[0], compare_labels);
    for (size_t i = 0; i < fidelity->cells.count; i++)
        add_cell(fidelity, &fidelity->cells.cells[i]);
    for (size_t i = 0; i < fidelity->group_count; i++)
        qsort(fidelity->groups[i].rows, fidelity->groups[i].count, sizeof fidelity->groups[i].rows[0], compare_rows);
    qsort(fidelity->groups, fidelity->group_count, sizeof *fidelity->groups, compare_groups);
}

void fidelity_cells_fini(struct fidelity_cells *fidelity)
{
    cell_set_fini(&fidelity->cells);
    free(fidelity->groups);
}

/* ---- numbers ---- */

static const struct cell *base_of(const struct fidelity_group *group, size_t executor)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct cell *cell = group->rows[i].cells[executor];
        if (cell != NULL && cell_is_base(cell))
            return cell;
    }
    return NULL;
}

bool fidelity_is_disturbed(const struct cell *cell)
{
    return cell != NULL && cell_interval(cell, CELL_CPU_US, false).count == 0;
}

double fidelity_median(const struct cell *cell, const char *name, bool per_request)
{
    if (cell == NULL)
        return NAN;
    bool disturbed = fidelity_is_disturbed(cell);
    return (per_request ? cell_interval_per_request(cell, name, disturbed) : cell_interval(cell, name, disturbed))
        .median;
}

double fidelity_cpu_us(const struct cell *cell)
{
    return fidelity_median(cell, CELL_CPU_US, false);
}

struct interval fidelity_ratio(const struct fidelity_group *group, const struct fidelity_row *row, size_t executor,
                               bool *disturbed)
{
    const struct cell *cell = row->cells[executor], *base = base_of(group, executor);
    *disturbed = false;
    if (cell == NULL || base == NULL)
        return (struct interval){.median = NAN, .low = NAN, .high = NAN};
    return cell_ratio_or_disturbed(cell, base, CELL_CPU_US, disturbed);
}

double fidelity_factor(const struct fidelity_group *group, const struct fidelity_row *row, size_t executor)
{
    bool ignored;
    return fidelity_ratio(group, row, executor, &ignored).median / fidelity_ratio(group, row, 0, &ignored).median;
}

/* ---- agreement ---- */

/* The median of every second repeat: those whose number leaves this rest. */
static double half_median(const struct cell *cell, uint64_t rest)
{
    bool disturbed_too = fidelity_is_disturbed(cell);
    double *values = memory_allocate(cell->count + 1, sizeof *values);
    size_t count = 0;
    for (uint32_t i = 0; i < cell->count; i++) {
        double repeat;
        if (result_get_number(cell->rows[i], "repeat", &repeat) && (uint64_t)repeat % 2 == rest &&
            result_is_used(cell->rows[i], disturbed_too))
            count += result_get_number(cell->rows[i], CELL_CPU_US, &values[count]);
    }
    double median = statistics_median(values, count);
    free(values);
    return median;
}

struct fidelity_agreement fidelity_agree(const struct fidelity_group *group, size_t executor)
{
    double real[FIDELITY_ROWS_MAX], model[FIDELITY_ROWS_MAX], halves[2][FIDELITY_ROWS_MAX];
    struct fidelity_agreement out = {.count = 0};
    for (size_t i = 0; i < group->count; i++) {
        const struct cell *runtime = group->rows[i].cells[0], *other = group->rows[i].cells[executor];
        if (runtime == NULL || other == NULL)
            continue;
        real[out.count] = fidelity_cpu_us(runtime);
        model[out.count] = fidelity_cpu_us(other);
        for (uint64_t rest = 0; rest < 2; rest++)
            halves[rest][out.count] = half_median(runtime, rest);
        if (!isfinite(real[out.count]) || !isfinite(model[out.count]) || !isfinite(halves[0][out.count]) ||
            !isfinite(halves[1][out.count]))
            continue;
        out.disturbed += fidelity_is_disturbed(runtime) || fidelity_is_disturbed(other);
        out.count++;
    }
    out.correlation = statistics_rank_correlation(real, model, out.count);
    out.ceiling = statistics_rank_correlation(halves[0], halves[1], out.count);
    return out;
}
