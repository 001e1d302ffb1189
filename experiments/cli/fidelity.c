/* SPDX-License-Identifier: MIT
 *
 * Item costs, the sweep and its report; see fidelity.h.
 */
#include "fidelity.h"

#include "decimal.h"
#include "duration.h"
#include "fidelity_costs.h"
#include "fidelity_report.h"
#include "measure.h"
#include "output.h"
#include "pictures.h"
#include "report.h"
#include "runner/specification.h"
#include "runner/target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PART       "paced" /* of the sweep: the one from which the costs are set */
#define COSTS_NAME "fidelity-costs"
#define COST       "item-cost-percent"

/* How often each cell is measured from which the costs are set. */
#define COST_REPEATS "6"

#define COST_WORDS "before them, to set " COST ", "

static const enum plot_kind picture_kinds[] = {PLOT_FIDELITY};
static const struct pictures pictures = {picture_kinds, 1};

static const struct specification_axis *axis_of(const struct specification *specification, uint32_t part,
                                                const char *key)
{
    return specification_axis(specification, part, (uint32_t)parameter_find(key));
}

/* ---- the costs ---- */

/* What the command line makes of the sweep; its faults are told. */
static int parse(const struct invocation *invocation, struct specification *out)
{
    if (specification_parse_selector(FIDELITY_SWEEP_NAME, stderr, out) != 0)
        return EXIT_USAGE;
    if (measure_override(invocation, out) == 0)
        return EXIT_DONE;
    specification_fini(out);
    return EXIT_USAGE;
}

/* Leaves one point of what is left of the sweep, but for its two sides. */
static int keep_first_values(struct specification *specification)
{
    int faults = 0;
    for (uint32_t i = 0; i < parameter_count; i++) {
        const struct specification_axis *axis = specification_axis(specification, 0, i);
        char first[PARAMETER_TEXT_SIZE];
        if (axis == NULL || axis->count < 2 || strcmp(parameters[i].key, "target") == 0)
            continue;
        snprintf(first, sizeof first, "%s", axis->values[0]);
        faults += specification_set(specification, FIDELITY_SWEEP_NAME, parameters[i].key, first, stderr);
    }
    return faults;
}

/* The sweep cut to the one cell, with the model at two costs. */
static int cut_to_costs(struct specification *specification)
{
    static const char *const fixed[][2] = {
        {"max-workers", "1"}, {"spin-limit", "0"}, {COST, FIDELITY_COSTS}, {"repeats", COST_REPEATS}};
    int faults = specification_keep_part(specification, PART) != 0 || keep_first_values(specification) != 0;
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        faults += specification_set(specification, FIDELITY_SWEEP_NAME, fixed[i][0], fixed[i][1], stderr);
    snprintf(specification->name, sizeof specification->name, "%s", COSTS_NAME);
    return faults == 0 ? EXIT_DONE : EXIT_USAGE;
}

static int measure_costs(const struct invocation *invocation, int64_t *sweep_id)
{
    struct specification specification;
    int status = parse(invocation, &specification);
    if (status != EXIT_DONE)
        return status;
    status = cut_to_costs(&specification);
    if (status == EXIT_DONE && duration_announce(&specification, COST_WORDS) != 0)
        status = EXIT_USAGE;
    if (status == EXIT_DONE)
        status = measure(invocation, &specification, true, sweep_id);
    specification_fini(&specification);
    return status;
}

/* Repeats that are invalid or could not be measured leave the cost to the others, if it can be had from them. */
static int find_cost(const struct invocation *invocation, double *cost)
{
    struct stored_sweep stored;
    int64_t sweep_id = 0;
    int measured = measure_costs(invocation, &sweep_id);
    if (sweep_id == 0 || (measured != EXIT_DONE && measured != EXIT_INVALID && measured != EXIT_SURROUNDINGS))
        return measured;
    int status = stored_sweep_of_id(invocation, sweep_id, &stored);
    if (status != EXIT_DONE)
        return status;
    *cost = fidelity_costs_find(&stored.rows);
    fidelity_costs_say(&stored.rows, *cost);
    stored_sweep_fini(&stored);
    if (isfinite(*cost))
        return EXIT_DONE;
    return measured != EXIT_DONE ? measured : EXIT_INVALID;
}

/* ---- the sweep ---- */

static bool has_cost(const struct specification *specification)
{
    for (uint32_t part = 0; part < specification_part_count(specification); part++) {
        const struct specification_axis *axis = axis_of(specification, part, COST);
        if (axis != NULL && axis->count > 0)
            return true;
    }
    return false;
}

/* Both sides are there: models, and one target whose runtime is here. EXIT_DONE, or another status after lines. *target
 * out. */
static int check_sides(const struct specification *specification, struct target_use **target)
{
    const struct specification_axis *axis = axis_of(specification, 0, "target");
    size_t models = axis == NULL || axis->count == 0, targets = 0;
    for (uint32_t i = 0; axis != NULL && i < axis->count; i++) {
        char message[TARGET_MESSAGE_SIZE];
        if (target_check(axis->values[i], stderr) > 0)
            return EXIT_USAGE;
        struct target_use *use = target_find(axis->values[i]);
        targets += use != NULL;
        models += use == NULL;
        if (use != NULL && !target_is_here(use, NULL, 0, message))
            return complain("%s", message), EXIT_SURROUNDINGS;
        if (use != NULL)
            *target = use;
    }
    if (models == 1 && targets == 1)
        return EXIT_DONE;
    return complain("reproduce: --fidelity holds models against one target; expected --set target=none,NAME, where "
                    "none stands for the models"),
           EXIT_USAGE;
}

static bool has_value(const struct specification_axis *axis, const char *value)
{
    for (uint32_t i = 0; axis != NULL && i < axis->count; i++) {
        if (strcmp(axis->values[i], value) == 0)
            return true;
    }
    return false;
}

/* Whether a parameter may have several values: it tells executors or settings of the tables apart. */
static bool may_vary(const struct parameter *parameter)
{
    static const char *const keys[] = {"target", "scheduler", "idle",        "sizing",
                                       "mode",   "rate",      "max-workers", "spin-limit"};
    bool may = (parameter->flags & PARAMETER_TUNABLE) != 0 && strcmp(parameter->key, "processors") != 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        may |= strcmp(parameter->key, keys[i]) == 0;
    return may;
}

/* What every ratio of a part stands on is there, and nothing varies that the tables do not tell apart. */
static int check_part(const struct specification *specification, uint32_t part)
{
    if (!has_value(axis_of(specification, part, "max-workers"), "1") ||
        !has_value(axis_of(specification, part, "spin-limit"), "0"))
        return complain("reproduce: --fidelity tells ratios to one worker with spin limit 0; expected 1 among "
                        "max-workers and 0 among spin-limit"),
               EXIT_USAGE;
    for (uint32_t i = 0; i < parameter_count; i++) {
        const struct specification_axis *axis = specification_axis(specification, part, i);
        if (axis != NULL && axis->count > 1 && !may_vary(&parameters[i]))
            return complain("reproduce: --fidelity: found %u values of %s, expected one", axis->count,
                            parameters[i].key),
                   EXIT_USAGE;
    }
    return EXIT_DONE;
}

/* That the two sides run the same, and that the target has the knobs. */
static int check_target(const struct specification *specification, const struct target_use *target)
{
    const char *workload = target->target.is_router ? "router" : "echo";
    const struct specification_axis *axis = axis_of(specification, 0, "workload");
    const uint32_t knobs = PLACEHOLDER_BIT(max_workers) | PLACEHOLDER_BIT(spin_limit);
    if (!has_value(axis, workload))
        return complain("reproduce: target %s serves the workload %s, the models another one; expected --set "
                        "workload=%s",
                        target->target.name, workload, workload),
               EXIT_USAGE;
    if ((target->target.placeholders & knobs) != knobs)
        return complain("reproduce: target %s has not both knobs that are varied: {max-workers} and {spin-limit}",
                        target->target.name),
               EXIT_USAGE;
    return EXIT_DONE;
}

static int check(const struct specification *specification)
{
    struct target_use *target = NULL;
    int status = check_sides(specification, &target);
    for (uint32_t part = 0; status == EXIT_DONE && part < specification_part_count(specification); part++)
        status = check_part(specification, part);
    return status == EXIT_DONE ? check_target(specification, target) : status;
}

/* Puts the item cost into the specification, unless it is given. A plan is shown without measuring. */
static int set_cost(const struct invocation *invocation, struct specification *specification)
{
    double cost = NAN;
    char text[DECIMAL_SIZE];
    if (has_cost(specification))
        return EXIT_DONE;
    if (invocation->options[OPTION_show_plan] != NULL) {
        complain("reproduce: before this plan, three cells are measured " COST_REPEATS " times each, from which " COST
                 " is set");
        return EXIT_DONE;
    }
    int status = find_cost(invocation, &cost);
    if (status != EXIT_DONE)
        return status;
    decimal_print_fixed(cost, 1, text);
    return specification_set(specification, FIDELITY_SWEEP_NAME, COST, text, stderr) == 0 ? EXIT_DONE : EXIT_USAGE;
}

static int measure_all(const struct invocation *invocation, int64_t *sweep_id)
{
    struct specification specification;
    int status = parse(invocation, &specification);
    if (status != EXIT_DONE)
        return status;
    status = check(&specification);
    if (status == EXIT_DONE)
        status = measure_check_targets(&specification);
    if (status == EXIT_DONE && invocation->options[OPTION_show_plan] == NULL &&
        duration_announce(&specification, "") != 0)
        status = EXIT_USAGE;
    if (status == EXIT_DONE)
        status = set_cost(invocation, &specification);
    if (status == EXIT_DONE)
        status = measure(invocation, &specification, false, sweep_id);
    specification_fini(&specification);
    return status;
}

/* ---- the report ---- */

/* The models' item cost; NaN if they have none or several. */
static double cost_of(const struct result_set *set)
{
    double found = NAN;
    for (size_t i = 0; i < set->count; i++) {
        double cost;
        const char *text = result_get_text(&set->rows[i], "item_cost_percent");
        if (text == NULL || !decimal_parse(text, &cost))
            continue;
        if (isfinite(found) && found != cost)
            return NAN;
        found = cost;
    }
    return found;
}

/* The newest sweep of costs before this one, 0 without. */
static int64_t costs_before(const struct invocation *invocation, int64_t sweep_id)
{
    struct store *store;
    struct store_sweep *sweeps = NULL;
    size_t count = 0;
    int64_t found = 0;
    if (store_open_reading(invocation, &store) != EXIT_DONE)
        return 0;
    if (store_sweep_list(store, &sweeps, &count) != STORE_OK)
        count = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(sweeps[i].name, COSTS_NAME) == 0 && sweeps[i].id < sweep_id && sweeps[i].id > found)
            found = sweeps[i].id;
        store_sweep_fini(&sweeps[i]);
    }
    free(sweeps);
    store_close(store);
    return found;
}

/* Where the item costs of a sweep come from: the costs measured before it if they give the same, else a person. */
static void describe_origin(const struct invocation *invocation, const struct stored_sweep *stored, char *out,
                            size_t size)
{
    struct stored_sweep costs;
    int64_t sweep_id = costs_before(invocation, stored->sweep.id);
    snprintf(out, size, "not set from a measurement");
    if (sweep_id == 0 || stored_sweep_of_id(invocation, sweep_id, &costs) != EXIT_DONE)
        return;
    if (fabs(fidelity_costs_find(&costs.rows) - cost_of(&stored->rows)) < 0.051) /* it was rounded to a tenth */
        snprintf(out, size, "set from one cell alone (sweep %lld%s), %d settings tried", (long long)sweep_id,
                 fidelity_costs_are_disturbed(&costs.rows) ? ", disturbed" : "", FIDELITY_COSTS_TRIED);
    stored_sweep_fini(&costs);
}

int fidelity_print(const struct invocation *invocation, const struct stored_sweep *stored)
{
    char origin[128];
    describe_origin(invocation, stored, origin, sizeof origin);
    fidelity_report_print(&stored->rows, origin, stdout);
    report_write(stdout, NULL, &stored->sweep, &stored->rows, &(struct report_options){0});
    return EXIT_DONE;
}

static int print_and_draw(const struct invocation *invocation, const struct stored_sweep *stored)
{
    fidelity_print(invocation, stored);
    fflush(stdout);
    return pictures_draw(invocation, &pictures, stored);
}

int fidelity_reproduce(const struct invocation *invocation)
{
    int64_t sweep_id = 0;
    if (pictures_check(invocation, &pictures) != 0)
        return EXIT_USAGE;
    int status = measure_all(invocation, &sweep_id);
    return stored_sweep_show(invocation, sweep_id, status, print_and_draw);
}
