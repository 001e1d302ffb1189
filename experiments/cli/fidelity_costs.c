/* SPDX-License-Identifier: MIT
 *
 * Item costs of a model from one cell of the runtime; see fidelity_costs.h.
 */
#include "fidelity_costs.h"

#include "decimal.h"
#include "fidelity_cells.h"
#include "output.h"

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
        if (fidelity_is_real(cell)) {
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

double fidelity_costs_find(const struct result_set *set)
{
    struct cell_set cells;
    struct three three;
    double cost = NAN;
    cell_set_init(&cells, set);
    if (find_three(&cells, &three)) {
        double first_us = fidelity_cpu_us(three.models[0]), second_us = fidelity_cpu_us(three.models[1]);
        double us_per_percent = (second_us - first_us) / (three.costs[1] - three.costs[0]);
        if (us_per_percent > 0) /* false also for what is not a number */
            cost = fmax(0, three.costs[0] + (fidelity_cpu_us(three.real) - first_us) / us_per_percent);
    }
    cell_set_fini(&cells);
    return isfinite(cost) && cost <= FIDELITY_COST_MAX ? cost : NAN;
}

static void say_cell(const struct cell *cell)
{
    const char *tried = fidelity_text(cell, "item_cost_percent");
    char us[DECIMAL_SIZE];
    complain("reproduce: one worker, spin limit 0: %s%s%s%s takes %s us of CPU per request%s",
             fidelity_is_real(cell) ? "target " : "model ", fidelity_text(cell, "label"),
             tried[0] != '\0' ? " with item costs of " : "", tried, decimal_print_fixed(fidelity_cpu_us(cell), 1, us),
             fidelity_is_disturbed(cell) ? " (all repeats disturbed)" : "");
}

void fidelity_costs_say(const struct result_set *set, double cost)
{
    struct cell_set cells;
    char percent[DECIMAL_SIZE];
    cell_set_init(&cells, set);
    for (size_t i = 0; i < cells.count; i++)
        say_cell(&cells.cells[i]);
    cell_set_fini(&cells);
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
