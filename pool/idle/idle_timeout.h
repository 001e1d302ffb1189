/* SPDX-License-Identifier: MIT
 *
 * How long a worker of the .NET pools waits for nothing before it ends its thread: the tunable idle-timeout-ms.
 *
 * Source. dotnet/runtime 8.0, PortableThreadPool (ThreadPoolThreadTimeoutMs).
 */
#ifndef PILFER_POOL_IDLE_IDLE_TIMEOUT_H
#define PILFER_POOL_IDLE_IDLE_TIMEOUT_H

#include "scheduler.h"

enum { IDLE_TIMEOUT_MS_DEFAULT = 20000 };

/* The tunable. For init: it is looked up by name. */
static inline uint64_t idle_timeout_ns(const struct pool *pool)
{
    const uint64_t ns_per_ms = 1000000;
    return pool_setting_or(pool, "idle-timeout-ms", IDLE_TIMEOUT_MS_DEFAULT) * ns_per_ms;
}

/* When a wait that begins now is over, for platform_park. */
static inline uint64_t idle_deadline(uint64_t timeout_ns)
{
    return platform_now_ns() + timeout_ns;
}

#endif
