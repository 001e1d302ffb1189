/* SPDX-License-Identifier: MIT
 *
 * The processes of a cell as a group; see processes.h.
 */
#include "processes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process_tree.h"
#include "runner/target_prepare.h"
#include "runner/target_start.h"
#include "settings.h"
#include "usage.h"

/* The runner looks at its stop flag at least this often. */
#define LOOK_EVERY_NS UINT64_C(50000000)
/* CPU seconds beyond the plan that a process may use on each CPU before the kernel ends it. */
#define CPU_SLACK_S 60

static bool is_stopped(const struct processes *processes)
{
    return processes->stop != NULL && *processes->stop != 0;
}

/* The fault of a child that ended early: what it said, or how it ended. */
static enum cell_status fault_of(struct processes *processes, const struct child *child)
{
    char fate[192];
    const char *refusal = report_text(&child->report, "surroundings");
    const char *failure = report_text(&child->report, "failure");
    child_fate(child, fate, sizeof fate);
    if (refusal != NULL) {
        snprintf(processes->message, CELL_MESSAGE_SIZE, "%s: %s", child->role, refusal);
        return CELL_SURROUNDINGS;
    }
    if (failure != NULL)
        snprintf(processes->message, CELL_MESSAGE_SIZE, "%s: %s", child->role, failure);
    else
        snprintf(processes->message, CELL_MESSAGE_SIZE,
                 "%s process %s before its work was done; see what it wrote to standard error, or run the cell again "
                 "with --hold and attach a debugger",
                 child->role, fate);
    return CELL_FAILED;
}

/* A child that ended without having finished; the process under test first, since the others fail in its wake. */
static const struct child *first_broken(const struct processes *processes)
{
    for (uint32_t i = 0; i < processes->count; i++) {
        const struct child *child = &processes->children[i];
        if (child->ended && !child->done)
            return child;
    }
    return NULL;
}

enum cell_status processes_wait_until(struct processes *processes, uint64_t deadline_ns)
{
    for (;;) {
        const struct child *broken = first_broken(processes);
        if (broken != NULL)
            return fault_of(processes, broken);
        if (is_stopped(processes))
            return CELL_INTERRUPTED;
        uint64_t now_ns = window_now_ns();
        if (now_ns >= deadline_ns)
            return CELL_MEASURED;
        uint64_t until_ns = deadline_ns - now_ns > LOOK_EVERY_NS ? now_ns + LOOK_EVERY_NS : deadline_ns;
        children_listen(processes->children, processes->count, until_ns);
    }
}

/* What is known of a server that does not come to its end. */
static void describe_hang(const struct child *child, char *text, size_t size)
{
    uint64_t accepted, run;
    if (report_integer(&child->report, "total.accepted", &accepted) &&
        report_integer(&child->report, "total.run", &run))
        snprintf(text, size, "; tasks accepted %llu, run %llu", (unsigned long long)accepted, (unsigned long long)run);
    else if (report_integer(&child->report, "counter.tasks_run", &run))
        snprintf(text, size, "; tasks run in the window %llu", (unsigned long long)run);
    else
        text[0] = '\0';
}

enum cell_status processes_wait_for(struct processes *processes, struct child *child, bool ready, uint64_t patience_ns)
{
    uint64_t deadline_ns = window_now_ns() + patience_ns;
    for (;;) {
        if (ready ? child->ready : child->done && child->ended)
            return CELL_MEASURED;
        const struct child *broken = first_broken(processes);
        if (broken != NULL)
            return fault_of(processes, broken);
        if (is_stopped(processes))
            return CELL_INTERRUPTED;
        uint64_t now_ns = window_now_ns();
        if (now_ns >= deadline_ns)
            break;
        uint64_t until_ns = deadline_ns - now_ns > LOOK_EVERY_NS ? now_ns + LOOK_EVERY_NS : deadline_ns;
        children_listen(processes->children, processes->count, until_ns);
    }
    char known[96];
    describe_hang(child, known, sizeof known);
    snprintf(
        processes->message, CELL_MESSAGE_SIZE,
        "%s process %ld hangs: it did not %s within %g s%s; it is ended, run the cell again with --hold and attach "
        "a debugger",
        child->role, (long)child->pid, ready ? "become ready" : "come to its end", (double)patience_ns / 1e9, known);
    return CELL_FAILED;
}

static void send_integer(struct child *child, const char *key, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    child_send(child, key, text);
}

static void send_configuration(struct child *child, const struct configuration *configuration)
{
    for (uint32_t i = 0; i < parameter_count; i++)
        child_send(child, parameters[i].key, configuration_text(configuration, parameters[i].key));
}

static struct child *add_child(struct processes *processes, const char *role)
{
    struct child *child = &processes->children[processes->count];
    child_init(child, role);
    processes->count++;
    return child;
}

static uint64_t cpu_limit_s(double seconds)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t each_s = (uint64_t)seconds + CPU_SLACK_S;
    return seconds > 0 ? each_s * (uint64_t)(cpus > 0 ? cpus : 1) : UINT64_C(1) << 40;
}

static enum cell_status launch(struct processes *processes, struct child *child,
                               const struct configuration *configuration, const struct processes_options *options)
{
    int error = child_start(child, cpu_limit_s(options->seconds));
    if (error != 0) {
        snprintf(processes->message, CELL_MESSAGE_SIZE,
                 "%s: cannot start a process: %s; end some processes or raise the limit (ulimit -u, ulimit -n)",
                 child->role, strerror(-error));
        return CELL_SURROUNDINGS;
    }
    if (child == processes->router && processes->quota.path[0] != '\0') {
        error = cgroup_quota_add(&processes->quota, child->pid);
        if (error != 0) {
            snprintf(processes->message, CELL_MESSAGE_SIZE, "quota-percent: cannot move the router into %.300s: %s",
                     processes->quota.path, strerror(-error));
            return CELL_SURROUNDINGS;
        }
    }
    send_configuration(child, configuration);
    send_integer(child, "seed", options->seed);
    return CELL_MEASURED;
}

static enum cell_status begin(struct processes *processes, struct child *child, uint64_t patience_ns)
{
    child_send(child, "begin", NULL);
    return processes_wait_for(processes, child, true, patience_ns);
}

/* The keeper of a target, which has its own patience with it. */
static enum cell_status start_target(struct processes *processes, struct target_use *use,
                                     const struct configuration *configuration, const struct processes_options *options)
{
    enum cell_status status = target_prepare(use, processes->stop, processes->message);
    if (status != CELL_MEASURED)
        return status;
    processes->router = add_child(processes, "target");
    processes->router->keeps_tree = true;
    status = launch(processes, processes->router, configuration, options);
    if (status != CELL_MEASURED)
        return status;
    int error = target_send(use, configuration, processes->router);
    if (error != 0) {
        snprintf(processes->message, CELL_MESSAGE_SIZE, "target %s: no free port on 127.0.0.1: %s", use->target.name,
                 strerror(-error));
        return CELL_SURROUNDINGS;
    }
    return begin(processes, processes->router, (uint64_t)(use->target.ready_s * 1e9) + PROCESSES_PATIENCE_NS);
}

static enum cell_status start_router(struct processes *processes, const struct configuration *configuration,
                                     const struct processes_options *options)
{
    bool networked = settings_is_networked(configuration);
    processes->router = add_child(processes, networked ? "router" : "inprocess");
    enum cell_status status = launch(processes, processes->router, configuration, options);
    if (status != CELL_MEASURED)
        return status;
    send_integer(processes->router, "port", options->port);
    if (options->trace_path != NULL)
        child_send(processes->router, "trace-path", options->trace_path);
    if (options->serve)
        child_send(processes->router, "serve", "1");
    return begin(processes, processes->router, PROCESSES_PATIENCE_NS);
}

/* Starts a process that is given a port of the one under test. */
static enum cell_status start_beside(struct processes *processes, struct child *child, const char *key,
                                     const struct configuration *configuration, const struct processes_options *options)
{
    uint64_t port;
    if (!report_integer(&processes->router->report, key, &port)) {
        snprintf(processes->message, CELL_MESSAGE_SIZE, "router: it became ready without saying its %s", key);
        return CELL_FAILED;
    }
    enum cell_status status = launch(processes, child, configuration, options);
    if (status != CELL_MEASURED)
        return status;
    send_integer(child, key, port);
    const struct target_use *use = settings_target(configuration);
    if (use != NULL && use->target.texts[TARGET_KEY_path] != NULL)
        child_send(child, "path", use->target.texts[TARGET_KEY_path]);
    return begin(processes, child, PROCESSES_PATIENCE_NS);
}

static enum cell_status start_all(struct processes *processes, const struct configuration *configuration,
                                  const struct processes_options *options)
{
    if (!configuration_is_default(configuration, "quota-percent") &&
        cgroup_quota_make(&processes->quota, configuration_number(configuration, "quota-percent"), processes->message,
                          CELL_MESSAGE_SIZE) != 0)
        return CELL_SURROUNDINGS;
    struct target_use *use = settings_target(configuration);
    enum cell_status status = use != NULL ? start_target(processes, use, configuration, options)
                                          : start_router(processes, configuration, options);
    if (status == CELL_MEASURED && settings_has_extension(configuration)) {
        processes->extension = add_child(processes, "extension");
        status = start_beside(processes, processes->extension, "control-port", configuration, options);
    }
    if (status == CELL_MEASURED && settings_is_networked(configuration) && !options->serve) {
        processes->load = add_child(processes, "load");
        status = start_beside(processes, processes->load, "port", configuration, options);
    }
    return status;
}

enum cell_status processes_start(struct processes *processes, const struct configuration *configuration,
                                 const struct processes_options *options, const volatile int *stop, char *message)
{
    *processes = (struct processes){.stop = stop, .message = message};
    message[0] = '\0';
    enum cell_status status = start_all(processes, configuration, options);
    if (status != CELL_MEASURED)
        processes_end(processes);
    return status;
}

void processes_announce(struct processes *processes, const struct window *window, uint64_t load_start_ns,
                        uint64_t settle_ns)
{
    struct child *told[] = {processes->router, processes->load};
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        if (told[i] == NULL)
            continue;
        send_integer(told[i], "start-ns", load_start_ns);
        send_integer(told[i], "window-start-ns", window->start_ns);
        send_integer(told[i], "window-end-ns", window->end_ns);
        send_integer(told[i], "settle-ns", settle_ns);
        child_send(told[i], "window", NULL);
    }
}

enum cell_status processes_stop(struct processes *processes, uint64_t grace_ns)
{
    enum cell_status status = CELL_MEASURED;
    if (processes->load != NULL) {
        child_send(processes->load, "stop", NULL);
        status = processes_wait_for(processes, processes->load, false, grace_ns + PROCESSES_PATIENCE_NS);
    }
    if (status != CELL_MEASURED)
        return status;
    child_send(processes->router, "stop", NULL);
    status = processes_wait_for(processes, processes->router, false, PROCESSES_PATIENCE_NS);
    if (status == CELL_MEASURED && processes->extension != NULL)
        status = processes_wait_for(processes, processes->extension, false, PROCESSES_PATIENCE_NS);
    return status;
}

void processes_end(struct processes *processes)
{
    for (uint32_t i = processes->count; i > 0; i--)
        child_fini(&processes->children[i - 1]);
    processes->count = 0;
    cgroup_quota_remove(&processes->quota);
}

static bool cpu_of(const struct child *child, uint64_t *cpu_ns)
{
    *cpu_ns = 0;
    if (child == NULL)
        return true;
    if (child->pid == 0)
        return false;
    if (!child->keeps_tree)
        return usage_of_process(child->pid, cpu_ns) == 0;
    *cpu_ns = process_tree_cpu(child->pid);
    return *cpu_ns > 0;
}

uint64_t processes_keeper_cpu(const struct processes *processes)
{
    const struct child *keeper = processes->router;
    uint64_t cpu_ns;
    bool known = keeper->keeps_tree && keeper->pid != 0 && usage_of_process(keeper->pid, &cpu_ns) == 0;
    return known ? cpu_ns : 0;
}

bool processes_cpu(const struct processes *processes, uint64_t *router_ns, uint64_t *extension_ns, uint64_t *load_ns)
{
    return cpu_of(processes->router, router_ns) && cpu_of(processes->extension, extension_ns) &&
           cpu_of(processes->load, load_ns);
}
