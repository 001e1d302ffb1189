/* SPDX-License-Identifier: MIT
 *
 * A server under test without a load generator of our own; see serve.h.
 */
#include "serve.h"

#include <stdio.h>

#include "processes.h"
#include "settings.h"
#include "validity.h"

static int exit_status(enum cell_status status)
{
    return status == CELL_SURROUNDINGS ? 3 : 1;
}

static uint64_t counted(const struct processes *processes, const char *name)
{
    uint64_t number;
    return report_integer(&processes->router->report, name, &number) ? number : 0;
}

/* Stops in order and prints the sums. */
static int finish(struct processes *processes, char *message)
{
    processes->stop = NULL; /* from now on the end is awaited, not asked for */
    enum cell_status status = processes_stop(processes, 0);
    if (status != CELL_MEASURED)
        return exit_status(status);
    /* What a load generator counts: not what it left in flight when it stopped. */
    uint64_t heard = counted(processes, "total.answered") - counted(processes, "total.requests_unheard");
    printf("requests=%llu tasks_run=%llu refused=%llu\n", (unsigned long long)heard,
           (unsigned long long)counted(processes, "total.run"),
           (unsigned long long)counted(processes, "total.requests_refused"));
    fflush(stdout);
    struct validity_tasks tasks = {
        .accepted = counted(processes, "total.accepted"),
        .run = counted(processes, "total.run"),
        .drained = counted(processes, "total.drained"),
    };
    return validity_of_tasks(&tasks, message, CELL_MESSAGE_SIZE) ? 0 : 1;
}

int serve_run(const struct configuration *configuration, uint16_t port, const volatile int *stop, char *message)
{
    struct processes processes;
    const char *selector = configuration_text(configuration, "target");
    if (!target_is_model(selector)) {
        snprintf(message, CELL_MESSAGE_SIZE, "target %s is a server of its own: start it by its own command", selector);
        return 2;
    }
    if (!settings_is_networked(configuration)) {
        snprintf(message, CELL_MESSAGE_SIZE, "workload %s has no server; serve router or echo",
                 configuration_text(configuration, "workload"));
        return 2;
    }
    struct processes_options options = {.seed = 1, .port = port, .serve = true};
    enum cell_status status = processes_start(&processes, configuration, &options, stop, message);
    if (status == CELL_INTERRUPTED)
        return 0;
    if (status != CELL_MEASURED)
        return exit_status(status);
    fprintf(stderr, "listening on http://127.0.0.1:%llu\n", (unsigned long long)counted(&processes, "port"));
    status = processes_wait_until(&processes, UINT64_MAX);
    int result = status == CELL_INTERRUPTED ? finish(&processes, message) : exit_status(status);
    processes_end(&processes);
    return result;
}
