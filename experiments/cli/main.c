/* SPDX-License-Identifier: MIT
 *
 * The program pilfer: one verb per task, `pilfer VERB [OPTION...] [ARGUMENT...]`.
 *
 * How it works. The table below is the one list of verbs; usage, help, completion and hints are made from it. A process
 * of a cell is this same program, started as `pilfer role NAME` (runner/cell.h), which is no verb for people.
 */
#include "verbs.h"

#include "runner/build.h"
#include "runner/cell.h"
#include "store_option.h"
#include "verb_explore_row.h"

#include <stdio.h>
#include <string.h>

/* What every verb that measures takes. */
#define TAKES_MEASURING (TAKES(store) | TAKES(seed) | TAKES(show_plan) | TAKES(hold))

const struct verb verbs[] = {
    {
        .name = "list",
        .arguments = "[WHAT]",
        .summary = "What there is: schedulers, bounds, policies, workloads, sweeps, targets",
        .details = "Without WHAT everything; with it one item a line, its name first.",
        .arguments_max = 1,
        .words = words_lists,
        .words_closed = true,
        .run = verb_list,
    },
    {
        .name = "run",
        .arguments = "",
        .summary = "Measure one cell and print all of it",
        .details = "Every parameter is an option with one value. The result is kept in the store as sweep \"run\".",
        .options = TAKES_MEASURING | TAKES(repeats) | TAKES(set) | TAKES(quick) | TAKES(trace) | TAKES(force),
        .parameters = VERB_PARAMETERS,
        .run = verb_run,
    },
    {
        .name = "sweep",
        .arguments = "NAME|FILE",
        .summary = "Measure every cell of a built-in sweep or a sweep file",
        .details =
            "A value may be a list or a range: --max-workers 1,2,4 or --set 'max-workers=1..4'. Finished repeats "
            "stay when the sweep is interrupted; the same command with --resume goes on.",
        .arguments_min = 1,
        .arguments_max = 1,
        .options = TAKES_MEASURING | TAKES(repeats) | TAKES(set) | TAKES(quick) | TAKES(resume),
        .parameters = VERB_PARAMETER_LISTS,
        .words = words_sweeps,
        .run = verb_sweep,
    },
    {
        .name = "reproduce",
        .arguments = "",
        .summary = "The finding, end to end: measure, compare with the published figures, draw",
        .details = "Measures the built-in sweep high-cpu in some four minutes; --quick measures its closed loop only, "
                   "in under a minute. --published measures the sweep published instead, and draws nothing: 11 to 36 "
                   "minutes, with --quick half a minute. --fidelity holds the models of the .NET pool against the real "
                   "runtime, in the sweep fidelity: one to three hours, with --quick a quarter of one, which shows "
                   "that it runs: its figures judge nothing.",
        .options = TAKES_MEASURING | TAKES(set) | TAKES(quick) | TAKES(published) | TAKES(fidelity) | TAKES(resume) |
                   TAKES(output_dir) | TAKES(force),
        .run = verb_reproduce,
    },
    {
        .name = "report",
        .arguments = "",
        .summary = "The table of a sweep: medians with intervals, what moves with the CPU",
        .options = TAKES(store) | TAKES(sweep) | TAKES(all),
        .run = verb_report,
    },
    {
        .name = "compare",
        .arguments = "A B",
        .summary = "The same cells measured twice: ratios, and what regressed",
        .details = "A and B are sweeps of the store (a number, or last) or the files of other stores, whose last "
                   "sweeps count. "
                   "Status 1 when a cell regressed.",
        .arguments_min = 2,
        .arguments_max = 2,
        .options = TAKES(store) | TAKES(threshold) | TAKES(aa),
        .run = verb_compare,
    },
    {
        .name = "plot",
        .arguments = "KIND",
        .summary = "Draw a sweep",
        .details = "Without --output the picture is drawn as text; the suffix of FILE chooses PNG, SVG or PDF.",
        .arguments_min = 1,
        .arguments_max = 1,
        .options = TAKES(store) | TAKES(sweep) | TAKES(output) | TAKES(force),
        .words = words_plot_kinds,
        .words_closed = true,
        .run = verb_plot,
    },
    {
        .name = "export",
        .arguments = "",
        .summary = "Every repeat of a sweep as CSV, JSON or Markdown",
        .options = TAKES(store) | TAKES(sweep) | TAKES(output) | TAKES(force) | TAKES(format),
        .run = verb_export,
    },
    {
        .name = "serve",
        .arguments = "WORKLOAD",
        .summary = "Leave a workload's server up for curl, wrk, oha",
        .details =
            "Listens on 127.0.0.1 until SIGINT or SIGTERM, then prints `requests=N tasks_run=N refused=N`. Any path "
            "answers 200.",
        .arguments_min = 1,
        .arguments_max = 1,
        .options = TAKES(port),
        .parameters = VERB_PARAMETERS,
        .words = words_workloads,
        .words_closed = true,
        .run = verb_serve,
    },
    {
        .name = "top",
        .arguments = "[PID]",
        .summary = "Live counters of a running cell or server",
        .details =
            "On a terminal the table is redrawn until the process ends; elsewhere, or with --once, it is printed once.",
        .arguments_max = 1,
        .options = TAKES(once),
        .run = verb_top,
    },
    {
        .name = "check",
        .arguments = "NAME",
        .summary = "Check a scheduler or bound against the contract",
        .details = "One line per invariant; status 0 if all hold, 1 if one is broken, 2 for an unknown name.",
        .arguments_min = 1,
        .arguments_max = 1,
        .words = words_executors,
        .words_closed = true,
        .run = verb_check,
    },
    {
        VERB_EXPLORE_ROW,
        .words = words_explored,
        .run = verb_explore,
    },
    {
        .name = "calibrate",
        .arguments = "",
        .summary = "What elementary operations cost on this machine",
        .run = verb_calibrate,
    },
    {
        .name = "doctor",
        .arguments = "",
        .summary = "What this machine can and cannot measure",
        .options = TAKES(store),
        .run = verb_doctor,
    },
    {
        .name = "completion",
        .arguments = "SHELL",
        .summary = "Print shell completion: source <(pilfer completion bash)",
        .arguments_min = 1,
        .arguments_max = 1,
        .words = words_shells,
        .words_closed = true,
        .run = verb_completion,
    },
    {
        .name = "help",
        .arguments = "[VERB]",
        .summary = "Print this, or the help of one verb",
        .arguments_max = 1,
        .words = words_verbs,
        .words_closed = true,
        .run = verb_help,
    },
    {.name = NULL},
};

const struct verb *verb_find(const char *name)
{
    for (const struct verb *verb = verbs; verb->name != NULL; verb++) {
        if (strcmp(verb->name, name) == 0)
            return verb;
    }
    return NULL;
}

void words_verbs(struct words *words)
{
    for (const struct verb *verb = verbs; verb->name != NULL; verb++)
        words_add(words, verb->name);
}

int verb_help(const struct invocation *invocation)
{
    if (invocation->argument_count > 0) {
        verb_print_help(verb_find(invocation->arguments[0]), stdout);
        return EXIT_DONE;
    }
    printf("usage: %s VERB [OPTION...] [ARGUMENT...]\n\n", program_name());
    for (const struct verb *verb = verbs; verb->name != NULL; verb++) {
        char usage[64];
        snprintf(usage, sizeof usage, "%s %s", verb->name, verb->arguments);
        printf("  %-22s %s\n", usage, verb->summary);
    }
    printf("\n`%s VERB --help` explains a verb. Results go to standard output, everything else to standard error.\n"
           "Exit status: 0 done, 1 something is invalid or regressed, 2 usage, 3 surroundings, 4 store, 130 "
           "interrupted.\n",
           program_name());
    return EXIT_DONE;
}

/* `pilfer` alone: three commands to try and where the results are. */
static int introduce(void)
{
    static const struct {
        const char *command, *what;
    } tries[] = {
        {"reproduce --quick", "the finding in a minute, with a table and a picture"},
        {"sweep schedulers --quick", "all schedulers side by side"},
        {"help", "every verb"},
    };
    const char *name = program_name();
    printf("pilfer measures what a thread pool burns when there is not enough work for all its workers. Try:\n");
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++)
        printf("  %s %-*s %s\n", name, 28, tries[i].command, tries[i].what);
    printf("Results are kept in %s.\n", escaped(option_store_path(NULL)));
    return EXIT_DONE;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2)
        return introduce();
    const char *name = argv[1];
    if (strcmp(name, "role") == 0 && argc == 3)
        return role_main(argv[2]);
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("pilfer %s\n", BUILD_VERSION);
        return EXIT_DONE;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    const struct verb *verb = verb_find(name);
    if (verb == NULL) {
        struct words words = {.count = 0};
        words_verbs(&words);
        const char *nearest = nearest_word(name, words.items, words.count);
        if (nearest != NULL)
            complain("unknown verb '%s'; did you mean '%s'?", escaped(name), nearest);
        else
            complain("unknown verb '%s'; `%s help` lists them", escaped(name), program_name());
        return EXIT_USAGE;
    }
    static struct invocation invocation;
    int status = invocation_parse(verb, argc - 1, argv + 1, &invocation);
    return status == INVOCATION_READY ? verb->run(&invocation) : status;
}

int main(int argc, char **argv)
{
    output_init();
    return output_finish(dispatch(argc, argv));
}
