/* SPDX-License-Identifier: MIT
 *
 * Allocations that fail on demand (see allocation.h).
 */
#include "allocation.h"

#include <errno.h>
#include <stddef.h>

#include "ordered.h"

static _Thread_local bool fails, has_failed;
static _Thread_local uint64_t countdown;
static struct shared_i64 live; /* any thread; counter only */

void allocation_fail(bool fail)
{
    fails = fail;
}

void allocation_fail_at(uint64_t n)
{
    countdown = n;
    has_failed = false;
}

bool allocation_has_failed(void)
{
    return has_failed;
}

int64_t allocation_live(void)
{
    return shared_i64_load_relaxed(&live);
}

/* Decides about one allocation. */
static bool must_fail(void)
{
    if (!fails && (countdown == 0 || --countdown != 0))
        return false;
    has_failed = true;
    errno = ENOMEM;
    return true;
}

static void *count_live(void *memory)
{
    if (memory != NULL)
        shared_i64_add_relaxed(&live, 1);
    return memory;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
void __wrap_free(void *memory);

void *__wrap_malloc(size_t size)
{
    return must_fail() ? NULL : count_live(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : count_live(__real_calloc(count, size));
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size)
{
    if (must_fail())
        return ENOMEM;
    const int status = __real_posix_memalign(out, alignment, size);
    if (status == 0)
        count_live(*out);
    return status;
}

void __wrap_free(void *memory)
{
    if (memory != NULL)
        shared_i64_add_relaxed(&live, -1);
    __real_free(memory);
}
