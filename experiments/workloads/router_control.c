/* SPDX-License-Identifier: MIT
 *
 * The control connection: B1 receives, B2 copies, B3 parses frames; A3 writes frames, A4 sends them.
 *
 * How it works. The stages are gates in a row, each with a pipe before it; a stage that finds the next pipe full stops
 * until its reader has made room. B3 also stops at OPEN while no stream object is free: that is the limit on concurrent
 * streams, and it only bites when probes (B7) are late.
 *
 * The end. When the connection ends or breaks the protocol, B3 marks the control as down and gives a lost reply to
 * every request that was sent; A3 does the same for those that were not. A fence on both sides (@F router.down) makes
 * sure that one of the two finds each request.
 *
 * Labels
 *   @P router.sent     the stream's request and client -> the frame parser that accepts a reply to it
 *   @P router.reply    bytes of the reply -> the relay that reads the length
 *   @P router.streams  the stream objects -> sums
 *   @F router.down     store sent, load down | store down, load sent
 */
#include "workloads/router_internal.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define CONTROL_OF(pointer, member) ((struct control *)(void *)((char *)(pointer)-offsetof(struct control, member)))

static struct server *control_server(const struct control *control)
{
    return &control->router->server;
}

bool control_is_down(const struct control *control)
{
    return shared_u32_load_acquire(&control->down) != 0; /* @P router.down: relies on nothing but itself */
}

/* ---- B1 and B2 ---- */

static bool control_ready(struct source *source, uint32_t ready)
{
    struct control *control = CONTROL_OF(source, receiver);
    if (ready & TRANSPORT_WRITABLE)
        sender_writable(&control->sender);
    return receiver_run(&control->receiver, ready);
}

static void control_kick_copy(struct control *control, uint32_t bits)
{
    if (gate_kick(&control->copy, bits))
        server_submit(control_server(control), &control->copy_task, PILFER_PLACEMENT_GLOBAL);
}

static void control_news(struct receiver *receiver, uint32_t bits)
{
    control_kick_copy(CONTROL_OF(receiver, receiver), bits);
}

static void control_kick_parser(struct control *control, uint32_t bits)
{
    if (gate_kick(&control->parser, bits))
        server_submit(control_server(control), &control->parser_task, PILFER_PLACEMENT_GLOBAL);
}

/* Moves what fits; true if anything moved. */
static bool control_move(struct control *control)
{
    bool moved = false, declared = false;
    for (;;) {
        uint32_t size, room;
        const uint8_t *bytes = pipe_data(&control->receiver.input, &size);
        if (size == 0)
            return moved;
        room = pipe_room_total(&control->frames);
        if (room == 0 && declared)
            return moved;
        if (room == 0) {
            stall_declare(&control->frames_full);
            declared = true;
            continue;
        }
        const uint32_t count = size < room ? size : room;
        pipe_write(&control->frames, bytes, count);
        pipe_consumed(&control->receiver.input, count);
        moved = true;
    }
}

static void control_copy_run(struct pilfer_task *task)
{
    struct control *control = CONTROL_OF(task, copy_task);
    counter_add(&control->copies, 1);
    server_charge(control_server(control), ROUTER_COST_copy);
    do {
        control->copy_ended |= (gate_take(&control->copy) & RECEIVER_END) != 0;
        uint32_t news = control_move(control) ? RECEIVER_DATA : 0;
        if (news)
            receiver_resume(&control->receiver);
        if (control->copy_ended && !control->end_told && pipe_data_total(&control->receiver.input) == 0) {
            control->end_told = true;
            news |= RECEIVER_END;
        }
        if (news)
            control_kick_parser(control, news);
    } while (!gate_leave(&control->copy));
}

/* ---- B3 ---- */

/* HELLO: sets up the channels. Returns false if it is not acceptable. */
static bool control_hello(struct control *control, const struct frame *frame)
{
    if (control->streams || frame->channel < 1 || frame->channel > FRAME_CHANNELS_MAX || frame->length != 0)
        return false;
    control->channels = frame->channel;
    const uint32_t count = control->channels * ROUTER_STREAMS_PER_CHANNEL;
    control->current = platform_alloc(control->channels * sizeof(control->current[0]));
    control->streams = platform_alloc(count * sizeof(control->streams[0]));
    if (!control->current || !control->streams)
        return false;
    for (uint32_t index = 0; index < count; index++) {
        stream_init(&control->streams[index], control);
        ring_push(&control->streams_free, &control->streams[index]); /* cannot be full: made for the most channels */
    }
    control->stream_count = count;
    /* @P router.streams: publishes the objects and their number. */
    shared_ptr_store_release(&control->streams_shared, control->streams);
    return true;
}

enum step { STEP_DONE, STEP_WAIT, STEP_BROKEN };

static enum step control_open(struct control *control, const struct frame *frame)
{
    if (frame->length != 0 || control->current[frame->channel])
        return STEP_BROKEN;
    if (control->parser_ended)
        return STEP_DONE;
    struct stream *stream = ring_pop(&control->streams_free);
    if (!stream) {
        stall_declare(&control->no_stream);
        stream = ring_pop(&control->streams_free);
        if (!stream)
            return STEP_WAIT;
    }
    control->current[frame->channel] = stream;
    stream_open(stream, frame->channel);
    return STEP_DONE;
}

static enum step control_response(struct control *control, const struct frame *frame)
{
    struct stream *stream = control->current[frame->channel];
    /* @P router.sent: relies on the request having been assigned and written. */
    if (!stream || shared_u32_load_acquire(&stream->sent) == 0)
        return STEP_BROKEN;
    const uint32_t length = shared_u32_load_relaxed(&stream->reply_length); /* relaxed: single writer, this item */
    if (frame->length > FRAME_RESPONSE_MAX - length)
        return STEP_BROKEN;
    pipe_peek(&control->frames, FRAME_HEADER_SIZE, stream->reply + length, frame->length);
    /* @P router.reply: publishes the bytes. */
    shared_u32_store_release(&stream->reply_length, length + frame->length);
    const bool end = (frame->flags & FRAME_END) != 0;
    if (end)
        control->current[frame->channel] = NULL;
    stream_kick_relay(stream, end ? RELAY_DATA | RELAY_END : RELAY_DATA);
    return STEP_DONE;
}

static enum step control_handle(struct control *control, const struct frame *frame)
{
    if (frame->type == FRAME_HELLO)
        return control_hello(control, frame) ? STEP_DONE : STEP_BROKEN;
    if (frame->channel >= control->channels)
        return STEP_BROKEN;
    if (frame->type == FRAME_OPEN)
        return control_open(control, frame);
    return frame->type == FRAME_RESPONSE ? control_response(control, frame) : STEP_BROKEN;
}

/* Handles the complete frames. */
static void control_parse(struct control *control)
{
    bool consumed = false;
    while (!control->broken && pipe_data_total(&control->frames) >= FRAME_HEADER_SIZE) {
        uint8_t header[FRAME_HEADER_SIZE];
        pipe_peek(&control->frames, 0, header, sizeof(header));
        const struct frame frame = frame_read(header);
        if (frame.length > FRAME_RESPONSE_MAX) {
            control->broken = true;
            break;
        }
        if (pipe_data_total(&control->frames) < FRAME_HEADER_SIZE + frame.length)
            break;
        const enum step step = control_handle(control, &frame);
        if (step == STEP_WAIT)
            break;
        control->broken = step == STEP_BROKEN;
        pipe_consumed(&control->frames, FRAME_HEADER_SIZE + frame.length);
        consumed = true;
    }
    if (consumed && stall_lift(&control->frames_full))
        control_kick_copy(control, RECEIVER_DATA);
}

/* No more replies will come. */
static void control_lose(struct control *control)
{
    shared_u32_store_release(&control->down, 1); /* @P router.down */
    transport_end(control->receiver.connection);
    /* @F router.down: without it, A3 could mark a request as sent and see us up while we see it as not sent. */
    ordered_fence_seq_cst();
    for (uint32_t channel = 0; channel < control->channels; channel++) {
        struct stream *stream = control->current[channel];
        /* @P router.sent: relies on the request's client. */
        if (stream && shared_u32_load_acquire(&stream->sent))
            stream_kick_relay(stream, RELAY_LOST);
        control->current[channel] = NULL;
    }
    if (gate_kick(&control->writer, 1))
        server_submit(control_server(control), &control->writer_task, PILFER_PLACEMENT_GLOBAL);
    router_fail_pending(control->router);
}

static void control_parser_run(struct pilfer_task *task)
{
    struct control *control = CONTROL_OF(task, parser_task);
    counter_add(&control->parsers, 1);
    server_charge(control_server(control), ROUTER_COST_parser);
    do {
        control->parser_ended |= (gate_take(&control->parser) & RECEIVER_END) != 0;
        control_parse(control);
        if ((control->broken || control->parser_ended) && !control_is_down(control))
            control_lose(control);
    } while (!gate_leave(&control->parser));
}

void control_return_stream(struct control *control, struct stream *stream)
{
    ring_push(&control->streams_free, stream); /* cannot be full: it has room for all streams */
    if (stall_lift(&control->no_stream))
        control_kick_parser(control, RECEIVER_DATA);
}

/* ---- A3 and A4 ---- */

void control_kick_writer(struct control *control, struct stream *stream, uint32_t bits)
{
    if (!gate_kick(&stream->outgoing, bits))
        return;
    ring_push(&control->outgoing, stream); /* cannot be full: it has room for all streams, each at most once */
    if (gate_kick(&control->writer, 1))
        server_submit(control_server(control), &control->writer_task, PILFER_PLACEMENT_GLOBAL);
}

static bool control_has_room(struct control *control, uint32_t size)
{
    if (pipe_room_total(&control->sender.output) >= size)
        return true;
    stall_declare(&control->sender.full);
    return pipe_room_total(&control->sender.output) >= size;
}

static void control_write_frame(struct control *control, const struct frame *frame, const void *payload)
{
    uint8_t header[FRAME_HEADER_SIZE];
    frame_write(frame, header);
    pipe_write(&control->sender.output, header, sizeof(header));
    if (frame->length > 0)
        pipe_write(&control->sender.output, payload, frame->length);
}

/* Writes the request; if the extension has gone meanwhile, the request gets its lost reply. */
static void control_write_request(struct control *control, struct stream *stream)
{
    const struct frame frame = {.length = stream->request_length, .channel = stream->channel, .type = FRAME_REQUEST};
    /* @P router.sent: publishes the request and its client. */
    shared_u32_store_release(&stream->sent, 1);
    /* @F router.down: without it, we could see the extension up while control_lose() sees the request as not sent. */
    ordered_fence_seq_cst();
    if (control_is_down(control)) {
        stream_kick_relay(stream, RELAY_LOST);
        return;
    }
    server_charge(control_server(control), ROUTER_COST_writer);
    counter_add(&control->sender.requests_written, 1);
    control_write_frame(control, &frame, stream->request);
}

/* Writes what a stream has to say; false when there is no room for it. The owner of both gates. */
static bool control_write_stream(struct control *control, struct stream *stream)
{
    do {
        const uint32_t bits = gate_take(&stream->outgoing) | stream->outgoing_left;
        const bool request = (bits & STREAM_REQUEST) != 0;
        const uint32_t size = 2 * FRAME_HEADER_SIZE + (request ? stream->request_length : 0);
        stream->outgoing_left = bits;
        if (!control_is_down(control) && !control_has_room(control, size))
            return false;
        stream->outgoing_left = 0;
        if ((bits & STREAM_ACCEPT) && !control_is_down(control)) {
            const struct frame accepted = {.channel = stream->channel, .type = FRAME_ACCEPTED};
            control_write_frame(control, &accepted, NULL);
            if (!request)
                server_charge(control_server(control), ROUTER_COST_writer_accept);
        }
        if (request)
            control_write_request(control, stream);
    } while (!gate_leave(&stream->outgoing));
    return true;
}

static void control_writer_run(struct pilfer_task *task)
{
    struct control *control = CONTROL_OF(task, writer_task);
    counter_add(&control->writers, 1);
    do {
        bool wrote = false;
        gate_take(&control->writer);
        for (;;) {
            struct stream *stream = control->unwritten ? control->unwritten : ring_pop(&control->outgoing);
            control->unwritten = NULL;
            if (!stream)
                break;
            wrote = true;
            if (!control_write_stream(control, stream)) {
                control->unwritten = stream;
                break;
            }
        }
        if (wrote)
            sender_kick(&control->sender, SENDER_DATA);
    } while (!gate_leave(&control->writer));
}

static void control_room(struct sender *sender)
{
    struct control *control = CONTROL_OF(sender, sender);
    if (gate_kick(&control->writer, 1))
        server_submit(control_server(control), &control->writer_task, PILFER_PLACEMENT_GLOBAL);
}

/* The connection broke: the receiving half will find its end and start control_lose(). */
static void control_sender_ended(struct sender *sender, bool broken)
{
    transport_end(sender->connection);
}

/* ---- life ---- */

static struct control *control_create(struct router *router, struct transport_connection *connection)
{
    struct control *control = platform_alloc(sizeof(*control));
    if (!control)
        return NULL;
    const uint32_t streams_max = FRAME_CHANNELS_MAX * ROUTER_STREAMS_PER_CHANNEL;
    control->router = router;
    control->copy_task.run = control_copy_run;
    control->parser_task.run = control_parser_run;
    control->writer_task.run = control_writer_run;
    control->receiver.source.ready = control_ready;
    control->receiver.source.engine = server_next_engine(&router->server);
    control->receiver.news = control_news;
    control->sender.queue = server_next_io_queue(&router->server);
    control->sender.control = true;
    control->sender.room = control_room;
    control->sender.ended = control_sender_ended;
    if (receiver_init(&control->receiver, CONTROL_PIPE_SIZE) != 0 ||
        pipe_init(&control->frames, CONTROL_PIPE_SIZE) != 0 ||
        sender_init(&control->sender, &router->server, CONTROL_PIPE_SIZE) != 0 ||
        ring_init(&control->streams_free, streams_max) != 0 || ring_init(&control->idle, streams_max) != 0 ||
        ring_init(&control->outgoing, streams_max) != 0) {
        control_free(control);
        return NULL;
    }
    control->receiver.connection = control->sender.connection = connection;
    gate_kick(&control->receiver.source.gate, 0); /* owned until it is started */
    return control;
}

void control_free(struct control *control)
{
    if (control->receiver.connection)
        transport_connection_close(control->receiver.connection);
    receiver_fini(&control->receiver);
    pipe_fini(&control->frames);
    sender_fini(&control->sender);
    ring_fini(&control->streams_free);
    ring_fini(&control->idle);
    ring_fini(&control->outgoing);
    platform_free(control->current);
    platform_free(control->streams);
    platform_free(control);
}

void control_adopt(struct server *server, struct transport_connection *connection)
{
    struct router *router = (struct router *)(void *)server;                /* the server is its first member */
    const uint32_t count = shared_u32_load_relaxed(&router->control_count); /* relaxed: single writer, this item */
    struct control *control = NULL;
    if (!router_control(router) && count < ROUTER_CONTROLS_MAX)
        control = control_create(router, connection);
    if (!control) {
        transport_connection_close(connection);
        shared_u64_add_relaxed(&server->connections_rejected, 1); /* counter only */
        return;
    }
    shared_ptr_store_relaxed(&router->controls[count], control); /* relaxed: ordered by the count */
    /* @P router.controls: publishes the entry and the object. */
    shared_u32_store_release(&router->control_count, count + 1);
    /* @P router.control: publishes the object. */
    shared_ptr_store_release(&router->control, control);
    source_start(&control->receiver.source, connection);
}
