/* SPDX-License-Identifier: MIT
 *
 * Names to subjects: what the lists say of a name, and the configurations that it is explored with.
 *
 * A scheduler is explored with every idle and sizing policy that it admits, with its LIFO slot on and off, and with
 * some other tunables changed. An idle policy is explored under every scheduler that admits it. A bound is explored
 * over three schedulers: one with stealing, one without, and inline, where its readers run in the submitters and little
 * else happens.
 */
#include "explore.h"

#include <string.h>

#include "pool.h"

static const char *const bound_bases[] = {"chase-lev", "global-queue", "inline"};

/* Tunables that change what threads do to one another. Each is explored by itself, where a scheduler has it, under the
 * scheduler's own idle policy. */
static const struct pilfer_setting tunables[] = {{"request-cap", 2}, {"park-on-conditions", 0}};

static struct configuration *add(struct subject *subject, const struct configuration *configuration)
{
    if (subject->configuration_count == CONFIGURATIONS_MAX)
        return NULL;
    subject->configurations[subject->configuration_count] = *configuration;
    return &subject->configurations[subject->configuration_count++];
}

/* One configuration, or two where there is a slot; label: its first part. */
static void add_slots(struct subject *subject, struct configuration configuration, const char *label)
{
    const struct scheduler *scheduler = registry_scheduler(configuration.scheduler);
    snprintf(configuration.label, sizeof configuration.label, "%s", label);
    add(subject, &configuration);
    if (scheduler == NULL || (scheduler->caps & SCHEDULER_LIFO_SLOT) == 0)
        return;
    configuration.lifo_slot = true;
    snprintf(configuration.label, sizeof configuration.label, "%s.slot", label);
    add(subject, &configuration);
}

static bool applies_somewhere(const struct scenario *scenario, const struct subject *subject)
{
    bool applies = scenario->applies == NULL;
    for (uint32_t i = 0; !applies && i < subject->configuration_count; i++)
        applies = scenario->applies(&subject->configurations[i]);
    return applies;
}

/* After the configurations: a scenario that fits none of them is not one of the subject's. */
static void add_scenarios(struct subject *subject, const struct scenario *scenarios, uint32_t count, uint32_t kind)
{
    for (uint32_t i = 0; i < count && subject->scenario_count < SCENARIOS_MAX; i++)
        if ((scenarios[i].kinds & kind) != 0 && applies_somewhere(&scenarios[i], subject))
            subject->scenarios[subject->scenario_count++] = &scenarios[i];
}

static void add_policies(struct subject *subject, const char *scheduler)
{
    struct pilfer_entry idle, sizing;
    for (uint32_t i = 0; pilfer_entry(PILFER_KIND_IDLE, i, &idle); i++)
        for (uint32_t j = 0; pilfer_entry(PILFER_KIND_SIZING, j, &sizing); j++) {
            if (idle.hidden || sizing.hidden || !pilfer_admits(scheduler, idle.name) ||
                !pilfer_admits(scheduler, sizing.name))
                continue;
            char label[48];
            snprintf(label, sizeof label, j > 0 ? "%s+%s" : "%s", idle.name, sizing.name);
            add_slots(subject, (struct configuration){.scheduler = scheduler, .idle = idle.name, .sizing = sizing.name},
                      label);
        }
}

static bool has_tunable(const struct scheduler *scheduler, const char *name)
{
    for (const struct scheduler_parameter *row = scheduler->parameters; row != NULL && row->name != NULL; row++)
        if (strcmp(row->name, name) == 0)
            return true;
    return false;
}

static void add_tunables(struct subject *subject, const struct scheduler *scheduler)
{
    for (uint32_t i = 0; i < sizeof tunables / sizeof tunables[0]; i++) {
        if (!has_tunable(scheduler, tunables[i].name))
            continue;
        struct configuration configuration = {.scheduler = scheduler->name, .idle = scheduler->idle, .sizing = "fixed"};
        configuration.tunable = tunables[i];
        snprintf(configuration.label, sizeof configuration.label, "%s.%s", scheduler->idle, tunables[i].name);
        add(subject, &configuration);
    }
}

static bool find_scheduler(const char *name, struct subject *out)
{
    const struct scheduler *scheduler = registry_scheduler(name);
    if (scheduler == NULL)
        return false;
    if ((scheduler->caps & SCHEDULER_RUNS_IN_SUBMITTER) != 0 || registry_fault(PILFER_KIND_SCHEDULER, name) != NULL) {
        add(out, &(struct configuration){.scheduler = name, .label = "-"});
    } else {
        add_policies(out, name);
        add_tunables(out, scheduler);
    }
    if ((scheduler->caps & SCHEDULER_LIBRARY_QUEUE) != 0)
        out->library = "its queue belongs to a library and is explored through a model of it";
    add_scenarios(out, pool_scenarios, pool_scenario_count, SCENARIO_SCHEDULER);
    return true;
}

static bool find_idle(const char *name, struct subject *out)
{
    struct pilfer_entry entry;
    if (registry_idle(name) == NULL)
        return false;
    for (uint32_t i = 0; pilfer_entry(PILFER_KIND_SCHEDULER, i, &entry); i++) {
        if ((entry.knobs & PILFER_KNOB_WORKERS) == 0 || registry_fault(PILFER_KIND_SCHEDULER, entry.name) != NULL ||
            !pilfer_admits(entry.name, name))
            continue;
        add_slots(out, (struct configuration){.scheduler = entry.name, .idle = name}, entry.name);
    }
    add_scenarios(out, pool_scenarios, pool_scenario_count, SCENARIO_SCHEDULER);
    return true;
}

static bool find_bound(const char *name, struct subject *out)
{
    struct pilfer_entry entry;
    for (uint32_t i = 0; pilfer_entry(PILFER_KIND_BOUND, i, &entry); i++) {
        if (strcmp(entry.name, name) != 0)
            continue;
        for (uint32_t j = 0; j < sizeof bound_bases / sizeof bound_bases[0]; j++) {
            struct configuration configuration = {
                .scheduler = name, .over = bound_bases[j], .specimen = entry.specimen};
            snprintf(configuration.label, sizeof configuration.label, "%s", bound_bases[j]);
            add(out, &configuration);
        }
        add_scenarios(out, bound_scenarios, bound_scenario_count, SCENARIO_BOUND);
        return true;
    }
    return false;
}

struct code_list {
    const struct code_subject *subjects;
    const uint32_t *count;
};
static const struct code_list code_lists[] = {
    {structure_subjects, &structure_subject_count},
    {historic_subjects, &historic_subject_count},
};

static bool find_code(const char *name, struct subject *out)
{
    for (uint32_t i = 0; i < sizeof code_lists / sizeof code_lists[0]; i++)
        for (uint32_t j = 0; j < *code_lists[i].count; j++) {
            const struct code_subject *code = &code_lists[i].subjects[j];
            if (strcmp(code->name, name) != 0)
                continue;
            add(out, &(struct configuration){.label = "-"});
            add_scenarios(out, code->scenarios, code->scenario_count, SCENARIO_CODE);
            out->breaks = code->breaks;
            return true;
        }
    return false;
}

bool subject_find(const char *name, struct subject *out)
{
    memset(out, 0, sizeof *out);
    out->name = name;
    return find_scheduler(name, out) || find_idle(name, out) || find_bound(name, out) || find_code(name, out);
}

uint32_t subject_names(const char **names, uint32_t room)
{
    static const enum pilfer_kind kinds[] = {PILFER_KIND_SCHEDULER, PILFER_KIND_IDLE, PILFER_KIND_BOUND};
    uint32_t count = 0;
    struct pilfer_entry entry;
    for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        for (uint32_t j = 0; count < room && pilfer_entry(kinds[i], j, &entry); j++)
            names[count++] = entry.name;
    for (uint32_t i = 0; i < sizeof code_lists / sizeof code_lists[0]; i++)
        for (uint32_t j = 0; count < room && j < *code_lists[i].count; j++)
            names[count++] = code_lists[i].subjects[j].name;
    return count;
}
