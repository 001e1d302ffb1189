/* SPDX-License-Identifier: MIT
 *
 * The echo workload: the shared server with an answer from the connection loop itself.
 */
#include "workloads/echo.h"
#include "workloads/server_internal.h"

#include <errno.h>
#include <stdio.h>

struct echo {
    struct server server;
};

static bool echo_request(struct client *client)
{
    client_answer(client, 200, client->parser.target, client->parser.target_length);
    counter_add(&client->relayed, 1);
    return true;
}

int echo_start(const struct router_options *options, struct pilfer_executor *executor, struct echo **out, char *message)
{
    struct echo *echo = platform_alloc(sizeof(*echo));
    if (!echo) {
        snprintf(message, PILFER_MESSAGE_SIZE, "echo: no memory");
        return -ENOMEM;
    }
    int status = server_init(&echo->server, options, executor, echo_request, message);
    if (status == 0)
        status = server_start(&echo->server, message);
    if (status != 0) {
        echo_free(echo);
        return status;
    }
    *out = echo;
    return 0;
}

uint16_t echo_port(const struct echo *echo)
{
    return transport_listener_port(echo->server.listener);
}

void echo_totals(struct echo *echo, struct router_totals *out)
{
    server_totals(&echo->server, out);
    out->markers = out->requests_relayed;
}

void echo_stop(struct echo *echo)
{
    server_stop(&echo->server);
}

void echo_free(struct echo *echo)
{
    server_fini(&echo->server);
    platform_free(echo);
}
