/* SPDX-License-Identifier: MIT
 *
 * The echo workload: a plain HTTP server without an extension; four work items per request.
 *
 * How it works. The same pollers, engines, connection loops and send queues as the router. The four items of a request:
 *   1 engine drain      (receive, hand the bytes to the connection)
 *   2 engine re-queue   (queued by 1 before it works; usually finds nothing)
 *   3 connection loop   (parse the request, write the answer)
 *   4 send queue        (one send)
 *
 * Source. The second published calibration set (pwrdrvr/dotnet-async-nightmare: a minimal HTTP service on Kestrel).
 */
#ifndef PILFER_EXPERIMENTS_WORKLOADS_ECHO_H
#define PILFER_EXPERIMENTS_WORKLOADS_ECHO_H

#include "workloads/router.h"

struct echo;

/* Same options, same totals and same order of the end as the router; fields about the extension stay zero, and markers
 * counts the answers written by connection loops. control_port is not used. */
int echo_start(const struct router_options *options, struct pilfer_executor *executor, struct echo **out,
               char *message);
uint16_t echo_port(const struct echo *echo);
void echo_totals(struct echo *echo, struct router_totals *out);
void echo_stop(struct echo *echo);
void echo_free(struct echo *echo);

#endif
