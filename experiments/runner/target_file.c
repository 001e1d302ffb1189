/* SPDX-License-Identifier: MIT
 *
 * Target files; see target.h and experiments/targets/README.md.
 *
 * How it works. Texts are kept as they are written, once each; what stands in them is checked by kind at once, so that
 * a fault has its line. What only the whole can show (no start, no port) is checked at the end.
 */
#include "runner/target.h"

#include "cli/ini_text.h"
#include "cli/memory.h"
#include "cli/value.h"

#include <stdlib.h>
#include <string.h>

#define BUILDING (PLACEHOLDER_BIT(folder) | PLACEHOLDER_BIT(build))
#define VARIABLE (PLACEHOLDERS_ALL & ~PLACEHOLDER_BIT(command))

static const char *const key_names[TARGET_KEY_COUNT] = {
#define TARGET_KEY_NAME(symbol, key) key,
    TARGET_KEYS(TARGET_KEY_NAME)
#undef TARGET_KEY_NAME
};

enum section { SECTION_NONE, SECTION_TARGET, SECTION_ENVIRONMENT, SECTION_FAULTY };

struct reading {
    struct target *target;
    struct faults faults;
    enum section section;
    uint32_t sections[SECTION_FAULTY + 1]; /* lines where they begin; 0: not yet */
    uint32_t keys[TARGET_KEY_COUNT];
    uint32_t variables[TARGET_VARIABLES_MAX];
    bool has_faulty_start; /* what it should have had is not asked for again */
};

void target_fini(struct target *target)
{
    for (int i = 0; i < TARGET_KEY_COUNT; i++)
        free(target->texts[i]);
    for (uint32_t i = 0; i < target->variable_count; i++) {
        free(target->variables[i].name);
        free(target->variables[i].value);
    }
    memset(target, 0, sizeof *target);
}

/* ---- the keys of [target] ---- */

/* Words with blanks between them, each of which holds; else a fault. */
static void check_words(struct faults *faults, const char *key, const char *text, bool (*holds)(const char *word),
                        const char *expected)
{
    char *copy = memory_copy_text(text), *rest = copy, *word;
    uint32_t count = 0;
    while ((word = strsep(&rest, " \t")) != NULL) {
        if (*word == '\0')
            continue;
        count++;
        if (!holds(word))
            fault(faults, "%s: found '%s', expected %s", key, escaped(word), expected);
    }
    if (count == 0)
        fault(faults, "%s: found no value, expected %s", key, expected);
    free(copy);
}

static bool is_word(const char *text)
{
    return is_printable(text) && strpbrk(text, "{}'\"") == NULL;
}

static bool is_variable_name(const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    return *text != '\0' && (*text < '0' || *text > '9') && text[strspn(text, letters)] == '\0';
}

/* In columns and pictures the model is the one without a target's name. */
static bool is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    return *text != '\0' && *text != '-' && strlen(text) < TARGET_NAME_SIZE && text[strspn(text, letters)] == '\0' &&
           !target_is_model(text);
}

static bool is_path(const char *text)
{
    for (const char *byte = text; *byte != '\0'; byte++) {
        if (*byte <= ' ' || *byte > '~')
            return false;
    }
    return *text == '/' && strlen(text) <= 1024;
}

static bool check_command(struct faults *faults, const char *key, const char *text, uint32_t allowed, uint32_t *used)
{
    char message[COMMAND_MESSAGE_SIZE];
    uint32_t found;
    bool holds = command_line_check(text, allowed, &found, message);
    if (!holds)
        fault(faults, "%s: %s", key, message);
    *used |= found;
    return holds;
}

static void check_workload(struct faults *faults, const char *text, bool *is_router)
{
    static const char *const words[] = {"echo", "router"};
    *is_router = strcmp(text, words[1]) == 0;
    if (!*is_router && strcmp(text, words[0]) != 0)
        fault(faults, "workload: found '%s'%s", escaped(text), hint(text, words, 2));
}

/* A time as the parameter `warmup` has it, in s. */
static double read_time(struct faults *faults, const char *key, const char *text)
{
    char normalised[PARAMETER_TEXT_SIZE] = "", message[FAULT_MESSAGE_SIZE];
    uint64_t billionths = 0;
    const char *rest;
    const struct parameter *warmup = &parameters[parameter_find("warmup")];
    if (parameter_parse(warmup, text, normalised, message, sizeof message) != 0)
        fault(faults, "%s: %s", key, message);
    else
        value_read(normalised, &billionths, &rest);
    return value_number(billionths);
}

static void check_key(struct reading *reading, enum target_key key, const char *value)
{
    struct target *target = reading->target;
    struct faults *faults = &reading->faults;
    uint32_t unused = 0;
    switch (key) {
    case TARGET_KEY_name:
        if (!is_name(value))
            fault(faults, "name: found '%s', expected 1 to %d small letters, digits and hyphens, not 'none'",
                  escaped(value), TARGET_NAME_SIZE - 1);
        else
            snprintf(target->name, sizeof target->name, "%s", value);
        break;
    case TARGET_KEY_description:
    case TARGET_KEY_install:
        if (*value == '\0' || !is_printable(value))
            fault(faults, "%s: found '%s', expected a line of text", key_names[key], escaped(value));
        break;
    case TARGET_KEY_workload:
        check_workload(faults, value, &target->is_router);
        break;
    case TARGET_KEY_requires:
        check_words(faults, "requires", value, is_word, "names of programs");
        break;
    case TARGET_KEY_pass:
        check_words(faults, "pass", value, is_variable_name, "names of variables");
        break;
    case TARGET_KEY_build:
    case TARGET_KEY_version:
        check_command(faults, key_names[key], value, BUILDING, &unused);
        break;
    case TARGET_KEY_start:
        reading->has_faulty_start = !check_command(faults, "start", value, PLACEHOLDERS_ALL, &target->placeholders);
        break;
    case TARGET_KEY_path:
        if (!is_path(value))
            fault(faults, "path: found '%s', expected what a request asks for, such as /ping", escaped(value));
        break;
    case TARGET_KEY_ready_within:
        target->ready_s = read_time(faults, "ready-within", value);
        break;
    case TARGET_KEY_warmup:
        target->warmup_s = read_time(faults, "warmup", value);
        break;
    case TARGET_KEY_COUNT:
        break;
    }
}

static void take_target_key(struct reading *reading, const char *key, const char *value)
{
    struct faults *faults = &reading->faults;
    for (int i = 0; i < TARGET_KEY_COUNT; i++) {
        if (strcmp(key_names[i], key) != 0)
            continue;
        if (reading->keys[i] != 0) {
            fault(faults, "found the key '%s' again, expected it once: the first is on line %u", key, reading->keys[i]);
            return;
        }
        reading->keys[i] = faults->line;
        reading->target->texts[i] = memory_copy_text(value);
        check_key(reading, i, value);
        return;
    }
    fault(faults, "found the unknown key '%s'%s", escaped(key), hint(key, key_names, TARGET_KEY_COUNT));
}

/* ---- [environment] ---- */

static void take_variable(struct reading *reading, const char *name, const char *value)
{
    struct target *target = reading->target;
    struct faults *faults = &reading->faults;
    char message[COMMAND_MESSAGE_SIZE];
    uint32_t used;
    for (uint32_t i = 0; i < target->variable_count; i++) {
        if (strcmp(target->variables[i].name, name) == 0) {
            fault(faults, "found the variable '%s' again, expected it once: the first is on line %u", escaped(name),
                  reading->variables[i]);
            return;
        }
    }
    if (!is_variable_name(name))
        fault(faults, "found the variable '%s', expected letters, digits and '_'", escaped(name));
    if (!placeholders_check(value, VARIABLE, &used, message))
        fault(faults, "%s: %s", escaped(name), message);
    target->placeholders |= used;
    if (target->variable_count == TARGET_VARIABLES_MAX) {
        fault(faults, "found more than %d variables, expected at most that many", TARGET_VARIABLES_MAX);
        return;
    }
    reading->variables[target->variable_count] = faults->line;
    target->variables[target->variable_count++] =
        (struct target_variable){memory_copy_text(name), memory_copy_text(value)};
}

/* ---- the text ---- */

static void enter_section(void *context, const char *name)
{
    static const char *const names[] = {"target", "environment"};
    struct reading *reading = context;
    reading->section = SECTION_FAULTY;
    if (name == NULL)
        return;
    for (enum section section = SECTION_TARGET; section <= SECTION_ENVIRONMENT; section++) {
        if (strcmp(names[section - SECTION_TARGET], name) != 0)
            continue;
        if (reading->sections[section] != 0) {
            fault(&reading->faults, "found [%s] again, expected it once: the first is on line %u", name,
                  reading->sections[section]);
            return;
        }
        reading->sections[section] = reading->faults.line;
        reading->section = section;
        return;
    }
    fault(&reading->faults, "found the unknown section [%s]%s", escaped(name), hint(name, names, 2));
}

static void take_key(void *context, const char *key, const char *value)
{
    struct reading *reading = context;
    if (reading->section == SECTION_TARGET)
        take_target_key(reading, key, value);
    else if (reading->section == SECTION_ENVIRONMENT)
        take_variable(reading, key, value);
}

/* A target without a name has that of its file, less the suffix. */
static void name_after_origin(struct reading *reading, const char *origin)
{
    const char *slash = strrchr(origin, '/');
    const char *stem = slash != NULL ? slash + 1 : origin;
    char name[TARGET_NAME_SIZE + 1];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(stem, "."), stem);
    if (is_name(name))
        memcpy(reading->target->name, name, TARGET_NAME_SIZE);
    else
        fault(&reading->faults,
              "found a file name that cannot name the target, expected the key name in [target]: small "
              "letters, digits and hyphens, not 'none'");
}

/* What only the whole shows. */
static void check_whole(struct reading *reading, const char *origin)
{
    const struct target *target = reading->target;
    struct faults *faults = &reading->faults;
    bool is_open = reading->has_faulty_start || (target->placeholders & PLACEHOLDER_BIT(command)) != 0;
    faults->line = reading->keys[TARGET_KEY_start];
    if (reading->sections[SECTION_TARGET] == 0) {
        faults->line = 0;
        fault(faults, "found no section [target], expected it with the key start");
    } else if (faults->line == 0) {
        faults->line = reading->sections[SECTION_TARGET];
        fault(faults, "found [target] without the key start, expected the command that starts the server");
    } else if ((target->placeholders & PLACEHOLDER_BIT(port)) == 0 && !is_open) {
        fault(faults,
              "found {port} neither in start nor in [environment], expected it: the server must be told where to "
              "listen");
    }
    if (target->is_router && (target->placeholders & PLACEHOLDER_BIT(control_port)) == 0 && !is_open)
        fault(faults, "found no {control-port}, expected it with workload router: the extension connects there");
    faults->line = 0;
    if (target->name[0] == '\0' && reading->keys[TARGET_KEY_name] == 0)
        name_after_origin(reading, origin);
}

int target_parse_text(const char *origin, const char *text, size_t size, FILE *stream, struct target *out)
{
    struct reading reading = {.target = out};
    faults_init(&reading.faults, stream, origin);
    *out = (struct target){.ready_s = TARGET_READY_INITIAL_S};
    const struct ini_text ini = {
        .faults = &reading.faults,
        .sections = "[target] or [environment]",
        .first = "[target]",
        .context = &reading,
        .section = enter_section,
        .key = take_key,
    };
    ini_text_read(&ini, text, size);
    check_whole(&reading, origin);
    if (reading.faults.count > 0)
        target_fini(out);
    return (int)reading.faults.count;
}

int target_parse_file(const char *path, FILE *stream, struct target *out)
{
    struct faults faults;
    size_t size;
    char elsewhere[128];
    faults_init(&faults, stream, path);
    snprintf(elsewhere, sizeof elsewhere, "; `%s list targets` shows those that come with the program", program_name());
    char *text = ini_text_file(path, "target file", elsewhere, &size, &faults);
    if (text == NULL)
        return (int)faults.count;
    int count = target_parse_text(path, text, size, stream, out);
    free(text);
    return count;
}
