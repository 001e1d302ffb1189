/* SPDX-License-Identifier: MIT
 *
 * pilfer-explore NAME: every interleaving of small programs over the unmodified sources of pool/ and schedulers/.
 *
 * Output. Each broken invariant once: what was seen, a table with one column per thread, the command that replays
 * exactly that run; then `explored N runs, ...`. Status 0 clean, 1 a violation, 2 an unknown word, 5 when the canary
 * was not caught (then nothing that this program says is worth anything).
 */
#include "explore.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/nearest.h"

enum { STATUS_CLEAN = 0, STATUS_BROKEN = 1, STATUS_USAGE = 2, STATUS_INTERNAL = 5 };
enum { NAMES_MAX = 512, LINES_SHOWN = 60, RUNS_DEFAULT = 20000 };
enum { KEY_MUTANTS = 256, KEY_SEARCH, KEY_LIST, KEY_PREEMPTIONS, KEY_STALE, KEY_CONFIGURATION };

struct options {
    struct request request;
    const char *name, *replay;
    bool mutants, search, list, has_model, has_strategy, has_runs;
};

static const struct argp_option option_table[] = {
    {"scenario", 's', "NAME", 0, "This scenario only", 0},
    {"strategy", 't', "NAME", 0, "exhaustive, random or pct; default: random and pct in turn", 0},
    {"model", 'm', "NAME", 0, "sc, tso or ra; default: all three", 0},
    {"runs", 'n', "N", 0, "Runs in all (default 20000); exhaustive: at most so many per scenario", 0},
    {"seed", 'r', "N", 0, "Seed (default 1); the same seed gives the same runs on any machine", 0},
    {"replay", 'p', "RUN", 0, "Make exactly this run again and print all of it", 0},
    {"configuration", KEY_CONFIGURATION, "NAME", 0, "This configuration only, as --list names it", 0},
    {"preemptions", KEY_PREEMPTIONS, "N", 0, "exhaustive: switches away from a thread that could go on (default 2)", 0},
    {"stale", KEY_STALE, "N", 0, "exhaustive: loads that return an older store, and the like (default 2)", 0},
    {"list", KEY_LIST, NULL, 0, "Print the scenarios and configurations of NAME", 0},
    {"mutants", KEY_MUTANTS, NULL, 0, "Weaken every memory order in turn; each must be noticed", 0},
    {"search", KEY_SEARCH, NULL, OPTION_HIDDEN, "With --mutants: find what kills each, for mutants.list", 0},
    {0},
};

static int refuse(const char *what, const char *name, const char *const *names, size_t count)
{
    const char *nearest = nearest_word(name, names, count);
    fprintf(stderr, "pilfer-explore: no %s is called '%s'%s%s%s\n", what, name, nearest != NULL ? "; did you mean '" : "",
            nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    return STATUS_USAGE;
}

static uint32_t parse_word(const char *what, const char *word, const char *const *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names[i], word) == 0)
            return i;
    exit(refuse(what, word, names, count));
}

static uint64_t parse_number(const char *text, uint64_t maximum, struct argp_state *state)
{
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || text[0] < '0' || text[0] > '9' || value > maximum)
        argp_error(state, "'%s' is not a whole number up to %llu", text, (unsigned long long)maximum);
    return value;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    struct request *request = &options->request;
    switch (key) {
    case 's':
        request->scenario = argument;
        return 0;
    case KEY_CONFIGURATION:
        request->configuration = argument;
        return 0;
    case 't':
        request->strategies[parse_word("strategy", argument, explored_strategy_names, EXPLORED_STRATEGY_COUNT)] = true;
        options->has_strategy = true;
        return 0;
    case 'm':
        request->models[parse_word("model", argument, explored_model_names, EXPLORED_MODEL_COUNT)] = true;
        options->has_model = true;
        return 0;
    case 'n':
        request->runs = parse_number(argument, UINT64_C(1000000000000), state);
        options->has_runs = true;
        return 0;
    case 'r':
        request->seed = parse_number(argument, UINT64_MAX, state);
        return 0;
    case 'p':
        options->replay = argument;
        return 0;
    case KEY_PREEMPTIONS:
        request->preemption_bound = (uint32_t)parse_number(argument, 1000, state);
        return 0;
    case KEY_STALE:
        request->stale_bound = (uint32_t)parse_number(argument, 1000, state);
        return 0;
    case KEY_LIST:
        options->list = true;
        return 0;
    case KEY_MUTANTS:
        options->mutants = true;
        return 0;
    case KEY_SEARCH:
        options->search = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->name != NULL)
            return ARGP_ERR_UNKNOWN;
        options->name = argument;
        return 0;
    case ARGP_KEY_END:
        if (options->name == NULL && !options->mutants)
            argp_error(state, "which scheduler, idle policy, bound or structure?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void set_defaults(struct options *options)
{
    struct request *request = &options->request;
    for (uint32_t model = 0; !options->has_model && model < EXPLORED_MODEL_COUNT; model++)
        request->models[model] = true;
    if (!options->has_strategy)
        request->strategies[EXPLORED_RANDOM] = request->strategies[EXPLORED_PCT] = true;
    if (!options->has_runs && !request->strategies[EXPLORED_EXHAUSTIVE])
        request->runs = RUNS_DEFAULT;
}

/* ---- what there is ---- */

static int check_words(const struct subject *subject, const struct request *request)
{
    const char *names[SCENARIOS_MAX + CONFIGURATIONS_MAX];
    for (uint32_t i = 0; i < subject->scenario_count; i++)
        names[i] = subject->scenarios[i]->name;
    if (request->scenario != NULL)
        parse_word("scenario", request->scenario, names, subject->scenario_count);
    for (uint32_t i = 0; i < subject->configuration_count; i++)
        names[i] = subject->configurations[i].label;
    if (request->configuration != NULL)
        parse_word("configuration", request->configuration, names, subject->configuration_count);
    return STATUS_CLEAN;
}

static int list(const struct subject *subject)
{
    for (uint32_t i = 0; i < subject->scenario_count; i++)
        printf("scenario       %-24s %s%s\n", subject->scenarios[i]->name, subject->scenarios[i]->promise,
               subject->scenarios[i]->exhaustive ? " [exhaustive]" : "");
    for (uint32_t i = 0; i < subject->configuration_count; i++)
        printf("configuration  %s\n", subject->configurations[i].label);
    return STATUS_CLEAN;
}

/* ---- exploring and replaying ---- */

static int replay(const struct subject *subject, const char *text)
{
    struct violation violation;
    if (run_read(subject, text, &violation) != 0) {
        fprintf(stderr, "pilfer-explore: '%s' is not a run of %s: expected model:scenario:configuration:memory:choices\n",
                text, subject->name);
        return STATUS_USAGE;
    }
    const struct explored_result *result = explore_cell(&violation.cell, violation.choices, violation.choice_count);
    int status = result->broken ? STATUS_BROKEN : STATUS_CLEAN;
    report_violation(stdout, subject, &violation, 0);
    free(violation.choices);
    return status;
}

static int explore_subject(const struct subject *subject, const struct request *request)
{
    static struct outcome outcome;
    if (subject->library != NULL)
        printf("%s: %s\n", subject->name, subject->library);
    explore(subject, request, &outcome);
    if (outcome.cells == 0) {
        fprintf(stderr, "pilfer-explore: nothing of %s fits these options; see --list\n", subject->name);
        return STATUS_USAGE;
    }
    for (uint32_t i = 0; i < outcome.violation_count; i++) {
        struct violation *violation = &outcome.violations[i];
        explore_shrink(violation);
        report_violation(stdout, subject, violation, LINES_SHOWN);
        printf("\n");
    }
    int status = outcome.broken > 0 ? STATUS_BROKEN : STATUS_CLEAN;
    printf("explored %llu runs, %llu broken, %u kinds, %u cells%s, %.0f runs/s\n", (unsigned long long)outcome.runs,
           (unsigned long long)outcome.broken, outcome.violation_count, outcome.cells,
           !request->strategies[EXPLORED_EXHAUSTIVE] ? ""
           : outcome.complete                        ? ", complete within the bounds"
                                                     : ", cut short by --runs",
           outcome.seconds > 0 ? (double)outcome.runs / outcome.seconds : 0);
    explore_free(&outcome);
    return status;
}

int main(int argument_count, char **arguments)
{
    struct options options = {.request = {.seed = 1, .preemption_bound = PREEMPTION_BOUND, .stale_bound = STALE_BOUND}};
    const struct argp parser = {
        option_table, parse_option, "NAME", "Explores every interleaving of small programs.", NULL, NULL, NULL};
    static struct subject subject;
    argp_err_exit_status = STATUS_USAGE;
    argp_parse(&parser, argument_count, arguments, 0, NULL, &options);
    set_defaults(&options);
    if (!canary_is_caught()) {
        fprintf(stderr, "pilfer-explore: the canary, a lost update, was not caught: the explorer is broken\n");
        return STATUS_INTERNAL;
    }
    if (options.mutants)
        return options.search ? search_mutants(&options.request) : explore_mutants(&options.request);
    if (options.name != NULL && !subject_find(options.name, &subject)) {
        const char *names[NAMES_MAX];
        return refuse("scheduler, idle policy, bound or structure", options.name, names, subject_names(names, NAMES_MAX));
    }
    if (options.list)
        return list(&subject);
    check_words(&subject, &options.request);
    if (options.replay != NULL)
        return replay(&subject, options.replay);
    return explore_subject(&subject, &options.request);
}
