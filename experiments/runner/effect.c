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

/* What of the executor leaves a parameter without effect, or NULL. */
static const char *executor_takes(const struct configuration *configuration, const struct parameter *row)
{
    static const struct {
        uint32_t flag, knob;
    } needs[] = {
        {PARAMETER_WORKERS, PILFER_KNOB_WORKERS},
        {PARAMETER_SPIN, PILFER_KNOB_SPIN},
        {PARAMETER_PARALLELISM, PILFER_KNOB_PARALLELISM},
    };
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        if ((row->flags & needs[i].flag) != 0 && (settings_knobs(configuration) & needs[i].knob) == 0)
            return "scheduler";
    }
    if ((row->flags & PARAMETER_TUNABLE) != 0 && !settings_has_tunable(configuration, row->key))
        return "scheduler";
    if ((row->flags & PARAMETER_LIMITS) != 0 && !settings_moves_limits(configuration))
        return configuration_is_default(configuration, "sizing") ? "scheduler" : "sizing";
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
