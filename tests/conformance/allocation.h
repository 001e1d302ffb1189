/* SPDX-License-Identifier: MIT
 *
 * Allocations that fail on demand, in the calling thread only.
 *
 * How it works. The programs of this folder are linked with --wrap for malloc, calloc and posix_memalign, so that every call
 * in the pool library comes through allocation.c.
 */
#ifndef PILFER_TESTS_CONFORMANCE_ALLOCATION_H
#define PILFER_TESTS_CONFORMANCE_ALLOCATION_H

#include <stdbool.h>
#include <stdint.h>

/* From now on every allocation of the calling thread fails (true) or works again (false). */
void allocation_fail(bool fail);

/* How many allocations of the calling thread have failed so. */
uint32_t allocation_failures(void);

#endif
