/* SPDX-License-Identifier: MIT
 *
 * Promise: each memory model of the engine shows exactly the outcomes that it should. One too many, and what the
 * explorer reports may be no fault; one too few, and it may miss one.
 *
 * Method. The exhaustive walk without bounds over each program of litmus_programs.c; the set of outcomes that it
 * reaches must equal the set written down. Programs of four threads are walked with a bound of three preemptions, which
 * is enough to reach everything that they should show, unless all is asked for. Prints one line per program and model;
 * of an outcome that should not be, how to reach it.
 *
 * Usage: litmus_test [all|NAME]
 */
#include "litmus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explored/explored.h"

enum { OUTCOME_SIZE = 16, OUTCOMES_MAX = 512, CHOICES_ROOM = 4096 };
/* Bounds; below what returns for no reason cost (run.c). */
enum { UNBOUNDED = 254, PREEMPTIONS_OF_LARGE = 3, STEPS_MAX = 1000 };

/* ---- sets of outcomes ---- */

struct outcomes {
    char texts[OUTCOMES_MAX][OUTCOME_SIZE];
    uint32_t count;
};

static int find(const struct outcomes *set, const char *text)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (strcmp(set->texts[i], text) == 0)
            return (int)i;
    return -1;
}

/* False: it was there already. */
static bool add(struct outcomes *set, const char *text)
{
    if (find(set, text) >= 0)
        return false;
    if (set->count == OUTCOMES_MAX)
        abort();
    snprintf(set->texts[set->count++], OUTCOME_SIZE, "%s", text);
    return true;
}

static void add_all(struct outcomes *set, uint32_t registers, uint32_t values)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < registers; i++)
        count *= values;
    for (uint32_t number = 0; number < count; number++) {
        char text[OUTCOME_SIZE] = "";
        uint32_t rest = number;
        for (uint32_t i = 0; i < registers; i++, rest /= values)
            text[i] = (char)('0' + rest % values);
        add(set, text);
    }
}

static bool fits(const char *text, const char *pattern)
{
    for (; *text != '\0' && *pattern != '\0'; text++, pattern++)
        if (*pattern != '.' && *pattern != *text)
            return false;
    return *text == *pattern;
}

static void remove_fitting(struct outcomes *set, const char *pattern)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < set->count; i++)
        if (!fits(set->texts[i], pattern))
            memmove(set->texts[kept++], set->texts[i], OUTCOME_SIZE);
    if (kept == set->count) {
        printf("a pattern takes nothing away: -%s\n", pattern);
        exit(EXIT_FAILURE);
    }
    set->count = kept;
}

static void read_set(const struct litmus *litmus, const char *text, struct outcomes *out)
{
    char *copy = strdup(text), *rest = copy, *word;
    if (copy == NULL)
        abort();
    out->count = 0;
    while ((word = strsep(&rest, " ")) != NULL) {
        if (word[0] == '*')
            add_all(out, litmus->registers, word[1] == '3' ? 3 : 2);
        else if (word[0] == '-')
            remove_fitting(out, word + 1);
        else
            add(out, word);
    }
    free(copy);
}

/* ---- runs ---- */

struct trial {
    const struct litmus *litmus;
    char outcome[OUTCOME_SIZE];
};

struct start {
    litmus_thread *body;
    struct world *world;
};

static void run_thread(void *argument)
{
    const struct start *start = argument;
    start->body(start->world);
}

/* The last thread's part is done by main: one thread less to start and to wait for. */
static void run_program(void *context)
{
    struct trial *trial = context;
    const struct litmus *litmus = trial->litmus;
    struct platform_thread *threads[LITMUS_THREADS_MAX];
    struct start starts[LITMUS_THREADS_MAX];
    struct world *world = platform_alloc(sizeof *world);
    uint32_t count = 0;
    while (count < LITMUS_THREADS_MAX && litmus->threads[count] != NULL)
        count++;
    for (uint32_t i = 0; i + 1 < count; i++) {
        starts[i] = (struct start){litmus->threads[i], world};
        if (platform_thread_start(&threads[i], "other", run_thread, &starts[i]) != 0)
            explored_fail("litmus", "a thread cannot be started");
    }
    litmus->threads[count - 1](world);
    for (uint32_t i = 0; i + 1 < count; i++)
        platform_thread_join(threads[i]);
    if (litmus->final != NULL)
        litmus->final(world);
    for (uint32_t i = 0; i < litmus->registers; i++)
        trial->outcome[i] = (char)('0' + world->r[i]);
    trial->outcome[litmus->registers] = '\0';
}

static void print_choices(const struct explored_result *result)
{
    static char text[CHOICES_ROOM];
    if (explored_write(result->choices, result->choice_count, text, sizeof text) == 0)
        printf("    reached by the choices %s\n", text);
}

static void print_run(const struct litmus *litmus, struct explored_settings settings,
                      const struct explored_choice *prefix, uint32_t prefix_count)
{
    struct trial trial = {litmus, ""};
    settings.traces = true;
    const struct explored_result *result = explored_run(&settings, run_program, &trial, prefix, prefix_count);
    print_choices(result);
    for (uint32_t i = 0; i < result->line_count; i++)
        printf("    %*s%u: %s\n", result->lines[i].thread * 8, "", result->lines[i].thread, result->lines[i].text);
}

static uint64_t walk(const struct litmus *litmus, const struct explored_settings *settings,
                     const struct outcomes *expected, struct outcomes *seen)
{
    static struct explored_choice prefix[CHOICES_ROOM];
    uint32_t prefix_count = 0;
    uint64_t runs = 0;
    const struct explored_result *result;
    do {
        struct trial trial = {litmus, ""};
        result = explored_run(settings, run_program, &trial, prefix, prefix_count);
        runs++;
        if (result->broken)
            snprintf(trial.outcome, sizeof trial.outcome, "%.15s", result->invariant);
        if (add(seen, trial.outcome) && find(expected, trial.outcome) < 0) {
            printf("  one too many: %s (%s)\n", trial.outcome, result->broken ? result->text : "registers");
            print_run(litmus, *settings, prefix, prefix_count);
            result = explored_run(settings, run_program, &trial, prefix, prefix_count);
        }
    } while (explored_next(settings, result, prefix, CHOICES_ROOM, &prefix_count));
    return runs;
}

static bool check_model(const struct litmus *litmus, enum explored_model model, const char *text, bool whole)
{
    static struct outcomes expected, seen;
    const struct explored_settings settings = {.model = model,
                                               .strategy = EXPLORED_EXHAUSTIVE,
                                               .preemption_bound =
                                                   litmus->large && !whole ? PREEMPTIONS_OF_LARGE : UNBOUNDED,
                                               .stale_bound = UNBOUNDED,
                                               .steps_max = STEPS_MAX};
    read_set(litmus, text, &expected);
    seen.count = 0;
    uint64_t runs = walk(litmus, &settings, &expected, &seen);
    uint32_t missing = 0;
    for (uint32_t i = 0; i < expected.count; i++)
        missing += find(&seen, expected.texts[i]) < 0;
    bool right = missing == 0 && seen.count == expected.count;
    printf("%s %-30s %-3s %3u outcomes, %8llu runs\n", right ? "ok  " : "FAIL", litmus->name,
           explored_model_names[model], seen.count, (unsigned long long)runs);
    for (uint32_t i = 0; missing > 0 && i < expected.count; i++)
        if (find(&seen, expected.texts[i]) < 0)
            printf("  never reached: %s (%s)\n", expected.texts[i], litmus->source);
    return right;
}

int main(int argument_count, char **arguments)
{
    uint32_t failed = 0, checked = 0;
    bool whole = argument_count > 1, all = whole && strcmp(arguments[1], "all") == 0;
    for (uint32_t i = 0; i < litmus_program_count; i++) {
        const struct litmus *litmus = &litmus_programs[i];
        if (whole && !all && strcmp(arguments[1], litmus->name) != 0)
            continue;
        const char *const sets[EXPLORED_MODEL_COUNT] = {litmus->sc, litmus->tso, litmus->ra};
        for (uint32_t model = 0; model < EXPLORED_MODEL_COUNT; model++, checked++)
            failed += !check_model(litmus, (enum explored_model)model, sets[model], whole);
    }
    printf("%u of %u sets of outcomes are as written down\n", checked - failed, checked);
    return checked > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
