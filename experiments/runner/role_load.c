/* SPDX-License-Identifier: MIT
 *
 * The processes beside the one under test: the load generator and the extension.
 *
 * The load generator is given a port of a process of its own cell, never a name or an address.
 */
#include "role.h"

#include <stdio.h>
#include <string.h>

#include "settings.h"
#include "window.h"

static void say_load(const struct load_totals *totals)
{
    uint64_t failed = 0;
    for (int i = 0; i < LOAD_FAILURE_COUNT; i++) {
        char name[48] = "load.failed_";
        strncat(name, load_failure_name(i), sizeof name - strlen(name) - 1);
        role_say_integer(name, totals->failed[i]);
        failed += totals->failed[i];
    }
    role_say_integer("load.arrivals", totals->arrivals);
    role_say_integer("load.requests", totals->requests);
    role_say_integer("load.completions", totals->completions);
    role_say_integer("load.window_failures", totals->window_failures);
    role_say_integer("load.sent", totals->sent);
    role_say_integer("load.answered", totals->answered);
    role_say_integer("load.failed", failed);
    role_say_integer("load.in_flight", totals->in_flight);
    role_say_integer("load.unsent", totals->unsent);
    role_say_integer("load.connections_achieved", totals->connections_achieved);
    role_say_integer("load.connections_failed", totals->connections_failed);
    role_say_integer("load.connections_reopened", totals->connections_reopened);
    role_say_integer("load.late_ns_max", totals->late_ns_max);
    role_say_histogram("latencies", &totals->latency);
}

static void read_window(struct role *role, struct load_window *out)
{
    *out = (struct load_window){
        .start_ns = role_fact(role, "start-ns"),
        .window_start_ns = role_fact(role, "window-start-ns"),
        .window_end_ns = role_fact(role, "window-end-ns"),
        .settle_ns = role_fact(role, "settle-ns"),
    };
}

/* What a window that waits needs while the load runs. */
struct waiting {
    struct role *role;
    const struct load_totals *totals; /* of the run, which counts in this thread */
};

static void say_answered(const struct load_totals *totals)
{
    char text[64];
    snprintf(text, sizeof text, ROLE_ANSWERED_FORMAT, (unsigned long long)totals->answered,
             (unsigned long long)window_now_ns());
    role_say_text(ROLE_ANSWERED, text);
}

/* The runner may say the window a second time, when the process under test has become steady. */
static void amend_window(void *context, struct load_window *window)
{
    const struct waiting *waiting = context;
    struct role *role = waiting->role;
    if (settings_awaits_cpu(&role->configuration))
        say_answered(waiting->totals);
    if (!role_wait(role, "window", 0))
        return;
    read_window(role, window);
    if (window_now_ns() > window->window_start_ns)
        role_fail("hearing of the window", "it has begun already; the machine is too busy");
}

int role_load(struct role *role)
{
    static struct load_totals totals;
    struct waiting waiting = {role, &totals};
    struct load_options options;
    struct load *load;
    char message[PILFER_MESSAGE_SIZE];
    settings_load(&role->configuration, (uint16_t)role_fact(role, "port"), role_fact(role, "seed"), &options);
    options.target = report_text(&role->facts, "path"); /* of a target; else the load's own */
    if (settings_warmup_max_s(&role->configuration) > settings_warmup_s(&role->configuration)) {
        options.amend = amend_window;
        options.amend_context = &waiting;
    }
    if (load_open(&options, &load, message) != 0)
        role_refuse("connecting the clients", message);
    role_say_word("ready");
    role_wait(role, "window", UINT64_MAX);
    struct load_window window;
    read_window(role, &window);
    int error = load_run(load, &window, NULL, &totals);
    load_close(load);
    say_load(&totals);
    if (error != 0)
        role_fail("running the load", strerror(-error));
    role_wait(role, "stop", UINT64_MAX); /* the runner still reads this process's clock */
    return ROLE_DONE;
}

int role_extension(struct role *role)
{
    struct extension_options options;
    struct extension_totals totals = {0};
    struct extension *extension;
    char message[PILFER_MESSAGE_SIZE];
    settings_extension(&role->configuration, (uint16_t)role_fact(role, "control-port"), &options);
    if (extension_open(&options, &extension, message) != 0)
        role_refuse("connecting the extension to the router", message);
    role_say_word("ready");
    int error = extension_serve(extension, NULL, &totals);
    extension_close(extension);
    role_say_integer("extension.received", totals.requests_received);
    role_say_integer("extension.answered", totals.requests_answered);
    role_say_integer("extension.schedule_restarts", totals.schedule_restarts);
    if (error != 0)
        role_fail("serving as the extension", strerror(-error));
    return ROLE_DONE;
}
