/* SPDX-License-Identifier: MIT
 *
 * Engines: a poller thread each, and the work item (A1, B1, and A1s, B1s) that handles what the poller found.
 *
 * How it works. As in the published socket engine, the item queues itself once more before it handles anything, so that
 * another worker can go on with the next source; on an isolated event that second run finds nothing. It yields after
 * 15 ms of work.
 *
 * Labels
 *   @P engine.queued    sources pushed before the engine was (or was found) queued -> the item that resets the mark
 *   @P engine.stopping  nothing but the wish to stop
 *
 * Source. dotnet/runtime, SocketAsyncEngine.Unix.cs (.NET 6 to 8).
 */
#include "workloads/server_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

#define ENGINE_EVENTS_MAX     1024
#define ENGINE_YIELD_AFTER_NS 15000000u

#define ENGINE_OF(task_pointer) ((struct engine *)(void *)((char *)(task_pointer)-offsetof(struct engine, task)))

static void engine_queue(struct engine *engine)
{
    /* @P engine.queued: publishes the sources pushed before; an item still queued is sure to see them. */
    if (shared_u32_exchange_acq_rel(&engine->queued, 1) == 0)
        server_submit(engine->server, &engine->task, PILFER_PLACEMENT_GLOBAL);
}

static void engine_push(struct engine *engine, struct source *source)
{
    const bool pushed = ring_push(&engine->ready, source);
    assert(pushed); /* each source at most once, and the ring holds all of them */
}

void source_kick(struct source *source, uint32_t ready)
{
    if (!gate_kick(&source->gate, ready))
        return;
    engine_push(source->engine, source);
    engine_queue(source->engine);
}

void source_start(struct source *source, struct transport_connection *connection)
{
    gate_take(&source->gate); /* drops what an earlier life may have left */
    if (transport_poller_add(source->engine->poller, connection, source) != 0) {
        transport_end(connection);
        gate_kick(&source->gate, TRANSPORT_READABLE | TRANSPORT_ENDED);
    }
    if (gate_leave(&source->gate))
        return;
    engine_push(source->engine, source);
    engine_queue(source->engine);
}

/* Handles one source until it has no more news. Gate owner. */
static void engine_handle(struct engine *engine, struct source *source)
{
    server_charge(engine->server, ROUTER_COST_engine);
    do {
        if (!source->ready(source, gate_take(&source->gate)))
            return;
    } while (!gate_leave(&source->gate));
}

static void engine_run(struct pilfer_task *task)
{
    struct engine *engine = ENGINE_OF(task);
    /* @P engine.queued: relies on the sources pushed by whoever found the engine queued. */
    shared_u32_exchange_acq_rel(&engine->queued, 0);
    struct source *source = ring_pop(&engine->ready);
    if (!source) {
        shared_u64_add_relaxed(&engine->requeues, 1); /* counter only */
        server_charge(engine->server, ROUTER_COST_requeue);
        return;
    }
    shared_u64_add_relaxed(&engine->items, 1); /* counter only */
    engine_queue(engine);
    const uint64_t began = platform_stamp();
    while (source) {
        engine_handle(engine, source);
        if (platform_stamp_ns(platform_stamp() - began) > ENGINE_YIELD_AFTER_NS) {
            engine_queue(engine);
            return;
        }
        source = ring_pop(&engine->ready);
    }
}

/* Every half second, and soon after an accept that found no descriptor. The first poller. */
static uint64_t engine_tick(struct server *server, uint64_t next_ns)
{
    const uint64_t now_ns = platform_now_ns();
    if (shared_u32_load_relaxed(&server->accept_again)) { /* relaxed: single bit, nothing is published with it */
        shared_u32_store_relaxed(&server->accept_again, 0);
        source_kick(&server->listening, TRANSPORT_READABLE);
    }
    if (now_ns < next_ns)
        return next_ns;
    const uint32_t tick = shared_u32_load_relaxed(&server->tick) + 1; /* relaxed: single writer, this thread */
    shared_u32_store_relaxed(&server->tick, tick);
    /* @P server.clients: relies on the table's entries below the count. */
    const uint32_t count = shared_u32_load_acquire(&server->client_count);
    for (uint32_t index = 0; index < count; index++)
        client_check_deadline(shared_ptr_load_relaxed(&server->clients[index]),
                              tick); /* relaxed: ordered by the count */
    return now_ns + SERVER_TICK_NS;
}

/* Brings what the poller found to the engine. */
static void engine_collect(struct engine *engine, const struct transport_event *events, int count)
{
    bool pushed = false;
    for (int index = 0; index < count; index++) {
        struct source *source = events[index].context;
        if (gate_kick(&source->gate, events[index].ready)) {
            engine_push(engine, source);
            pushed = true;
        }
    }
    if (count > 0) {
        shared_u64_add_relaxed(&engine->polls, 1); /* counter only */
        server_charge(engine->server, ROUTER_COST_poller);
    }
    if (pushed)
        engine_queue(engine);
}

static void engine_poll(void *argument)
{
    struct engine *engine = argument;
    struct server *server = engine->server;
    struct transport_event events[ENGINE_EVENTS_MAX];
    char name[16];
    snprintf(name, sizeof(name), "poller-%u", (unsigned)engine->index);
    /* Without memory for it, the poller's counts are kept with those of other strangers. */
    const bool attached = pilfer_attach(server->executor, name) == 0;
    uint64_t next_ns = engine->index == 0 ? platform_now_ns() + SERVER_TICK_NS : PLATFORM_FOREVER;
    while (shared_u32_load_acquire(&server->stopping) == 0) { /* @P engine.stopping */
        uint64_t deadline_ns = next_ns;
        if (engine->index == 0 && shared_u32_load_relaxed(&server->accept_again)) /* relaxed: an interruption follows */
            deadline_ns = platform_now_ns() + SERVER_RETRY_NS;
        pilfer_guest_polls();
        const int count = transport_poll(engine->poller, events, ENGINE_EVENTS_MAX, deadline_ns);
        pilfer_guest_runs();
        assert(count >= 0); /* only a closed poller fails */
        engine_collect(engine, events, count);
        if (engine->index == 0)
            next_ns = engine_tick(server, next_ns);
    }
    if (attached)
        pilfer_detach(server->executor);
}

int engine_init(struct engine *engine, struct server *server, uint32_t index)
{
    engine->server = server;
    engine->index = index;
    engine->task.run = engine_run;
    const int status = ring_init(&engine->ready, SERVER_SOURCES_MAX);
    if (status != 0)
        return status;
    return transport_poller_open(server->transport, TRANSPORT_COARSE, &engine->poller);
}

void engine_fini(struct engine *engine)
{
    if (engine->poller)
        transport_poller_close(engine->poller);
    ring_fini(&engine->ready);
}

int engine_start(struct engine *engine)
{
    char name[16];
    snprintf(name, sizeof(name), "poller-%u", (unsigned)engine->index);
    return platform_thread_start(&engine->thread, name, engine_poll, engine);
}
