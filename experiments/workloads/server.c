/* SPDX-License-Identifier: MIT
 *
 * Servers under test: start and stop, accepting, submitting, sums.
 */
#include "workloads/server_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const uint64_t published_ns[] = {
#define SERVER_COST_NS(name, ns, meaning) ns,
    ROUTER_COSTS(SERVER_COST_NS)
#undef SERVER_COST_NS
};

static const char *const item_names[] = {
#define SERVER_ITEM_NAME(name, meaning) #name,
    ROUTER_ITEMS(SERVER_ITEM_NAME)
#undef SERVER_ITEM_NAME
};

const char *router_item_name(enum router_item item)
{
    return item_names[item];
}

void router_options_init(struct router_options *options, double item_cost_percent)
{
    memset(options, 0, sizeof(*options));
    options->poller_threads = 1;
    options->placement_published = true;
    for (int cost = 0; cost < ROUTER_COST_COUNT; cost++)
        options->cost_ns[cost] = (uint64_t)((double)published_ns[cost] * item_cost_percent / 100 + 0.5);
}

/* ---- items ---- */

bool server_try_submit(struct server *server, struct pilfer_task *task, enum pilfer_placement placement)
{
    if (!server->options.placement_published)
        placement = PILFER_PLACEMENT_DEFAULT;
    if (pilfer_submit(server->executor, task, placement) == 0)
        return true;
    shared_u64_add_relaxed(&server->items_inline, 1); /* counter only */
    return false;
}

void server_submit(struct server *server, struct pilfer_task *task, enum pilfer_placement placement)
{
    if (!server_try_submit(server, task, placement))
        task->run(task);
}

void server_charge(const struct server *server, enum router_cost cost)
{
    if (server->options.cost_ns[cost] > 0)
        platform_charge(server->options.cost_ns[cost]);
}

/* ---- accepting ---- */

struct engine *server_next_engine(struct server *server)
{
    return &server->engines[shared_u32_add_relaxed(&server->next_engine, 1) % server->engine_count]; /* counter only */
}

struct io_queue *server_next_io_queue(struct server *server)
{
    /* counter only */
    return &server->io_queues[shared_u32_add_relaxed(&server->next_io_queue, 1) % server->io_queue_count];
}

void server_accept(struct server *server, struct transport_listener *listener,
                   void (*adopt)(struct server *server, struct transport_connection *connection))
{
    for (;;) {
        struct transport_connection *connection;
        const int status = transport_accept(listener, &connection);
        if (status == -EAGAIN)
            return;
        if (status == 0) {
            adopt(server, connection);
        } else if (status == -EMFILE || status == -ENOMEM || status == -ENOBUFS) {
            /* No event will tell when it is worth trying again: the first poller does so after a pause. */
            shared_u32_store_relaxed(&server->accept_again, 1); /* relaxed: the interruption orders it */
            transport_interrupt(server->engines[0].poller);
            return;
        }
    }
}

static bool server_listening_ready(struct source *source, uint32_t ready)
{
    struct server *server = (struct server *)(void *)((char *)source - offsetof(struct server, listening));
    server_accept(server, server->listener, client_adopt);
    return true;
}

/* ---- life ---- */

static int server_prepare(struct server *server)
{
    int status = transport_open(&server->transport);
    if (status == 0)
        status = ring_init(&server->clients_free, SERVER_CONNECTIONS_MAX);
    server->engines = platform_alloc(server->options.poller_threads * sizeof(server->engines[0]));
    server->io_queues = platform_alloc(server->options.io_queues * sizeof(server->io_queues[0]));
    if (!server->engines || !server->io_queues)
        return -ENOMEM;
    for (; status == 0 && server->engine_count < server->options.poller_threads; server->engine_count++)
        status = engine_init(&server->engines[server->engine_count], server, server->engine_count);
    for (; status == 0 && server->io_queue_count < server->options.io_queues; server->io_queue_count++)
        status = io_queue_init(&server->io_queues[server->io_queue_count], server);
    return status;
}

int server_init(struct server *server, const struct router_options *options, struct pilfer_executor *executor,
                bool (*request)(struct client *client), char *message)
{
    server->options = *options;
    server->executor = executor;
    server->request = request;
    if (options->io_queues == 0) {
        const uint32_t cpus = platform_usable_cpus();
        server->options.io_queues = cpus < SERVER_IO_QUEUES_MAX ? cpus : SERVER_IO_QUEUES_MAX;
    }
    if (options->poller_threads < 1 || options->poller_threads > SERVER_POLLERS_MAX ||
        server->options.io_queues > SERVER_IO_QUEUES_MAX) {
        snprintf(message, PILFER_MESSAGE_SIZE,
                 "server: %u poller threads and %u send queues: at most %d and %d, at least 1", options->poller_threads,
                 server->options.io_queues, SERVER_POLLERS_MAX, SERVER_IO_QUEUES_MAX);
        return -EINVAL;
    }
    int status = server_prepare(server);
    if (status != 0) {
        snprintf(message, PILFER_MESSAGE_SIZE, "server: cannot set up pollers and queues: %s", strerror(-status));
        return status;
    }
    status = transport_listen(server->transport, options->port, &server->listener);
    if (status == 0) {
        server->listening.ready = server_listening_ready;
        server->listening.engine = &server->engines[0];
        status = transport_poller_add_listener(server->engines[0].poller, server->listener, &server->listening);
    }
    if (status != 0)
        snprintf(message, PILFER_MESSAGE_SIZE,
                 "server: cannot listen on port %u of 127.0.0.1: %s; choose another port or 0", options->port,
                 strerror(-status));
    return status;
}

int server_start(struct server *server, char *message)
{
    for (uint32_t index = 0; index < server->engine_count; index++) {
        const int status = engine_start(&server->engines[index]);
        if (status != 0) {
            snprintf(message, PILFER_MESSAGE_SIZE, "server: cannot start poller thread %u of %u: %s", index + 1,
                     server->engine_count, strerror(-status));
            server_stop(server);
            return status;
        }
    }
    return 0;
}

void server_stop(struct server *server)
{
    shared_u32_store_release(&server->stopping, 1); /* @P engine.stopping: publishes nothing but itself */
    for (uint32_t index = 0; index < server->engine_count; index++) {
        struct engine *engine = &server->engines[index];
        if (!engine->thread)
            continue;
        transport_interrupt(engine->poller);
        platform_thread_join(engine->thread);
        engine->thread = NULL;
    }
}

void server_fini(struct server *server)
{
    const uint32_t count = shared_u32_load_relaxed(&server->client_count); /* relaxed: no other thread is left */
    for (uint32_t index = 0; index < count; index++)
        client_free(shared_ptr_load_relaxed(&server->clients[index])); /* relaxed: the same */
    if (server->listener)
        transport_listener_close(server->listener);
    for (uint32_t index = 0; index < server->engine_count; index++)
        engine_fini(&server->engines[index]);
    for (uint32_t index = 0; index < server->io_queue_count; index++)
        io_queue_fini(&server->io_queues[index]);
    platform_free(server->engines);
    platform_free(server->io_queues);
    ring_fini(&server->clients_free);
    if (server->transport)
        transport_close(server->transport);
}

/* ---- sums ---- */

static void server_add_client(const struct client *client, struct router_totals *out)
{
    out->requests_received += counter_read(&client->received);
    out->requests_answered += counter_read(&client->answered);
    out->requests_relayed += counter_read(&client->relayed);
    out->requests_refused += counter_read(&client->refused);
    out->requests_unheard += counter_read(&client->unheard);
    out->requests_lost += counter_read(&client->lost);
    out->requests_invalid += counter_read(&client->invalid);
    out->requests_waited += counter_read(&client->waited);
    out->items[ROUTER_ITEM_connection] += counter_read(&client->items);
}

void server_totals(struct server *server, struct router_totals *out)
{
    memset(out, 0, sizeof(*out));
    /* @P server.clients: relies on the table's entries below the count. */
    const uint32_t count = shared_u32_load_acquire(&server->client_count);
    for (uint32_t index = 0; index < count; index++)
        server_add_client(shared_ptr_load_relaxed(&server->clients[index]), out); /* relaxed: ordered by the count */
    for (uint32_t index = 0; index < server->engine_count; index++) {
        out->polls += counter_read(&server->engines[index].polls);
        out->items[ROUTER_ITEM_engine] += counter_read(&server->engines[index].items);
        out->items[ROUTER_ITEM_requeue] += counter_read(&server->engines[index].requeues);
    }
    for (uint32_t index = 0; index < server->io_queue_count; index++) {
        out->items[ROUTER_ITEM_send_client] += counter_read(&server->io_queues[index].items_client);
        out->items[ROUTER_ITEM_send_control] += counter_read(&server->io_queues[index].items_control);
    }
    struct transport_counters transport;
    transport_read(server->transport, &transport);
    out->descriptors_exhausted = transport.descriptors_exhausted;
    out->items_inline = counter_read(&server->items_inline);
    out->connections_accepted = counter_read(&server->connections_accepted);
    out->connections_open = out->connections_accepted - counter_read(&server->connections_closed);
    out->connections_expired = counter_read(&server->connections_expired);
    out->connections_rejected = counter_read(&server->connections_rejected);
}
