/* SPDX-License-Identifier: MIT
 *
 * The runs of explore.h.
 */
#include "explore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "watch.h"

/* ---- one run ---- */

static void run_body(void *context)
{
    const struct cell *cell = context;
    cell->scenario->body(cell->configuration);
}

const struct explored_result *explore_cell(const struct cell *cell, const struct explored_choice *prefix,
                                           uint32_t prefix_count)
{
    return explored_run(&cell->settings, run_body, (void *)(uintptr_t)cell, prefix, prefix_count);
}

static const struct explored_settings settings_initial = {
    .depth = DEPTH_MIN, .steps_max = STEPS_MAX, .preemption_bound = PREEMPTION_BOUND, .stale_bound = STALE_BOUND};

/* ---- what is kept of a broken run ---- */

static uint32_t count_deviations(const struct explored_choice *choices, uint32_t count)
{
    uint32_t deviations = 0;
    for (uint32_t i = 0; i < count; i++)
        deviations += choices[i].chosen != 0;
    return deviations;
}

static void keep_choices(struct violation *violation, const struct explored_choice *choices, uint32_t count)
{
    struct explored_choice *copy = malloc((count + 1) * sizeof *copy);
    if (copy == NULL)
        abort();
    memcpy(copy, choices, count * sizeof *copy);
    free(violation->choices);
    violation->choices = copy;
    violation->choice_count = count;
}

static void keep(struct violation *violation, const struct cell *cell, const struct explored_result *result)
{
    memcpy(violation->invariant, result->invariant, sizeof violation->invariant);
    memcpy(violation->text, result->text, sizeof violation->text);
    violation->cell = *cell;
    violation->cell.settings.strategy = EXPLORED_EXHAUSTIVE; /* from now on only what is written down */
    violation->deviations_found = count_deviations(result->choices, result->choice_count);
    keep_choices(violation, result->choices, result->choice_count);
}

/* How much there is to read in a run: its steps; that threads change and loads are old weighs more. */
static uint32_t effort(const struct cell *cell, const struct explored_result *result)
{
    enum { STEPS_PER_DEVIATION = 20, STEPS_PER_MODEL = 60 };
    return result->steps + STEPS_PER_DEVIATION * count_deviations(result->choices, result->choice_count) +
           (cell->settings.model != EXPLORED_SC ? STEPS_PER_MODEL : 0);
}

/* Each invariant once: the run that is the easiest to read. */
static void note_broken(struct outcome *outcome, const struct cell *cell, const struct explored_result *result)
{
    struct violation *violation = NULL;
    uint32_t needed = effort(cell, result);
    outcome->broken++;
    for (uint32_t i = 0; i < outcome->violation_count; i++)
        if (strcmp(outcome->violations[i].invariant, result->invariant) == 0)
            violation = &outcome->violations[i];
    if (violation == NULL) {
        if (outcome->violation_count == KINDS_MAX)
            return;
        violation = &outcome->violations[outcome->violation_count++];
        memset(violation, 0, sizeof *violation);
        violation->run = outcome->runs;
    } else if (needed >= violation->effort) {
        return;
    }
    violation->effort = needed;
    keep(violation, cell, result);
}

void explore_shrink(struct violation *violation)
{
    struct explored_choice *trial = malloc(CHOICES_MAX * sizeof *trial);
    if (trial == NULL)
        abort();
    bool smaller = true;
    while (smaller) {
        smaller = false;
        for (uint32_t i = violation->choice_count; i-- > 0;) {
            if (i >= violation->choice_count || violation->choices[i].chosen == 0)
                continue;
            memcpy(trial, violation->choices, violation->choice_count * sizeof *trial);
            trial[i].chosen = 0;
            const struct explored_result *result = explore_cell(&violation->cell, trial, violation->choice_count);
            uint32_t before = count_deviations(violation->choices, violation->choice_count);
            if (!result->broken || strcmp(result->invariant, violation->invariant) != 0 ||
                count_deviations(result->choices, result->choice_count) >= before)
                continue;
            memcpy(violation->text, result->text, sizeof violation->text);
            keep_choices(violation, result->choices, result->choice_count);
            smaller = true;
        }
    }
    free(trial);
}

/* ---- many runs ---- */

static void note_run(struct outcome *outcome, const struct cell *cell, const struct explored_result *result)
{
    enum { PRIME = 0x1b3 }; /* FNV-1a, 64 bits, without its offset */
    uint64_t digest = outcome->digest;
    outcome->runs++;
    for (uint32_t i = 0; i < result->choice_count; i++)
        digest = (digest ^ ((uint64_t)result->choices[i].count << 16 | result->choices[i].chosen)) *
                 ((UINT64_C(1) << 40) + PRIME);
    outcome->digest = (digest ^ result->steps) * ((UINT64_C(1) << 40) + PRIME);
    if (result->broken)
        note_broken(outcome, cell, result);
}

struct walk {
    const struct subject *subject;
    const struct request *request;
    struct outcome *outcome;
    struct cell *cells;
    uint32_t count;
};

static bool is_wanted(const char *wanted, const char *name)
{
    return wanted == NULL || strcmp(wanted, name) == 0;
}

static bool does_apply(const struct scenario *scenario, const struct configuration *configuration)
{
    return scenario->applies == NULL || scenario->applies(configuration);
}

static bool done(const struct walk *walk)
{
    return (walk->request->stops_at_first && walk->outcome->broken > 0) || watch_signal() != 0;
}

static void list_cells(struct walk *walk)
{
    const struct subject *subject = walk->subject;
    const struct request *request = walk->request;
    size_t room = (size_t)subject->scenario_count * subject->configuration_count * EXPLORED_MODEL_COUNT;
    walk->cells = calloc(room + 1, sizeof *walk->cells);
    if (walk->cells == NULL)
        abort();
    for (uint32_t i = 0; i < subject->scenario_count; i++)
        for (uint32_t j = 0; j < subject->configuration_count; j++)
            for (uint32_t model = 0; model < EXPLORED_MODEL_COUNT; model++) {
                const struct scenario *scenario = subject->scenarios[i];
                const struct configuration *configuration = &subject->configurations[j];
                if (!request->models[model] || !is_wanted(request->scenario, scenario->name) ||
                    !is_wanted(request->configuration, configuration->label) || !does_apply(scenario, configuration) ||
                    (request->strategies[EXPLORED_EXHAUSTIVE] && !scenario->exhaustive))
                    continue;
                struct cell *cell = &walk->cells[walk->count++];
                *cell = (struct cell){scenario, configuration, settings_initial};
                cell->settings.model = model;
                cell->settings.preemption_bound = request->preemption_bound;
                cell->settings.stale_bound = request->stale_bound;
            }
}

static uint64_t mix(uint64_t seed, uint64_t number)
{
    uint64_t x = (seed ^ 0x9E3779B97F4A7C15ull) * 0xBF58476D1CE4E5B9ull + number * 0x94D049BB133111EBull;
    x = (x ^ x >> 31) * 0xD6E8FEB86659FD93ull;
    return x ^ x >> 32;
}

/* Round the cells; random and pct, memory kept and reused, focused or not, and pct's depths take turns from round to
 * round. */
static void run_randomly(struct walk *walk)
{
    const struct request *request = walk->request;
    bool both = request->strategies[EXPLORED_RANDOM] && request->strategies[EXPLORED_PCT];
    for (uint64_t run = 0; run < request->runs && !done(walk); run++) {
        struct cell *cell = &walk->cells[run % walk->count];
        uint64_t round = run / walk->count, pair = round / 2;
        bool pct = both ? round % 2 != 0 : request->strategies[EXPLORED_PCT];
        cell->settings.strategy = pct ? EXPLORED_PCT : EXPLORED_RANDOM;
        cell->settings.reuse_memory = pair % 2 != 0;
        cell->settings.focused = pair / 2 % 2 == 0;
        cell->settings.depth = DEPTH_MIN + (uint32_t)(pair / 2 % (DEPTH_MAX - DEPTH_MIN + 1));
        cell->settings.seed = mix(request->seed, run);
        note_run(walk->outcome, cell, explore_cell(cell, NULL, 0));
        if (!request->quiet)
            watch_step(walk->outcome->runs, request->runs, walk->outcome->violation_count);
    }
}

static void walk_through(struct walk *walk, struct cell *cell)
{
    struct explored_choice *prefix = malloc(CHOICES_MAX * sizeof *prefix);
    if (prefix == NULL)
        abort();
    uint32_t prefix_count = 0;
    uint64_t runs = 0;
    const struct explored_result *result;
    cell->settings.strategy = EXPLORED_EXHAUSTIVE;
    do {
        if (walk->request->runs > 0 && runs == walk->request->runs) {
            walk->outcome->complete = false;
            break;
        }
        runs++;
        result = explore_cell(cell, prefix, prefix_count);
        note_run(walk->outcome, cell, result);
        if (!walk->request->quiet)
            watch_step(walk->outcome->runs, 0, walk->outcome->violation_count);
    } while (!done(walk) && explored_next(&cell->settings, result, prefix, CHOICES_MAX, &prefix_count));
    free(prefix);
}

void explore(const struct subject *subject, const struct request *request, struct outcome *outcome)
{
    struct walk walk = {.subject = subject, .request = request, .outcome = outcome};
    double start = watch_now_s();
    memset(outcome, 0, sizeof *outcome);
    outcome->complete = true;
    list_cells(&walk);
    outcome->cells = walk.count;
    if (walk.count > 0 && !request->strategies[EXPLORED_EXHAUSTIVE])
        run_randomly(&walk);
    for (uint32_t i = 0; request->strategies[EXPLORED_EXHAUSTIVE] && i < walk.count && !done(&walk); i++)
        walk_through(&walk, &walk.cells[i]);
    outcome->seconds = watch_now_s() - start;
    free(walk.cells);
}

void explore_free(struct outcome *outcome)
{
    for (uint32_t i = 0; i < outcome->violation_count; i++)
        free(outcome->violations[i].choices);
    outcome->violation_count = 0;
}

/* ---- RUN ---- */

int run_write(const struct violation *violation, char *text, size_t room)
{
    const struct cell *cell = &violation->cell;
    int length = snprintf(text, room, "%s:%s:%s:%s:", explored_model_names[cell->settings.model], cell->scenario->name,
                          cell->configuration->label, cell->settings.reuse_memory ? "reused" : "fresh");
    if (length < 0 || (size_t)length >= room)
        return -ENOSPC;
    return explored_write(violation->choices, violation->choice_count, text + length, room - (size_t)length);
}

static bool read_model(const char *word, enum explored_model *out)
{
    for (uint32_t model = 0; model < EXPLORED_MODEL_COUNT; model++)
        if (strcmp(word, explored_model_names[model]) == 0) {
            *out = model;
            return true;
        }
    return false;
}

static const struct scenario *find_scenario(const struct subject *subject, const char *name)
{
    for (uint32_t i = 0; i < subject->scenario_count; i++)
        if (strcmp(subject->scenarios[i]->name, name) == 0)
            return subject->scenarios[i];
    return NULL;
}

static const struct configuration *find_configuration(const struct subject *subject, const char *label)
{
    for (uint32_t i = 0; i < subject->configuration_count; i++)
        if (strcmp(subject->configurations[i].label, label) == 0)
            return &subject->configurations[i];
    return NULL;
}

int run_read(const struct subject *subject, const char *text, struct violation *out)
{
    enum { MODEL, SCENARIO, CONFIGURATION, MEMORY, CHOICES, PARTS };
    char *copy = strdup(text), *parts[PARTS] = {NULL}, *rest = copy;
    if (copy == NULL)
        abort();
    for (int i = 0; i < PARTS && rest != NULL; i++)
        parts[i] = i < CHOICES ? strsep(&rest, ":") : rest;
    memset(out, 0, sizeof *out);
    out->cell.settings = settings_initial;
    out->cell.settings.strategy = EXPLORED_EXHAUSTIVE;
    int status = parts[CHOICES] == NULL || !read_model(parts[MODEL], &out->cell.settings.model) ? -EINVAL : 0;
    if (status == 0) {
        out->cell.scenario = find_scenario(subject, parts[SCENARIO]);
        out->cell.configuration = find_configuration(subject, parts[CONFIGURATION]);
        out->cell.settings.reuse_memory = strcmp(parts[MEMORY], "reused") == 0;
        out->choices = malloc(CHOICES_MAX * sizeof *out->choices);
        if (out->choices == NULL)
            abort();
        bool known = out->cell.scenario != NULL && out->cell.configuration != NULL &&
                     does_apply(out->cell.scenario, out->cell.configuration) &&
                     (out->cell.settings.reuse_memory || strcmp(parts[MEMORY], "fresh") == 0);
        status = known ? explored_read(parts[CHOICES], out->choices, CHOICES_MAX, &out->choice_count) : -EINVAL;
    }
    if (status != 0) {
        free(out->choices);
        out->choices = NULL;
    }
    free(copy);
    return status;
}

/* ---- the canary ---- */

/* The fault: a load and a store in place of a read-modify-write. */
static void canary_add(void *argument)
{
    struct shared_u32 *sum = argument;
    shared_u32_store_relaxed(sum, shared_u32_load_relaxed(sum) + 1);
}

static void canary_body(void *context)
{
    struct shared_u32 *sum = platform_alloc(sizeof *sum);
    struct platform_thread *other;
    (void)context;
    platform_thread_start(&other, "other", canary_add, sum);
    canary_add(sum);
    platform_thread_join(other);
    if (shared_u32_load_relaxed(sum) != 2)
        explored_fail("canary", "an update was lost");
}

bool canary_is_caught(void)
{
    struct explored_settings settings = settings_initial;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        settings.strategy = EXPLORED_RANDOM;
        settings.seed = seed;
        if (explored_run(&settings, canary_body, NULL, NULL, 0)->broken)
            return true;
    }
    return false;
}
