/* SPDX-License-Identifier: MIT
 *
 * From an invocation to a measured sweep; see measure.h.
 */
#include "measure.h"

#include "output.h"
#include "results/output.h"
#include "runner/target.h"
#include "store_option.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

/* Events that each thread keeps for a trace when --trace is given and trace-events is not. */
#define TRACE_EVENTS_INITIAL "65536"

/* --set KEY=... and --KEY ... may not contradict each other. */
static int refuse_contradiction(const struct invocation *invocation)
{
    for (uint32_t i = 0; i < invocation->set_count; i++) {
        const char *set = invocation->sets[i];
        size_t length = strcspn(set, "=");
        if (set[length] == '\0')
            continue;
        const char *given = NULL;
        for (uint32_t p = 0; p < parameter_count; p++) {
            if (strlen(parameters[p].key) == length && strncmp(parameters[p].key, set, length) == 0)
                given = invocation->parameters[p];
        }
        if (length == strlen("repeats") && strncmp(set, "repeats", length) == 0)
            given = invocation->options[OPTION_repeats];
        if (given != NULL && strcmp(given, set + length + 1) != 0)
            return complain("%s: --set %s contradicts --%.*s %s; keep one", invocation->verb->name, escaped(set),
                            (int)length, set, escaped(given));
    }
    return 0;
}

int measure_override(const struct invocation *invocation, struct specification *specification)
{
    if (refuse_contradiction(invocation) != 0)
        return -1;
    int faults = 0;
    if (invocation->options[OPTION_quick] != NULL)
        specification_quick(specification);
    if (invocation->options[OPTION_repeats] != NULL)
        faults += specification_set(specification, "--repeats", "repeats", invocation->options[OPTION_repeats], stderr);
    for (uint32_t p = 0; p < parameter_count; p++) {
        if (invocation->parameters[p] == NULL)
            continue;
        char option[80];
        snprintf(option, sizeof option, "--%s", parameters[p].key);
        faults += specification_set(specification, option, parameters[p].key, invocation->parameters[p], stderr);
    }
    for (uint32_t i = 0; i < invocation->set_count; i++)
        faults += specification_set_text(specification, "--set", invocation->sets[i], stderr);
    if (faults == 0 && invocation->options[OPTION_trace] != NULL) {
        int index = parameter_find("trace-events");
        const struct specification_axis *axis = specification_axis(specification, 0, (uint32_t)index);
        if (axis == NULL || axis->count == 0)
            faults += specification_set(specification, "--trace", "trace-events", TRACE_EVENTS_INITIAL, stderr);
    }
    return faults == 0 ? 0 : -1;
}

static bool is_plain(const char *word)
{
    return word[0] != '\0' &&
           word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=+%")] == '\0';
}

void measure_again(const struct invocation *invocation, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "%s", program_name());
    for (int i = 0; i < invocation->word_count && used < size; i++) {
        const char *word = invocation->words[i];
        if (strcmp(word, "--resume") == 0)
            continue;
        if (is_plain(word)) {
            used += (size_t)snprintf(out + used, size - used, " %s", word);
            continue;
        }
        used += (size_t)snprintf(out + used, size - used, " '");
        for (; *word != '\0' && used < size; word++)
            used += (size_t)snprintf(out + used, size - used, *word == '\'' ? "'\\''" : "%c", *word);
        if (used < size)
            used += (size_t)snprintf(out + used, size - used, "'");
    }
    if (used < size)
        snprintf(out + used, size - used, " --resume");
}

static int draw_seed(uint64_t *out)
{
    if (getrandom(out, sizeof *out, 0) != (ssize_t)sizeof *out)
        return complain("no random seed from the kernel: %s; give one with --seed N", strerror(errno));
    *out &= PLAN_SEED_MAX;
    return 0;
}

/* ---- targets ---- */

/* Whether every point of the specification needs what is not here; each reason is a line. */
static bool nothing_is_here(const struct specification *specification, uint32_t parameter)
{
    bool any_here = false;
    for (uint32_t part = 0; part < specification_part_count(specification); part++) {
        const struct specification_axis *axis = specification_axis(specification, part, parameter);
        any_here |= axis == NULL;
        for (uint32_t i = 0; axis != NULL && i < axis->count; i++) {
            char message[TARGET_MESSAGE_SIZE];
            const struct target_use *use = target_find(axis->values[i]);
            any_here |= use == NULL || target_is_here(use, NULL, 0, message);
        }
    }
    return !any_here;
}

/* Whether a part before this one names the target as well: its faults were told then. */
static bool was_told(const struct specification *specification, uint32_t part, uint32_t parameter, const char *selector)
{
    for (uint32_t before = 0; before < part; before++) {
        const struct specification_axis *axis = specification_axis(specification, before, parameter);
        for (uint32_t i = 0; axis != NULL && i < axis->count; i++) {
            if (strcmp(axis->values[i], selector) == 0)
                return true;
        }
    }
    return false;
}

/* Writes the faults of the command, where the target takes one; returns how many. */
static int check_command(const struct specification *specification, uint32_t part, const struct target_use *use)
{
    const struct specification_axis *axis =
        specification_axis(specification, part, (uint32_t)parameter_find("command"));
    char message[COMMAND_MESSAGE_SIZE];
    uint32_t used;
    if (axis == NULL || (use->target.placeholders & PLACEHOLDER_BIT(command)) == 0)
        return 0;
    if (!command_line_check(axis->values[0], TARGET_COMMAND_PLACEHOLDERS, &used, message)) {
        fprintf(stderr, "command: %s\n", message);
        return 1;
    }
    if (((use->target.placeholders | used) & PLACEHOLDER_BIT(port)) == 0) {
        fprintf(stderr, "command: found no {port}, expected it: the server must be told where to listen\n");
        return 1;
    }
    return 0;
}

/* Whoever gives a command wants it measured, and not the model in its place. Returns how many faults were written. */
static int check_command_is_used(const struct specification *specification)
{
    const uint32_t target = (uint32_t)parameter_find("target"), command = (uint32_t)parameter_find("command");
    bool given = false, used = false;
    for (uint32_t part = 0; part < specification_part_count(specification); part++) {
        const struct specification_axis *axis = specification_axis(specification, part, target);
        if (specification_axis(specification, part, command) == NULL)
            continue;
        given = true;
        for (uint32_t i = 0; axis != NULL && i < axis->count; i++) {
            const struct target_use *use = target_find(axis->values[i]);
            used |= use != NULL && (use->target.placeholders & PLACEHOLDER_BIT(command)) != 0;
        }
    }
    if (!given || used)
        return 0;
    fprintf(stderr, "command: found no target that it is for, expected target=command or a file whose start line has "
                    "{command}\n");
    return 1;
}

int measure_check_targets(const struct specification *specification)
{
    uint32_t parameter = (uint32_t)parameter_find("target");
    int faults = 0;
    for (uint32_t part = 0; part < specification_part_count(specification); part++) {
        const struct specification_axis *axis = specification_axis(specification, part, parameter);
        for (uint32_t i = 0; axis != NULL && i < axis->count; i++) {
            const struct target_use *use = target_find(axis->values[i]);
            if (use != NULL)
                faults += check_command(specification, part, use);
            else if (!was_told(specification, part, parameter, axis->values[i]))
                faults += target_check(axis->values[i], stderr);
        }
    }
    if (faults == 0)
        faults = check_command_is_used(specification);
    if (faults > 0)
        return EXIT_USAGE;
    if (!nothing_is_here(specification, parameter))
        return EXIT_DONE;
    const struct specification_axis *axis = specification_axis(specification, 0, parameter);
    for (uint32_t i = 0; i < axis->count; i++) {
        char message[TARGET_MESSAGE_SIZE];
        if (!target_is_here(target_find(axis->values[i]), NULL, 0, message))
            complain("%s", message);
    }
    return EXIT_SURROUNDINGS;
}

/* Before anything is measured: can the trace be written, and would it replace something? */
static int check_trace(const struct invocation *invocation)
{
    const char *path = invocation->options[OPTION_trace];
    struct output output;
    char message[OUTPUT_MESSAGE_SIZE];
    if (path == NULL)
        return 0;
    if (output_open(&output, path, NULL, invocation->options[OPTION_force] != NULL, message) != 0)
        return complain("%s: --trace: %s", invocation->verb->name, message);
    output_discard(&output);
    return 0;
}

int measure(const struct invocation *invocation, const struct specification *specification, bool extra,
            int64_t *sweep_id)
{
    *sweep_id = 0;
    if (check_trace(invocation) != 0)
        return EXIT_USAGE;
    uint64_t seed;
    if (option_integer(invocation, OPTION_seed, 0, 0, PLAN_SEED_MAX, &seed) != 0)
        return EXIT_USAGE;
    bool seed_given = invocation->options[OPTION_seed] != NULL;
    if (!seed_given && draw_seed(&seed) != 0)
        return EXIT_SURROUNDINGS;
    int usable = measure_check_targets(specification);
    if (usable != EXIT_DONE)
        return usable;
    struct plan plan;
    if (plan_build(specification, seed, seed_given, stderr, &plan) != 0)
        return EXIT_USAGE;
    int status = EXIT_DONE;
    if (invocation->options[OPTION_show_plan] != NULL) {
        plan_print(&plan, stdout);
    } else {
        char again[4096];
        measure_again(invocation, again, sizeof again);
        struct sweep_options options = {
            .store_path = option_store_path(invocation),
            .resume = invocation->options[OPTION_resume] != NULL,
            .extra = extra,
            .hold = invocation->options[OPTION_hold] != NULL,
            .trace_path = invocation->options[OPTION_trace],
            .again = verb_takes(invocation->verb, OPTION_resume) ? again : NULL,
        };
        status = sweep_run(&plan, &options, sweep_id);
    }
    plan_fini(&plan);
    return status;
}
