/* SPDX-License-Identifier: MIT
 *
 * Serving: a workload's processes left up for clients of the user's own (curl, wrk, oha).
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_SERVE_H
#define PILFER_EXPERIMENTS_RUNNER_SERVE_H

#include "cell.h"

/* Starts the server under test (workload router, with its extension, or echo) on a port of 127.0.0.1 (0: any free one),
 * prints "listening on http://127.0.0.1:PORT" on standard error, and serves until *stop is true; a signal handler sets
 * it. Then finishes what is in flight, prints "requests=N tasks_run=N refused=N" on standard output and returns 0;
 * requests are those whose answer was not left behind, as a load generator does when it stops.
 * Otherwise writes one line into message (CELL_MESSAGE_SIZE bytes) and returns the exit status: 1 when a process
 * crashed or something was lost, 3 when it cannot be started here. Single-threaded caller. */
int serve_run(const struct configuration *configuration, uint16_t port, const volatile int *stop, char *message);

#endif
