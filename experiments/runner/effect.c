/* SPDX-License-Identifier: MIT
 *
 * Effect and meaning of parameters; see effect.h.
 */
#include "runner/effect.h"

#include "pilfer.h"
#include "runner/settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Knobs of which at least one must be there for the parameter to matter. */
static const struct {
    const char *key;
    uint32_t knobs;
} knobs_needed[] = {
    {"over", PILFER_KNOB_PARALLELISM}, {"parallelism", PILFER_KNOB_PARALLELISM}, {"idle", PILFER_KNOB_WORKERS},
    {"sizing", PILFER_KNOB_WORKERS},   {"min-workers", PILFER_KNOB_WORKERS},     {"max-workers", PILFER_KNOB_WORKERS},
    {"spin-limit", PILFER_KNOB_SPIN},
};

/* What a sizing whose limits do not move has no use for. */
static const char *const moving_only[] = {"max-completion-threads", "hill-climbing", "starvation-detection",
                                          "force-min-workers", "force-max-workers"};

/* What of the executor leaves a parameter without effect, or NULL. */
static const char *executor_takes(const struct configuration *configuration, const struct parameter *row)
{
    const char *key = row->key;
    for (size_t i = 0; i < sizeof knobs_needed / sizeof knobs_needed[0]; i++) {
        if (strcmp(knobs_needed[i].key, key) == 0 && (settings_knobs(configuration) & knobs_needed[i].knobs) == 0)
            return "scheduler";
    }
    if ((row->flags & PARAMETER_TUNABLE) != 0 && !settings_has_tunable(configuration, key))
        return "scheduler";
    for (size_t i = 0; i < sizeof moving_only / sizeof moving_only[0]; i++) {
        if (strcmp(moving_only[i], key) == 0 && !settings_moves_limits(configuration))
            return configuration_is_default(configuration, "sizing") ? "scheduler" : "sizing";
    }
    return NULL;
}

/* Whether the idle policy of this name spins; true for an unknown one. */
static bool idle_spins(const char *name)
{
    struct pilfer_entry entry;
    for (uint32_t i = 0; name != NULL && pilfer_entry(PILFER_KIND_IDLE, i, &entry); i++) {
        if (strcmp(entry.name, name) == 0)
            return (entry.knobs & PILFER_KNOB_SPIN) != 0;
    }
    return true;
}

const char *effect_taken_by(const struct configuration *configuration, uint32_t parameter,
                            const struct result *resolved)
{
    const struct parameter *row = &parameters[parameter];
    const bool has_target = settings_target(configuration) != NULL;
    if (has_target && !settings_target_takes(configuration, row->key))
        return "target";
    if (!has_target && strcmp(row->key, "command") == 0)
        return "target";
    if (!parameter_in_scope(row, settings_workload(configuration)))
        return has_target ? "target" : "workload";
    if (strcmp(row->key, "cores") == 0)
        return strcmp(configuration_text(configuration, "machine"), "simulated") == 0 ? NULL : "machine";
    if (strcmp(row->key, "rate") == 0 || strcmp(row->key, "arrivals") == 0)
        return settings_is_paced(configuration) ? NULL : "mode";
    if (has_target)
        return NULL;
    const char *taken_by = executor_takes(configuration, row);
    if (taken_by != NULL)
        return taken_by;
    if (strcmp(row->key, "spin-limit") == 0 && resolved != NULL && !idle_spins(result_get_text(resolved, "idle")))
        return "idle";
    return NULL;
}

void effect_value(const struct configuration *configuration, uint32_t parameter, const struct result *resolved,
                  char *out)
{
    const struct parameter *row = &parameters[parameter];
    const char *text = configuration->values[parameter];
    char name[80];
    double number;
    snprintf(out, PARAMETER_TEXT_SIZE, "%s", text);
    bool is_zero_minimum = strcmp(row->key, "min-workers") == 0 && strcmp(text, "0") == 0; /* means 1 */
    if (!is_zero_minimum && (!(row->flags & PARAMETER_DEFAULT_WORD) || strcmp(text, "default") != 0))
        return;
    snprintf(name, sizeof name, "%s_resolved", row->column);
    const char *meaning = result_get_text(resolved, name);
    if (meaning == NULL && row->type == PARAMETER_NAME)
        meaning = result_get_text(resolved, row->column);
    if (meaning != NULL)
        snprintf(out, PARAMETER_TEXT_SIZE, "%s", meaning);
    else if (result_get_number(resolved, name, &number) && number == floor(number) && fabs(number) < 1e15)
        snprintf(out, PARAMETER_TEXT_SIZE, "%.0f", number);
}
