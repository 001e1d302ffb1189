/* SPDX-License-Identifier: MIT
 *
 * What a configuration means on this machine: the columns that are known before anything is measured.
 *
 * How it works. The fixed columns are set one by one; every other parameter of a cell's identity that has an effect
 * here becomes a setting under its column's name, as the user wrote it. A parameter without effect (a knob that the
 * executor lacks, a parameter of another workload, the rate of a closed loop) stays unknown. Where a default hides a
 * decision, a second column NAME_resolved says what it meant.
 */
#include "cell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "effect.h"
#include "settings.h"

static void set_word(const struct configuration *configuration, struct result *result, enum result_column column,
                     const char *key)
{
    result_set_text(result, column, configuration_text(configuration, key));
}

static void set_executor(const struct configuration *configuration, const struct executor_settings *settings,
                         const struct pilfer_resolved *resolved, struct result *result)
{
    uint32_t knobs = settings_knobs(configuration);
    result_set_text(result, RESULT_label, resolved->label);
    set_word(configuration, result, RESULT_scheduler, "scheduler");
    if (resolved->over != NULL)
        result_set_text(result, RESULT_over, resolved->over);
    if (resolved->idle != NULL)
        result_set_text(result, RESULT_idle, resolved->idle);
    if (resolved->sizing != NULL)
        result_set_text(result, RESULT_sizing, resolved->sizing);
    if ((knobs & PILFER_KNOB_WORKERS) != 0) {
        set_word(configuration, result, RESULT_min_workers, "min-workers");
        set_word(configuration, result, RESULT_max_workers, "max-workers");
        result_set_number(result, RESULT_max_workers_resolved, resolved->max_workers);
        result_add_number(result, "min_workers_resolved", resolved->min_workers);
    }
    if ((knobs & PILFER_KNOB_SPIN) != 0) {
        set_word(configuration, result, RESULT_spin_limit, "spin-limit");
        result_set_number(result, RESULT_spin_limit_resolved, resolved->spin_limit);
    }
    if ((knobs & PILFER_KNOB_PARALLELISM) != 0) {
        set_word(configuration, result, RESULT_parallelism, "parallelism");
        result_add_number(result, "parallelism_resolved", resolved->parallelism);
    }
    if (settings->moves)
        result_add_number(result, "max_completion_threads_resolved", settings->limits.maximum.completion_threads);
    if (settings_has_tunable(configuration, "processors"))
        result_add_number(result, "processors_resolved", settings_processors(configuration));
}

/* A knob of a target means what it says; what its default means only the target knows. */
static void set_knob(const struct configuration *configuration, struct result *result, const char *key,
                     enum result_column word, const char *resolved)
{
    int column = result_column_find(resolved);
    if (!settings_target_takes(configuration, key))
        return;
    set_word(configuration, result, word, key);
    const char *text = settings_target_knob(configuration, key);
    if (text == NULL)
        return;
    const double number = (double)strtoul(text, NULL, 10);
    if (column >= 0)
        result_set_number(result, (enum result_column)column, number);
    else
        result_add_number(result, resolved, number);
}

static void set_target(const struct configuration *configuration, const struct target_use *use, struct result *result)
{
    result_set_text(result, RESULT_label, use->target.name);
    result_set_text(result, RESULT_target, use->target.name);
    set_knob(configuration, result, "min-workers", RESULT_min_workers, "min_workers_resolved");
    set_knob(configuration, result, "max-workers", RESULT_max_workers, "max_workers_resolved");
    set_knob(configuration, result, "spin-limit", RESULT_spin_limit, "spin_limit_resolved");
    if (settings_target_takes(configuration, "processors") && !configuration_is_default(configuration, "processors"))
        result_add_number(result, "processors_resolved", settings_processors(configuration));
}

static void set_workload(const struct configuration *configuration, struct result *result)
{
    bool networked = settings_is_networked(configuration), paced = settings_is_paced(configuration);
    result_set_text(result, RESULT_workload, settings_workload(configuration));
    result_set_text(result, RESULT_mode, paced ? "paced" : "closed");
    if (networked) {
        result_set_number(result, RESULT_connections, configuration_number(configuration, "connections"));
        if (paced)
            result_set_number(result, RESULT_rate_rps, configuration_number(configuration, "rate"));
    } else if (paced) {
        result_set_number(result, RESULT_rate_rps,
                          configuration_number(configuration, "submitters") /
                              configuration_number(configuration, "period"));
    }
    if (settings_has_extension(configuration)) {
        result_add_setting(result, "extension_mode_resolved",
                           settings_extension_mode_name(settings_extension_mode(configuration)));
        result_add_number(result, "extension_us_resolved", settings_extension_us(configuration));
        result_add_number(result, "channels_resolved", settings_channels(configuration));
    }
}

/* True if a parameter that is no fixed column has an effect in this configuration. */
static bool is_setting(const struct configuration *configuration, const struct parameter *parameter)
{
    if ((parameter->flags & PARAMETER_IDENTITY) == 0 || result_column_find(parameter->column) >= 0)
        return false;
    const bool has_target = settings_target(configuration) != NULL;
    if (!parameter_in_scope(parameter, settings_workload(configuration)))
        return false;
    if (has_target ? !settings_target_takes(configuration, parameter->key) : strcmp(parameter->key, "command") == 0)
        return false;
    bool is_of_pool =
        (parameter->flags & PARAMETER_TUNABLE) != 0 || strcmp(parameter->key, "max-completion-threads") == 0;
    if (is_of_pool && effect_taken_by(configuration, (uint32_t)(parameter - parameters), NULL) != NULL)
        return false;
    /* only the paced mode has arrivals of its own */
    return strcmp(parameter->key, "arrivals") != 0 || settings_is_paced(configuration);
}

static void set_settings(const struct configuration *configuration, struct result *result)
{
    for (uint32_t i = 0; i < parameter_count; i++) {
        const char *text = configuration_text(configuration, parameters[i].key);
        if (*text != '\0' && is_setting(configuration, &parameters[i]))
            result_add_setting(result, parameters[i].column, text);
    }
}

/* Whether a server is started that is told its port: by its file, or by a command where the file asks for one. */
static bool has_start(const struct configuration *configuration, const struct target_use *use)
{
    uint32_t used = use->target.placeholders;
    char fault[COMMAND_MESSAGE_SIZE];
    if ((used & PLACEHOLDER_BIT(command)) != 0 &&
        !command_line_check(configuration_text(configuration, "command"), TARGET_COMMAND_PLACEHOLDERS, &used, fault))
        return false;
    return ((use->target.placeholders | used) & PLACEHOLDER_BIT(port)) != 0;
}

/* A target that cannot be started here is refused before anything is; message has CELL_MESSAGE_SIZE bytes. */
static bool target_is_usable(const struct configuration *configuration, const struct target_use *use, char *message)
{
    const char *selector = configuration_text(configuration, "target");
    char fault[TARGET_MESSAGE_SIZE];
    if (use == NULL) {
        snprintf(message, CELL_MESSAGE_SIZE, "target %s: its file cannot be read or has faults", selector);
        return false;
    }
    if (!target_is_here(use, NULL, 0, fault)) {
        snprintf(message, CELL_MESSAGE_SIZE, "%s", fault);
        return false;
    }
    if (!has_start(configuration, use)) {
        snprintf(message, CELL_MESSAGE_SIZE, "target %s: it needs --command 'PROGRAM ...%s'", selector,
                 (use->target.placeholders & PLACEHOLDER_BIT(port)) != 0 ? "" : " {port}");
        return false;
    }
    return true;
}

int cell_resolve(const struct configuration *configuration, struct result *result, char *message)
{
    struct executor_settings settings;
    struct pilfer_resolved resolved;
    if (strcmp(configuration_text(configuration, "machine"), "real") != 0) {
        snprintf(message, CELL_MESSAGE_SIZE, "machine %s: this build measures the real machine only",
                 configuration_text(configuration, "machine"));
        return -1;
    }
    const struct target_use *use = settings_target(configuration);
    if (!target_is_model(configuration_text(configuration, "target"))) {
        if (!target_is_usable(configuration, use, message))
            return -1;
        set_target(configuration, use, result);
    } else {
        if (settings_executor(configuration, 0, &settings, message) != 0 ||
            settings_resolve(&settings, &resolved, message) != 0)
            return -1;
        set_executor(configuration, &settings, &resolved, result);
    }
    result_set_text(result, RESULT_machine, "real");
    result_set_number(result, RESULT_cores, platform_usable_cpus());
    set_workload(configuration, result);
    result_set_number(result, RESULT_duration_s, configuration_number(configuration, "duration"));
    result_set_number(result, RESULT_warmup_s, settings_warmup_s(configuration));
    set_settings(configuration, result);
    return 0;
}
