/* SPDX-License-Identifier: MIT
 *
 * Allocations that fail on demand (see allocation.h).
 */
#include "allocation.h"

#include <errno.h>
#include <stddef.h>

static _Thread_local bool fails;
static _Thread_local uint32_t failures;

void allocation_fail(bool fail)
{
    fails = fail;
}

uint32_t allocation_failures(void)
{
    return failures;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);

void *__wrap_malloc(size_t size)
{
    if (!fails)
        return __real_malloc(size);
    failures++;
    errno = ENOMEM;
    return NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
    if (!fails)
        return __real_calloc(count, size);
    failures++;
    errno = ENOMEM;
    return NULL;
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size)
{
    if (!fails)
        return __real_posix_memalign(out, alignment, size);
    failures++;
    return ENOMEM;
}
