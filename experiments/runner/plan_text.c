/* SPDX-License-Identifier: MIT
 *
 * Texts of a plan; see plan_text.h and, for what --show-plan prints, plan.h.
 */
#include "runner/plan_text.h"

#include "cli/memory.h"
#include "runner/effect.h"
#include "runner/progress.h"
#include "runner/settings.h"

#include <stdlib.h>
#include <string.h>

/* A text that grows. */
struct text {
    FILE *stream;
    char *bytes;
    size_t size;
};

static void text_open(struct text *text)
{
    text->stream = open_memstream(&text->bytes, &text->size);
    if (text->stream == NULL)
        memory_end();
}

static char *text_close(struct text *text)
{
    if (fclose(text->stream) != 0 || text->bytes == NULL)
        memory_end();
    return text->bytes;
}

/* What a cell is named after: the model's scheduler, or the target. */
static const char *first_key(const struct configuration *configuration)
{
    return target_is_model(configuration_text(configuration, "target")) ? "scheduler" : "target";
}

/* Whether a cell's id has this parameter behind the first. */
static bool is_in_id(const struct configuration *configuration, uint32_t parameter)
{
    const struct parameter *row = &parameters[parameter];
    if (!(row->flags & PARAMETER_IDENTITY) || strcmp(row->key, first_key(configuration)) == 0)
        return false;
    return strcmp(configuration->values[parameter], row->initial) != 0 ||
           (strcmp(row->key, "rate") == 0 && effect_taken_by(configuration, parameter, NULL) == NULL);
}

char *plan_cell_id(const struct configuration *configuration)
{
    struct text text;
    text_open(&text);
    const char *first = first_key(configuration);
    fprintf(text.stream, "%s=%s", first, configuration_text(configuration, first));
    for (uint32_t i = 0; i < parameter_count; i++) {
        if (is_in_id(configuration, i))
            fprintf(text.stream, " %s=%s", parameters[i].key, configuration->values[i]);
    }
    return text_close(&text);
}

char *plan_cell_meaning(const struct configuration *configuration, const struct result *resolved)
{
    struct text text;
    text_open(&text);
    for (uint32_t i = 0; i < parameter_count; i++) {
        char value[PARAMETER_TEXT_SIZE];
        if (!(parameters[i].flags & PARAMETER_IDENTITY) || effect_taken_by(configuration, i, resolved) != NULL)
            continue;
        effect_value(configuration, i, resolved, value);
        fprintf(text.stream, "%s=%s ", parameters[i].key, value);
    }
    return text_close(&text);
}

/* ---- the canonical text ---- */

char *plan_canonical_text(const struct plan *plan, bool seed_given, char *const *meanings)
{
    struct text text;
    struct configuration configuration;
    text_open(&text);
    fprintf(text.stream, "plan 1\nname = %s\norder = %s\n", plan->specification->name,
            plan->specification->order == SPECIFICATION_ORDER_LISTED ? "listed" : "random");
    if (seed_given)
        fprintf(text.stream, "seed = %llu\n", (unsigned long long)plan->seed);
    for (uint32_t i = 0; i < plan->cell_count; i++) {
        const struct plan_cell *cell = &plan->cells[i];
        fprintf(text.stream, "cell = %s\n  means %s\n  repeats=%u", cell->id, meanings[i], cell->repeats);
        plan_configuration(plan, i, &configuration);
        for (uint32_t p = 0; p < parameter_count; p++) {
            if (!(parameters[p].flags & PARAMETER_IDENTITY))
                fprintf(text.stream, " %s=%s", parameters[p].key, configuration.values[p]);
        }
        fputc('\n', text.stream);
    }
    return text_close(&text);
}

/* ---- what --show-plan prints ---- */

#define PRINTED_WIDTH     100
#define PRINTED_STEPS_MAX 200 /* the order of more is not printed */

static void print_order(const struct plan *plan, FILE *out)
{
    uint32_t block = 0;
    int column = 0;
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const struct plan_step *step = &plan->steps[i];
        if (step->repeat != block)
            column = fprintf(out, "%s  block %u:", i > 0 ? "\n" : "", block = step->repeat);
        else if (column > PRINTED_WIDTH - 8)
            column = fprintf(out, "\n    ");
        column += fprintf(out, " %u", step->cell + 1);
    }
    fputc('\n', out);
}

static void say_order(const struct plan *plan, FILE *out)
{
    bool is_listed = plan->specification->order == SPECIFICATION_ORDER_LISTED;
    fprintf(out, "  %u blocks; block N measures each cell of N repeats or more once, %s\n",
            plan->steps[plan->step_count - 1].repeat,
            is_listed ? "in the order above" : "in an order drawn from the seed and N");
}

/* What is told of each cell: a parameter that one cell names, all name in which it matters, at its default too; only
 * the word `default` still goes without saying. */
static void find_told(const struct plan *plan, bool told[PARAMETER_LIMIT])
{
    memset(told, 0, PARAMETER_LIMIT * sizeof told[0]);
    for (uint32_t cell = 0; cell < plan->cell_count; cell++) {
        struct configuration configuration;
        plan_configuration(plan, cell, &configuration);
        for (uint32_t i = 0; i < parameter_count; i++)
            told[i] |= is_in_id(&configuration, i) && strcmp(parameters[i].initial, "default") != 0;
    }
}

/* The workload of a target is its own, and no setting that would have an effect. */
static void print_cell(const struct configuration *configuration, const bool told[PARAMETER_LIMIT], FILE *out)
{
    const char *first = first_key(configuration);
    fprintf(out, "%s=%s", first, configuration_text(configuration, first));
    for (uint32_t i = 0; i < parameter_count; i++) {
        const char *key = parameters[i].key;
        bool is_workload = strcmp(key, "workload") == 0, is_first = strcmp(key, first) == 0;
        if (told[i] && !is_first && (is_workload || effect_taken_by(configuration, i, NULL) == NULL))
            fprintf(out, " %s=%s", key, is_workload ? settings_workload(configuration) : configuration->values[i]);
        else if (is_in_id(configuration, i))
            fprintf(out, " %s=%s", key, configuration->values[i]);
    }
    fputc('\n', out);
}

void plan_print(const struct plan *plan, FILE *out)
{
    const struct specification *specification = plan->specification;
    char seconds[32], at_most[32];
    bool told[PARAMETER_LIMIT];
    fprintf(out, "%s%s%s\n", specification->name, specification->description[0] != '\0' ? ": " : "",
            specification->description);
    progress_format_seconds(plan->seconds, seconds, sizeof seconds);
    progress_format_seconds(plan->seconds * (1 + PLAN_RETRY_SHARE), at_most, sizeof at_most);
    fprintf(out, "%u cell%s, %u repeat%s, seed %llu, about %s, or %s on a busy machine\n\ncells:\n", plan->cell_count,
            plan->cell_count == 1 ? "" : "s", plan->step_count, plan->step_count == 1 ? "" : "s",
            (unsigned long long)plan->seed, seconds, at_most);
    find_told(plan, told);
    for (uint32_t i = 0; i < plan->cell_count; i++) {
        struct configuration configuration;
        plan_configuration(plan, i, &configuration);
        fprintf(out, "  %3u  %u x %s s  ", i + 1, plan->cells[i].repeats,
                configuration_text(&configuration, "duration"));
        print_cell(&configuration, told, out);
    }
    if (plan->note_count > 0)
        fprintf(out, "\nnotes:\n");
    for (uint32_t i = 0; i < plan->note_count; i++)
        fprintf(out, "  %s\n", plan->notes[i]);
    fprintf(out, "\norder:\n");
    (plan->step_count <= PRINTED_STEPS_MAX ? print_order : say_order)(plan, out);
}
