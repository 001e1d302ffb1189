/* SPDX-License-Identifier: MIT
 *
 * Streams: B6 (new stream), B4 (relay of a reply), B7 (probe for waiting requests).
 */
#include "workloads/router_internal.h"

#include <stdio.h>
#include <string.h>

#define STREAM_PROBES 3 /* looks at the waiting requests per probe, as published */

#define STREAM_OF(task_pointer, member) \
    ((struct stream *)(void *)((char *)(task_pointer)-offsetof(struct stream, member)))

static struct server *stream_server(const struct stream *stream)
{
    return &stream->control->router->server;
}

void stream_assign(struct stream *stream, struct client *client, uint32_t bits)
{
    stream->client = client;
    const int length = snprintf(stream->request, sizeof(stream->request), "%s %s HTTP/1.1\r\nHost: extension\r\n\r\n",
                                client->parser.method == HTTP_HEAD ? "HEAD" : "GET", client->parser.target);
    stream->request_length = (uint32_t)length; /* fits: a target is at most HTTP_TARGET_MAX bytes */
    http_response_begin(&stream->parser, client->parser.method == HTTP_HEAD);
    control_kick_writer(stream->control, stream, bits);
}

void stream_kick_relay(struct stream *stream, uint32_t bits)
{
    if (gate_kick(&stream->relay, bits))
        server_submit(stream_server(stream), &stream->relay_task, PILFER_PLACEMENT_GLOBAL);
}

/* ---- B6 ---- */

static void stream_open_run(struct pilfer_task *task)
{
    struct stream *stream = STREAM_OF(task, open_task);
    struct control *control = stream->control;
    struct router *router = control->router;
    counter_add(&stream->opens, 1);
    server_charge(&router->server, ROUTER_COST_open);
    if (control_is_down(control))
        return;
    struct client *client = ring_pop(&router->pending);
    if (client) {
        stream_assign(stream, client, STREAM_ACCEPT | STREAM_REQUEST);
        return;
    }
    control_kick_writer(control, stream, STREAM_ACCEPT);
    ring_push(&control->idle, stream); /* cannot be full: it has room for all streams */
    router_match(router, control);
}

/* ---- B4 ---- */

/* The reply's next bytes: the header is read, the body passed on. False if it is not what it should be. */
static bool stream_relay_bytes(struct stream *stream, const uint8_t *bytes, uint32_t size)
{
    while (size > 0) {
        size_t consumed;
        const bool in_body = stream->head_written;
        const enum http_progress progress = http_response_feed(&stream->parser, bytes, size, &consumed);
        if (progress == HTTP_BAD || (progress == HTTP_DONE && consumed < size))
            return false;
        if (in_body) {
            client_write(stream->client, bytes, (uint32_t)consumed);
        } else if (progress != HTTP_MORE) {
            const bool fits = stream->parser.body_length <= FRAME_RESPONSE_MAX && stream->parser.status >= 200;
            if (!fits || stream->parser.body > HTTP_BODY_LENGTH)
                return false;
            client_write_head(stream->client, stream->parser.status, stream->parser.body_length);
            stream->head_written = true;
        }
        bytes += consumed;
        size -= (uint32_t)consumed;
    }
    return true;
}

/* The request is over: the client goes on, then the probe follows, which gives the stream back. */
static void stream_finish(struct stream *stream, bool relayed)
{
    struct client *client = stream->client;
    struct server *server = stream_server(stream);
    if (relayed) {
        counter_add(&stream->markers, 1);
        counter_add(&client->relayed, 1);
        client_count_answer(client);
        client_continue(client);
    } else if (stream->head_written) {
        counter_add(&client->lost, 1);
        client_count_answer(client);
        client_cut(client);
        client_continue(client);
    } else {
        router_fail(client, 502);
    }
    server_submit(server, &stream->probe_task, PILFER_PLACEMENT_LOCAL);
}

/* One turn of the relay; true when it was the last one. */
static bool stream_relay(struct stream *stream, uint32_t news)
{
    /* @P router.reply: relies on the bytes below the length. */
    const uint32_t length = shared_u32_load_acquire(&stream->reply_length);
    const uint32_t used = stream->reply_used;
    stream->reply_used = length;
    bool good = (news & RELAY_LOST) == 0;
    if (good)
        good = stream_relay_bytes(stream, stream->reply + used, length - used);
    if (good && (news & RELAY_END))
        good = http_response_end(&stream->parser) == HTTP_DONE;
    if (!good || (news & RELAY_END)) {
        stream_finish(stream, good);
        return true;
    }
    if (length > used)
        client_flush(stream->client);
    return false;
}

static void stream_relay_run(struct pilfer_task *task)
{
    struct stream *stream = STREAM_OF(task, relay_task);
    counter_add(&stream->relays, 1);
    server_charge(stream_server(stream), ROUTER_COST_relay);
    do {
        if (stream_relay(stream, gate_take(&stream->relay)))
            return;
    } while (!gate_leave(&stream->relay));
}

/* ---- B7 ---- */

static void stream_probe_run(struct pilfer_task *task)
{
    struct stream *stream = STREAM_OF(task, probe_task);
    struct router *router = stream->control->router;
    counter_add(&stream->probes, 1);
    server_charge(&router->server, ROUTER_COST_probe);
    for (int look = 0; look < STREAM_PROBES && !ring_is_empty(&router->pending); look++) {
        struct control *control = router_control(router);
        if (control)
            router_match(router, control);
    }
    control_return_stream(stream->control, stream);
}

/* ---- life ---- */

void stream_init(struct stream *stream, struct control *control)
{
    stream->control = control;
    stream->relay_task.run = stream_relay_run;
    stream->open_task.run = stream_open_run;
    stream->probe_task.run = stream_probe_run;
    gate_kick(&stream->relay, 0); /* owned by whoever has the free stream */
}

void stream_open(struct stream *stream, uint16_t channel)
{
    stream->channel = channel;
    stream->client = NULL;
    stream->reply_used = 0;
    stream->head_written = false;
    shared_u32_store_relaxed(&stream->sent, 0);         /* relaxed: nobody else uses the stream now */
    shared_u32_store_relaxed(&stream->reply_length, 0); /* relaxed: the same */
    do {
        gate_take(&stream->relay);
    } while (!gate_leave(&stream->relay));
    server_submit(stream_server(stream), &stream->open_task, PILFER_PLACEMENT_GLOBAL);
}
