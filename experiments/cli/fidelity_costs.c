/* SPDX-License-Identifier: MIT
 *
 * Item costs of a model from one cell of the runtime; see fidelity_costs.h.
 */
#include "fidelity_costs.h"

#include "decimal.h"
#include "fidelity_cells.h"
#include "output.h"
#include "reproduction.h"
#include "statistics.h"

#include <math.h>
#include <string.h>

/* What a set must hold: one cell of a target and two of one model. */
struct three {
    const struct cell *real, *models[2];
    double costs[2];
};

static bool find_three(const struct cell_set *cells, struct three *out)
{
    size_t reals = 0, models = 0;
    for (size_t i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->cells[i];
        if (result_is_of_target(cell->first)) {
            out->real = cell;
            reals++;
        } else if (models == 2 || !decimal_parse(fidelity_text(cell, "item_cost_percent"), &out->costs[models])) {
            return false;
        } else {
            out->models[models++] = cell;
        }
    }
    return reals == 1 && models == 2 && out->costs[0] != out->costs[1] &&
           strcmp(fidelity_text(out->models[0], "label"), fidelity_text(out->models[1], "label")) == 0;
}

/* Disturbed repeats count in all three cells or in none, so that nothing is compared across a busy time and a quiet
 * one. */
static bool is_disturbed(const struct three *three)
{
    return fidelity_is_disturbed(three->real) || fidelity_is_disturbed(three->models[0]) ||
           fidelity_is_disturbed(three->models[1]);
}

double fidelity_costs_find(const struct result_set *set)
{
    struct cell_set cells;
    struct three three;
    double cost = NAN;
    cell_set_init(&cells, set);
    if (find_three(&cells, &three)) {
        const bool disturbed_too = is_disturbed(&three);
        const double real_us = cell_interval(three.real, CELL_CPU_US, disturbed_too).median;
        const double first_us = cell_interval(three.models[0], CELL_CPU_US, disturbed_too).median;
        const double second_us = cell_interval(three.models[1], CELL_CPU_US, disturbed_too).median;
        const double us_per_percent = (second_us - first_us) / (three.costs[1] - three.costs[0]);
        const double met = three.costs[0] + (real_us - first_us) / us_per_percent;
        if (us_per_percent > 0 && met <= FIDELITY_COST_MAX) /* false also for what is not a number */
            cost = fmax(0, met);
    }
    cell_set_fini(&cells);
    return cost;
}

bool fidelity_costs_are_disturbed(const struct result_set *set)
{
    struct cell_set cells;
    struct three three;
    cell_set_init(&cells, set);
    const bool disturbed = find_three(&cells, &three) && is_disturbed(&three);
    cell_set_fini(&cells);
    return disturbed;
}

/* "paced at 1000/s", or "closed". */
static void mode_text(const struct cell *cell, char *out, size_t size)
{
    char rate[DECIMAL_SIZE];
    double rate_rps;
    const char *mode = fidelity_text(cell, "mode");
    if (strcmp(mode, "paced") == 0 && result_get_number(cell->first, "rate_rps", &rate_rps))
        snprintf(out, size, "%s at %s/s", mode, decimal_print(rate_rps, rate));
    else
        snprintf(out, size, "%s loop", mode);
}

static void say_cell(const struct cell *cell, bool disturbed_too)
{
    const char *tried = fidelity_text(cell, "item_cost_percent");
    const struct interval cpu_us = cell_interval(cell, CELL_CPU_US, disturbed_too);
    char text[64], mode[DECIMAL_SIZE + 32];
    reproduction_interval(&cpu_us, 1, text, sizeof text);
    mode_text(cell, mode, sizeof mode);
    complain("reproduce: %s, one worker, spin limit 0: %s%s%s%s: %s us of CPU per request, %u repeats", mode,
             result_is_of_target(cell->first) ? "target " : "model ", fidelity_text(cell, "label"),
             tried[0] != '\0' ? " with item costs of " : "", tried, text, cpu_us.count);
}

void fidelity_costs_say(const struct result_set *set, double cost)
{
    struct cell_set cells;
    char percent[DECIMAL_SIZE];
    cell_set_init(&cells, set);
    const bool disturbed_too = fidelity_costs_are_disturbed(set);
    for (size_t i = 0; i < cells.count; i++)
        say_cell(&cells.cells[i], disturbed_too);
    cell_set_fini(&cells);
    if (disturbed_too)
        complain("reproduce: disturbed repeats are among these: not all cells have others");
    if (!isfinite(cost))
        complain("reproduce: item-cost-percent cannot be set from these: the model's two costs are not a rising line "
                 "that meets the target's at %d %% or less; give it with --set item-cost-percent=N",
                 FIDELITY_COST_MAX);
    else
        complain("reproduce: item-cost-percent is set to %s, from these cells alone; %d settings were tried%s",
                 decimal_print_fixed(cost, 1, percent), FIDELITY_COSTS_TRIED,
                 cost == 0 ? "; the model takes no less at any cost"
                           : cost > 100 ? "; it lies outside the two" : "");
}
