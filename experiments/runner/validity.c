/* SPDX-License-Identifier: MIT
 *
 * The equations of conservation; see validity.h.
 */
#include "validity.h"

#include <stdarg.h>
#include <stdio.h>

/* Writes the reason and returns false, so that a check reads "if it does not hold return violated(...)". */
static __attribute__((format(printf, 3, 4))) bool violated(char *reason, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, size, format, arguments);
    va_end(arguments);
    return false;
}

typedef unsigned long long number;

bool validity_of_client(const struct validity_client *client, bool paced, char *reason, size_t size)
{
    if (client->connections_achieved != client->connections_asked)
        return violated(reason, size, "connections achieved %llu is not asked %llu",
                        (number)client->connections_achieved, (number)client->connections_asked);
    if (client->sent != client->answered + client->failed + client->in_flight)
        return violated(reason, size, "sent %llu is not answered %llu + failed %llu + in flight %llu",
                        (number)client->sent, (number)client->answered, (number)client->failed,
                        (number)client->in_flight);
    if (client->in_flight != 0)
        return violated(reason, size, "sent %llu is not answered %llu + failed %llu: %llu are still in flight",
                        (number)client->sent, (number)client->answered, (number)client->failed,
                        (number)client->in_flight);
    if (client->failed > client->refused)
        return violated(reason, size, "%llu of %llu requests failed otherwise than by a refusal (mostly %s)",
                        (number)(client->failed - client->refused), (number)client->sent,
                        client->failure != NULL ? client->failure : "unknown");
    if ((double)client->refused > VALIDITY_SHARE_MAX * (double)client->sent)
        return violated(reason, size, "%llu of %llu requests were refused, more than %g %%", (number)client->refused,
                        (number)client->sent, 100 * VALIDITY_SHARE_MAX);
    if (client->requests == 0)
        return violated(reason, size, "no request was answered in the window (%llu in the whole run)",
                        (number)client->answered);
    if (!paced)
        return true;
    if (client->arrivals != client->requests + client->window_failures + client->unsent)
        return violated(reason, size, "arrivals %llu is not requests %llu + failed %llu + unsent %llu",
                        (number)client->arrivals, (number)client->requests, (number)client->window_failures,
                        (number)client->unsent);
    if ((double)client->unsent > VALIDITY_SHARE_MAX * (double)client->arrivals)
        return violated(reason, size, "the rate was not met: %llu of %llu arrivals were never sent",
                        (number)client->unsent, (number)client->arrivals);
    return true;
}

bool validity_of_server(const struct validity_client *client, const struct validity_server *server, char *reason,
                        size_t size)
{
    if (server->received != server->answered)
        return violated(reason, size, "received %llu is not answered %llu: %lld are still in flight",
                        (number)server->received, (number)server->answered,
                        (long long)(server->received - server->answered));
    if (server->received < client->answered || server->received > client->sent)
        return violated(reason, size, "received by the server %llu is not between answered %llu and sent %llu",
                        (number)server->received, (number)client->answered, (number)client->sent);
    if (server->answered != server->relayed + server->refused + server->lost)
        return violated(reason, size, "answered %llu is not relayed %llu + refused %llu + lost %llu",
                        (number)server->answered, (number)server->relayed, (number)server->refused,
                        (number)server->lost);
    if (server->markers != server->relayed)
        return violated(reason, size, "marker items %llu is not requests %llu", (number)server->markers,
                        (number)server->relayed);
    if (server->relayed < client->answered || server->relayed > client->answered + client->failed)
        return violated(reason, size, "answered at the clients %llu + failed %llu does not cover %llu answers sent",
                        (number)client->answered, (number)client->failed, (number)server->relayed);
    if (server->has_extension && server->extension_received != server->extension_answered)
        return violated(reason, size, "received by the extension %llu is not answered %llu",
                        (number)server->extension_received, (number)server->extension_answered);
    if (server->has_extension && (server->extension_answered < server->relayed ||
                                  server->extension_answered > server->relayed + server->lost + server->refused))
        return violated(reason, size, "answered by the extension %llu is not relayed %llu",
                        (number)server->extension_answered, (number)server->relayed);
    return true;
}

bool validity_of_extension(const struct validity_client *client, const struct validity_extension *extension,
                           char *reason, size_t size)
{
    if (extension->received != extension->answered)
        return violated(reason, size, "received by the extension %llu is not answered %llu",
                        (number)extension->received, (number)extension->answered);
    if (extension->received < client->answered || extension->received > client->sent)
        return violated(reason, size, "received by the extension %llu is not between answered %llu and sent %llu",
                        (number)extension->received, (number)client->answered, (number)client->sent);
    return true;
}

bool validity_of_tasks(const struct validity_tasks *tasks, char *reason, size_t size)
{
    if (tasks->accepted != tasks->run + tasks->drained)
        return violated(reason, size, "tasks accepted %llu is not run %llu + drained %llu + queued 0",
                        (number)tasks->accepted, (number)tasks->run, (number)tasks->drained);
    if (tasks->submitted != 0 && tasks->submitted != tasks->accepted)
        return violated(reason, size, "tasks submitted %llu is not accepted %llu", (number)tasks->submitted,
                        (number)tasks->accepted);
    return true;
}
