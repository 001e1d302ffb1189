/* SPDX-License-Identifier: MIT
 *
 * The router: start and stop, and how requests and streams find each other.
 *
 * Labels
 *   @P router.control   the control object -> whoever takes it for a request
 *   @P router.controls  entries below the count -> sums
 *   @P router.down      nothing but itself; the race with it is closed by @F router.down and @F router.match
 *   @F router.match     add a stream, look for requests | add a request, look for streams (and for the extension's end)
 */
#include "workloads/router_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct control *router_control(struct router *router)
{
    struct control *control = shared_ptr_load_acquire(&router->control); /* @P router.control: relies on the object */
    return control && !control_is_down(control) ? control : NULL;
}

void router_fail(struct client *client, int status)
{
    static const char absent[] = "no extension\n", lost[] = "the extension gave no reply\n";
    if (status == 503)
        client_answer(client, status, absent, sizeof(absent) - 1);
    else
        client_answer(client, status, lost, sizeof(lost) - 1);
    counter_add(&client->lost, 1);
    client_continue(client);
}

void router_fail_pending(struct router *router)
{
    /* @F router.match: without it, a request could be added after we looked, by one who saw the extension up. */
    ordered_fence_seq_cst();
    for (struct client *client = ring_pop(&router->pending); client; client = ring_pop(&router->pending))
        router_fail(client, 503);
}

void router_match(struct router *router, struct control *control)
{
    for (;;) {
        /* @F router.match: without it, one side could add a stream and find no request while the other adds the request
         * and finds no stream. */
        ordered_fence_seq_cst();
        struct stream *stream = ring_pop(&control->idle);
        if (!stream)
            return;
        struct client *client = ring_pop(&router->pending);
        if (client) {
            stream_assign(stream, client, STREAM_REQUEST);
            continue;
        }
        ring_push(&control->idle, stream); /* cannot be full: it has room for all streams */
        ordered_fence_seq_cst();           /* @F router.match: the same, for the stream given back */
        if (ring_is_empty(&router->pending))
            return;
    }
}

/* A2: gives the request to an idle stream, or lets it wait. */
static bool router_request(struct client *client)
{
    struct router *router = (struct router *)(void *)client->server; /* the server is its first member */
    struct control *control = router_control(router);
    if (!control) {
        static const char absent[] = "no extension\n";
        client_answer(client, 503, absent, sizeof(absent) - 1);
        counter_add(&client->lost, 1);
        return true;
    }
    struct stream *stream = ring_pop(&control->idle);
    if (stream) {
        stream_assign(stream, client, STREAM_REQUEST);
        return false;
    }
    counter_add(&client->waited, 1);
    ring_push(&router->pending, client); /* cannot be full: it has room for all clients, each at most once */
    router_match(router, control);
    if (control_is_down(control))
        router_fail_pending(router);
    return false;
}

static bool router_control_ready(struct source *source, uint32_t ready)
{
    struct router *router = (struct router *)(void *)((char *)source - offsetof(struct router, control_listening));
    server_accept(&router->server, router->control_listener, control_adopt);
    return true;
}

/* ---- life ---- */

static int router_listen(struct router *router, char *message)
{
    struct server *server = &router->server;
    int status = ring_init(&router->pending, SERVER_CONNECTIONS_MAX);
    if (status == 0)
        status = transport_listen(server->transport, server->options.control_port, &router->control_listener);
    if (status == 0) {
        router->control_listening.ready = router_control_ready;
        router->control_listening.engine = &server->engines[0];
        status = transport_poller_add_listener(server->engines[0].poller, router->control_listener,
                                               &router->control_listening);
    }
    if (status != 0)
        snprintf(message, PILFER_MESSAGE_SIZE,
                 "router: cannot listen for the extension on port %u of 127.0.0.1: %s; choose another port or 0",
                 server->options.control_port, strerror(-status));
    return status;
}

int router_start(const struct router_options *options, struct pilfer_executor *executor, struct router **out,
                 char *message)
{
    _Static_assert(offsetof(struct router, server) == 0, "a router is its server");
    struct router *router = platform_alloc(sizeof(*router));
    if (!router) {
        snprintf(message, PILFER_MESSAGE_SIZE, "router: no memory");
        return -ENOMEM;
    }
    int status = server_init(&router->server, options, executor, router_request, message);
    if (status == 0)
        status = router_listen(router, message);
    if (status == 0)
        status = server_start(&router->server, message);
    if (status != 0) {
        router_free(router);
        return status;
    }
    *out = router;
    return 0;
}

uint16_t router_port(const struct router *router)
{
    return transport_listener_port(router->server.listener);
}

uint16_t router_control_port(const struct router *router)
{
    return transport_listener_port(router->control_listener);
}

void router_stop(struct router *router)
{
    server_stop(&router->server);
}

void router_free(struct router *router)
{
    const uint32_t count = shared_u32_load_relaxed(&router->control_count); /* relaxed: no other thread is left */
    for (uint32_t index = 0; index < count; index++)
        control_free(shared_ptr_load_relaxed(&router->controls[index])); /* relaxed: the same */
    if (router->control_listener)
        transport_listener_close(router->control_listener);
    server_fini(&router->server);
    ring_fini(&router->pending);
    platform_free(router);
}

/* ---- sums ---- */

static void router_add_control(struct control *control, struct router_totals *out)
{
    out->items[ROUTER_ITEM_copy] += counter_read(&control->copies);
    out->items[ROUTER_ITEM_parser] += counter_read(&control->parsers);
    out->items[ROUTER_ITEM_writer] += counter_read(&control->writers);
    /* @P router.streams: relies on the objects and their number. */
    const struct stream *streams = shared_ptr_load_acquire(&control->streams_shared);
    for (uint32_t index = 0; streams && index < control->stream_count; index++) {
        out->items[ROUTER_ITEM_relay] += counter_read(&streams[index].relays);
        out->items[ROUTER_ITEM_open] += counter_read(&streams[index].opens);
        out->items[ROUTER_ITEM_probe] += counter_read(&streams[index].probes);
        out->markers += counter_read(&streams[index].markers);
    }
    if (!control_is_down(control))
        out->channels_idle += ring_count(&control->idle);
}

void router_totals(struct router *router, struct router_totals *out)
{
    server_totals(&router->server, out);
    /* @P router.controls: relies on the entries below the count. */
    const uint32_t count = shared_u32_load_acquire(&router->control_count);
    for (uint32_t index = 0; index < count; index++)
        router_add_control(shared_ptr_load_relaxed(&router->controls[index]), out); /* relaxed: ordered by the count */
    out->extensions_accepted = count;
}
