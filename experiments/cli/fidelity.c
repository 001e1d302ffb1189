/* SPDX-License-Identifier: MIT
 *
 * Item costs, the sweep and its report; see fidelity.h.
 */
#include "fidelity.h"

#include "decimal.h"
#include "fidelity_costs.h"
#include "fidelity_report.h"
#include "measure.h"
#include "output.h"
#include "pictures.h"
#include "report.h"
#include "runner/specification.h"
#include "runner/target.h"
#include "store_option.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PART       "paced" /* of the sweep: the one from which the costs are set */
#define COSTS_NAME "fidelity-costs"
#define COST       "item-cost-percent"

/* The two costs between which the model's line is drawn, and how often each is measured. */
#define COSTS_TRIED  "0,100"
#define COST_REPEATS "6"

static const enum plot_kind picture_kinds[] = {PLOT_FIDELITY};
static const struct pictures pictures = {picture_kinds, 1};

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

/* Leaves the first value of an axis, which is one of the command line perhaps. */
static int keep_first(struct specification *specification, const char *key)
{
    const struct specification_axis *axis = specification_axis(specification, 0, (uint32_t)parameter_find(key));
    char first[PARAMETER_TEXT_SIZE];
    if (axis == NULL || axis->count == 0)
        return 0;
    snprintf(first, sizeof first, "%s", axis->values[0]);
    return specification_set(specification, FIDELITY_SWEEP_NAME, key, first, stderr);
}

/* The sweep cut to the one cell, with the model at two costs. */
static int cut_to_costs(struct specification *specification)
{
    static const char *const fixed[][2] = {
        {"max-workers", "1"}, {"spin-limit", "0"}, {COST, COSTS_TRIED}, {"repeats", COST_REPEATS}};
    int faults = specification_keep_part(specification, PART) != 0;
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        faults += specification_set(specification, FIDELITY_SWEEP_NAME, fixed[i][0], fixed[i][1], stderr);
    faults += keep_first(specification, "scheduler") + keep_first(specification, "rate");
    snprintf(specification->name, sizeof specification->name, "%s", COSTS_NAME);
    return faults == 0 ? EXIT_DONE : EXIT_USAGE;
}

static int find_cost(const struct invocation *invocation, double *cost)
{
    struct specification specification;
    struct stored_sweep stored;
    int64_t sweep_id = 0;
    int status = parse(invocation, &specification);
    if (status != EXIT_DONE)
        return status;
    status = cut_to_costs(&specification);
    if (status == EXIT_DONE)
        status = measure(invocation, &specification, false, &sweep_id);
    specification_fini(&specification);
    if (sweep_id == 0 || (status != EXIT_DONE && status != EXIT_INVALID))
        return status;
    status = stored_sweep_of_id(invocation, sweep_id, &stored);
    if (status != EXIT_DONE)
        return status;
    *cost = fidelity_costs_find(&stored.rows);
    if (isfinite(*cost)) {
        fidelity_costs_say(&stored.rows, *cost);
    } else {
        complain("reproduce: the item costs cannot be set: no valid repeat of runtime or model in sweep %lld",
                 (long long)sweep_id);
        status = EXIT_INVALID;
    }
    stored_sweep_fini(&stored);
    return status;
}

/* ---- the sweep ---- */

static bool has_cost(const struct specification *specification)
{
    const struct specification_axis *axis = specification_axis(specification, 0, (uint32_t)parameter_find(COST));
    return axis != NULL && axis->count > 0;
}

/* Both sides are there: a model, and a target whose runtime is here. EXIT_DONE, or another status after a line. */
static int check_sides(const struct specification *specification)
{
    bool any_model = false, any_target = false;
    for (uint32_t part = 0; part < specification_part_count(specification); part++) {
        const struct specification_axis *axis =
            specification_axis(specification, part, (uint32_t)parameter_find("target"));
        any_model |= axis == NULL || axis->count == 0;
        for (uint32_t i = 0; axis != NULL && i < axis->count; i++) {
            char message[TARGET_MESSAGE_SIZE];
            const struct target_use *use = target_find(axis->values[i]);
            any_target |= use != NULL;
            any_model |= use == NULL;
            if (use != NULL && use->faults == 0 && !target_is_here(use, NULL, 0, message))
                return complain("%s", message), EXIT_SURROUNDINGS;
        }
    }
    if (any_model && any_target)
        return EXIT_DONE;
    return complain("reproduce: --fidelity needs both sides; expected --set target=none,NAME, where none is the model"),
           EXIT_USAGE;
}

static int measure_all(const struct invocation *invocation, int64_t *sweep_id)
{
    struct specification specification;
    int status = parse(invocation, &specification);
    if (status != EXIT_DONE)
        return status;
    status = check_sides(&specification);
    /* A plan is shown without measuring, and so with the cost that was given or the initial one. */
    if (status == EXIT_DONE && !has_cost(&specification) && invocation->options[OPTION_show_plan] == NULL) {
        double cost = NAN;
        char text[DECIMAL_SIZE];
        status = find_cost(invocation, &cost);
        if (status == EXIT_DONE &&
            specification_set(&specification, FIDELITY_SWEEP_NAME, COST, decimal_print_fixed(cost, 1, text), stderr))
            status = EXIT_USAGE;
    }
    if (status == EXIT_DONE)
        status = measure(invocation, &specification, false, sweep_id);
    specification_fini(&specification);
    return status;
}

int fidelity_reproduce(const struct invocation *invocation)
{
    struct stored_sweep stored;
    int64_t sweep_id = 0;
    if (pictures_check(invocation, &pictures) != 0)
        return EXIT_USAGE;
    int status = measure_all(invocation, &sweep_id);
    if (sweep_id == 0 || (status != EXIT_DONE && status != EXIT_INVALID))
        return status;
    int reading = stored_sweep_of_id(invocation, sweep_id, &stored);
    if (reading == EXIT_DONE) {
        fidelity_report_print(&stored.rows, stdout);
        report_write(stdout, NULL, &stored.sweep, &stored.rows, &(struct report_options){0});
        fflush(stdout);
        reading = pictures_draw(invocation, &pictures, &stored);
        stored_sweep_fini(&stored);
    }
    return status != EXIT_DONE ? status : reading;
}
