/* SPDX-License-Identifier: MIT
 *
 * Measuring one cell; see cell.h.
 *
 * How it works. Processes are started and become ready; the window is fixed as absolute times and told to all; the
 * runner sleeps until each edge and reads CPU clocks there; load and router settle and report; everything is ended; the
 * figures are put together and judged (cell_numbers.c). A disturbed measurement is done again from the start.
 */
#include "cell.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cell_numbers.h"
#include "cli/output.h"
#include "cpu_watch.h"
#include "platform.h"
#include "role.h"
#include "runner/target_prepare.h"
#include "settings.h"
#include "usage.h"

/* From the announcement to the first request: time for all processes to hear it. */
#define LEAD_NS UINT64_C(20000000)
/* From the second announcement, of a window that waited, to that window: the clients look a few times a second. */
#define STEADY_LEAD_NS UINT64_C(500000000)
#define STEADY_LOOK_NS UINT64_C(20000000)
/* How long requests in flight may take to be answered after the window. */
#define SETTLE_NS UINT64_C(2000000000)

/* ---- --hold ---- */

/* Of a target: the server itself, not its keeper. */
static void print_child(const struct child *child, const char *name)
{
    uint64_t server;
    if (child == NULL)
        return;
    bool is_kept = child->keeps_tree && report_integer(&child->report, "server-pid", &server);
    printf("%s %ld\n", name, is_kept ? (long)server : (long)child->pid);
}

/* Prints who there is and waits for a newline on standard input (or its end), a signal, or the end of a child. */
static enum cell_status hold(struct processes *processes)
{
    print_child(processes->router, "router");
    print_child(processes->load, "load");
    print_child(processes->extension, "extension");
    fflush(stdout);
    if (isatty(STDIN_FILENO) != 0)
        fprintf(stderr, "pilfer: these wait; attach, then press Enter\n");
    for (;;) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        int ready = poll(&input, 1, 50);
        char typed;
        if (ready > 0 && (read(STDIN_FILENO, &typed, 1) <= 0 || typed == '\n'))
            return CELL_MEASURED;
        enum cell_status status = processes_wait_until(processes, 0);
        if (status != CELL_MEASURED)
            return status;
    }
}

/* ---- the window ---- */

static enum cell_status read_edge(struct processes *processes, struct cell_edge *out)
{
    disturbance_sample(&out->machine);
    out->runner_ns = usage_of_self() + processes_keeper_cpu(processes);
    if (processes->quota.path[0] != '\0')
        cgroup_throttling(&processes->quota, &out->quota);
    if (processes_cpu(processes, &out->router_ns, &out->extension_ns, &out->load_ns))
        return CELL_MEASURED;
    /* One has ended just now: hear how. */
    enum cell_status status = processes_wait_until(processes, window_now_ns() + 1000000000);
    if (status != CELL_MEASURED)
        return status;
    snprintf(processes->message, CELL_MESSAGE_SIZE, "a process of the cell ended before the window did");
    return CELL_FAILED;
}

static uint64_t nanoseconds(double seconds)
{
    return (uint64_t)llround(seconds * 1e9);
}

/* Takes a sample if the clients have counted since, and a period is over. */
static void look_at_cpu(const struct processes *processes, struct cpu_watch *watch)
{
    const char *counted = report_text(&processes->load->report, ROLE_ANSWERED);
    unsigned long long answered, at_ns;
    struct cpu_sample sample;
    uint64_t extension_ns, load_ns;
    if (counted == NULL || sscanf(counted, ROLE_ANSWERED_FORMAT, &answered, &at_ns) != 2 ||
        !cpu_watch_is_due(watch, at_ns) || !processes_cpu(processes, &sample.cpu_ns, &extension_ns, &load_ns))
        return;
    sample.cpu_at_ns = window_now_ns();
    sample.answered = answered;
    sample.answered_at_ns = at_ns;
    cpu_watch_add(watch, &sample);
}

/* Whether what the window waits for is so now. */
static bool is_steady(const struct processes *processes, struct cell_measurement *measurement, struct cpu_watch *watch)
{
    uint64_t steady;
    if (!settings_awaits_cpu(measurement->configuration))
        return report_integer(&processes->router->report, "steady", &steady);
    look_at_cpu(processes, watch);
    return measurement->cpu_steady = cpu_watch_is_steady(watch);
}

/* Until the process under test is steady: then the window is moved ahead. It stays where the longest warm-up ends if
 * that does not happen before. */
static enum cell_status await_steady(struct processes *processes, struct cell_measurement *measurement,
                                     uint64_t load_start_ns)
{
    struct cpu_watch watch = {.has_last = false};
    struct window *window = &measurement->window;
    uint64_t earliest_ns = load_start_ns + nanoseconds(settings_warmup_s(measurement->configuration));
    uint64_t length_ns = window->end_ns - window->start_ns;
    enum cell_status status = CELL_MEASURED;
    for (;;) {
        uint64_t now_ns = window_now_ns();
        if (status != CELL_MEASURED || now_ns + 2 * STEADY_LEAD_NS >= window->start_ns)
            return status;
        if (is_steady(processes, measurement, &watch) && now_ns + STEADY_LEAD_NS >= earliest_ns)
            break;
        status = processes_wait_until(processes, now_ns + STEADY_LOOK_NS);
    }
    window->start_ns = window_now_ns() + STEADY_LEAD_NS;
    window->end_ns = window->start_ns + length_ns;
    processes_announce(processes, window, load_start_ns, SETTLE_NS);
    return status;
}

static enum cell_status run_window(struct processes *processes, struct cell_measurement *measurement)
{
    uint64_t load_start_ns = window_now_ns() + LEAD_NS;
    struct window *window = &measurement->window;
    double warmup_s = settings_warmup_max_s(measurement->configuration);
    window->start_ns = load_start_ns + nanoseconds(warmup_s);
    window->end_ns = window->start_ns + nanoseconds(configuration_number(measurement->configuration, "duration"));
    processes_announce(processes, window, load_start_ns, SETTLE_NS);
    enum cell_status status = CELL_MEASURED;
    if (warmup_s > settings_warmup_s(measurement->configuration))
        status = await_steady(processes, measurement, load_start_ns);
    measurement->warmup_ns = window->start_ns - load_start_ns;
    if (status == CELL_MEASURED)
        status = processes_wait_until(processes, window->start_ns);
    if (status == CELL_MEASURED)
        status = read_edge(processes, &measurement->first);
    if (status == CELL_MEASURED)
        status = processes_wait_until(processes, window->end_ns);
    if (status == CELL_MEASURED)
        status = read_edge(processes, &measurement->last);
    measurement->edges_known = status == CELL_MEASURED;
    return status == CELL_MEASURED ? processes_stop(processes, SETTLE_NS) : status;
}

/* One attempt from start to end. *again out: it is worth another one. */
static enum cell_status attempt(const struct configuration *configuration, uint64_t seed,
                                const struct cell_options *options, struct result *result, bool *again, char *message)
{
    struct processes processes;
    struct cell_measurement measurement = {.configuration = configuration, .processes = &processes};
    struct processes_options start = {
        .seed = seed,
        .trace_path = options->trace_path,
        .seconds =
            options->hold ? 0 : settings_warmup_max_s(configuration) + configuration_number(configuration, "duration"),
    };
    enum cell_status status = processes_start(&processes, configuration, &start, options->stop, message);
    if (status != CELL_MEASURED)
        return status;
    if (options->hold)
        status = hold(&processes);
    if (status == CELL_MEASURED)
        status = run_window(&processes, &measurement);
    if (status == CELL_MEASURED || status == CELL_FAILED)
        *again = cell_fill(&measurement, options->foreign_limit_percent, result) && status == CELL_MEASURED;
    const char *warning = report_text(&processes.router->report, "warning");
    if (warning != NULL)
        complain("%s", warning);
    processes_end(&processes);
    return status;
}

void cell_prepare(const struct configuration *configuration, const volatile int *stop)
{
    struct target_use *use = settings_target(configuration);
    char message[CELL_MESSAGE_SIZE];
    if (use != NULL)
        target_prepare(use, stop, message);
}

/* ---- tries ---- */

static void mark_failed(struct result *result, const char *message)
{
    result_set_number(result, RESULT_valid, 0);
    result_set_number(result, RESULT_disturbed, 0);
    free(result->invalid_reason);
    result->invalid_reason = strdup(message);
}

/* Gives *result the columns of the caller that a measurement does not know, and takes the place of it. */
static void replace(struct result *result, struct result *measured)
{
    static const enum result_column kept[] = {RESULT_sweep_id, RESULT_cell_id, RESULT_repeat};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        struct result_value value = measured->columns[kept[i]];
        measured->columns[kept[i]] = result->columns[kept[i]];
        result->columns[kept[i]] = value;
    }
    result_fini(result);
    *result = *measured;
}

enum cell_status cell_measure(const struct configuration *configuration, uint64_t seed,
                              const struct cell_options *options, struct result *result, char *message)
{
    enum cell_status status = CELL_MEASURED;
    bool again = true;
    for (uint32_t tries = 1; again && tries <= options->tries_max; tries++) {
        struct result measured;
        result_init(&measured);
        if (cell_resolve(configuration, &measured, message) != 0) {
            result_fini(&measured);
            return CELL_SURROUNDINGS;
        }
        result_set_number(&measured, RESULT_seed, (double)seed);
        result_set_number(&measured, RESULT_tries, tries);
        message[0] = '\0';
        again = false;
        status = attempt(configuration, seed, options, &measured, &again, message);
        if (status == CELL_FAILED)
            mark_failed(&measured, message);
        else if (status == CELL_MEASURED && measured.invalid_reason != NULL)
            snprintf(message, CELL_MESSAGE_SIZE, "%s", measured.invalid_reason);
        replace(result, &measured);
    }
    return status;
}
