/* SPDX-License-Identifier: MIT
 *
 * The command line of pilfer-explore; see command.h.
 */
#include "command.h"

#include <string.h>

#include "cli/output.h"
#include "cli/verb_explore_row.h"

enum { RUNS_DEFAULT = 20000, BOUND_MAX = 1000 };
#define RUNS_MAX UINT64_C(1000000000000)
#define SEED_MAX ((UINT64_C(1) << 53) - 1) /* as of a sweep */

/* What NAME may be. */
static struct {
    const char *const *items;
    uint32_t count;
} names;

static void words_names(struct words *words)
{
    for (uint32_t i = 0; i < names.count; i++)
        words_add(words, names.items[i]);
}

static const struct verb verb = {VERB_EXPLORE_ROW, .words = words_names, .words_closed = true};

static bool is_given(const struct invocation *invocation, enum program_option option)
{
    return invocation->options[option] != NULL;
}

/* Options that would be without effect beside another one. */
static int check_combination(const struct invocation *invocation)
{
    static const enum program_option whole[] = {OPTION_replay, OPTION_mutants, OPTION_list}; /* each says all */
    uint64_t search = is_given(invocation, OPTION_search) ? TAKES(runs) | TAKES(scenario) | TAKES(model) : 0;
    const uint64_t beside[] = {TAKES(replay), TAKES(mutants) | TAKES(search) | TAKES(seed) | search, TAKES(list)};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        for (uint32_t option = 0; is_given(invocation, whole[i]) && option < OPTION_COUNT; option++)
            if (is_given(invocation, option) && (beside[i] >> option & 1) == 0)
                return complain("explore: --%s and --%s do not go together; keep one", option_name(whole[i]),
                                option_name(option));
    if (is_given(invocation, OPTION_search) && !is_given(invocation, OPTION_mutants))
        return complain("explore: --search is of --mutants only");
    const char *strategy = invocation->options[OPTION_strategy];
    const enum program_option bounds[] = {OPTION_preemptions, OPTION_stale};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        if (is_given(invocation, bounds[i]) && (strategy == NULL || strcmp(strategy, "exhaustive") != 0))
            return complain("explore: --%s is of --strategy exhaustive only", option_name(bounds[i]));
    return 0;
}

/* A name is needed but for --mutants, where it has no place, and --list, where it may be missing. */
static int check_argument(const struct invocation *invocation)
{
    bool mutants = is_given(invocation, OPTION_mutants);
    if (invocation->argument_count == 0 && !mutants && !is_given(invocation, OPTION_list))
        return verb_print_usage(&verb, stderr), -1;
    if (invocation->argument_count > 0 && mutants)
        return complain("explore: --mutants takes no name: the list says what each mutant is explored with");
    return 0;
}

/* One of the words, or all if the option was not given. */
static void choose(const char *word, const char *const *words, uint32_t count, bool *out)
{
    for (uint32_t i = 0; i < count; i++)
        out[i] = word == NULL || strcmp(words[i], word) == 0;
}

static int read_request(const struct invocation *invocation, struct request *out)
{
    uint64_t preemptions, stale;
    const char *strategy = invocation->options[OPTION_strategy];
    *out = (struct request){.scenario = invocation->options[OPTION_scenario],
                            .configuration = invocation->options[OPTION_configuration]};
    choose(invocation->options[OPTION_model], explored_model_names, EXPLORED_MODEL_COUNT, out->models);
    choose(strategy, explored_strategy_names, EXPLORED_STRATEGY_COUNT, out->strategies);
    out->strategies[EXPLORED_EXHAUSTIVE] = strategy != NULL && out->strategies[EXPLORED_EXHAUSTIVE];
    uint64_t runs = out->strategies[EXPLORED_EXHAUSTIVE] ? 0 : RUNS_DEFAULT;
    if (option_integer(invocation, OPTION_runs, runs, 1, RUNS_MAX, &out->runs) != 0 ||
        option_integer(invocation, OPTION_seed, 1, 0, SEED_MAX, &out->seed) != 0 ||
        option_integer(invocation, OPTION_preemptions, PREEMPTION_BOUND, 0, BOUND_MAX, &preemptions) != 0 ||
        option_integer(invocation, OPTION_stale, STALE_BOUND, 0, BOUND_MAX, &stale) != 0)
        return -1;
    out->preemption_bound = (uint32_t)preemptions;
    out->stale_bound = (uint32_t)stale;
    return 0;
}

int command_read(int argument_count, char **arguments, const char *const *known, uint32_t known_count,
                 struct command *out)
{
    static struct invocation invocation;
    names.items = known;
    names.count = known_count;
    memset(out, 0, sizeof *out);
    int status = invocation_parse(&verb, argument_count, arguments, &invocation);
    if (status != INVOCATION_READY)
        return status;
    if (check_combination(&invocation) != 0 || check_argument(&invocation) != 0 ||
        read_request(&invocation, &out->request) != 0)
        return EXIT_USAGE;
    out->name = invocation.arguments[0];
    out->replay = invocation.options[OPTION_replay];
    out->brief = is_given(&invocation, OPTION_brief);
    out->mutants = is_given(&invocation, OPTION_mutants);
    out->search = is_given(&invocation, OPTION_search);
    out->list = is_given(&invocation, OPTION_list);
    return -1;
}
