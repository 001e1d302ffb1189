/* SPDX-License-Identifier: MIT
 *
 * Options of the command line: one list of those that are not parameters, and one parser for all verbs.
 *
 * How it works. Parameters of experiments (--max-workers) come from the parameter table (parameters.h); what steers the
 * program itself (--store, --output) stands in PROGRAM_OPTIONS below. A verb names those it takes; argp parses and
 * prints the grouped help. Refused, each with one line: an unknown option (with the nearest one), a missing or surplus
 * value, the same option twice with different values. A missing or surplus argument gives the usage line of the verb.
 */
#ifndef PILFER_EXPERIMENTS_CLI_OPTIONS_H
#define PILFER_EXPERIMENTS_CLI_OPTIONS_H

#include "cli/parameters.h"
#include "export.h"

#include <stdio.h>

/* "csv\0json\0", as PARAMETER_WORD has them. */
#define EXPORT_WORD_AND_NUL(name, word) word "\0"
#define EXPORT_WORDS                    EXPORT_FORMATS(EXPORT_WORD_AND_NUL)

enum option_group {
    OPTION_GROUP_GENERAL,
    OPTION_GROUP_EXPLORE,
    OPTION_GROUP_SWEEP,
    OPTION_GROUP_RESULTS,
    OPTION_GROUP_COUNT
};

/* X(symbol, name, value or NULL for a switch, words of the value or NULL, group, help) */
#define PROGRAM_OPTIONS(X)                                                                                            \
    X(set, "set", "KEY=V[,V...]", NULL, SWEEP,                                                                        \
      "Use these values for a key instead of the sweep's own; may be repeated")                                       \
    X(quick, "quick", NULL, NULL, SWEEP, "Fewer repeats and shorter windows; the values of the axes stay")            \
    X(published, "published", NULL, NULL, SWEEP,                                                                      \
      "The nine published rows with their calls, in place of the sweep high-cpu")                                     \
    X(fidelity, "fidelity", NULL, NULL, SWEEP,                                                                        \
      "Models of the .NET pool beside the real runtime, in place of the sweep high-cpu")                              \
    X(resume, "resume", NULL, NULL, SWEEP, "Go on with the newest unfinished sweep of the same plan")                 \
    X(repeats, "repeats", "N", NULL, SWEEP, "Times that each cell is measured; the same as --set repeats=N")          \
    X(seed, "seed", "N", NULL, SWEEP,                                                                                 \
      "Seed of all that is drawn by lot (default: drawn and printed; of an exploration: 1)")                          \
    X(show_plan, "show-plan", NULL, NULL, SWEEP, "Print cells, order, seed and time needed; measure nothing")         \
    X(hold, "hold", NULL, NULL, SWEEP, "Print the process ids and wait for Enter, so that perf or strace can attach") \
    X(trace, "trace", "FILE", NULL, SWEEP, "Write what each worker did as a Chrome trace")                            \
    X(store, "store", "FILE", NULL, RESULTS,                                                                          \
      "The store of results (default: $PILFER_STORE, else results/data/pilfer.db)")                                   \
    X(sweep, "sweep", "ID|last", NULL, RESULTS, "Which sweep of the store (default: last)")                           \
    X(all, "all", NULL, NULL, RESULTS, "Every repeat, not only the medians")                                          \
    X(threshold, "threshold", "RATIO", NULL, RESULTS,                                                                 \
      "A regression is a ratio beyond this, 1.1 or 0.1 for 10 % (default: the A/A spread)")                           \
    X(aa, "aa", "ID", NULL, RESULTS, "A repetition of sweep A, whose distance from A is the yardstick")               \
    X(output, "output", "FILE", NULL, RESULTS, "Write there instead of to standard output")                           \
    X(output_dir, "output-dir", "FOLDER", NULL, RESULTS, "Where the pictures go (default: the store's folder)")       \
    X(format, "format", "FORMAT", EXPORT_WORDS, RESULTS, "csv (default), json or markdown")                           \
    X(force, "force", NULL, NULL, RESULTS, "Replace a file that exists")                                              \
    X(scenario, "scenario", "NAME", NULL, EXPLORE, "This scenario only, as --list names it")                          \
    X(configuration, "configuration", "NAME", NULL, EXPLORE, "This configuration only, as --list names it")           \
    X(model, "model", "NAME", "sc\0tso\0ra\0", EXPLORE, "Memory model: sc, tso or ra (default: each in turn)")        \
    X(strategy, "strategy", "NAME", "exhaustive\0random\0pct\0", EXPLORE,                                             \
      "exhaustive, random or pct (default: random and pct in turn)")                                                  \
    X(runs, "runs", "N", NULL, EXPLORE,                                                                               \
      "Runs in all (default 20000); exhaustive: at most so many per scenario, configuration and model")               \
    X(preemptions, "preemptions", "N", NULL, EXPLORE,                                                                 \
      "exhaustive: switches away from a thread that could go on (default 2)")                                         \
    X(stale, "stale", "N", NULL, EXPLORE, "exhaustive: loads that return an older store, and the like (default 2)")   \
    X(replay, "replay", "RUN", NULL, EXPLORE, "Make exactly this run again and print all of it")                      \
    X(brief, "brief", NULL, NULL, EXPLORE, "One line for each kind of violation and its replay, no tables")           \
    X(mutants, "mutants", NULL, NULL, EXPLORE, "Weaken every memory order in turn; each must be noticed")             \
    X(search, "search", NULL, NULL, EXPLORE, "With --mutants: find anew what notices each, as lines for mutants.list")\
    X(list, "list", NULL, NULL, EXPLORE, "Print the scenarios and configurations of NAME, or all names, and end")     \
    X(port, "port", "N", NULL, GENERAL, "Port on 127.0.0.1 (default 0: any free one, which is printed)")              \
    X(once, "once", NULL, NULL, GENERAL, "Print once and end")                                                        \
    X(help, "help", NULL, NULL, GENERAL, "Print this and end")

enum program_option {
#define OPTION_ENUM(symbol, name, value, words, group, help) OPTION_##symbol,
    PROGRAM_OPTIONS(OPTION_ENUM)
#undef OPTION_ENUM
        OPTION_COUNT
};
#define TAKES(symbol) ((uint64_t)1 << OPTION_##symbol)

enum verb_parameters {
    VERB_NO_PARAMETERS,
    VERB_PARAMETERS,      /* every parameter is an option with one value */
    VERB_PARAMETER_LISTS, /* every parameter is an option whose value may be a list: --KEY V is --set KEY=V */
};

/* A list of words that a word source fills. */
#define WORDS_MAX 512
struct words {
    const char *items[WORDS_MAX]; /* static memory */
    size_t count;
};
void words_add(struct words *words, const char *word);

/* Adds what a parameter admits: its words or names, and "default" where that is a value. */
void words_add_choices(struct words *words, const struct parameter *parameter);

struct invocation;

/* One row of the verb table. */
struct verb {
    const char *name;
    const char *arguments; /* as in the usage line, "" for none */
    const char *summary;   /* one line */
    const char *details;   /* printed below the options by --help, or NULL */
    uint32_t arguments_min, arguments_max;
    uint64_t options; /* TAKES() of each; help is always taken */
    enum verb_parameters parameters;
    void (*words)(struct words *words); /* what the first argument may be, or NULL */
    bool words_closed;                  /* nothing else is admitted */
    int (*run)(const struct invocation *invocation);
};

#define INVOCATION_ARGUMENTS_MAX 2
#define INVOCATION_SETS_MAX      64

/* What was asked for. Texts belong to the command line. */
struct invocation {
    const struct verb *verb;
    const char *arguments[INVOCATION_ARGUMENTS_MAX];
    uint32_t argument_count;
    const char *options[OPTION_COUNT];     /* NULL: not given; "" for a switch */
    const char *sets[INVOCATION_SETS_MAX]; /* of --set, in order */
    uint32_t set_count;
    const char *parameters[PARAMETER_LIMIT]; /* by index in the parameter table; NULL: not given */
    int word_count;                          /* everything behind the program's name, the verb first */
    char *const *words;
};

enum { INVOCATION_READY = -1 };

/* Parses what follows the program's name; argv[0] is the verb. Reorders argv. Returns INVOCATION_READY, or the status
 * to end with after it has helped (EXIT_DONE) or complained (EXIT_USAGE). */
int invocation_parse(const struct verb *verb, int argc, char **argv, struct invocation *out);

/* The line "usage: pilfer VERB ..." and the whole grouped help of a verb. */
void verb_print_usage(const struct verb *verb, FILE *stream);
void verb_print_help(const struct verb *verb, FILE *stream);

/* True when the verb takes that option. */
bool verb_takes(const struct verb *verb, enum program_option option);
const char *option_name(enum program_option option);
const char *option_value_name(enum program_option option); /* NULL for a switch */
const char *option_words(enum program_option option);      /* "a\0b\0" or NULL */

/* The number of an option, plain decimal digits, in [minimum, maximum]; initial if it was not given. 0, or -1 after a
 * complaint. option_real also takes a decimal point. */
int option_integer(const struct invocation *invocation, enum program_option option, uint64_t initial, uint64_t minimum,
                   uint64_t maximum, uint64_t *out);
int option_real(const struct invocation *invocation, enum program_option option, double initial, double minimum,
                double maximum, double *out);

#endif
