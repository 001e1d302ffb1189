/* SPDX-License-Identifier: MIT
 *
 * From parameter texts to options; see settings.h.
 */
#include "settings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From this many CPUs up, router, extension and clients do not have to share: the extension may burn as published. */
#define BURN_CPUS_MIN 4
/* Service time of the extension in us. Published for burning; for delaying, what keeps 10 connections at some 2,500
 * requests/s, which two CPUs carry at every setting. */
#define BURN_US  53
#define DELAY_US 400

uint32_t settings_whole(const struct configuration *configuration, const char *key)
{
    return configuration_is_default(configuration, key) ? 0 : (uint32_t)configuration_number(configuration, key);
}

/* A CPU's number at *text, which is moved behind it; CPU_SETSIZE for anything else. */
static unsigned long read_cpu(const char **text)
{
    char *end;
    if (**text < '0' || **text > '9')
        return CPU_SETSIZE;
    unsigned long cpu = strtoul(*text, &end, 10);
    *text = end;
    return cpu < CPU_SETSIZE ? cpu : CPU_SETSIZE;
}

bool settings_cpu_list(const char *text, cpu_set_t *out)
{
    CPU_ZERO(out);
    for (;;) {
        unsigned long first = read_cpu(&text), last = first;
        if (*text == '-') {
            text++;
            last = read_cpu(&text);
        }
        if (first == CPU_SETSIZE || last == CPU_SETSIZE || last < first)
            return false;
        for (unsigned long cpu = first; cpu <= last; cpu++)
            CPU_SET(cpu, out);
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            return false;
    }
}

uint32_t settings_router_cpus(const struct configuration *configuration)
{
    uint32_t cpus = platform_usable_cpus();
    cpu_set_t wanted, usable;
    const char *list = configuration_text(configuration, "router-cpus");
    if (*list != '\0' && settings_cpu_list(list, &wanted) && sched_getaffinity(0, sizeof usable, &usable) == 0) {
        CPU_AND(&wanted, &wanted, &usable);
        uint32_t count = (uint32_t)CPU_COUNT(&wanted);
        cpus = count > 0 && count < cpus ? count : cpus;
    }
    if (!configuration_is_default(configuration, "quota-percent")) {
        uint32_t quota = (uint32_t)ceil(configuration_number(configuration, "quota-percent") / 100);
        cpus = quota > 0 && quota < cpus ? quota : cpus;
    }
    return cpus;
}

/* ---- targets ---- */

struct target_use *settings_target(const struct configuration *configuration)
{
    return target_find(configuration_text(configuration, "target"));
}

uint32_t settings_target_placeholders(const struct configuration *configuration)
{
    const struct target_use *use = settings_target(configuration);
    char message[COMMAND_MESSAGE_SIZE];
    uint32_t used = 0;
    if (use == NULL)
        return 0;
    if ((use->target.placeholders & PLACEHOLDER_BIT(command)) != 0)
        command_line_check(configuration_text(configuration, "command"), TARGET_COMMAND_PLACEHOLDERS, &used, message);
    return use->target.placeholders | used;
}

/* Of the two things that the window may wait for. */
static bool is_until_cpu(const struct configuration *configuration)
{
    return strcmp(configuration_text(configuration, "warmup-until"), "cpu") == 0;
}

bool settings_target_takes(const struct configuration *configuration, const char *key)
{
    const uint32_t knob = placeholder_set(key);
    const int index = parameter_find(key);
    if (knob != 0)
        return (settings_target_placeholders(configuration) & knob) != 0;
    if (strcmp(key, "warmup-max") == 0)
        return is_until_cpu(configuration); /* what its goal is is not known */
    return index >= 0 && (parameters[index].flags & PARAMETER_FOREIGN) != 0;
}

const char *settings_target_knob(const struct configuration *configuration, const char *key)
{
    if (configuration_is_default(configuration, key))
        return NULL;
    const char *text = configuration_text(configuration, key);
    return strcmp(key, "min-workers") == 0 && strcmp(text, "0") == 0 ? "1" : text; /* as for the model */
}

const char *settings_workload(const struct configuration *configuration)
{
    const struct target_use *use = settings_target(configuration);
    if (use == NULL)
        return configuration_text(configuration, "workload");
    return use->target.is_router ? "router" : "echo";
}

double settings_warmup_s(const struct configuration *configuration)
{
    const struct target_use *use = settings_target(configuration);
    double warmup_s = configuration_number(configuration, "warmup");
    return use != NULL && use->target.warmup_s > warmup_s ? use->target.warmup_s : warmup_s;
}

/* Whether the window may wait at all: clients tell how far they are, and a time is given. */
static bool may_wait(const struct configuration *configuration)
{
    return settings_is_networked(configuration) &&
           configuration_number(configuration, "warmup-max") > settings_warmup_s(configuration);
}

bool settings_awaits_goal(const struct configuration *configuration)
{
    return !is_until_cpu(configuration) && settings_target(configuration) == NULL &&
           settings_moves_limits(configuration) && may_wait(configuration);
}

bool settings_awaits_cpu(const struct configuration *configuration)
{
    return is_until_cpu(configuration) && may_wait(configuration);
}

double settings_warmup_max_s(const struct configuration *configuration)
{
    bool waits = settings_awaits_goal(configuration) || settings_awaits_cpu(configuration);
    return waits ? configuration_number(configuration, "warmup-max") : settings_warmup_s(configuration);
}

/* ---- workloads ---- */

static bool workload_is(const struct configuration *configuration, const char *name)
{
    return strcmp(settings_workload(configuration), name) == 0;
}

bool settings_is_networked(const struct configuration *configuration)
{
    return !in_process_is(settings_workload(configuration));
}

bool settings_has_extension(const struct configuration *configuration)
{
    return workload_is(configuration, "router");
}

static bool mode_is_paced(const struct configuration *configuration)
{
    return strcmp(configuration_text(configuration, "mode"), "paced") == 0;
}

bool settings_is_paced(const struct configuration *configuration)
{
    return settings_is_networked(configuration) ? mode_is_paced(configuration) : workload_is(configuration, "trickle");
}

uint32_t settings_channels(const struct configuration *configuration)
{
    return configuration_is_default(configuration, "channels") ? settings_whole(configuration, "connections")
                                                               : settings_whole(configuration, "channels");
}

enum extension_mode settings_extension_mode(const struct configuration *configuration)
{
    if (configuration_is_default(configuration, "extension-mode"))
        return platform_usable_cpus() >= BURN_CPUS_MIN ? EXTENSION_BURN : EXTENSION_DELAY;
    return strcmp(configuration_text(configuration, "extension-mode"), "burn") == 0 ? EXTENSION_BURN : EXTENSION_DELAY;
}

const char *settings_extension_mode_name(enum extension_mode mode)
{
    return mode == EXTENSION_BURN ? "burn" : "delay";
}

uint32_t settings_extension_us(const struct configuration *configuration)
{
    if (!configuration_is_default(configuration, "extension-us"))
        return settings_whole(configuration, "extension-us");
    return settings_extension_mode(configuration) == EXTENSION_BURN ? BURN_US : DELAY_US;
}

void settings_extension(const struct configuration *configuration, uint16_t control_port, struct extension_options *out)
{
    *out = (struct extension_options){
        .control_port = control_port,
        .channels = settings_channels(configuration),
        .mode = settings_extension_mode(configuration),
        .service_ns = settings_extension_us(configuration) * UINT64_C(1000),
        .reply_segments = settings_whole(configuration, "reply-segments"),
    };
}

void settings_load(const struct configuration *configuration, uint16_t port, uint64_t seed, struct load_options *out)
{
    bool poisson = strcmp(configuration_text(configuration, "arrivals"), "poisson") == 0;
    bool paced = mode_is_paced(configuration);
    *out = (struct load_options){
        .port = port,
        .connections = settings_whole(configuration, "connections"),
        .mode = !paced    ? LOAD_CLOSED
                : poisson ? LOAD_POISSON
                          : LOAD_CONSTANT,
        .rate_rps = paced ? configuration_number(configuration, "rate") : 0,
        .seed = seed,
    };
}

void settings_router(const struct configuration *configuration, uint16_t port, struct router_options *out)
{
    router_options_init(out, configuration_number(configuration, "item-cost-percent"));
    out->port = port;
    out->poller_threads = settings_whole(configuration, "poller-threads");
    out->io_queues = settings_whole(configuration, "io-queues");
    out->placement_published = strcmp(configuration_text(configuration, "placement"), "published") == 0;
}

static uint64_t nanoseconds(const struct configuration *configuration, const char *key)
{
    return (uint64_t)llround(configuration_number(configuration, key) * 1e9);
}

void settings_in_process(const struct configuration *configuration, struct in_process_options *out)
{
    *out = (struct in_process_options){
        .workload = configuration_text(configuration, "workload"),
        .submitters = settings_whole(configuration, "submitters"),
        .tasks = settings_whole(configuration, "tasks"),
        .chain_length = settings_whole(configuration, "chain-length"),
        .task_ns = settings_whole(configuration, "task-us") * UINT64_C(1000),
        .period_ns = nanoseconds(configuration, "period"),
        .gap_ns = nanoseconds(configuration, "gap"),
    };
}
