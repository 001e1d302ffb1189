/* SPDX-License-Identifier: MIT
 *
 * `pilfer serve WORKLOAD`: a workload's server under test left up, for curl, wrk, oha; on 127.0.0.1 only.
 */
#include "verbs.h"

#include "runner/serve.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile int stop_wanted;

static void want_stop(int signal_number)
{
    if (stop_wanted && signal_number == SIGINT)
        _exit(EXIT_INTERRUPTED); /* the second Ctrl-C; the children end with this process */
    stop_wanted = 1;
}

static void install(int signal_number)
{
    struct sigaction action = {.sa_handler = want_stop};
    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, NULL);
}

void words_workloads(struct words *words)
{
    words_add_choices(words, &parameters[parameter_find("workload")]);
}

/* One value per option; 0, or -1 after complaints. */
static int configure(const struct invocation *invocation, struct configuration *out)
{
    int status = 0;
    configuration_init(out);
    for (uint32_t i = 0; i < parameter_count; i++) {
        const struct parameter *parameter = &parameters[i];
        const char *text = invocation->parameters[i];
        if (strcmp(parameter->key, "workload") == 0) {
            if (text != NULL && strcmp(text, invocation->arguments[0]) != 0)
                status = complain("serve: --workload %s contradicts '%s'; leave it out", escaped(text),
                                  escaped(invocation->arguments[0]));
            text = invocation->arguments[0];
        }
        char normalised[PARAMETER_TEXT_SIZE], message[512];
        if (text == NULL)
            continue;
        if (parameter_parse(parameter, text, normalised, message, sizeof message) != 0)
            status = complain("serve: --%s: %s", parameter->key, message);
        else
            configuration_set(out, parameter->key, normalised);
    }
    return status;
}

int verb_serve(const struct invocation *invocation)
{
    struct configuration configuration;
    uint64_t port;
    if (option_integer(invocation, OPTION_port, 0, 0, UINT16_MAX, &port) != 0 ||
        configure(invocation, &configuration) != 0)
        return EXIT_USAGE;
    install(SIGINT);
    install(SIGTERM);
    install(SIGHUP);
    char message[CELL_MESSAGE_SIZE];
    int status = serve_run(&configuration, (uint16_t)port, &stop_wanted, message);
    if (status != EXIT_DONE)
        complain("serve: %s", message);
    return status;
}
