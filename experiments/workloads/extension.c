/* SPDX-License-Identifier: MIT
 *
 * The extension; see extension.h.
 *
 * How it works. One loop: send what is owed, poll, receive, take frames, answer requests. Requests wait in arrival
 * order in a ring of channels (each channel has at most one). In mode burn the next one is answered as soon as its CPU
 * time has been spent, and what has arrived meanwhile is looked at between two requests; in mode delay the poll ends at
 * the deadline of the oldest one. Answers are sent one by one: with TCP_NODELAY each is a segment of its own.
 */
#include "workloads/extension.h"
#include "transport/transport.h"
#include "workloads/flow.h"
#include "workloads/frames.h"
#include "pilfer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define EXTENSION_PIPE_SIZE       65536
#define EXTENSION_ANSWER_MAX      256 /* bytes of an answer with its frames and the next OPEN */
#define EXTENSION_OPEN_TIMEOUT_NS 5000000000u
#define EXTENSION_LOOK_NS         200000000u /* how often the stop word is looked at */
#define EXTENSION_LATE_SERVICES   2          /* so many services late, and the schedule starts again */

_Static_assert(EXTENSION_CHANNELS_MAX <= FRAME_CHANNELS_MAX, "a frame can name every channel");

struct waiting_request {
    uint16_t channel;
    bool head;           /* asked with HEAD: no body */
    uint64_t arrived_ns; /* mode delay */
};

struct extension {
    struct extension_options options;
    struct extension_totals totals;
    struct transport *transport;
    struct transport_connection *connection;
    struct transport_poller *poller;
    struct pipe input, output;
    uint32_t accepted;     /* channels that the router has accepted; only while opening */
    uint32_t first, count; /* of the waiting requests */
    struct waiting_request waiting[EXTENSION_CHANNELS_MAX];
    uint64_t schedule_ns; /* mode delay: deadline of the last answer */
    uint64_t now_ns;      /* mode delay: when the last poll returned */
    bool ended;           /* the router has gone */
    bool input_ended_seen;
};

/* ---- bytes ---- */

/* Sends what is in the output; what the transport does not take stays for later. */
static void extension_send(struct extension *extension)
{
    uint32_t size;
    for (const uint8_t *bytes = pipe_data(&extension->output, &size); size > 0 && !extension->ended;
         bytes = pipe_data(&extension->output, &size)) {
        const ptrdiff_t count = transport_send(extension->connection, bytes, size);
        if (count == -EAGAIN)
            return;
        if (count < 0)
            extension->ended = true;
        else
            pipe_consumed(&extension->output, (uint32_t)count);
    }
}

/* Receives what is there; true when the pipe was too small for it. */
static bool extension_receive(struct extension *extension)
{
    uint32_t room;
    for (uint8_t *bytes = pipe_room(&extension->input, &room); room > 0; bytes = pipe_room(&extension->input, &room)) {
        const ptrdiff_t count = transport_receive(extension->connection, bytes, room);
        if (count == -EAGAIN)
            return false;
        if (count <= 0) {
            extension->ended = true;
            return false;
        }
        pipe_wrote(&extension->input, (uint32_t)count);
        if (count < (ptrdiff_t)room && !extension->input_ended_seen)
            return false;
    }
    return true;
}

static void extension_write(struct extension *extension, const struct frame *frame, const void *payload)
{
    uint8_t header[FRAME_HEADER_SIZE];
    frame_write(frame, header);
    pipe_write(&extension->output, header, sizeof(header));
    if (frame->length > 0)
        pipe_write(&extension->output, payload, frame->length);
}

/* ---- frames ---- */

static int extension_take_request(struct extension *extension, const struct frame *frame)
{
    char method;
    if (frame->length < 1 || extension->count == extension->options.channels)
        return -EPROTO;
    pipe_peek(&extension->input, FRAME_HEADER_SIZE, &method, 1);
    const uint32_t last = (extension->first + extension->count) % EXTENSION_CHANNELS_MAX;
    extension->waiting[last] =
        (struct waiting_request){.channel = frame->channel, .head = method == 'H', .arrived_ns = extension->now_ns};
    extension->count++;
    extension->totals.requests_received++;
    return 0;
}

/* Takes all complete frames. 0 or -EPROTO. */
static int extension_take_frames(struct extension *extension)
{
    while (pipe_data_total(&extension->input) >= FRAME_HEADER_SIZE) {
        uint8_t header[FRAME_HEADER_SIZE];
        pipe_peek(&extension->input, 0, header, sizeof(header));
        const struct frame frame = frame_read(header);
        if (frame.channel >= extension->options.channels || frame.length > FRAME_REQUEST_MAX)
            return -EPROTO;
        if (pipe_data_total(&extension->input) < FRAME_HEADER_SIZE + frame.length)
            return 0;
        int status = 0;
        if (frame.type == FRAME_REQUEST)
            status = extension_take_request(extension, &frame);
        else if (frame.type == FRAME_ACCEPTED)
            extension->accepted++;
        else
            status = -EPROTO;
        if (status != 0)
            return status;
        pipe_consumed(&extension->input, FRAME_HEADER_SIZE + frame.length);
    }
    return 0;
}

/* ---- service ---- */

/* The answer to the oldest request, and the channel's next stream. */
static void extension_answer(struct extension *extension)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n";
    static const char body[] = "pong\n";
    const struct waiting_request request = extension->waiting[extension->first];
    char reply[sizeof(head) + sizeof(body)];
    const uint32_t length = (uint32_t)snprintf(reply, sizeof(reply), "%s%s", head, request.head ? "" : body);
    extension->first = (extension->first + 1) % EXTENSION_CHANNELS_MAX;
    extension->count--;
    extension->totals.requests_answered++;
    struct frame frame = {.length = length, .channel = request.channel, .type = FRAME_RESPONSE, .flags = FRAME_END};
    if (extension->options.reply_segments == 2) {
        frame.flags = 0;
        extension_write(extension, &frame, reply);
        extension_send(extension);
        frame = (struct frame){.channel = request.channel, .type = FRAME_RESPONSE, .flags = FRAME_END};
    }
    extension_write(extension, &frame, reply);
    const struct frame open = {.channel = request.channel, .type = FRAME_OPEN};
    extension_write(extension, &open, NULL);
    extension_send(extension);
}

/* Mode delay: when the oldest request is to be answered. The schedule goes on from the last deadline unless that is too
 * long ago. */
static uint64_t extension_deadline(struct extension *extension, uint64_t now_ns)
{
    const uint64_t service_ns = extension->options.service_ns;
    const uint64_t deadline_ns = extension->schedule_ns + service_ns;
    if (now_ns < deadline_ns + EXTENSION_LATE_SERVICES * service_ns)
        return deadline_ns;
    /* A server that had nothing to do was not late. */
    extension->totals.schedule_restarts += extension->waiting[extension->first].arrived_ns < deadline_ns;
    extension->schedule_ns = now_ns;
    return now_ns + service_ns;
}

/* True when there is a request to answer, and room for the answer; without room, the transport will tell. */
static bool extension_has_work(const struct extension *extension)
{
    return extension->count > 0 && pipe_room_total(&extension->output) >= EXTENSION_ANSWER_MAX;
}

/* Answers what is due; returns when to look again. */
static uint64_t extension_work(struct extension *extension)
{
    if (extension->options.mode == EXTENSION_BURN) {
        if (!extension_has_work(extension))
            return PLATFORM_FOREVER;
        platform_charge(extension->options.service_ns);
        extension_answer(extension);
        return extension_has_work(extension) ? 0 : PLATFORM_FOREVER;
    }
    while (extension_has_work(extension)) {
        const uint64_t now_ns = platform_now_ns();
        const uint64_t deadline_ns = extension_deadline(extension, now_ns);
        if (now_ns < deadline_ns)
            return deadline_ns;
        extension->schedule_ns = deadline_ns;
        extension_answer(extension);
    }
    return PLATFORM_FOREVER;
}

/* One turn: waits for events until the deadline, then receives and sends. 0 or a negative errno. */
static int extension_turn(struct extension *extension, uint64_t deadline_ns)
{
    struct transport_event event;
    const int count = transport_poll(extension->poller, &event, 1, deadline_ns);
    if (count <= 0)
        return count;
    if (extension->options.mode == EXTENSION_DELAY)
        extension->now_ns = platform_now_ns();
    if (event.ready & TRANSPORT_ENDED)
        extension->input_ended_seen = true;
    if (event.ready & TRANSPORT_WRITABLE)
        extension_send(extension);
    if ((event.ready & TRANSPORT_READABLE) == 0)
        return 0;
    bool more = true;
    int status = 0;
    while (more && status == 0) {
        more = extension_receive(extension);
        status = extension_take_frames(extension);
    }
    return status;
}

int extension_serve(struct extension *extension, const volatile int *stop, struct extension_totals *totals)
{
    int status = 0;
    uint64_t next_ns = extension_work(extension);
    while (status == 0 && !extension->ended && !(stop && *stop)) {
        const uint64_t look_ns = stop ? platform_now_ns() + EXTENSION_LOOK_NS : PLATFORM_FOREVER;
        status = extension_turn(extension, next_ns < look_ns ? next_ns : look_ns);
        if (status == 0)
            next_ns = extension_work(extension);
    }
    *totals = extension->totals;
    return status;
}

/* ---- life ---- */

static int extension_prepare(struct extension *extension)
{
    int status = pipe_init(&extension->input, EXTENSION_PIPE_SIZE);
    if (status == 0)
        status = pipe_init(&extension->output, EXTENSION_PIPE_SIZE);
    if (status == 0)
        status = transport_open(&extension->transport);
    if (status == 0)
        status = transport_poller_open(extension->transport, TRANSPORT_PRECISE, &extension->poller);
    if (status == 0)
        status = transport_connect(extension->transport, extension->options.control_port, &extension->connection);
    if (status == 0)
        status = transport_poller_add(extension->poller, extension->connection, extension);
    return status;
}

/* Opens the streams and waits until the router has accepted them. */
static int extension_greet(struct extension *extension)
{
    const struct frame hello = {.channel = (uint16_t)extension->options.channels, .type = FRAME_HELLO};
    const uint64_t deadline_ns = platform_now_ns() + EXTENSION_OPEN_TIMEOUT_NS;
    extension_write(extension, &hello, NULL);
    for (uint32_t channel = 0; channel < extension->options.channels; channel++) {
        const struct frame open = {.channel = (uint16_t)channel, .type = FRAME_OPEN};
        extension_write(extension, &open, NULL);
    }
    while (extension->accepted < extension->options.channels) {
        extension_send(extension);
        const int status = extension_turn(extension, deadline_ns);
        if (status != 0)
            return status;
        if (extension->ended)
            return -ECONNREFUSED;
        if (platform_now_ns() > deadline_ns)
            return -ETIMEDOUT;
    }
    return 0;
}

int extension_open(const struct extension_options *options, struct extension **out, char *message)
{
    if (options->channels < 1 || options->channels > EXTENSION_CHANNELS_MAX || options->reply_segments < 1 ||
        options->reply_segments > 2) {
        snprintf(message, PILFER_MESSAGE_SIZE, "extension: %u channels, %u segments: 1 to %d channels, 1 or 2 segments",
                 options->channels, options->reply_segments, EXTENSION_CHANNELS_MAX);
        return -EINVAL;
    }
    struct extension *extension = platform_alloc(sizeof(*extension));
    if (!extension) {
        snprintf(message, PILFER_MESSAGE_SIZE, "extension: no memory");
        return -ENOMEM;
    }
    extension->options = *options;
    int status = extension_prepare(extension);
    if (status == 0)
        status = extension_greet(extension);
    if (status != 0) {
        snprintf(message, PILFER_MESSAGE_SIZE,
                 "extension: cannot open %u channels on port %u of 127.0.0.1: %s; is a router there?",
                 options->channels, options->control_port, strerror(-status));
        extension_close(extension);
        return status;
    }
    *out = extension;
    return 0;
}

void extension_close(struct extension *extension)
{
    if (extension->connection)
        transport_connection_close(extension->connection);
    if (extension->poller)
        transport_poller_close(extension->poller);
    if (extension->transport)
        transport_close(extension->transport);
    pipe_fini(&extension->input);
    pipe_fini(&extension->output);
    platform_free(extension);
}
