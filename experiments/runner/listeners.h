/* SPDX-License-Identifier: MIT
 *
 * Where the processes of a tree listen: on loopback only, or beyond this machine.
 *
 * How it works. The sockets among the descriptors of each process are looked up in its /proc/PID/net/tcp and tcp6.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_LISTENERS_H
#define PILFER_EXPERIMENTS_RUNNER_LISTENERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum listeners {
    LISTENERS_LOCAL,   /* on nothing but 127.0.0.0/8 and ::1, and one of them on port */
    LISTENERS_MISSING, /* the same, but none on port */
    LISTENERS_OPEN,    /* where other machines may reach one, or not to be seen */
};

/* Looks at the TCP sockets of the descendants of root. Unless LISTENERS_LOCAL, one line in message: what was found. */
enum listeners listeners_look(pid_t root, uint16_t port, char *message, size_t size);

#endif
