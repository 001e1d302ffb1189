/* SPDX-License-Identifier: MIT
 *
 * Conservation: nothing that was asked for may have vanished. Equations that hold in every valid cell.
 *
 * How it works. Each process counts by itself; the runner compares. A violated equation is said with its numbers, in
 * the form "sent 100 is not answered 98 + failed 0 + in flight 1", and makes the cell invalid.
 *
 *   sent = answered + failed + in flight            client; in flight must be 0 when all has settled
 *   received = answered                             server; what is in flight at the end was lost
 *   answered by the server is answered at the client, failures and requests in flight aside
 *   marker items = requests                         the item that ends a request runs once per request
 *   tasks accepted = run + drained + queued         executor; at rest nothing may be queued
 *   connections achieved = asked
 *   arrivals = requests + failed + unsent           paced; what was never sent makes rate and latency wrong
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_VALIDITY_H
#define PILFER_EXPERIMENTS_RUNNER_VALIDITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Share of refused requests, and of arrivals never sent, above which a cell is invalid. */
#define VALIDITY_SHARE_MAX 0.001

struct validity_client {
    uint64_t sent, answered, failed, in_flight;           /* whole run; failed includes refused */
    uint64_t refused;                                     /* of the failed: answered with a refusal */
    const char *failure;                                  /* what most of the others are; NULL: not known */
    uint64_t arrivals, requests, window_failures, unsent; /* the window */
    uint64_t connections_asked, connections_achieved;     /* 0 and 0 without connections */
};

struct validity_server {
    uint64_t received, answered, relayed, refused, lost, markers; /* whole run */
    bool has_extension;
    uint64_t extension_received, extension_answered;
};

/* The extension behind a server whose own count is not known. */
struct validity_extension {
    uint64_t received, answered; /* whole run */
};

struct validity_tasks {
    uint64_t accepted, run, drained;
    uint64_t submitted; /* without clients: what the submitters know; else 0 */
};

/* Each: true if all equations hold; else reason has the first that does not. */
bool validity_of_client(const struct validity_client *client, bool paced, char *reason, size_t size);
bool validity_of_server(const struct validity_client *client, const struct validity_server *server, char *reason,
                        size_t size);
bool validity_of_extension(const struct validity_client *client, const struct validity_extension *extension,
                           char *reason, size_t size);
bool validity_of_tasks(const struct validity_tasks *tasks, char *reason, size_t size);

#endif
