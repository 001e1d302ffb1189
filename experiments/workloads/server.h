/* SPDX-License-Identifier: MIT
 *
 * Limits of the HTTP servers under test (router and echo).
 */
#ifndef PILFER_EXPERIMENTS_WORKLOADS_SERVER_H
#define PILFER_EXPERIMENTS_WORKLOADS_SERVER_H

#define SERVER_POLLERS_MAX      64
#define SERVER_IO_QUEUES_MAX    16
#define SERVER_CONNECTIONS_MAX  1024 /* client connections at once; further ones are closed at once and counted */
#define SERVER_HEADER_TIMEOUT_S 5    /* for the first request of a connection, and for a header once begun */
#define SERVER_IDLE_TIMEOUT_S   60   /* between requests, and for output that the client does not take */

#endif
