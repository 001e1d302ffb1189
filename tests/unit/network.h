/* SPDX-License-Identifier: MIT
 *
 * What the tests of the networked workloads have in common: a router with its executor and extension in this process,
 * and plain clients with sockets of their own, so that the servers are not tested with their own transport.
 */
#ifndef PILFER_TESTS_UNIT_NETWORK_H
#define PILFER_TESTS_UNIT_NETWORK_H

#include "workloads/extension.h"
#include "workloads/load.h"
#include "workloads/router.h"

#include <check.h>

#define NETWORK_REQUEST "GET /ping HTTP/1.1\r\nHost: a\r\n\r\n"

/* A router and what it stands on. */
struct stand {
    struct pilfer_executor *executor;
    struct router *router;
    uint16_t port, control_port;
    struct extension *extension;
    struct extension_totals extension_totals;
    int extension_status;
    struct platform_thread *extension_thread;
};

/* Opens an executor and starts a router without charged costs; options may be changed by the caller before. */
void stand_start(struct stand *stand, const struct pilfer_options *pool, const struct router_options *options);
/* Opens an extension in a thread of its own, which serves until the router or stand_end_extension() ends it. */
void stand_add_extension(struct stand *stand, const struct extension_options *options);
/* Waits until so many streams are idle: then no request is under way. */
void stand_wait_idle(struct stand *stand, uint32_t channels);
/* Ends everything; totals are read after the last item has run. */
void stand_stop(struct stand *stand, struct router_totals *totals);

/* Runs the load generator to its request limit in a closed loop. */
void stand_load(const struct stand *stand, uint32_t connections, uint64_t requests, struct load_totals *totals);

/* ---- plain clients; every call waits for at most 20 seconds ---- */

/* A connected socket. */
int raw_connect(uint16_t port);
void raw_send(int client, const void *bytes, size_t size);
void raw_send_text(int client, const char *text);
/* Reads one whole answer with its header; the status. body: as announced, unless to HEAD. -1: the connection ended. */
int raw_answer(int client, bool to_head, char *body, size_t size);
/* Reads to the end of the connection: bytes read; -1 for a reset. */
ptrdiff_t raw_read_end(int client, char *bytes, size_t size);

/* Open descriptors of this process. */
int raw_descriptors(void);

#endif
