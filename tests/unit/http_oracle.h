/* SPDX-License-Identifier: MIT
 *
 * A packaged HTTP parser's opinion of a request; in a file of its own, because its names are those of ours.
 */
#ifndef PILFER_TESTS_UNIT_HTTP_ORACLE_H
#define PILFER_TESTS_UNIT_HTTP_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

struct oracle {
    bool complete, head, keep_alive;
    char target[4096];
    size_t target_length;
};

/* Reads one request that should fill size bytes; returns what the parser says was wrong, or NULL. */
const char *oracle_ask(const char *bytes, size_t size, struct oracle *out);

#endif
