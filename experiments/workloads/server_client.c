/* SPDX-License-Identifier: MIT
 *
 * Clients: the connection loop (A2), answers, time limits, and the end of a connection.
 *
 * How it works. The loop's gate is owned from the moment that there is something to do until there is nothing more to
 * do without further input, and that includes the time in which a request is under way elsewhere: then the request owns
 * it. So one connection has one request at a time; pipelined ones wait in the input pipe, and when that is full the
 * socket is not read any more.
 *
 * The end. Three parties use a connection: receiver, sender, loop. The loop asks the sender to close when everything is
 * sent; the sender ends our side; the peer ends its own, or is cut off after a while; only when both halves have
 * reported their end (and will never touch the connection again) does the loop close it and give the object back.
 */
#include "workloads/server_internal.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* News for the loop. */
enum { LOOP_DATA = 1, LOOP_INPUT_END = 2, LOOP_ROOM = 4, LOOP_OUTPUT_END = 8, LOOP_DEADLINE = 16, LOOP_RESET = 32 };

/* What the loop waits for; in the top bits of client->waiting, the tick of its beginning below. */
enum { WAITING_NOTHING, WAITING_HEADER, WAITING_REQUEST, WAITING_OUTPUT, WAITING_END };
#define WAITING_SHIFT     28
#define WAITING_TICK_MASK ((1u << WAITING_SHIFT) - 1)

#define CLIENT_OF(task_pointer)  ((struct client *)(void *)((char *)(task_pointer)-offsetof(struct client, task)))
#define CLIENT_OF_RECEIVER(half) ((struct client *)(void *)((char *)(half)-offsetof(struct client, receiver)))
#define CLIENT_OF_SENDER(half)   ((struct client *)(void *)((char *)(half)-offsetof(struct client, sender)))

static void client_loop(struct client *client, bool refuse);

/* Any thread. */
static void client_kick(struct client *client, uint32_t bits)
{
    if (!gate_kick(&client->loop, bits))
        return;
    if (!server_try_submit(client->server, &client->task, PILFER_PLACEMENT_GLOBAL))
        client_loop(client, true);
}

/* ---- time limits ---- */

/* Limit in ticks of a kind of waiting; a tick more, since the first one may be short. */
static uint32_t client_limit_ticks(uint32_t kind)
{
    switch (kind) {
    case WAITING_HEADER:
        return SERVER_HEADER_TIMEOUT_S * SERVER_TICKS_PER_S + 1;
    case WAITING_REQUEST:
    case WAITING_OUTPUT:
        return SERVER_IDLE_TIMEOUT_S * SERVER_TICKS_PER_S + 1;
    case WAITING_END:
        return SERVER_LINGER_TICKS + 1;
    default:
        return UINT32_MAX;
    }
}

static bool client_is_overdue(const struct client *client, uint32_t tick)
{
    const uint32_t waiting = shared_u32_load_relaxed(&client->waiting); /* relaxed: the loop looks again as the owner */
    return ((tick - waiting) & WAITING_TICK_MASK) >= client_limit_ticks(waiting >> WAITING_SHIFT);
}

/* Since when counts from the first call with a kind. Loop owner. */
static void client_wait(struct client *client, uint32_t kind)
{
    const uint32_t waiting = shared_u32_load_relaxed(&client->waiting); /* relaxed: single writer, the owner */
    if (waiting >> WAITING_SHIFT == kind)
        return;
    const uint32_t tick = shared_u32_load_relaxed(&client->server->tick) & WAITING_TICK_MASK; /* relaxed: approximate */
    shared_u32_store_relaxed(&client->waiting, kind << WAITING_SHIFT | tick);
}

void client_check_deadline(struct client *client, uint32_t tick)
{
    if (client_is_overdue(client, tick))
        client_kick(client, LOOP_DEADLINE);
}

/* ---- answers ---- */

void client_write(struct client *client, const void *bytes, uint32_t size)
{
    assert(size <= pipe_room_total(&client->sender.output)); /* no request is taken without room for its answer */
    pipe_write(&client->sender.output, bytes, size);
}

void client_write_head(struct client *client, int status, uint64_t size)
{
    char head[192];
    const int length = snprintf(
        head, sizeof(head), "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %llu\r\n%s\r\n", status,
        http_reason(status), (unsigned long long)size, client->parser.keep_alive ? "" : "Connection: close\r\n");
    assert(length > 0 && length < (int)sizeof(head));
    client_write(client, head, (uint32_t)length);
}

void client_count_answer(struct client *client)
{
    counter_add(&client->answered, 1);
    client->answer_unread =
        !client->input_ended && (shared_u32_load_relaxed(&client->loop.word) & LOOP_INPUT_END) == 0; /* counter only */
    if (!client->answer_unread)
        counter_add(&client->unheard, 1);
}

static void client_on_reset(struct client *client)
{
    if (client->answer_unread)
        counter_add(&client->unheard, 1);
    client->answer_unread = false;
}

void client_answer(struct client *client, int status, const void *body, uint32_t size)
{
    client_write_head(client, status, size);
    if (size > 0 && client->parser.method != HTTP_HEAD)
        client_write(client, body, size);
    client_count_answer(client);
}

void client_flush(struct client *client)
{
    sender_kick(&client->sender, SENDER_DATA);
}

void client_cut(struct client *client)
{
    client->closing = true;
    transport_end(client->receiver.connection);
}

/* ---- the loop ---- */

static void client_refuse(struct client *client)
{
    static const char body[] = "no room for more work\n";
    client_answer(client, 503, body, sizeof(body) - 1);
    counter_add(&client->refused, 1);
}

/* A complete request is in the parser; false when it is under way elsewhere. */
static bool client_take_request(struct client *client, bool refuse)
{
    counter_add(&client->received, 1);
    client->answer_unread = false;
    client_wait(client, WAITING_NOTHING);
    if (refuse) {
        client_refuse(client);
        return true;
    }
    server_charge(client->server, ROUTER_COST_connection);
    return client->server->request(client);
}

/* The answer is written; what comes next? */
static void client_after_answer(struct client *client)
{
    if (!client->parser.keep_alive)
        client->closing = true;
    http_request_begin(&client->parser);
    sender_kick(&client->sender, SENDER_DATA);
}

/* Feeds the parser with what is there. */
static enum http_progress client_parse(struct client *client)
{
    enum http_progress progress = HTTP_MORE;
    uint32_t size = 0;
    for (const uint8_t *bytes = pipe_data(&client->receiver.input, &size); size > 0 && progress == HTTP_MORE;
         bytes = pipe_data(&client->receiver.input, &size)) {
        size_t consumed;
        progress = http_request_feed(&client->parser, bytes, size, &consumed);
        pipe_consumed(&client->receiver.input, (uint32_t)consumed);
    }
    receiver_resume(&client->receiver);
    return progress;
}

static bool client_has_room(struct client *client)
{
    if (pipe_room_total(&client->sender.output) >= SERVER_RESPONSE_MAX)
        return true;
    stall_declare(&client->sender.full);
    return pipe_room_total(&client->sender.output) >= SERVER_RESPONSE_MAX;
}

/* Takes requests while there are any; false when one is under way elsewhere. */
static bool client_take_requests(struct client *client, bool refuse)
{
    while (!client->closing) {
        if (client->output_ended || !client_has_room(client)) {
            client_wait(client, WAITING_OUTPUT);
            client->closing = client->output_ended;
            return true;
        }
        switch (client_parse(client)) {
        case HTTP_DONE:
            if (!client_take_request(client, refuse))
                return false;
            client_after_answer(client);
            break;
        case HTTP_BAD:
            counter_add(&client->invalid, 1);
            client->parser.keep_alive = false;
            client_write_head(client, client->parser.status, 0);
            client_after_answer(client);
            break;
        default:
            if (client->input_ended)
                client->closing = true;
            else if (http_request_is_begun(&client->parser))
                client_wait(client, WAITING_HEADER);
            else if (shared_u32_load_relaxed(&client->waiting) >> WAITING_SHIFT != WAITING_HEADER) /* relaxed: owner */
                client_wait(client, WAITING_REQUEST);
            return true;
        }
    }
    return true;
}

/* Gives the object back; the last thing that the loop does, with all three gates still owned. */
static void client_release(struct client *client)
{
    struct server *server = client->server;
    transport_connection_close(client->receiver.connection);
    client->receiver.connection = NULL;
    client->sender.connection = NULL;
    client_wait(client, WAITING_NOTHING);
    shared_u64_add_relaxed(&server->connections_closed, 1); /* counter only */
    const bool pushed = ring_push(&server->clients_free, client);
    assert(pushed); /* the ring holds all of them */
}

/* Works on the end of the connection; true when the object has been given back. */
static bool client_close(struct client *client)
{
    if (!client->close_told) {
        client->close_told = true;
        client_wait(client, WAITING_OUTPUT);
        shared_u32_store_relaxed(&client->receiver.discard, 1); /* relaxed: the kick below orders it */
        if (!client->input_ended)
            source_kick(&client->receiver.source, TRANSPORT_READABLE);
        if (!client->output_ended)
            sender_kick(&client->sender, SENDER_CLOSE);
    }
    if (client->output_ended && client->input_ended) {
        client_release(client);
        return true;
    }
    if (client->output_ended)
        client_wait(client, WAITING_END);
    return false;
}

/* The deadline was due when the tick looked; is it still? */
static void client_on_deadline(struct client *client)
{
    if (!client_is_overdue(client, shared_u32_load_relaxed(&client->server->tick))) /* relaxed: approximate */
        return;
    shared_u64_add_relaxed(&client->server->connections_expired, 1); /* counter only */
    client_cut(client);
    client_wait(client, WAITING_NOTHING);
}

/* A2, and what goes on with the connection after an answer. Loop owner. */
static void client_loop(struct client *client, bool refuse)
{
    do {
        const uint32_t news = gate_take(&client->loop);
        client->input_ended |= (news & LOOP_INPUT_END) != 0;
        client->output_ended |= (news & LOOP_OUTPUT_END) != 0;
        if (news & LOOP_RESET)
            client_on_reset(client);
        if (news & LOOP_DEADLINE)
            client_on_deadline(client);
        if (!client_take_requests(client, refuse))
            return;
        if (client->closing && client_close(client))
            return;
    } while (!gate_leave(&client->loop));
}

static void client_run(struct pilfer_task *task)
{
    struct client *client = CLIENT_OF(task);
    counter_add(&client->items, 1);
    client_loop(client, false);
}

void client_continue(struct client *client)
{
    client_after_answer(client);
    client_loop(client, false);
}

/* ---- the halves ---- */

static bool client_ready(struct source *source, uint32_t ready)
{
    struct client *client = CLIENT_OF_RECEIVER(source);
    if (ready & TRANSPORT_WRITABLE)
        sender_writable(&client->sender);
    return receiver_run(&client->receiver, ready);
}

static void client_news(struct receiver *receiver, uint32_t bits)
{
    const uint32_t end = bits & RECEIVER_END ? LOOP_INPUT_END : 0, reset = bits & RECEIVER_RESET ? LOOP_RESET : 0;
    client_kick(CLIENT_OF_RECEIVER(receiver), LOOP_DATA | end | reset);
}

static void client_room(struct sender *sender)
{
    client_kick(CLIENT_OF_SENDER(sender), LOOP_ROOM);
}

static void client_sender_ended(struct sender *sender, bool broken)
{
    if (broken)
        transport_end(sender->connection);
    else
        transport_end_sending(sender->connection);
    client_kick(CLIENT_OF_SENDER(sender), LOOP_OUTPUT_END);
}

/* ---- life ---- */

void client_free(struct client *client)
{
    if (client->receiver.connection)
        transport_connection_close(client->receiver.connection);
    receiver_fini(&client->receiver);
    sender_fini(&client->sender);
    platform_free(client);
}

/* A new object, with all gates owned by the caller; NULL without memory. */
static struct client *client_create(struct server *server)
{
    _Static_assert(offsetof(struct receiver, source) == 0, "a source is its receiver");
    struct client *client = platform_alloc(sizeof(*client));
    if (!client)
        return NULL;
    client->server = server;
    client->task.run = client_run;
    client->receiver.source.ready = client_ready;
    client->receiver.news = client_news;
    client->sender.room = client_room;
    client->sender.ended = client_sender_ended;
    if (receiver_init(&client->receiver, SERVER_INPUT_SIZE) != 0 ||
        sender_init(&client->sender, server, SERVER_OUTPUT_SIZE) != 0) {
        client_free(client);
        return NULL;
    }
    gate_kick(&client->receiver.source.gate, 0);
    gate_kick(&client->sender.gate, 0);
    gate_kick(&client->loop, 0);
    return client;
}

/* A free object, or a new one while there are not too many; NULL else. The accepting item. */
static struct client *client_obtain(struct server *server)
{
    struct client *client = ring_pop(&server->clients_free);
    const uint32_t count = shared_u32_load_relaxed(&server->client_count); /* relaxed: single writer, this item */
    if (client || count == SERVER_CONNECTIONS_MAX)
        return client;
    client = client_create(server);
    if (!client)
        return NULL;
    shared_ptr_store_relaxed(&server->clients[count], client); /* relaxed: ordered by the count */
    /* @P server.clients: publishes the entry and the object. */
    shared_u32_store_release(&server->client_count, count + 1);
    return client;
}

/* Drops what a stale kick may have left, and gives the gate up. */
static void client_open_gate(struct gate *gate)
{
    do {
        gate_take(gate);
    } while (!gate_leave(gate));
}

void client_adopt(struct server *server, struct transport_connection *connection)
{
    struct client *client = client_obtain(server);
    if (!client) {
        transport_connection_close(connection);
        shared_u64_add_relaxed(&server->connections_rejected, 1); /* counter only */
        return;
    }
    client->receiver.connection = client->sender.connection = connection;
    client->receiver.source.engine = server_next_engine(server);
    client->receiver.end_seen = false;
    client->receiver.discarded = 0;
    shared_u32_store_relaxed(&client->receiver.discard, 0); /* relaxed: nobody else uses the object now */
    client->sender.queue = server_next_io_queue(server);
    client->sender.closing = client->sender.broken = false;
    pipe_reset(&client->receiver.input);
    pipe_reset(&client->sender.output);
    stall_lift(&client->receiver.full);
    stall_lift(&client->sender.blocked);
    stall_lift(&client->sender.full);
    http_request_begin(&client->parser);
    client->input_ended = client->output_ended = client->closing = client->close_told = false;
    client->answer_unread = false;
    client_wait(client, WAITING_HEADER);
    client_open_gate(&client->sender.gate);
    client_open_gate(&client->loop);
    shared_u64_add_relaxed(&server->connections_accepted, 1); /* counter only */
    source_start(&client->receiver.source, connection);
}
