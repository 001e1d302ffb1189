/* SPDX-License-Identifier: MIT
 *
 * Texts of a plan; see plan_text.h and, for what --show-plan prints, plan.h.
 */
#include "runner/plan_text.h"

#include "cli/memory.h"
#include "runner/effect.h"
#include "runner/progress.h"

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

char *plan_cell_id(const struct configuration *configuration)
{
    struct text text;
    text_open(&text);
    const char *first = strcmp(configuration_text(configuration, "target"), "none") == 0 ? "scheduler" : "target";
    fprintf(text.stream, "%s=%s", first, configuration_text(configuration, first));
    for (uint32_t i = 0; i < parameter_count; i++) {
        const struct parameter *parameter = &parameters[i];
        if (!(parameter->flags & PARAMETER_IDENTITY) || strcmp(parameter->key, first) == 0)
            continue;
        bool is_named = strcmp(parameter->key, "rate") == 0 && effect_taken_by(configuration, i, NULL) == NULL;
        if (is_named || strcmp(configuration->values[i], parameter->initial) != 0)
            fprintf(text.stream, " %s=%s", parameter->key, configuration->values[i]);
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

#define PRINTED_WIDTH 100

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

void plan_print(const struct plan *plan, FILE *out)
{
    const struct specification *specification = plan->specification;
    char seconds[32], at_most[32];
    fprintf(out, "%s%s%s\n", specification->name, specification->description[0] != '\0' ? ": " : "",
            specification->description);
    progress_format_seconds(plan->seconds, seconds, sizeof seconds);
    progress_format_seconds(plan->seconds * (1 + PLAN_RETRY_SHARE), at_most, sizeof at_most);
    fprintf(out, "%u cell%s, %u repeat%s, seed %llu, about %s, or %s on a busy machine\n\ncells:\n", plan->cell_count,
            plan->cell_count == 1 ? "" : "s", plan->step_count, plan->step_count == 1 ? "" : "s",
            (unsigned long long)plan->seed, seconds, at_most);
    for (uint32_t i = 0; i < plan->cell_count; i++) {
        const struct plan_cell *cell = &plan->cells[i];
        struct configuration configuration;
        plan_configuration(plan, i, &configuration);
        fprintf(out, "  %3u  %u x %s s  %s\n", i + 1, cell->repeats, configuration_text(&configuration, "duration"),
                cell->id);
    }
    if (plan->note_count > 0)
        fprintf(out, "\nnotes:\n");
    for (uint32_t i = 0; i < plan->note_count; i++)
        fprintf(out, "  %s\n", plan->notes[i]);
    fprintf(out, "\norder:\n");
    print_order(plan, out);
}
