/* SPDX-License-Identifier: MIT
 *
 * From a specification to cells and their order; see plan.h.
 *
 * How it works. A search tree over what cells mean finds the cell that a point collapses into. A point is kept as part
 * and index; its configuration is made again when it is needed, so that a hundred thousand cells stay small.
 */
#include "runner/plan.h"

#include "cli/memory.h"
#include "runner/cell.h"
#include "runner/effect.h"
#include "runner/plan_text.h"
#include "runner/settings.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* What a repeat costs beside warm-up and window: starting the processes, connecting, settling, ending, storing. */
#define CELL_OVERHEAD_S 0.2
/* And a target: its runtime comes up, and has half a second to end. */
#define TARGET_OVERHEAD_S 1

/* Different notes kept; more are only counted. */
#define NOTES_MAX 40

struct note {
    char *text;
    uint32_t points;
};

/* Of a cell while the plan is built. */
struct meaning {
    char *text; /* the tree's key; owned */
    uint32_t cell;
    uint32_t default_words; /* fewer stay */
};

struct builder {
    struct plan *plan;
    FILE *faults;
    uint32_t fault_count;
    uint32_t cell_capacity;
    void *tree;
    struct meaning **meanings; /* by cell */
    struct note notes[NOTES_MAX];
    uint32_t note_count, points_unnoted;
    bool effective[PARAMETER_LIMIT];       /* has an effect in some cell */
    char *without_effect[PARAMETER_LIMIT]; /* given, but without effect in some cell: why; owned */
};

/* ---- points ---- */

/* The last axis of the table varies fastest. */
static void point_configuration(const struct specification *specification, uint32_t part, uint32_t point,
                                struct configuration *out)
{
    configuration_init(out);
    for (uint32_t i = parameter_count; i-- > 0;) {
        const struct specification_axis *axis = specification_axis(specification, part, i);
        if (axis == NULL)
            continue;
        memcpy(out->values[i], axis->values[point % axis->count], PARAMETER_TEXT_SIZE);
        point /= axis->count;
    }
}

/* Gives every parameter without effect its initial value, so that it cannot make a difference. A value may lose its
 * effect by another's losing its, hence the loop: it ends, since each round sets at least one more. */
static void drop_without_effect(struct configuration *configuration)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < parameter_count; i++) {
            if (strcmp(configuration->values[i], parameters[i].initial) == 0 ||
                effect_taken_by(configuration, i, NULL) == NULL)
                continue;
            snprintf(configuration->values[i], PARAMETER_TEXT_SIZE, "%s", parameters[i].initial);
            changed = true;
        }
    }
}

void plan_configuration(const struct plan *plan, uint32_t cell, struct configuration *out)
{
    point_configuration(plan->specification, plan->cells[cell].part, plan->cells[cell].point, out);
    drop_without_effect(out);
}

/* ---- notes ---- */

static void note(struct builder *builder, char *text)
{
    for (uint32_t i = 0; i < builder->note_count; i++) {
        if (strcmp(builder->notes[i].text, text) == 0) {
            builder->notes[i].points++;
            free(text);
            return;
        }
    }
    if (builder->note_count == NOTES_MAX) {
        builder->points_unnoted++;
        free(text);
        return;
    }
    builder->notes[builder->note_count++] = (struct note){text, 1};
}

/* A parameter that was given and has no effect in any cell is not passed over in silence. */
static void see_effects(struct builder *builder, uint32_t part, const struct configuration *configuration,
                        const struct result *resolved)
{
    for (uint32_t i = 0; i < parameter_count; i++) {
        if (specification_axis(builder->plan->specification, part, i) == NULL)
            continue;
        const char *taken_by = effect_taken_by(configuration, i, resolved);
        if (taken_by == NULL)
            builder->effective[i] = true;
        else if (builder->without_effect[i] == NULL)
            builder->without_effect[i] = memory_format("%s has no effect with %s=%s", parameters[i].key, taken_by,
                                                       configuration_text(configuration, taken_by));
    }
}

/* Whether a note on some points says what one on all points says as well. */
static bool is_said_of_all(const struct builder *builder, const char *text)
{
    bool said = false;
    for (uint32_t i = 0; i < parameter_count && !said; i++)
        said = !builder->effective[i] && builder->without_effect[i] != NULL &&
               strcmp(builder->without_effect[i], text) == 0;
    return said;
}

static void keep_notes(struct builder *builder)
{
    struct plan *plan = builder->plan;
    plan->notes = memory_allocate(NOTES_MAX + 1 + PARAMETER_LIMIT, sizeof *plan->notes);
    for (uint32_t i = 0; i < parameter_count; i++) {
        if (builder->without_effect[i] != NULL && !builder->effective[i])
            plan->notes[plan->note_count++] = memory_format("all points: %s", builder->without_effect[i]);
    }
    for (uint32_t i = 0; i < builder->note_count; i++) {
        struct note *kept = &builder->notes[i];
        if (!is_said_of_all(builder, kept->text))
            plan->notes[plan->note_count++] =
                memory_format("%u point%s: %s", kept->points, kept->points == 1 ? "" : "s", kept->text);
        free(kept->text);
    }
    for (uint32_t i = 0; i < parameter_count; i++)
        free(builder->without_effect[i]);
    if (builder->points_unnoted > 0)
        plan->notes[plan->note_count++] =
            memory_format("%u more points collapsed or were left out", builder->points_unnoted);
}

/* Why two points, as written, are one cell. */
static void note_collapse(struct builder *builder, const struct configuration *dropped,
                          const struct configuration *kept, const struct result *resolved)
{
    for (uint32_t i = 0; i < parameter_count; i++) {
        const char *key = parameters[i].key;
        if (!(parameters[i].flags & PARAMETER_IDENTITY) || strcmp(dropped->values[i], kept->values[i]) == 0)
            continue;
        const char *taken_by = effect_taken_by(dropped, i, resolved);
        if (taken_by != NULL)
            note(builder,
                 memory_format("%s has no effect with %s=%s", key, taken_by, configuration_text(dropped, taken_by)));
        else
            note(builder, memory_format("%s=%s means %s=%s here", key, dropped->values[i], key, kept->values[i]));
        return;
    }
    note(builder, memory_copy_text("the same cell is in an earlier part"));
}

/* ---- cells ---- */

static void report(struct builder *builder, const char *what, const char *text)
{
    fprintf(builder->faults, "%s: %s%s\n", builder->plan->specification->name, what, text);
    builder->fault_count++;
}

static int compare_meanings(const void *a, const void *b)
{
    return strcmp(((const struct meaning *)a)->text, ((const struct meaning *)b)->text);
}

static uint32_t count_default_words(const struct configuration *configuration)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < parameter_count; i++)
        count += (parameters[i].flags & PARAMETER_DEFAULT_WORD) && strcmp(configuration->values[i], "default") == 0;
    return count;
}

static double cell_seconds(const struct configuration *configuration)
{
    return settings_warmup_max_s(configuration) + configuration_number(configuration, "duration") + CELL_OVERHEAD_S +
           (settings_target(configuration) != NULL ? TARGET_OVERHEAD_S : 0);
}

static void add_cell(struct builder *builder, struct meaning *meaning, struct plan_cell cell)
{
    struct plan *plan = builder->plan;
    if (plan->cell_count == builder->cell_capacity) {
        builder->cell_capacity = builder->cell_capacity > 0 ? builder->cell_capacity * 2 : 64;
        plan->cells = memory_resize(plan->cells, builder->cell_capacity, sizeof *plan->cells);
        builder->meanings = memory_resize(builder->meanings, builder->cell_capacity, sizeof *builder->meanings);
    }
    meaning->cell = plan->cell_count;
    builder->meanings[plan->cell_count] = meaning;
    plan->cells[plan->cell_count++] = cell;
}

/* One cell, two parts: they must agree on how it is measured. */
static bool measured_alike(struct builder *builder, const struct configuration *configuration,
                           const struct configuration *earlier, const char *id)
{
    for (uint32_t i = 0; i < parameter_count; i++) {
        if ((parameters[i].flags & PARAMETER_IDENTITY) || strcmp(configuration->values[i], earlier->values[i]) == 0)
            continue;
        char *text = memory_format("found the cell '%s' in two parts with %s %s and %s, expected one value", id,
                                   parameters[i].key, earlier->values[i], configuration->values[i]);
        report(builder, "", text);
        free(text);
        return false;
    }
    return true;
}

/* A point that means what a cell means: the one with fewer `default` gives the cell its name. */
static void collapse(struct builder *builder, const struct meaning *meaning, struct plan_cell cell,
                     const struct configuration *written, const struct result *resolved)
{
    struct plan_cell *earlier = &builder->plan->cells[meaning->cell];
    struct meaning *kept = builder->meanings[meaning->cell];
    struct configuration earlier_written;
    point_configuration(builder->plan->specification, earlier->part, earlier->point, &earlier_written);
    uint32_t repeats = earlier->repeats > cell.repeats ? earlier->repeats : cell.repeats;
    if (earlier->part != cell.part && !measured_alike(builder, written, &earlier_written, earlier->id)) {
        free(cell.id);
        return;
    }
    if (meaning->default_words < kept->default_words) {
        note_collapse(builder, &earlier_written, written, resolved);
        free(earlier->id);
        *earlier = cell;
        kept->default_words = meaning->default_words;
    } else {
        note_collapse(builder, written, &earlier_written, resolved);
        free(cell.id);
    }
    earlier->repeats = repeats;
}

static void add_point(struct builder *builder, uint32_t part, uint32_t point)
{
    const struct specification *specification = builder->plan->specification;
    struct configuration written, configuration;
    point_configuration(specification, part, point, &written);
    configuration = written;
    drop_without_effect(&configuration);
    struct result resolved;
    char message[CELL_MESSAGE_SIZE] = "";
    result_init(&resolved);
    if (cell_resolve(&configuration, &resolved, message) != 0) {
        note(builder, memory_format("left out: %s", message));
        result_fini(&resolved);
        return;
    }
    see_effects(builder, part, &configuration, &resolved);
    struct plan_cell cell = {plan_cell_id(&configuration), part, point, specification_repeats(specification, part),
                             cell_seconds(&configuration)};
    struct meaning *meaning = memory_allocate(1, sizeof *meaning);
    meaning->text = plan_cell_meaning(&configuration, &resolved);
    meaning->default_words = count_default_words(&configuration);
    struct meaning **found = tsearch(meaning, &builder->tree, compare_meanings);
    if (found == NULL) {
        memory_end();
    } else if (*found == meaning) {
        add_cell(builder, meaning, cell);
    } else {
        meaning->cell = (*found)->cell;
        collapse(builder, meaning, cell, &written, &resolved);
        free(meaning->text);
        free(meaning);
    }
    result_fini(&resolved);
}

/* ---- order ---- */

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Uniform in [0, below): what would favour small numbers is drawn again. */
static uint32_t draw_below(uint64_t *state, uint32_t below)
{
    uint64_t limit = UINT64_MAX - UINT64_MAX % below;
    uint64_t drawn;
    do
        drawn = splitmix(state);
    while (drawn >= limit);
    return (uint32_t)(drawn % below);
}

uint64_t plan_step_seed(const struct plan *plan, uint32_t repeat)
{
    uint64_t state = plan->seed + (uint64_t)repeat;
    return repeat == 1 ? plan->seed : splitmix(&state) & PLAN_SEED_MAX;
}

static void shuffle(struct plan_step *steps, uint32_t count, uint64_t seed)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = draw_below(&seed, i);
        struct plan_step step = steps[i - 1];
        steps[i - 1] = steps[j];
        steps[j] = step;
    }
}

void plan_reorder(struct plan *plan, uint64_t seed)
{
    plan->seed = seed;
    plan->step_count = 0;
    for (uint32_t repeat = 1;; repeat++) {
        struct plan_step *block = plan->steps + plan->step_count;
        uint32_t count = 0;
        for (uint32_t i = 0; i < plan->cell_count; i++) {
            if (plan->cells[i].repeats >= repeat)
                block[count++] = (struct plan_step){i, repeat};
        }
        if (count == 0)
            return;
        if (plan->specification->order == SPECIFICATION_ORDER_RANDOM)
            shuffle(block, count, plan_step_seed(plan, repeat));
        plan->step_count += count;
    }
}

/* ---- the whole ---- */

static void free_meaning(void *meaning)
{
    free(((struct meaning *)meaning)->text);
    free(meaning);
}

static void finish(struct builder *builder, bool seed_given)
{
    struct plan *plan = builder->plan;
    uint64_t steps = 0;
    for (uint32_t i = 0; i < plan->cell_count; i++) {
        steps += plan->cells[i].repeats;
        plan->seconds += plan->cells[i].repeats * plan->cells[i].seconds;
    }
    plan->steps = memory_allocate(steps, sizeof *plan->steps);
    plan_reorder(plan, plan->seed);
    char **meanings = memory_allocate(plan->cell_count, sizeof *meanings);
    for (uint32_t i = 0; i < plan->cell_count; i++)
        meanings[i] = builder->meanings[i]->text;
    plan->text = plan_canonical_text(plan, seed_given, meanings);
    free(meanings);
}

/* Before memory is taken for them. */
static void check_steps(struct builder *builder)
{
    uint64_t steps = 0;
    for (uint32_t i = 0; i < builder->plan->cell_count; i++)
        steps += builder->plan->cells[i].repeats;
    if (steps <= PLAN_STEPS_MAX)
        return;
    char *text = memory_format("found %u cells that make %llu repeats, expected at most %d", builder->plan->cell_count,
                               (unsigned long long)steps, PLAN_STEPS_MAX);
    report(builder, "", text);
    free(text);
}

int plan_build(const struct specification *specification, uint64_t seed, bool seed_given, FILE *faults,
               struct plan *out)
{
    *out = (struct plan){.specification = specification, .seed = seed};
    struct builder builder = {.plan = out, .faults = faults};
    uint64_t points = 0;
    for (uint32_t part = 0; part < specification_part_count(specification); part++) {
        uint64_t more = specification_points(specification, part);
        points = more > SPECIFICATION_CELLS_MAX ? more : points + more;
        if (points > SPECIFICATION_CELLS_MAX)
            break;
    }
    if (points > SPECIFICATION_CELLS_MAX) {
        char *text = memory_format("found lists whose product is %llu cells or more, expected at most %d",
                                   (unsigned long long)points, SPECIFICATION_CELLS_MAX);
        report(&builder, "", text);
        free(text);
        return 1;
    }
    for (uint32_t part = 0; part < specification_part_count(specification); part++) {
        points = specification_points(specification, part);
        for (uint32_t point = 0; point < points; point++)
            add_point(&builder, part, point);
    }
    keep_notes(&builder);
    if (out->cell_count == 0) {
        for (uint32_t i = 0; i < out->note_count; i++)
            report(&builder, "found no cell that can be measured: ", out->notes[i]);
    }
    check_steps(&builder);
    if (builder.fault_count == 0)
        finish(&builder, seed_given);
    tdestroy(builder.tree, free_meaning);
    free(builder.meanings);
    if (builder.fault_count > 0)
        plan_fini(out);
    return (int)builder.fault_count;
}

void plan_fini(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->cell_count; i++)
        free(plan->cells[i].id);
    for (uint32_t i = 0; i < plan->note_count; i++)
        free(plan->notes[i]);
    free(plan->cells);
    free(plan->steps);
    free(plan->notes);
    free(plan->text);
    *plan = (struct plan){0};
}
