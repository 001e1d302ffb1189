/* SPDX-License-Identifier: MIT
 *
 * The picture `fidelity`: see fidelity.h.
 */
#include "fidelity.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIDELITY_COLUMNS_MAX 3
#define FIDELITY_LINEAR_SPAN 4.0 /* from the lowest to the highest value; a wider one gets a logarithmic axis */

/* ---- ratios ---- */

static const struct draft *fidelity_base(const struct draft_set *set, const struct draft *draft)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct draft *base = &set->drafts[i];
        if (cell_is_base(base->cell) && strands_is_executor(base, draft) && draft_panel_compare(base, draft) == 0) {
            return base;
        }
    }
    return NULL;
}

/* False if there is nothing to relate it to. */
static bool fidelity_relate_one(const struct draft_set *set, struct draft *draft)
{
    const struct draft *base = fidelity_base(set, draft);
    if (base == NULL) {
        return false;
    }
    draft->value = cell_ratio_or_disturbed(draft->cell, base->cell, CELL_CPU_US, &draft->disturbed_only);
    return isfinite(draft->value.median) && draft->value.low > 0;
}

/* Whether model and real runtime were both measured in the panel of a draft. */
static bool fidelity_has_other_side(const struct draft_set *set, const struct draft *draft)
{
    bool has = false;
    for (size_t i = 0; i < set->count && !has; i++) {
        has = set->drafts[i].is_real != draft->is_real && draft_panel_compare(&set->drafts[i], draft) == 0;
    }
    return has;
}

/* Takes out the drafts that are marked; how many. */
static size_t fidelity_remove(struct draft_set *set, const bool *marked)
{
    size_t before = set->count;
    for (size_t i = before; i-- > 0;) {
        if (marked[i]) {
            draft_set_remove(set, i);
        }
    }
    return before - set->count;
}

int fidelity_relate(struct draft_set *set, const struct plot_request *request, char *message)
{
    long long sweep = (long long)request->sweep->id;
    if (!set->mixed) {
        bool real = set->drafts[0].is_real;
        snprintf(message, PLOT_MESSAGE_SIZE,
                 "plot fidelity: sweep %lld holds no %s to set beside the %s; sweep both, as in --target none,dotnet",
                 sweep, real ? "model" : "real runtime", real ? "real runtime" : "model");
        return 1;
    }
    bool *marked = text_allocate(set->count, sizeof *marked);
    for (size_t i = 0; i < set->count; i++) {
        marked[i] = !fidelity_relate_one(set, &set->drafts[i]);
    }
    set->baseless = fidelity_remove(set, marked);
    for (size_t i = 0; i < set->count; i++) {
        marked[i] = !fidelity_has_other_side(set, &set->drafts[i]);
    }
    set->alone = fidelity_remove(set, marked);
    free(marked);
    set->disturbed_only = 0;
    for (size_t i = 0; i < set->count; i++) {
        set->disturbed_only += set->drafts[i].disturbed_only;
    }
    if (set->count > 0) {
        return 0;
    }
    snprintf(message, PLOT_MESSAGE_SIZE,
             "plot fidelity: nothing to draw in sweep %lld: %zu cells lack a valid cell of the same executor, mode and "
             "rate with max-workers 1 and spin-limit 0, to which they would be a ratio, and %zu lack the other side",
             sweep, set->baseless, set->alone);
    return 1;
}

/* ---- panels ---- */

/* The drafts of one mode and rate, and of whatever else makes a panel. */
struct fidelity_group {
    const struct draft *drafts;
    size_t count;
};

static bool fidelity_is_closed(const struct draft *draft)
{
    return strcmp(draft->panel[DRAFT_MODE].text, "closed") == 0;
}

/* Paced groups by rate, then closed loops; how many. */
static size_t fidelity_groups(struct fidelity_group *groups, const struct draft_set *set)
{
    size_t count = 0;
    for (int closed = 0; closed < 2; closed++) {
        for (size_t first = 0, next = 0; first < set->count; first = next) {
            const struct draft *draft = &set->drafts[first];
            for (next = first + 1; next < set->count && draft_panel_compare(draft, &set->drafts[next]) == 0;) {
                next++;
            }
            if (fidelity_is_closed(draft) == closed) {
                groups[count++] = (struct fidelity_group){.drafts = draft, .count = next - first};
            }
        }
    }
    return count;
}

/* One executor's lines in a panel. */
static void fidelity_lines(struct chart *chart, const struct chart_shared *shared, struct chart_panel *panel,
                           const struct fidelity_group *group, const struct draft *executor)
{
    struct chart_series *series = NULL;
    for (size_t i = 0; i < group->count; i++) {
        const struct draft *draft = &group->drafts[i];
        if (!strands_is_executor(draft, executor)) {
            continue;
        }
        if (series == NULL || draft_series_compare(draft, draft - 1) != 0) {
            char *title = chart_series_title(chart, shared, draft);
            series = chart_series_add(panel, chart_series_index(chart, title));
            free(title);
        }
        chart_point_add(series, chart_tick_find(panel, draft->workers.text), draft->value);
    }
}

static bool fidelity_group_has(const struct fidelity_group *group, const struct draft *executor)
{
    bool has = false;
    for (size_t i = 0; i < group->count && !has; i++) {
        has = strands_is_executor(&group->drafts[i], executor);
    }
    return has;
}

/* What is built, and in which order. */
struct fidelity_plan {
    struct fidelity_group *groups;
    const struct draft *const *reals, *const *models;
    size_t group_count, real_count, model_count;
};

static void fidelity_panel(struct chart *chart, const struct chart_shared *shared, const struct fidelity_plan *plan,
                           size_t group_index, size_t pair_index)
{
    const struct fidelity_group *group = &plan->groups[group_index];
    const struct draft *real = plan->reals[pair_index / plan->model_count];
    const struct draft *model = plan->models[pair_index % plan->model_count];
    bool measured = fidelity_group_has(group, real) && fidelity_group_has(group, model);
    char *title = chart_panel_title(shared, group->drafts);
    for (int side = 0; side < 2; side++) {
        const struct draft *executor = side == 0 ? model : real;
        if (side == 0 ? plan->model_count > 1 : plan->real_count > 1) {
            chart_append(&title, text_format("%s", executor->series[DRAFT_LABEL].text));
            chart_append(&title, text_format("%s", executor->series[DRAFT_OTHERS].text));
        }
    }
    if (!measured) { /* an empty panel keeps its place, so that the others stay in rows and columns */
        chart_append(&title, text_format("not measured"));
    }
    struct chart_panel *panel = chart_panel_add(chart, title);
    panel->closed_loop = fidelity_is_closed(group->drafts);
    panel->group = (uint32_t)group_index;
    chart_ticks_add(panel, shared->set->drafts, shared->set->count, NULL);
    chart_reference_add(panel, text_format("%s", ""), 1);
    if (measured) {
        fidelity_lines(chart, shared, panel, group, real);
        fidelity_lines(chart, shared, panel, group, model);
    }
}

static void fidelity_scale(struct chart *chart)
{
    for (uint32_t i = 0; i < chart->panel_count; i++) {
        double low, high;
        chart_panel_extent(chart, &chart->panels[i], &low, &high);
        chart->logarithmic |= high / low > FIDELITY_LINEAR_SPAN;
    }
}

void fidelity_build(struct chart *chart, const struct chart_shared *shared, const struct strands *strands)
{
    struct fidelity_plan plan = {.groups = text_allocate(shared->set->count, sizeof *plan.groups),
                                 .reals = strands->executors};
    plan.group_count = fidelity_groups(plan.groups, shared->set);
    while (plan.real_count < strands->executor_count && strands->executors[plan.real_count]->is_real) {
        plan.real_count++;
    }
    plan.models = strands->executors + plan.real_count;
    plan.model_count = strands->executor_count - plan.real_count;
    size_t pairs = plan.real_count * plan.model_count;
    bool by_pair = plan.group_count <= FIDELITY_COLUMNS_MAX || pairs == 1; /* a row for each pair */
    for (size_t i = 0; i < pairs * plan.group_count; i++) {
        size_t group = by_pair ? i % plan.group_count : i / pairs;
        fidelity_panel(chart, shared, &plan, group, by_pair ? i / plan.group_count : i % pairs);
    }
    size_t columns = by_pair && plan.group_count > 1 ? plan.group_count : pairs;
    chart->columns = (uint32_t)(columns > FIDELITY_COLUMNS_MAX ? FIDELITY_COLUMNS_MAX : columns);
    fidelity_scale(chart);
    free(plan.groups);
}
