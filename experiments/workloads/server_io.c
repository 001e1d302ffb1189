/* SPDX-License-Identifier: MIT
 *
 * The two halves of a connection, and the send queues (A4, B5).
 */
#include "workloads/server_internal.h"

#include <assert.h>
#include <errno.h>

/* ---- receiving ---- */

int receiver_init(struct receiver *receiver, uint32_t size)
{
    return pipe_init(&receiver->input, size);
}

void receiver_fini(struct receiver *receiver)
{
    pipe_fini(&receiver->input);
}

/* Where the next bytes go: the pipe, or a buffer that is forgotten. NULL when there is no room and the consumer will
 * resume us. */
static uint8_t *receiver_room(struct receiver *receiver, uint8_t *forgotten, uint32_t size, uint32_t *room)
{
    if (shared_u32_load_relaxed(&receiver->discard)) { /* relaxed: a kick of this source's gate follows the store */
        *room = size;
        return forgotten;
    }
    uint8_t *bytes = pipe_room(&receiver->input, room);
    if (*room > 0)
        return bytes;
    stall_declare(&receiver->full);
    bytes = pipe_room(&receiver->input, room);
    return *room > 0 ? bytes : NULL;
}

bool receiver_run(struct receiver *receiver, uint32_t ready)
{
    uint8_t forgotten[1024];
    uint32_t room = 0;
    ptrdiff_t count = 0;
    bool news = false;
    if (ready & TRANSPORT_ENDED)
        receiver->end_seen = true;
    if ((ready & TRANSPORT_READABLE) == 0)
        return true;
    for (;;) {
        uint8_t *bytes = receiver_room(receiver, forgotten, sizeof(forgotten), &room);
        if (!bytes)
            break;
        count = transport_receive(receiver->connection, bytes, room);
        if (count <= 0)
            break;
        if (bytes != forgotten) {
            pipe_wrote(&receiver->input, (uint32_t)count);
            news = true;
        } else if ((receiver->discarded += (uint32_t)count) > SERVER_DISCARD_MAX) {
            count = -EMSGSIZE;
            break;
        }
        if (count < (ptrdiff_t)room && !receiver->end_seen)
            break;
    }
    if (count == 0 ? room > 0 : count < 0 && count != -EAGAIN) {
        receiver->news(receiver, count == -ECONNRESET ? RECEIVER_END | RECEIVER_RESET : RECEIVER_END);
        return false;
    }
    if (news)
        receiver->news(receiver, RECEIVER_DATA);
    return true;
}

void receiver_resume(struct receiver *receiver)
{
    if (stall_lift(&receiver->full))
        source_kick(&receiver->source, TRANSPORT_READABLE);
}

/* ---- sending ---- */

int sender_init(struct sender *sender, struct server *server, uint32_t size)
{
    sender->server = server;
    return pipe_init(&sender->output, size);
}

void sender_fini(struct sender *sender)
{
    pipe_fini(&sender->output);
}

/* One send item costs what its kind costs. */
static void sender_charge(struct sender *sender)
{
    if (!sender->control) {
        server_charge(sender->server, ROUTER_COST_send_client);
        return;
    }
    const uint64_t written = counter_read(&sender->requests_written);
    const bool carries = written != sender->requests_sent;
    sender->requests_sent = written;
    server_charge(sender->server, carries ? ROUTER_COST_send_control : ROUTER_COST_send_accept);
}

/* Sends until nothing is left or the transport takes no more; then it will tell. */
static void sender_flush(struct sender *sender)
{
    bool declared = false;
    uint32_t size = 0;
    for (const uint8_t *bytes = pipe_data(&sender->output, &size); size > 0 && !sender->broken;
         bytes = pipe_data(&sender->output, &size)) {
        const ptrdiff_t count = transport_send(sender->connection, bytes, size);
        if (count > 0) {
            pipe_consumed(&sender->output, (uint32_t)count);
        } else if (count != -EAGAIN) {
            sender->broken = true;
        } else if (declared) {
            return;
        } else {
            stall_declare(&sender->blocked);
            declared = true;
        }
    }
}

/* The item's work for one sender. Gate owner. */
static void sender_run(struct sender *sender)
{
    do {
        if (gate_take(&sender->gate) & SENDER_CLOSE)
            sender->closing = true;
        if (pipe_data_total(&sender->output) > 0) {
            sender_charge(sender);
            sender_flush(sender);
        }
        if (sender->broken || (sender->closing && pipe_data_total(&sender->output) == 0)) {
            sender->ended(sender, sender->broken);
            return;
        }
        if (stall_lift(&sender->full))
            sender->room(sender);
    } while (!gate_leave(&sender->gate));
}

void sender_kick(struct sender *sender, uint32_t bits)
{
    if (!gate_kick(&sender->gate, bits))
        return;
    struct io_queue *queue = sender->queue;
    const bool pushed = ring_push(&queue->senders, sender);
    assert(pushed); /* each sender at most once, and the ring holds all of them */
    if (gate_kick(&queue->gate, 1))
        server_submit(queue->server, &queue->task, PILFER_PLACEMENT_GLOBAL);
}

void sender_writable(struct sender *sender)
{
    if (stall_lift(&sender->blocked) && gate_kick(&sender->gate, SENDER_DATA))
        sender_run(sender);
}

/* ---- send queues ---- */

#define IO_QUEUE_OF(task_pointer) ((struct io_queue *)(void *)((char *)(task_pointer)-offsetof(struct io_queue, task)))

static void io_queue_run(struct pilfer_task *task)
{
    struct io_queue *queue = IO_QUEUE_OF(task);
    bool counted = false;
    do {
        gate_take(&queue->gate);
        for (struct sender *sender = ring_pop(&queue->senders); sender; sender = ring_pop(&queue->senders)) {
            if (!counted) /* an item that serves both kinds counts as what it began with */
                counter_add(sender->control ? &queue->items_control : &queue->items_client, 1);
            counted = true;
            sender_run(sender);
        }
    } while (!gate_leave(&queue->gate));
}

int io_queue_init(struct io_queue *queue, struct server *server)
{
    queue->server = server;
    queue->task.run = io_queue_run;
    return ring_init(&queue->senders, SERVER_SOURCES_MAX);
}

void io_queue_fini(struct io_queue *queue)
{
    ring_fini(&queue->senders);
}
