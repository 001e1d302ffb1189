/* SPDX-License-Identifier: MIT
 *
 * Telling how a target is started; see target_start.h.
 */
#include "runner/target_start.h"

#include "runner/settings.h"
#include "runner/target_prepare.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* A socket on a free port. It is closed before the target takes the port: a program of somebody else may be faster, and
 * then the target says that its port is taken. */
static int take_port(uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0 || bind(descriptor, (struct sockaddr *)&address, size) != 0 ||
        getsockname(descriptor, (struct sockaddr *)&address, &size) != 0) {
        int error = errno;
        if (descriptor >= 0)
            close(descriptor);
        return -error;
    }
    *port = ntohs(address.sin_port);
    return descriptor;
}

static void send_numbered(struct child *child, const char *prefix, char *const *texts)
{
    for (int i = 0; texts[i] != NULL; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s%d", prefix, i);
        child_send(child, name, texts[i]);
    }
}

static void send_all(const struct target_use *use, const struct configuration *configuration, struct child *child,
                     uint16_t port, uint16_t control_port)
{
    char port_text[8], control_port_text[8], ready_text[32];
    snprintf(port_text, sizeof port_text, "%u", port);
    snprintf(control_port_text, sizeof control_port_text, "%u", control_port);
    snprintf(ready_text, sizeof ready_text, "%.0f", use->target.ready_s * 1e9);
    const struct placeholder_values values = {
        .texts =
            {
                [PLACEHOLDER_port] = port_text,
                [PLACEHOLDER_control_port] = control_port_text,
                [PLACEHOLDER_min_workers] = settings_target_knob(configuration, "min-workers"),
                [PLACEHOLDER_max_workers] = settings_target_knob(configuration, "max-workers"),
                [PLACEHOLDER_spin_limit] = settings_target_knob(configuration, "spin-limit"),
                [PLACEHOLDER_processors] = settings_target_knob(configuration, "processors"),
                [PLACEHOLDER_folder] = use->folder,
                [PLACEHOLDER_build] = use->build,
                [PLACEHOLDER_command] = configuration_text(configuration, "command"),
            },
    };
    char **words = command_words(use->target.texts[TARGET_KEY_start], &values);
    char **variables = target_environment(use, &values);
    const char *path = use->target.texts[TARGET_KEY_path];
    send_numbered(child, TARGET_FACT_ARGUMENT, words);
    send_numbered(child, TARGET_FACT_VARIABLE, variables);
    child_send(child, "path", path != NULL ? path : TARGET_PATH_INITIAL);
    child_send(child, "ready-ns", ready_text);
    if (use->target.is_router)
        child_send(child, "router", "1");
    child_send(child, "port", port_text);
    child_send(child, "control-port", control_port_text);
    command_words_free(words);
    command_words_free(variables);
}

int target_send(const struct target_use *use, const struct configuration *configuration, struct child *child)
{
    uint16_t port, control_port;
    int first = take_port(&port);
    if (first < 0)
        return first;
    int second = take_port(&control_port);
    close(first);
    if (second < 0)
        return second;
    close(second);
    send_all(use, configuration, child, port, control_port);
    return 0;
}
