/* SPDX-License-Identifier: MIT
 *
 * Allocations that fail on demand, in the calling thread only.
 *
 * How it works. The programs of this folder are linked with --wrap for malloc, calloc, posix_memalign and free, so that
 * every call in the pool library comes through allocation.c.
 */
#ifndef PILFER_TESTS_CONFORMANCE_ALLOCATION_H
#define PILFER_TESTS_CONFORMANCE_ALLOCATION_H

#include <stdbool.h>
#include <stdint.h>

/* From now on every allocation of the calling thread fails (true) or works again (false). */
void allocation_fail(bool fail);

/* The n-th allocation of the calling thread from now on fails, and no other one. 0: none. */
void allocation_fail_at(uint64_t n);

/* True if an allocation has failed since allocation_fail_at. */
bool allocation_has_failed(void);

/* Allocations of the program that have not been freed. */
int64_t allocation_live(void);

#endif
