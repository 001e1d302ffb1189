/* SPDX-License-Identifier: MIT
 *
 * Item costs of a model from one cell of the runtime; see fidelity_costs.h.
 */
#include "fidelity_costs.h"

#include "decimal.h"
#include "output.h"
#include "statistics.h"

#include <math.h>

#define CPU_US "router_cpu_us_per_request"

static double cpu_us(const struct cell *cell)
{
    double median = cell_interval(cell, CPU_US, false).median;
    return isfinite(median) ? median : cell_interval(cell, CPU_US, true).median;
}

double fidelity_costs_find(const struct result_set *set)
{
    struct cell_set cells;
    double real_us = NAN, costs[2] = {NAN, NAN}, model_us[2] = {NAN, NAN};
    size_t models = 0;
    cell_set_init(&cells, set);
    for (size_t i = 0; i < cells.count; i++) {
        const struct cell *cell = &cells.cells[i];
        const char *cost = result_get_text(cell->first, "item_cost_percent");
        if (result_get_text(cell->first, "target") != NULL)
            real_us = cpu_us(cell);
        else if (models < 2 && cost != NULL && decimal_parse(cost, &costs[models]))
            model_us[models++] = cpu_us(cell);
    }
    cell_set_fini(&cells);
    double us_per_percent = (model_us[1] - model_us[0]) / (costs[1] - costs[0]);
    double cost = costs[0] + (real_us - model_us[0]) / us_per_percent;
    return isfinite(cost) ? fmax(cost, 0) : NAN;
}

void fidelity_costs_say(const struct result_set *set, double cost)
{
    struct cell_set cells;
    char us[DECIMAL_SIZE], percent[DECIMAL_SIZE];
    cell_set_init(&cells, set);
    for (size_t i = 0; i < cells.count; i++) {
        const struct cell *cell = &cells.cells[i];
        const char *tried = result_get_text(cell->first, "item_cost_percent");
        complain("reproduce: one worker, spin limit 0: %s%s%s%s takes %s us of CPU per request",
                 result_get_text(cell->first, "label"), tried != NULL ? " with items of " : "",
                 tried != NULL ? tried : "", tried != NULL ? " %" : "",
                 decimal_print_fixed(cpu_us(cell), 1, us));
    }
    cell_set_fini(&cells);
    decimal_print_fixed(cost, 1, percent);
    if (cost > 0)
        complain("reproduce: item-cost-percent is set to %s, from these cells alone; 2 settings were tried", percent);
    else
        complain("reproduce: item-cost-percent is set to 0: the model takes no less at any cost");
}
