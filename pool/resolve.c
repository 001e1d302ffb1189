/* SPDX-License-Identifier: MIT
 *
 * What options mean: names looked up, pairs admitted or refused, defaults replaced by values, the label made.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pool.h"

#if defined(__aarch64__) || defined(__arm__)
enum { SPIN_LIMIT_DEFAULT = 280 };
#else
enum { SPIN_LIMIT_DEFAULT = 70 };
#endif

__attribute__((format(printf, 3, 4))) static int refuse(int status, char *message, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, PILFER_MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    return status;
}

static bool admits_idle(const struct scheduler *scheduler, const char *idle)
{
    if (scheduler->idles == NULL)
        return true;
    for (const char *const *name = scheduler->idles; *name != NULL; name++)
        if (strcmp(*name, idle) == 0)
            return true;
    return false;
}

bool pilfer_admits(const char *scheduler_name, const char *policy)
{
    const struct scheduler *scheduler = registry_scheduler(scheduler_name);
    if (scheduler == NULL)
        return false;
    if (registry_idle(policy) != NULL)
        return admits_idle(scheduler, policy);
    return registry_sizing(policy) != NULL;
}

/* 0, or -EINVAL when the table of that name breaks the contract. */
static int check_table(enum pilfer_kind kind, const char *what, const char *name, char *message)
{
    const char *fault = registry_fault(kind, name);
    return fault == NULL ? 0 : refuse(-EINVAL, message, "%s %s cannot be used: %s", what, name, fault);
}

static int resolve_names(const struct pilfer_options *options, struct resolution *out, char *message)
{
    const char *name = options->scheduler != NULL ? options->scheduler : "";
    out->bound = registry_bound(name);
    if (out->bound != NULL)
        name = options->over != NULL ? options->over : PILFER_OVER_DEFAULT;
    else if (options->over != NULL)
        return refuse(-EINVAL, message, "%s is not a bound: it stands over nothing", name);
    out->scheduler = registry_scheduler(name);
    if (out->scheduler == NULL)
        return refuse(-ENOENT, message, "unknown scheduler '%s'", name);
    int status = check_table(PILFER_KIND_SCHEDULER, "scheduler", name, message);
    if (status == 0 && out->bound != NULL)
        status = check_table(PILFER_KIND_BOUND, "bound", options->scheduler, message);
    if (status != 0)
        return status;
    const char *idle = options->idle != NULL ? options->idle : out->scheduler->idle;
    const char *sizing = options->sizing != NULL ? options->sizing : out->scheduler->sizing;
    out->idle = registry_idle(idle);
    if (out->idle == NULL)
        return refuse(-ENOENT, message, "unknown idle policy '%s'", idle);
    out->sizing = registry_sizing(sizing);
    if (out->sizing == NULL)
        return refuse(-ENOENT, message, "unknown sizing policy '%s'", sizing);
    status = check_table(PILFER_KIND_IDLE, "idle policy", idle, message);
    if (status == 0)
        status = check_table(PILFER_KIND_SIZING, "sizing policy", sizing, message);
    if (status != 0)
        return status;
    if (!admits_idle(out->scheduler, idle))
        return refuse(-EINVAL, message, "scheduler %s does not admit idle policy %s", out->scheduler->name, idle);
    return 0;
}

/* What is set of a tunable whose initial value is 0. */
static uint64_t setting_of(const struct pilfer_options *options, const char *name)
{
    for (uint32_t i = 0; i < options->setting_count; i++)
        if (strcmp(options->settings[i].name, name) == 0)
            return options->settings[i].value;
    return 0;
}

uint32_t resolve_processors(const struct pilfer_options *options)
{
    uint64_t processors = setting_of(options, "processors");
    return processors != 0 ? (uint32_t)processors : platform_usable_cpus();
}

/* Limits are forced as they are written, or not at all. */
static int check_forced(const struct pilfer_options *options, uint32_t maximum, char *message)
{
    static const char *const names[] = {"force-min-workers", "force-max-workers"};
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint64_t forced = setting_of(options, names[i]);
        if (forced > maximum)
            return refuse(-EINVAL, message, "%s %llu is above max-workers %u", names[i], (unsigned long long)forced,
                          maximum);
    }
    return 0;
}

static int resolve_limits(const struct pilfer_options *options, struct resolution *out, char *message)
{
    struct pilfer_resolved *resolved = &out->resolved;
    if (options->max_workers > PILFER_WORKERS_MAX)
        return refuse(-EINVAL, message, "max-workers %u is above %u", options->max_workers, PILFER_WORKERS_MAX);
    bool has_workers = (out->scheduler->caps & SCHEDULER_RUNS_IN_SUBMITTER) == 0;
    uint32_t minimum = options->min_workers, maximum = options->max_workers;
    out->sizing->limits(resolve_processors(options), &minimum, &maximum);
    if (options->min_workers == 0 && (out->scheduler->caps & SCHEDULER_STARTS_ALL) != 0 && !out->sizing->starts_late)
        minimum = maximum;
    if (minimum > maximum)
        return refuse(-EINVAL, message, "min-workers %u is above max-workers %u", minimum, maximum);
    if (out->sizing->set_maximum != NULL && check_forced(options, maximum, message) != 0)
        return -EINVAL;
    if (options->spin_limit != PILFER_SPIN_LIMIT_DEFAULT && options->spin_limit > PILFER_SPIN_LIMIT_MAX)
        return refuse(-EINVAL, message, "spin-limit %u is above %u", options->spin_limit, PILFER_SPIN_LIMIT_MAX);
    out->spin_limit = options->spin_limit;
    if (options->spin_limit == PILFER_SPIN_LIMIT_DEFAULT)
        out->spin_limit = out->idle->spin_limit != 0 ? out->idle->spin_limit : SPIN_LIMIT_DEFAULT;
    resolved->min_workers = has_workers ? minimum : 0;
    resolved->max_workers = has_workers ? maximum : 0;
    resolved->spin_limit = has_workers && out->idle->spins ? out->spin_limit : 0;
    uint32_t parallelism = options->parallelism != 0 ? options->parallelism : has_workers ? maximum : 1;
    if (parallelism > PILFER_WORKERS_MAX)
        return refuse(-EINVAL, message, "parallelism %u is above %u", parallelism, PILFER_WORKERS_MAX);
    resolved->parallelism = out->bound != NULL ? parallelism : 0;
    return 0;
}

static int check_settings(const struct pilfer_options *options, const struct resolution *out, char *message)
{
    for (uint32_t i = 0; i < options->setting_count; i++) {
        const struct pilfer_setting *setting = &options->settings[i];
        const struct scheduler_parameter *p = out->scheduler->parameters;
        while (p != NULL && p->name != NULL && strcmp(p->name, setting->name) != 0)
            p++;
        if (p == NULL || p->name == NULL)
            return refuse(-EINVAL, message, "scheduler %s has no tunable '%s'", out->scheduler->name, setting->name);
        if (setting->value < p->minimum || setting->value > p->maximum)
            return refuse(-EINVAL, message, "%s %llu is not in %llu to %llu", p->name,
                          (unsigned long long)setting->value, (unsigned long long)p->minimum,
                          (unsigned long long)p->maximum);
    }
    return 0;
}

/* "+request-cap=2" for each tunable that departs from the published pool. Processors are a matter of the machine. */
static void label_tunables(const struct pilfer_options *options, struct resolution *out)
{
    char *label = out->resolved.label;
    const struct scheduler_parameter *p = out->scheduler->published ? out->scheduler->parameters : NULL;
    for (; p != NULL && p->name != NULL; p++) {
        uint64_t value = p->initial;
        for (uint32_t i = 0; i < options->setting_count; i++)
            if (strcmp(options->settings[i].name, p->name) == 0)
                value = options->settings[i].value;
        size_t length = strlen(label);
        if (value != p->initial && strcmp(p->name, "processors") != 0)
            snprintf(label + length, sizeof(out->resolved.label) - length, "+%s=%llu", p->name,
                     (unsigned long long)value);
    }
}

static void make_label(const struct pilfer_options *options, struct resolution *out)
{
    struct pilfer_resolved *resolved = &out->resolved;
    const char *idle = strcmp(out->idle->name, out->scheduler->idle) != 0 ? out->idle->name : NULL;
    const char *sizing = strcmp(out->sizing->name, out->scheduler->sizing) != 0 ? out->sizing->name : NULL;
    snprintf(resolved->label, sizeof(resolved->label), "%s%s%s%s%s%s%s", out->bound != NULL ? out->bound->name : "",
             out->bound != NULL ? "/" : "", out->scheduler->name, idle != NULL ? "+" : "", idle != NULL ? idle : "",
             sizing != NULL ? "+" : "", sizing != NULL ? sizing : "");
    label_tunables(options, out);
}

int resolve(const struct pilfer_options *options, struct resolution *out, char *message)
{
    memset(out, 0, sizeof(*out));
    int status = resolve_names(options, out, message);
    if (status == 0)
        status = check_settings(options, out, message);
    if (status == 0)
        status = resolve_limits(options, out, message);
    if (status != 0)
        return status;
    struct pilfer_resolved *resolved = &out->resolved;
    resolved->scheduler = out->bound != NULL ? out->bound->name : out->scheduler->name;
    resolved->over = out->bound != NULL ? out->scheduler->name : NULL;
    resolved->idle = out->idle->name;
    resolved->sizing = out->sizing->name;
    make_label(options, out);
    return 0;
}

int pilfer_resolve(const struct pilfer_options *options, struct pilfer_resolved *out, char *message)
{
    struct resolution resolution;
    int status = resolve(options, &resolution, message);
    if (status == 0)
        *out = resolution.resolved;
    return status;
}
