/* SPDX-License-Identifier: MIT
 *
 * What the servers under test (router and echo) are made of: pollers and engines, senders and their queues, clients.
 *
 * Who owns what. Each object's plain fields belong to the owner of one of its gates, as noted; see flow.h. Objects are
 * never freed before the executor is closed, so that a late event or kick finds memory of the right type.
 *
 * The way in. A poller thread kicks the gate of each source that is ready; if that makes it the owner, the source goes
 * into its engine's ring, and the engine is queued as one work item (A1) unless it is queued already. The item takes a
 * source, queues the engine once more (A1s), and handles sources until the ring is empty.
 *
 * The way out. Whoever produced output kicks the sender's gate; as the new owner it puts the sender into its send
 * queue, which is queued as one work item (A4, B5) unless it is queued or running already.
 */
#ifndef PILFER_EXPERIMENTS_WORKLOADS_SERVER_INTERNAL_H
#define PILFER_EXPERIMENTS_WORKLOADS_SERVER_INTERNAL_H

#include "transport/transport.h"
#include "workloads/flow.h"
#include "workloads/http.h"
#include "workloads/router.h"

#define SERVER_INPUT_SIZE   16384
#define SERVER_OUTPUT_SIZE  16384
#define SERVER_RESPONSE_MAX 4608 /* bytes of one answer with its header; no request is taken without room for it */
#define SERVER_TICK_NS      500000000u
#define SERVER_TICKS_PER_S  2
#define SERVER_LINGER_TICKS 4         /* how long a closed client may go on sending before it is cut off */
#define SERVER_DISCARD_MAX  1048576   /* bytes from a client that is being closed */
#define SERVER_RETRY_NS     10000000u /* pause after an accept without descriptors */
#define SERVER_SOURCES_MAX  2048

struct server;
struct engine;
struct client;

/* Something that becomes ready. */
struct source {
    struct gate gate; /* bits: enum transport_ready; owner: the engine item that handles it */
    struct engine *engine;
    /* Handles what is ready. False when the source has come to its end: it then belongs to somebody else already. */
    bool (*ready)(struct source *source, uint32_t ready);
};

/* A poller thread, and the work item that handles what it found. */
struct engine {
    struct server *server;
    uint32_t index;
    struct transport_poller *poller;
    struct platform_thread *thread;
    struct ring ready; /* sources with news */
    struct pilfer_task task;
    struct shared_u32
        queued; /* 1 while the task waits in the executor; written by anyone, by exchange; @P engine.queued */
    /* Counters; several items of one engine may run at once, so these are added to. */
    struct shared_u64 polls, items, requeues;
};

/* The receiving half of a connection: reads into a pipe and tells. */
struct receiver {
    struct source source; /* its gate's owner is the pipe's producer and owns the plain fields */
    bool end_seen;
    uint32_t discarded;
    struct transport_connection *connection;
    struct pipe input;
    struct stall full;
    struct shared_u32 discard; /* 1: read and forget; written by the consumer; relaxed, followed by a kick */
    void (*news)(struct receiver *receiver, uint32_t bits); /* RECEIVER_DATA, or RECEIVER_END as the last thing,
                                                               with RECEIVER_RESET if the peer threw data away */
};
enum { RECEIVER_DATA = 1, RECEIVER_END = 2, RECEIVER_RESET = 4 };

/* The sending half. */
struct sender {
    struct gate gate; /* bits below; the owner is the pipe's consumer and owns the other plain fields */
    struct server *server;
    struct io_queue *queue;
    struct transport_connection *connection;
    struct pipe output;
    struct stall blocked; /* the transport took no more */
    struct stall full;    /* the producer waits for room */
    bool control;         /* belongs to a control connection */
    bool closing, broken;
    uint64_t requests_sent;                            /* as last seen in requests_written */
    struct shared_u64 requests_written;                /* control: counter of the producer */
    void (*room)(struct sender *sender);               /* there is room again for a producer that stopped */
    void (*ended)(struct sender *sender, bool broken); /* all is sent, or the connection broke; the gate stays owned */
};
enum { SENDER_DATA = 1, SENDER_CLOSE = 2 };

struct io_queue {
    struct server *server;
    struct gate gate; /* owner: the queued or running item */
    struct ring senders;
    struct pilfer_task task;
    struct shared_u64 items_client, items_control; /* counters of the gate's owner */
};

/* X(name). Counters of a client, over all the connections that it has served; the loop gate's owner writes. */
#define CLIENT_COUNTERS(X) \
    X(received) X(answered) X(relayed) X(refused) X(lost) X(invalid) X(waited) X(unheard) X(items)

struct client {
    struct receiver receiver;
    struct sender sender;
    struct server *server;
    struct gate loop; /* owner: the connection loop (A2), or the request that it started */
    struct pilfer_task task;
    struct shared_u32
        waiting; /* what the loop waits for and since which tick; written by its owner, read by the tick */
    struct http_request_parser parser;
    bool input_ended, output_ended, closing, close_told;
    bool answer_unread; /* nothing has come since the last answer */
#define CLIENT_COUNTER(name) struct shared_u64 name;
    CLIENT_COUNTERS(CLIENT_COUNTER)
#undef CLIENT_COUNTER
};

struct server {
    struct router_options options;
    struct pilfer_executor *executor;
    struct transport *transport;
    struct transport_listener *listener;
    struct source listening;
    /* Handles the request in client->parser, as the owner of its loop. True: answered; false: it will be, by somebody
     * who then calls client_continue(), and the client must not be touched any more. */
    bool (*request)(struct client *client);
    uint32_t engine_count, io_queue_count;
    struct engine *engines;
    struct io_queue *io_queues;
    struct ring clients_free;
    struct shared_ptr clients[SERVER_CONNECTIONS_MAX]; /* struct client; written once each by the accepting item */
    struct shared_u32 client_count;                    /* @P server.clients */
    struct shared_u32 next_engine, next_io_queue;      /* counters of the accepting items */
    struct shared_u32 stopping, tick, accept_again;
    struct shared_u64 items_inline, connections_accepted, connections_closed, connections_expired, connections_rejected;
};

/* ---- server.c ---- */

/* Sets up a server without threads: listener, engines, send queues. request as above. 0 or -errno with a message; on
 * failure server_fini() must still be called. */
int server_init(struct server *server, const struct router_options *options, struct pilfer_executor *executor,
                bool (*request)(struct client *client), char *message);
/* Starts the pollers. 0 or -errno with a message. */
int server_start(struct server *server, char *message);
void server_stop(struct server *server);
void server_fini(struct server *server);
void server_totals(struct server *server, struct router_totals *out);

/* Submits an item; if the executor refuses it, runs it here and now. */
void server_submit(struct server *server, struct pilfer_task *task, enum pilfer_placement placement);
/* Submits an item; false if the executor refuses it. */
bool server_try_submit(struct server *server, struct pilfer_task *task, enum pilfer_placement placement);
void server_charge(const struct server *server, enum router_cost cost);

/* Adds a source to a poller, in turn; the source's engine is set. */
struct engine *server_next_engine(struct server *server);
struct io_queue *server_next_io_queue(struct server *server);

/* Accepts all that wait; each becomes a call of adopt, which owns the connection. */
void server_accept(struct server *server, struct transport_listener *listener,
                   void (*adopt)(struct server *server, struct transport_connection *connection));

/* ---- server_engine.c ---- */

int engine_init(struct engine *engine, struct server *server, uint32_t index);
void engine_fini(struct engine *engine);
int engine_start(struct engine *engine);
/* Brings a source to its engine with these bits. Any thread. */
void source_kick(struct source *source, uint32_t ready);
/* Adds a new connection to the poller of its source's engine. The caller owns the source's gate, and with it the
 * connection, until this function gives it up; what comes meanwhile is handled after that. A connection that cannot be
 * added is ended and handled as such. */
void source_start(struct source *source, struct transport_connection *connection);

/* ---- server_io.c ---- */

int receiver_init(struct receiver *receiver, uint32_t size);
void receiver_fini(struct receiver *receiver);
/* Handles readiness of the receiving half; false at the end. */
bool receiver_run(struct receiver *receiver, uint32_t ready);
/* The consumer has taken bytes: a receiver that stopped for lack of room goes on. */
void receiver_resume(struct receiver *receiver);

int sender_init(struct sender *sender, struct server *server, uint32_t size);
void sender_fini(struct sender *sender);
/* There is output, or the output is to be closed when it is sent. Any thread. */
void sender_kick(struct sender *sender, uint32_t bits);
/* The transport may take more; sends at once. Any thread. */
void sender_writable(struct sender *sender);

int io_queue_init(struct io_queue *queue, struct server *server);
void io_queue_fini(struct io_queue *queue);

/* ---- server_client.c ---- */

/* Makes a client of a new connection, or turns it away. */
void client_adopt(struct server *server, struct transport_connection *connection);
void client_free(struct client *client);
/* Ends the connection if what it waits for is overdue. Any thread, any time. */
void client_check_deadline(struct client *client, uint32_t tick);
/* Writes a whole answer into the client's output and counts it; the owner of the loop. body may be NULL with size 0. */
void client_answer(struct client *client, int status, const void *body, uint32_t size);
/* Counts an answer, and whether the client leaves without it: a load generator that stops in mid-request has ended its
 * side before the answer is written (news that the loop has not taken yet counts as well), or closes with the answer
 * unread, which resets the connection. So the server's count can be compared with the client's. Loop owner. */
void client_count_answer(struct client *client);
/* Only the header, with Content-Length size; the body follows through client_write(). Not counted. */
void client_write_head(struct client *client, int status, uint64_t size);
void client_write(struct client *client, const void *bytes, uint32_t size);
/* Sends what has been written so far; the answer goes on. The owner of the loop. */
void client_flush(struct client *client);
/* The answer cannot be completed: the connection is cut after what was written. The owner of the loop. */
void client_cut(struct client *client);
/* The request is answered: sends, and goes on with the next one. The owner of the loop, which passes it on. */
void client_continue(struct client *client);

#endif
