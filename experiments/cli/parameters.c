/* SPDX-License-Identifier: MIT
 *
 * The parameter table, its choices, and configurations; see parameters.h. How values are read is in parse.c.
 *
 * Order. Table order is the order of options in help, of columns in print and of the parts of a cell's id.
 */
#include "cli/parameters.h"

#include "cli/shipped.h"
#include "cli/value.h"
#include "pilfer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AXIS            (PARAMETER_IDENTITY | PARAMETER_SWEEPABLE)
#define AXIS_DEFAULT    (AXIS | PARAMETER_DEFAULT_WORD)
#define TUNABLE         (AXIS | PARAMETER_TUNABLE)
#define FOREIGN         (AXIS | PARAMETER_FOREIGN)
#define FOREIGN_DEFAULT (AXIS_DEFAULT | PARAMETER_FOREIGN)
#define CPUS            (PARAMETER_IDENTITY | PARAMETER_FOREIGN)
#define WORKERS         (AXIS_DEFAULT | PARAMETER_WORKERS)
#define BOUND           (AXIS_DEFAULT | PARAMETER_PARALLELISM)
#define MOVED           (TUNABLE | PARAMETER_LIMITS)
#define NETWORKED       "router|echo"
#define IN_PROCESS      "trickle|burst|chain|spawn|ping"

/* clang-format off */
const struct parameter parameters[] = {
    /* key, column, type, flags, initial, minimum, maximum, words, unit, scope, help */

    /* the executor */
    {"scheduler", "scheduler", PARAMETER_NAME, AXIS, "chase-lev", 0, 0, "schedulers", "", "",
     "pool scheduler or bound under study"},
    {"over", "over", PARAMETER_NAME, BOUND, "default", 0, 0, "pools", "", "",
     "pool scheduler that a bound stands on (default: chase-lev)"},
    {"idle", "idle", PARAMETER_NAME, WORKERS, "default", 0, 0, "idle", "", "",
     "idle policy: who is woken, how workers spin and park (default: the scheduler's own)"},
    {"sizing", "sizing", PARAMETER_NAME, WORKERS, "default", 0, 0, "sizing", "", "",
     "sizing policy: how many workers may run now (default: the scheduler's own)"},
    {"min-workers", "min_workers", PARAMETER_COUNT_OF, WORKERS, "default", 0, PILFER_WORKERS_MAX, "", "", "",
     "fixed: started at once (default: 1); hill-climbing: SetMinThreads (default: P); 0 is 1"},
    {"max-workers", "max_workers", PARAMETER_COUNT_OF, WORKERS, "default", 1, PILFER_WORKERS_MAX, "", "", "",
     "most workers at a time; hill-climbing: SetMaxThreads (default: usable CPUs; there 32767)"},
    {"max-completion-threads", "max_completion_threads", PARAMETER_COUNT_OF, AXIS_DEFAULT | PARAMETER_LIMITS, "default",
     1, PILFER_WORKERS_MAX, "", "", "",
     "second number of SetMaxThreads: checked and given back, no more; Unix has no such threads (default: 1000)"},
    {"spin-limit", "spin_limit", PARAMETER_COUNT_OF, AXIS_DEFAULT | PARAMETER_SPIN, "default", 0,
     PILFER_SPIN_LIMIT_MAX, "", "", "",
     "L: an idle worker takes 2 L back-off steps before it parks (default: 70, on Arm 280)"},
    {"parallelism", "parallelism", PARAMETER_COUNT_OF, BOUND, "default", 1, PILFER_WORKERS_MAX, "", "", "",
     "items of a bound that run at once (default: max-workers resolved)"},
    {"lifo-slot", "lifo_slot", PARAMETER_COUNT_OF, TUNABLE, "0", 0, 1, "", "", "",
     "1: a task submitted from inside a task runs next on the same worker, at most three in a row"},
    {"processors", "processors", PARAMETER_COUNT_OF, AXIS_DEFAULT | PARAMETER_TUNABLE, "default", 1,
     PILFER_WORKERS_MAX, "", "", "",
     "P of the published pools, from which they derive limits and spins (default: usable CPUs)"},
    {"hill-climbing", "hill_climbing", PARAMETER_COUNT_OF, MOVED, "1", 0, 1, "", "", "",
     "0: the number of workers does not follow the throughput"},
    {"starvation-detection", "starvation_detection", PARAMETER_COUNT_OF, MOVED, "1", 0, 1, "", "", "",
     "0: no worker is added when requests starve"},
    {"force-min-workers", "force_min_workers", PARAMETER_COUNT_OF, MOVED, "0", 0, PILFER_WORKERS_MAX, "", "", "",
     "min-workers, and the only value that it may have; 0: any"},
    {"force-max-workers", "force_max_workers", PARAMETER_COUNT_OF, MOVED, "0", 0, PILFER_WORKERS_MAX, "", "", "",
     "max-workers, and the only value that it may have; 0: any"},
    {"idle-timeout-ms", "idle_timeout_ms", PARAMETER_COUNT_OF, TUNABLE, "20000", 1, 3600000, "", "ms", "",
     "an idle worker of the published pools ends its thread after so long"},
    {"request-cap", "request_cap", PARAMETER_COUNT_OF, TUNABLE, "1", 0, PILFER_WORKERS_MAX, "", "", "",
     "requests for a worker outstanding at most; 0: P"},
    {"spin-yields", "spin_yields", PARAMETER_COUNT_OF, TUNABLE, "1", 0, 1, "", "", "",
     "0: a spinning worker pauses where it would yield"},
    {"park-on-conditions", "park_on_conditions", PARAMETER_COUNT_OF, TUNABLE, "1", 0, 1, "", "", "",
     "0: a worker parks on a futex, not on a mutex and a condition variable as published"},
    {"pass-on", "pass_on", PARAMETER_COUNT_OF, TUNABLE, "1", 0, 1, "", "", "",
     "0: a woken dedicated thread wakes no further one for what is left"},

    /* the workload */
    {"workload", "workload", PARAMETER_NAME, AXIS, "router", 0, 0, "workloads", "", "",
     "what runs on the executor"},
    {"target", "target", PARAMETER_NAME, FOREIGN | PARAMETER_FILE, "none", 0, 0, "targets", "", "",
     "foreign server measured in place of the model: a name, or a target file"},
    {"command", "command", PARAMETER_LINE, PARAMETER_IDENTITY, "", 0, 0, "", "", "",
     "start line of target command: PROGRAM ... {port} [--workers {max-workers}]"},
    {"mode", "mode", PARAMETER_WORD, FOREIGN, "closed", 0, 0, "closed\0paced\0", "", NETWORKED,
     "closed: each connection sends when answered; paced: requests have intended starts"},
    {"arrivals", "arrival_process", PARAMETER_WORD, FOREIGN, "poisson", 0, 0, "poisson\0constant\0", "", NETWORKED,
     "gaps between the intended starts of mode paced"},
    {"rate", "rate_rps", PARAMETER_RATE, FOREIGN, "2000", 1, 1000000, "", "rps", NETWORKED,
     "requests per second of mode paced"},
    {"connections", "connections", PARAMETER_COUNT_OF, FOREIGN, "10", 1, 1024, "", "", NETWORKED,
     "client connections"},
    {"channels", "channels", PARAMETER_COUNT_OF, FOREIGN_DEFAULT, "default", 1, 1024, "", "", "router",
     "streams between router and extension (default: connections)"},
    {"reply-segments", "reply_segments", PARAMETER_COUNT_OF, FOREIGN, "1", 1, 2, "", "", "router",
     "2: the extension's answer and the end of its stream come apart"},
    {"extension-mode", "extension_mode", PARAMETER_WORD, FOREIGN_DEFAULT, "default", 0, 0, "burn\0delay\0", "",
     "router",
     "burn: CPU of one thread; delay: absolute deadlines, no CPU (default: burn from 4 CPUs up)"},
    {"extension-us", "extension_us", PARAMETER_COUNT_OF, FOREIGN_DEFAULT, "default", 1, 1000000, "", "us", "router",
     "service time of the extension (default: burn 53, delay 400)"},
    {"poller-threads", "poller_threads", PARAMETER_COUNT_OF, AXIS, "1", 1, 64, "", "", NETWORKED,
     "threads of the router that wait in epoll"},
    {"io-queues", "io_queues", PARAMETER_COUNT_OF, AXIS_DEFAULT, "default", 1, 64, "", "", "router",
     "queues that sends are serialised in (default: usable CPUs, at most 16)"},
    {"item-cost-percent", "item_cost_percent", PARAMETER_PERCENT, AXIS, "25", 0, 1000, "", "", NETWORKED,
     "CPU of each work item, of the published estimates"},
    {"placement", "placement", PARAMETER_WORD, AXIS, "published", 0, 0, "published\0default\0", "", NETWORKED,
     "published: each item goes to the global or local queue as published; default: the scheduler decides"},
    {"period", "period_s", PARAMETER_DURATION, AXIS, "0.001", 0.000001, 10, "", "s", "trickle",
     "one task each period"},
    {"tasks", "tasks", PARAMETER_COUNT_OF, AXIS, "1000", 1, 10000000, "", "", "burst|spawn",
     "tasks of one burst"},
    {"gap", "gap_s", PARAMETER_DURATION, AXIS, "0.01", 0, 10, "", "s", "burst",
     "pause between the end of a burst and the next"},
    {"chain-length", "chain_length", PARAMETER_COUNT_OF, AXIS, "10", 1, 1000000, "", "", "chain",
     "tasks in a row, each submitted by the one before"},
    {"task-us", "task_us", PARAMETER_COUNT_OF, AXIS, "2", 0, 1000000, "", "us", "trickle|burst|chain",
     "CPU of one task"},
    {"submitters", "submitters", PARAMETER_COUNT_OF, AXIS, "1", 1, 64, "", "", IN_PROCESS,
     "outside threads that submit"},

    /* the machine */
    {"machine", "machine", PARAMETER_WORD, FOREIGN, "real", 0, 0, "real\0simulated\0", "", "",
     "this machine, or a simulated one"},
    {"cores", "cores", PARAMETER_COUNT_OF, FOREIGN_DEFAULT, "default", 1, 1024, "", "", "",
     "cores of the simulated machine (default: usable CPUs of this one)"},
    {"quota-percent", "quota_percent", PARAMETER_PERCENT, FOREIGN_DEFAULT, "default", 1, 102400, "", "", "",
     "CPU quota of the process under test, percent of one CPU (default: none)"},
    {"router-cpus", "router_cpus", PARAMETER_CPU_LIST, CPUS, "", 0, 1023, "", "", "",
     "CPUs of the process under test (unset: all)"},
    {"load-cpus", "load_cpus", PARAMETER_CPU_LIST, CPUS, "", 0, 1023, "", "", NETWORKED,
     "CPUs of the load generator (unset: all)"},
    {"extension-cpus", "extension_cpus", PARAMETER_CPU_LIST, CPUS, "", 0, 1023, "", "", "router",
     "CPUs of the extension (unset: all)"},

    /* how it is measured */
    {"duration", "duration_s", PARAMETER_DURATION, PARAMETER_FOREIGN, "2", 0.01, 3600, "", "s", "",
     "length of the measured window"},
    {"warmup", "warmup_s", PARAMETER_DURATION, PARAMETER_FOREIGN, "0.3", 0, 600, "", "s", "",
     "time under load before the window opens"},
    {"warmup-max", "warmup_max_s", PARAMETER_DURATION, 0, "0", 0, 600, "", "s", "",
     "the window waits so long at most for what warmup-until says; 0: it does not"},
    {"warmup-until", "warmup_until", PARAMETER_WORD, PARAMETER_FOREIGN, "goal", 0, 0, "goal\0cpu\0", "", NETWORKED,
     "what it waits for: the goal of a sizing that moves (its median of 5 s is that of the 5 s before), "
     "or CPU per request without a trend in 5 s"},
    {"foreign-limit", "foreign_limit_percent", PARAMETER_PERCENT, PARAMETER_FOREIGN, "14", 0, 102400, "", "", "",
     "CPU of other processes above which a repeat is disturbed, percent of one CPU"},
    {"tries", "tries_max", PARAMETER_COUNT_OF, PARAMETER_FOREIGN, "3", 1, 10, "", "", "",
     "measurements of a disturbed repeat before it is kept as it is"},
    {"trace-events", "trace_events", PARAMETER_COUNT_OF, 0, "0", 0, 1048576, "", "", "",
     "events kept per thread for a Chrome trace; 0: none"},
};
/* clang-format on */

const uint32_t parameter_count = sizeof parameters / sizeof parameters[0];
_Static_assert(sizeof parameters / sizeof parameters[0] <= PARAMETER_LIMIT, "a configuration has room for all");

/* What there is to run on an executor, in list order. */
static const struct parameter_choice workloads[] = {
    {"router", "clients, a router under test, an extension: processes on loopback TCP", false},
    {"echo", "a plain HTTP server, four items per request", false},
    {"trickle", "one small task each period", false},
    {"burst", "bursts of tasks with a gap after each", false},
    {"chain", "tasks in a row, each submitted by the one before", false},
    {"spawn", "one outside thread submits empty tasks as fast as it can", false},
    {"ping", "submit one task, wait for it, again", false},
};

int parameter_find(const char *key)
{
    for (uint32_t i = 0; i < parameter_count; i++) {
        if (strcmp(parameters[i].key, key) == 0)
            return (int)i;
    }
    return -1;
}

void parameter_keys(const char **out)
{
    for (uint32_t i = 0; i < parameter_count; i++)
        out[i] = parameters[i].key;
}

static bool entry_at(enum pilfer_kind kind, uint32_t index, struct parameter_choice *out)
{
    struct pilfer_entry entry;
    if (!pilfer_entry(kind, index, &entry))
        return false;
    *out = (struct parameter_choice){entry.name, entry.summary, entry.hidden || entry.specimen};
    return true;
}

static uint32_t entry_count(enum pilfer_kind kind)
{
    struct pilfer_entry entry;
    uint32_t count = 0;
    while (pilfer_entry(kind, count, &entry))
        count++;
    return count;
}

static bool name_at(const char *registry, uint32_t index, struct parameter_choice *out)
{
    if (strcmp(registry, "schedulers") == 0) {
        uint32_t pools = entry_count(PILFER_KIND_SCHEDULER);
        return index < pools ? entry_at(PILFER_KIND_SCHEDULER, index, out)
                             : entry_at(PILFER_KIND_BOUND, index - pools, out);
    }
    if (strcmp(registry, "pools") == 0)
        return entry_at(PILFER_KIND_SCHEDULER, index, out);
    if (strcmp(registry, "idle") == 0)
        return entry_at(PILFER_KIND_IDLE, index, out);
    if (strcmp(registry, "sizing") == 0)
        return entry_at(PILFER_KIND_SIZING, index, out);
    if (strcmp(registry, "targets") == 0) {
        const struct shipped_target *shipped = index > 0 ? shipped_target(index - 1) : NULL;
        *out = shipped != NULL ? (struct parameter_choice){shipped->name, shipped->description, false}
                               : (struct parameter_choice){"none", "the model", false};
        return index == 0 || shipped != NULL;
    }
    if (strcmp(registry, "workloads") == 0 && index < sizeof workloads / sizeof workloads[0]) {
        *out = workloads[index];
        return true;
    }
    return false;
}

bool parameter_choice_at(const struct parameter *parameter, uint32_t index, struct parameter_choice *out)
{
    if (parameter->type == PARAMETER_NAME)
        return name_at(parameter->words, index, out);
    if (parameter->type != PARAMETER_WORD)
        return false;
    const char *word = parameter->words;
    for (; index > 0 && *word != '\0'; index--)
        word += strlen(word) + 1;
    *out = (struct parameter_choice){word, "", false};
    return *word != '\0';
}

bool parameter_in_scope(const struct parameter *parameter, const char *workload)
{
    const char *scope = parameter->scope;
    if (*scope == '\0')
        return true;
    for (size_t length; *scope != '\0'; scope += length + (scope[length] == '|')) {
        length = strcspn(scope, "|");
        if (strlen(workload) == length && memcmp(workload, scope, length) == 0)
            return true;
    }
    return false;
}

/* ---- configurations ---- */

static uint32_t index_of(const char *key)
{
    int index = parameter_find(key);
    if (index < 0) {
        fprintf(stderr, "pilfer: internal error: there is no parameter \"%s\"\n", key);
        abort();
    }
    return (uint32_t)index;
}

void configuration_init(struct configuration *configuration)
{
    memset(configuration, 0, sizeof *configuration);
    for (uint32_t i = 0; i < parameter_count; i++)
        snprintf(configuration->values[i], PARAMETER_TEXT_SIZE, "%s", parameters[i].initial);
}

const char *configuration_text(const struct configuration *configuration, const char *key)
{
    return configuration->values[index_of(key)];
}

double configuration_number(const struct configuration *configuration, const char *key)
{
    uint64_t billionths;
    const char *rest;
    const char *text = configuration_text(configuration, key);
    if (!value_read(text, &billionths, &rest) || *rest != '\0')
        return NAN;
    return value_number(billionths);
}

bool configuration_is_default(const struct configuration *configuration, const char *key)
{
    return strcmp(configuration_text(configuration, key), "default") == 0;
}

void configuration_set(struct configuration *configuration, const char *key, const char *normalised)
{
    snprintf(configuration->values[index_of(key)], PARAMETER_TEXT_SIZE, "%s", normalised);
}
