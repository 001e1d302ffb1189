/* SPDX-License-Identifier: MIT
 *
 * What a configuration means: options of the executor and of the workload, made from the parameters' texts.
 *
 * The runner uses these to resolve a cell before anything is started, and the roles to set themselves up, so that what
 * is planned and what is run cannot differ.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_SETTINGS_H
#define PILFER_EXPERIMENTS_RUNNER_SETTINGS_H

#include <sched.h>

#include "cli/parameters.h"
#include "pilfer.h"
#include "runner/target.h"
#include "sizing/thread_limits.h"
#include "workloads/extension.h"
#include "workloads/in_process.h"
#include "workloads/load.h"
#include "workloads/router.h"

#define SETTINGS_TUNABLES_MAX 16

/* pilfer_options and what they point to. Do not copy: options point into the struct and into the configuration. */
struct executor_settings {
    struct pilfer_options options;
    struct pilfer_setting tunables[SETTINGS_TUNABLES_MAX];
    bool moves;                          /* the sizing has limits that a caller moves; else the rest is zero */
    bool calls_minimum, calls_maximum;   /* SetMinThreads is called, and then SetMaxThreads */
    struct pilfer_limits minimum, maximum; /* with these */
    struct thread_limits limits;         /* in force afterwards */
};

/* A count's value, 0 for `default`. */
uint32_t settings_whole(const struct configuration *configuration, const char *key);

/* Knobs that the configured executor has: enum pilfer_knob, or-ed over a bound and the scheduler below it. 0 for an
 * unknown name. */
uint32_t settings_knobs(const struct configuration *configuration);

/* Fills options for pilfer_open and pilfer_resolve. CPUs and quota of the process under test bound the default of
 * max-workers. 0, or -1 with one line in message (PILFER_MESSAGE_SIZE bytes), also when a call of the limits would be
 * refused. */
int settings_executor(const struct configuration *configuration, uint64_t seed, struct executor_settings *out,
                      char *message);
/* As pilfer_resolve, with the limits that are in force after the calls. */
int settings_resolve(const struct executor_settings *settings, struct pilfer_resolved *out, char *message);
/* Makes the calls, in order, right after pilfer_open. Returns what the refused one did, or 0. */
int settings_apply_limits(const struct executor_settings *settings, struct pilfer_executor *executor);

/* Whether the configured sizing has limits that a caller moves. */
bool settings_moves_limits(const struct configuration *configuration);
/* Whether the configured scheduler, or the one below a bound, has the tunable. */
bool settings_has_tunable(const struct configuration *configuration, const char *key);
/* P as the published pools count it: `processors`, else CPUs of the process under test. */
uint32_t settings_processors(const struct configuration *configuration);

/* The foreign server that is measured in place of the model, or NULL. One thread. */
struct target_use *settings_target(const struct configuration *configuration);
/* The placeholders of its start line, its variables, and the command if one is its start line. */
uint32_t settings_target_placeholders(const struct configuration *configuration);
/* Whether a parameter has an effect on the target: it is a knob that this one has, or one of the load, the extension or
 * the machine. */
bool settings_target_takes(const struct configuration *configuration, const char *key);
/* What a knob of a target is set to; NULL at its default. */
const char *settings_target_knob(const struct configuration *configuration, const char *key);
/* The workload that runs: that of the target, else the configured one. */
const char *settings_workload(const struct configuration *configuration);
/* Time under load before the window: at least what the target needs. */
double settings_warmup_s(const struct configuration *configuration);
/* The same at most: longer than that where the window waits for something. */
double settings_warmup_max_s(const struct configuration *configuration);
/* What the window waits for in between: nothing, a steady goal, or steady CPU per request. */
bool settings_awaits_goal(const struct configuration *configuration);
bool settings_awaits_cpu(const struct configuration *configuration);

/* True for workloads with clients: router and echo. */
bool settings_is_networked(const struct configuration *configuration);
/* True when an extension stands behind the process under test. */
bool settings_has_extension(const struct configuration *configuration);
/* True when requests have intended starts: networked in mode paced, and trickle. */
bool settings_is_paced(const struct configuration *configuration);

/* CPUs that the process under test may use, by router-cpus, affinity and quota; at least 1. */
uint32_t settings_router_cpus(const struct configuration *configuration);

uint32_t settings_channels(const struct configuration *configuration);
enum extension_mode settings_extension_mode(const struct configuration *configuration);
const char *settings_extension_mode_name(enum extension_mode mode);
uint32_t settings_extension_us(const struct configuration *configuration);

void settings_extension(const struct configuration *configuration, uint16_t control_port,
                        struct extension_options *out);
void settings_load(const struct configuration *configuration, uint16_t port, uint64_t seed, struct load_options *out);
void settings_router(const struct configuration *configuration, uint16_t port, struct router_options *out);
void settings_in_process(const struct configuration *configuration, struct in_process_options *out);

/* A CPU list "0-3,5". False if it is none, or empty. */
bool settings_cpu_list(const char *text, cpu_set_t *out);

#endif
