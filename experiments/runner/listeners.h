/* SPDX-License-Identifier: MIT
 *
 * Where the processes of a tree listen: on loopback only, or beyond this machine.
 *
 * How it works. The sockets among the descriptors of each process are looked up in its /proc/PID/net/tcp and tcp6.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_LISTENERS_H
#define PILFER_EXPERIMENTS_RUNNER_LISTENERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* True if the descendants of root listen (TCP) on nothing but 127.0.0.0/8 and ::1, and one of them on port. Else one line
 * in message: what was found. */
bool listeners_are_local(pid_t root, uint16_t port, char *message, size_t size);

#endif
