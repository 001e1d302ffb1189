/* SPDX-License-Identifier: MIT
 *
 * From parameter texts to the options of the executor; see settings.h.
 *
 * Limits. Where the sizing moves (hill-climbing), min-workers, max-workers and max-completion-threads are the calls of
 * the published runtime: the executor is opened with its own limits, and SetMinThreads and SetMaxThreads follow in this
 * order, each only if one of its numbers is given. What a call would do is known before: the rules are plain functions
 * (sizing/thread_limits.h). A call that would be refused makes the configuration unusable. The original returns false
 * and goes on with the limits that it had, and a figure measured then would stand under numbers that were not in force.
 */
#include "settings.h"

#include <stdio.h>
#include <string.h>

#include "sizing/thread_limits.h"

static const char *name_or_null(const struct configuration *configuration, const char *key)
{
    const char *text = configuration_text(configuration, key);
    return *text == '\0' || configuration_is_default(configuration, key) ? NULL : text;
}

static bool find_entry(enum pilfer_kind kind, const char *name, struct pilfer_entry *out)
{
    for (uint32_t i = 0; pilfer_entry(kind, i, out); i++) {
        if (strcmp(out->name, name) == 0)
            return true;
    }
    return false;
}

static bool is_bound(const struct configuration *configuration)
{
    struct pilfer_entry entry;
    return find_entry(PILFER_KIND_BOUND, configuration_text(configuration, "scheduler"), &entry);
}

uint32_t settings_knobs(const struct configuration *configuration)
{
    const char *name = configuration_text(configuration, "scheduler");
    const char *over = name_or_null(configuration, "over");
    struct pilfer_entry entry, below;
    if (find_entry(PILFER_KIND_SCHEDULER, name, &entry))
        return entry.knobs;
    if (!find_entry(PILFER_KIND_BOUND, name, &entry))
        return 0;
    bool found = find_entry(PILFER_KIND_SCHEDULER, over != NULL ? over : PILFER_OVER_DEFAULT, &below);
    return entry.knobs | (found ? below.knobs : 0);
}


/* ---- tunables ---- */

static const char *pool_of(const struct configuration *configuration)
{
    const char *over = name_or_null(configuration, "over");
    if (!is_bound(configuration))
        return configuration_text(configuration, "scheduler");
    return over != NULL ? over : PILFER_OVER_DEFAULT;
}

bool settings_has_tunable(const struct configuration *configuration, const char *key)
{
    struct pilfer_tunable tunable;
    for (uint32_t i = 0; pilfer_tunable(pool_of(configuration), i, &tunable); i++) {
        if (strcmp(tunable.name, key) == 0)
            return true;
    }
    return false;
}

uint32_t settings_processors(const struct configuration *configuration)
{
    return configuration_is_default(configuration, "processors") ? settings_router_cpus(configuration)
                                                                 : settings_whole(configuration, "processors");
}

static void set_tunables(const struct configuration *configuration, struct executor_settings *out)
{
    struct pilfer_tunable tunable;
    uint32_t count = 0;
    for (uint32_t i = 0; count < SETTINGS_TUNABLES_MAX && pilfer_tunable(pool_of(configuration), i, &tunable); i++) {
        if (parameter_find(tunable.name) < 0)
            continue;
        bool is_processors = strcmp(tunable.name, "processors") == 0;
        out->tunables[count++] = (struct pilfer_setting){
            tunable.name,
            is_processors ? settings_processors(configuration) : settings_whole(configuration, tunable.name)};
    }
    out->options.setting_count = count;
    out->options.settings = out->tunables;
}

static uint64_t tunable_value(const struct executor_settings *settings, const char *name)
{
    for (uint32_t i = 0; i < settings->options.setting_count; i++) {
        if (strcmp(settings->tunables[i].name, name) == 0)
            return settings->tunables[i].value;
    }
    return 0;
}

/* ---- limits ---- */

static bool sizing_moves(const char *name)
{
    struct pilfer_entry entry;
    return name != NULL && find_entry(PILFER_KIND_SIZING, name, &entry) && (entry.knobs & PILFER_KNOB_LIMITS) != 0;
}

bool settings_moves_limits(const struct configuration *configuration)
{
    struct pilfer_resolved resolved;
    char message[PILFER_MESSAGE_SIZE];
    const struct pilfer_options names = {
        .scheduler = configuration_text(configuration, "scheduler"),
        .over = is_bound(configuration) ? name_or_null(configuration, "over") : NULL,
        .idle = name_or_null(configuration, "idle"),
        .sizing = name_or_null(configuration, "sizing"),
    };
    return (settings_knobs(configuration) & PILFER_KNOB_WORKERS) != 0 &&
           pilfer_resolve(&names, &resolved, message) == 0 && sizing_moves(resolved.sizing);
}

/* The numbers that the calls are to set; what is not given stays as it is. min-workers that is not given yields to
 * max-workers, as it does where a pool is opened with both. */
static void plan_calls(const struct configuration *configuration, struct executor_settings *out)
{
    const struct thread_limits *now = &out->limits;
    bool has_minimum = !configuration_is_default(configuration, "min-workers");
    bool has_maximum = !configuration_is_default(configuration, "max-workers");
    struct pilfer_limits minimum = now->minimum, maximum = now->maximum;
    if (has_maximum)
        maximum.workers = (int32_t)settings_whole(configuration, "max-workers");
    if (!configuration_is_default(configuration, "max-completion-threads"))
        maximum.completion_threads = (int32_t)settings_whole(configuration, "max-completion-threads");
    if (has_minimum)
        minimum.workers = (int32_t)settings_whole(configuration, "min-workers");
    else if (maximum.workers < minimum.workers)
        minimum.workers = maximum.workers;
    out->calls_minimum = has_minimum || minimum.workers != now->minimum.workers;
    out->calls_maximum = has_maximum || maximum.completion_threads != now->maximum.completion_threads;
    out->minimum = minimum;
    out->maximum = maximum;
}

static int refuse_call(const struct executor_settings *settings, bool is_minimum, char *message)
{
    const struct thread_limits *now = &settings->limits;
    int32_t forced = is_minimum ? now->forced_minimum : now->forced_maximum;
    const struct pilfer_limits *asked = is_minimum ? &settings->minimum : &settings->maximum;
    char why[64];
    if (forced > 0)
        snprintf(why, sizeof why, "force-%s-workers is %d", is_minimum ? "min" : "max", forced);
    else
        snprintf(why, sizeof why, "%s-workers is %d", is_minimum ? "max" : "min",
                 is_minimum ? now->maximum.workers : now->minimum.workers);
    snprintf(message, PILFER_MESSAGE_SIZE, "%s-workers %d: the published runtime refuses Set%sThreads(%d, %d), as %s",
             is_minimum ? "min" : "max", asked->workers, is_minimum ? "Min" : "Max", asked->workers,
             asked->completion_threads, why);
    return -1;
}

/* Makes the calls on the rules alone: what will be in force. */
static int make_calls(struct executor_settings *settings, char *message)
{
    int32_t goal = settings->limits.minimum.workers;
    if (settings->calls_minimum && !thread_limits_set_minimum(&settings->limits, settings->minimum, &goal))
        return refuse_call(settings, true, message);
    if (settings->calls_maximum && !thread_limits_set_maximum(&settings->limits, settings->maximum, &goal))
        return refuse_call(settings, false, message);
    return 0;
}

static int settle_limits(const struct configuration *configuration, const struct pilfer_resolved *resolved,
                         struct executor_settings *out, char *message)
{
    thread_limits_init(&out->limits,
                       &(struct thread_limits_start){
                           .minimum = (int32_t)resolved->min_workers,
                           .maximum = (int32_t)resolved->max_workers,
                           .possible = (int32_t)resolved->max_workers,
                           .forced_minimum = (int32_t)tunable_value(out, "force-min-workers"),
                           .forced_maximum = (int32_t)tunable_value(out, "force-max-workers"),
                       });
    out->moves = true;
    plan_calls(configuration, out);
    return make_calls(out, message);
}

int settings_apply_limits(const struct executor_settings *settings, struct pilfer_executor *executor)
{
    int status = settings->calls_minimum ? pilfer_set_min_workers(executor, settings->minimum) : 0;
    return status == 0 && settings->calls_maximum ? pilfer_set_max_workers(executor, settings->maximum) : status;
}

/* ---- the whole ---- */

int settings_resolve(const struct executor_settings *settings, struct pilfer_resolved *out, char *message)
{
    if (pilfer_resolve(&settings->options, out, message) != 0)
        return -1;
    if (settings->moves) {
        out->min_workers = (uint32_t)settings->limits.minimum.workers;
        out->max_workers = (uint32_t)settings->limits.maximum.workers;
    }
    return 0;
}

int settings_executor(const struct configuration *configuration, uint64_t seed, struct executor_settings *out,
                      char *message)
{
    bool bound = is_bound(configuration), moves = settings_moves_limits(configuration);
    *out = (struct executor_settings){
        .options =
            {
                .scheduler = configuration_text(configuration, "scheduler"),
                .over = bound ? name_or_null(configuration, "over") : NULL,
                .idle = name_or_null(configuration, "idle"),
                .sizing = name_or_null(configuration, "sizing"),
                .min_workers = moves ? 0 : settings_whole(configuration, "min-workers"),
                .max_workers = moves ? 0 : settings_whole(configuration, "max-workers"),
                .spin_limit = configuration_is_default(configuration, "spin-limit")
                                  ? PILFER_SPIN_LIMIT_DEFAULT
                                  : (uint32_t)configuration_number(configuration, "spin-limit"),
                .parallelism = bound ? settings_whole(configuration, "parallelism") : 0,
                .seed = seed,
                .trace_events = settings_whole(configuration, "trace-events"),
            },
    };
    set_tunables(configuration, out);
    struct pilfer_resolved resolved;
    if (pilfer_resolve(&out->options, &resolved, message) != 0)
        return -1;
    if (moves) {
        if (settle_limits(configuration, &resolved, out, message) != 0)
            return -1;
        if (bound && out->options.parallelism == 0)
            out->options.parallelism = (uint32_t)out->limits.maximum.workers;
        return 0;
    }
    /* The library looks at the CPUs of the calling process; the process under test may have fewer. */
    if (out->options.max_workers == 0 && (settings_knobs(configuration) & PILFER_KNOB_WORKERS) != 0) {
        uint32_t cpus = settings_has_tunable(configuration, "processors") ? settings_processors(configuration)
                                                                          : settings_router_cpus(configuration);
        out->options.max_workers = cpus > out->options.min_workers ? cpus : out->options.min_workers;
    }
    return 0;
}
