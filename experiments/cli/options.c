/* SPDX-License-Identifier: MIT
 *
 * The command line through argp, fed from the option list and the parameter table; see options.h.
 *
 * How it works. The rows for argp are built at run time for the one verb that was asked for. argp is told to be silent:
 * what it finds wrong is named here, in one line, with the nearest valid word.
 */
#include "options.h"

#include "output.h"
#include "verbs.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEY_OPTION    0x1000
#define KEY_PARAMETER 0x2000

static const struct {
    const char *name, *value, *words;
    enum option_group group;
    const char *help;
} option_rows[] = {
#define OPTION_ROW(symbol, name, value, words, group, help) {name, value, words, OPTION_GROUP_##group, help},
    PROGRAM_OPTIONS(OPTION_ROW)
#undef OPTION_ROW
};

static const char *const group_titles[OPTION_GROUP_COUNT] = {
    [OPTION_GROUP_GENERAL] = "In general:",
    [OPTION_GROUP_EXPLORE] = "What is explored, and how:",
    [OPTION_GROUP_SWEEP] = "How to go about it:",
    [OPTION_GROUP_RESULTS] = "Where results are and how they are shown:",
};

/* Rows, and the texts that they point to, of the verb that is parsed. */
struct rows {
    struct argp_option options[OPTION_COUNT + PARAMETER_LIMIT + OPTION_GROUP_COUNT + 3];
    char helps[PARAMETER_LIMIT][400];
    char values[PARAMETER_LIMIT][32];
    size_t count;
};

struct parsing {
    const struct verb *verb;
    struct invocation *invocation;
    bool reported, helped;
};

void words_add(struct words *words, const char *word)
{
    if (words->count < WORDS_MAX)
        words->items[words->count++] = word;
}

void words_add_choices(struct words *words, const struct parameter *parameter)
{
    struct parameter_choice choice;
    for (uint32_t i = 0; parameter_choice_at(parameter, i, &choice); i++)
        words_add(words, choice.name);
    if ((parameter->flags & PARAMETER_DEFAULT_WORD) != 0)
        words_add(words, "default");
}

const char *option_name(enum program_option option)
{
    return option_rows[option].name;
}

const char *option_value_name(enum program_option option)
{
    return option_rows[option].value;
}

const char *option_words(enum program_option option)
{
    return option_rows[option].words;
}

bool verb_takes(const struct verb *verb, enum program_option option)
{
    return option == OPTION_help || (verb->options >> option & 1) != 0;
}

/* A parameter whose name is also a program option of the verb is left to that option. */
static bool takes_parameter(const struct verb *verb, uint32_t index)
{
    if (verb->parameters == VERB_NO_PARAMETERS)
        return false;
    for (uint32_t i = 0; i < OPTION_COUNT; i++) {
        if (verb_takes(verb, i) && strcmp(option_rows[i].name, parameters[index].key) == 0)
            return false;
    }
    return true;
}

/* ---- rows for argp ---- */

static const char *value_name(const struct parameter *parameter)
{
    switch (parameter->type) {
    case PARAMETER_WORD:
        return "WORD";
    case PARAMETER_NAME:
        return (parameter->flags & PARAMETER_FILE) != 0 ? "NAME|FILE" : "NAME";
    case PARAMETER_COUNT_OF:
        return "N";
    case PARAMETER_RATE:
        return "RATE";
    case PARAMETER_DURATION:
        return "TIME";
    case PARAMETER_PERCENT:
        return "PERCENT";
    case PARAMETER_CPU_LIST:
        return "CPUS";
    case PARAMETER_LINE:
        return "LINE";
    }
    return "VALUE";
}

static void add_title(struct rows *rows, const char *title, int group)
{
    rows->options[rows->count++] = (struct argp_option){.doc = title, .group = group};
}

/* "help: one, two (default: one)" */
static void describe(const struct parameter *parameter, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "%s", parameter->help);
    struct parameter_choice choice;
    for (uint32_t i = 0; parameter->type == PARAMETER_WORD && parameter_choice_at(parameter, i, &choice); i++) {
        if (used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s", i == 0 ? "; " : ", ", choice.name);
    }
    bool told = parameter->initial[0] == '\0' || strcmp(parameter->initial, "default") == 0 ||
                strcmp(parameter->initial, "none") == 0;
    if (!told && used < size)
        snprintf(out + used, size - used, " (default: %s%s)", parameter->initial,
                 parameter->type == PARAMETER_DURATION ? " s" : "");
}

static void add_parameters(struct rows *rows, const struct verb *verb, bool identity, int group)
{
    add_title(rows, identity ? "What is measured:" : "How it is measured:", group);
    for (uint32_t i = 0; i < parameter_count; i++) {
        const struct parameter *parameter = &parameters[i];
        if (!takes_parameter(verb, i) || ((parameter->flags & PARAMETER_IDENTITY) != 0) != identity)
            continue;
        bool list = verb->parameters == VERB_PARAMETER_LISTS && (parameter->flags & PARAMETER_SWEEPABLE) != 0;
        snprintf(rows->values[i], sizeof rows->values[i], "%s%s", value_name(parameter), list ? "[,...]" : "");
        describe(parameter, rows->helps[i], sizeof rows->helps[i]);
        rows->options[rows->count++] = (struct argp_option){
            .name = parameter->key,
            .key = KEY_PARAMETER + (int)i,
            .arg = rows->values[i],
            .doc = rows->helps[i],
            .group = group,
        };
    }
}

static void build_rows(struct rows *rows, const struct verb *verb)
{
    memset(rows, 0, sizeof *rows);
    if (verb->parameters != VERB_NO_PARAMETERS) {
        add_parameters(rows, verb, true, 1);
        add_parameters(rows, verb, false, 2);
    }
    for (int group = OPTION_GROUP_EXPLORE; group != OPTION_GROUP_COUNT + 1; group++) {
        int which = group % OPTION_GROUP_COUNT; /* the general ones last */
        bool any = false;
        for (uint32_t i = 0; i < OPTION_COUNT; i++) {
            if (!verb_takes(verb, i) || (int)option_rows[i].group != which)
                continue;
            if (!any)
                add_title(rows, group_titles[which], group + 2);
            any = true;
            rows->options[rows->count++] = (struct argp_option){
                .name = option_rows[i].name,
                .key = KEY_OPTION + (int)i,
                .arg = option_rows[i].value,
                .doc = option_rows[i].help,
                .group = group + 2,
            };
        }
    }
    rows->options[rows->count++] = (struct argp_option){.key = 'h', .doc = "", .flags = OPTION_HIDDEN};
}

/* ---- parsing ---- */

/* Notes a value; refuses a second, different one. */
static int note(struct parsing *parsing, const char *name, const char **slot, const char *value)
{
    if (*slot != NULL && strcmp(*slot, value) != 0) {
        complain("%s: --%s is given twice, as '%s' and as '%s'; keep one", parsing->verb->name, name, escaped(*slot),
                 escaped(value));
        parsing->reported = true;
        return EINVAL;
    }
    *slot = value;
    return 0;
}

static int note_set(struct parsing *parsing, const char *value)
{
    struct invocation *invocation = parsing->invocation;
    size_t key_length = strcspn(value, "=");
    for (uint32_t i = 0; i < invocation->set_count; i++) {
        if (strncmp(invocation->sets[i], value, key_length + 1) != 0)
            continue;
        if (strcmp(invocation->sets[i], value) == 0)
            return 0;
        complain("%s: --set gives a key twice, as '%s' and as '%s'; keep one", parsing->verb->name,
                 escaped(invocation->sets[i]), escaped(value));
        parsing->reported = true;
        return EINVAL;
    }
    if (invocation->set_count == INVOCATION_SETS_MAX) {
        complain("%s: more than %d --set; put them into a sweep file", parsing->verb->name, INVOCATION_SETS_MAX);
        parsing->reported = true;
        return EINVAL;
    }
    invocation->sets[invocation->set_count++] = value;
    return 0;
}

/* What argp could not take: the option just passed, or the next one. */
static void report_option(struct parsing *parsing, const struct argp_state *state, const struct argp_option *rows)
{
    static struct words known;
    known.count = 0;
    for (const struct argp_option *row = rows; row->name != NULL || row->doc != NULL; row++) {
        if (row->name != NULL)
            words_add(&known, row->name);
    }
    for (int index = state->next - 1; index <= state->next && index < state->argc; index++) {
        const char *text = index > 0 ? state->argv[index] : "";
        if (text[0] != '-' || text[1] == '\0')
            continue;
        char name[64];
        const char *start = text + strspn(text, "-");
        snprintf(name, sizeof name, "%.*s", (int)strcspn(start, "="), start);
        const struct argp_option *row = rows;
        while ((row->name != NULL || row->doc != NULL) && (row->name == NULL || strcmp(row->name, name) != 0))
            row++;
        if (text[1] != '-' || row->name == NULL) {
            const char *nearest = nearest_word(name, known.items, known.count);
            if (nearest != NULL)
                complain("%s: unknown option '%s'; did you mean '--%s'?", parsing->verb->name, escaped(text), nearest);
            else
                complain("%s: unknown option '%s'; `%s %s --help` lists them all", parsing->verb->name, escaped(text),
                         program_name(), parsing->verb->name);
            return;
        }
        if (row->arg == NULL && strchr(text, '=') != NULL) {
            complain("%s: option --%s takes no value, found '%s'", parsing->verb->name, name, escaped(text));
            return;
        }
        if (row->arg != NULL && strchr(text, '=') == NULL && index + 1 >= state->argc) {
            complain("%s: option --%s needs a value: --%s %s", parsing->verb->name, name, name, row->arg);
            return;
        }
    }
    verb_print_usage(parsing->verb, stderr);
}

static int note_argument(struct parsing *parsing, const char *argument)
{
    struct invocation *invocation = parsing->invocation;
    const struct verb *verb = parsing->verb;
    if (invocation->argument_count == verb->arguments_max) {
        verb_print_usage(verb, stderr);
        parsing->reported = true;
        return EINVAL;
    }
    if (invocation->argument_count == 0 && verb->words != NULL && verb->words_closed) {
        struct words words = {.count = 0};
        verb->words(&words);
        bool found = false;
        for (size_t i = 0; i < words.count && !found; i++)
            found = strcmp(words.items[i], argument) == 0;
        if (!found) {
            const char *near = hint(argument, words.items, words.count);
            if (near[0] == '\0' && verb_takes(verb, OPTION_list))
                complain("%s: unknown word '%s'; `%s %s --list` shows what there is", verb->name, escaped(argument),
                         program_name(), verb->name);
            else
                complain("%s: unknown word '%s'%s", verb->name, escaped(argument), near);
            parsing->reported = true;
            return EINVAL;
        }
    }
    invocation->arguments[invocation->argument_count++] = argument;
    return 0;
}

static error_t parse_key(int key, char *argument, struct argp_state *state)
{
    struct parsing *parsing = state->input;
    const struct argp_option *rows = state->root_argp->options;
    if (key == 'h' || key == KEY_OPTION + OPTION_help) {
        parsing->helped = true;
        return 0;
    }
    if (key >= KEY_PARAMETER && key < KEY_PARAMETER + PARAMETER_LIMIT) {
        int index = key - KEY_PARAMETER;
        return note(parsing, parameters[index].key, &parsing->invocation->parameters[index], argument);
    }
    if (key == KEY_OPTION + OPTION_set)
        return note_set(parsing, argument);
    if (key >= KEY_OPTION && key < KEY_OPTION + OPTION_COUNT) {
        int index = key - KEY_OPTION;
        return note(parsing, option_rows[index].name, &parsing->invocation->options[index],
                    argument != NULL ? argument : "");
    }
    switch (key) {
    case ARGP_KEY_ARG:
        return note_argument(parsing, argument);
    case ARGP_KEY_ERROR:
        if (!parsing->reported)
            report_option(parsing, state, rows);
        parsing->reported = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int invocation_parse(const struct verb *verb, int argc, char **argv, struct invocation *out)
{
    static struct rows rows;
    build_rows(&rows, verb);
    memset(out, 0, sizeof *out);
    out->verb = verb;
    out->word_count = argc;
    out->words = argv;
    struct parsing parsing = {.verb = verb, .invocation = out};
    struct argp argp = {
        .options = rows.options,
        .parser = parse_key,
    };
    error_t error = argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_NO_EXIT, NULL, &parsing);
    if (error == ENOMEM)
        complain("%s: out of memory while reading the command line; free some and try again", verb->name);
    if (error != 0)
        return EXIT_USAGE;
    if (parsing.helped) {
        verb_print_help(verb, stdout);
        return EXIT_DONE;
    }
    if (out->argument_count < verb->arguments_min) {
        verb_print_usage(verb, stderr);
        return EXIT_USAGE;
    }
    for (uint32_t i = 0; i < OPTION_COUNT; i++) {
        if (out->options[i] == NULL || option_rows[i].words == NULL)
            continue;
        static struct parameter words; /* the parser of parameters names the words and the nearest one */
        words = (struct parameter){.key = option_rows[i].name,
                                   .type = PARAMETER_WORD,
                                   .words = option_rows[i].words,
                                   .initial = "",
                                   .unit = "",
                                   .help = ""};
        char text[PARAMETER_TEXT_SIZE], message[256];
        if (parameter_parse(&words, out->options[i], text, message, sizeof message) != 0) {
            complain("%s: --%s: %s", verb->name, option_rows[i].name, message);
            return EXIT_USAGE;
        }
    }
    return INVOCATION_READY;
}

/* ---- help ---- */

void verb_print_usage(const struct verb *verb, FILE *stream)
{
    fprintf(stream, "usage: %s %s [OPTION...]%s%s\n", program_name(), verb->name, verb->arguments[0] != '\0' ? " " : "",
            verb->arguments);
}

void verb_print_help(const struct verb *verb, FILE *stream)
{
    static struct rows rows;
    build_rows(&rows, verb);
    char name[OUTPUT_ESCAPED_MAX + 64], doc[2048];
    snprintf(name, sizeof name, "%s %s", program_name(), verb->name);
    snprintf(doc, sizeof doc, "%s.\v%s", verb->summary, verb->details != NULL ? verb->details : "");
    const char *arguments = verb->arguments[0] != '\0' ? verb->arguments : NULL;
    struct argp argp = {.options = rows.options, .parser = parse_key, .args_doc = arguments, .doc = doc};
    argp_help(&argp, stream, ARGP_HELP_SHORT_USAGE | ARGP_HELP_DOC | ARGP_HELP_LONG, name);
}

/* ---- numbers ---- */

static int complain_number(const struct invocation *invocation, enum program_option option, const char *expected)
{
    return complain("%s: --%s: '%s' is not %s", invocation->verb->name, option_rows[option].name,
                    escaped(invocation->options[option]), expected);
}

int option_integer(const struct invocation *invocation, enum program_option option, uint64_t initial, uint64_t minimum,
                   uint64_t maximum, uint64_t *out)
{
    const char *text = invocation->options[option];
    if (text == NULL) {
        *out = initial;
        return 0;
    }
    errno = 0;
    unsigned long long value = strtoull(text, NULL, 10);
    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0' || errno != 0 || value < minimum ||
        value > maximum) {
        char expected[96];
        snprintf(expected, sizeof expected, "a whole number from %llu to %llu", (unsigned long long)minimum,
                 (unsigned long long)maximum);
        return complain_number(invocation, option, expected);
    }
    *out = value;
    return 0;
}

int option_real(const struct invocation *invocation, enum program_option option, double initial, double minimum,
                double maximum, double *out)
{
    const char *text = invocation->options[option];
    if (text == NULL) {
        *out = initial;
        return 0;
    }
    size_t whole = strspn(text, "0123456789");
    size_t fraction = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;
    size_t length = whole + (text[whole] == '.' ? 1 + fraction : 0);
    double value = strtod(text, NULL);
    if (whole == 0 || (text[whole] == '.' && fraction == 0) || text[length] != '\0' || value < minimum ||
        value > maximum) {
        char expected[96];
        snprintf(expected, sizeof expected, "a plain decimal from %g to %g", minimum, maximum);
        return complain_number(invocation, option, expected);
    }
    *out = value;
    return 0;
}
