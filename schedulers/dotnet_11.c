/* SPDX-License-Identifier: MIT
 *
 * Scheduler dotnet-11: the .NET 11 thread pool, as of mid-2026. The queues of scheduler dotnet.
 *
 * Idea       A worker asks for another one only if it sees that there is work for it, and the semaphore on which idle
 *            workers wait spins a few microseconds, without yielding, and wakes one at a time. The rules are in idle
 *            policy dotnet-11-handshake.
 * Good at    Few tasks; spins a tenth of .NET 8 on x86 and a thirtieth of it on Arm.
 * Bad at     Two workers that hand a few tasks to and fro: each waits for a wake-up (dotnet/runtime#132943, #132952).
 * Placement  As dotnet.
 *
 * Differences to the source. See dotnet.c and the idle policy. Work queues per core, tried in the same year, are not
 * here. When a worker blocks, its deque goes to the shared queue; since .NET 10 (dotnet/runtime#112796) that of the
 * original goes to the high-priority one, with what dotnet.h says of that.
 *
 * Source. dotnet/runtime#122726, #123921, #128606, #132765.
 */
#include "dotnet.h"

static const struct scheduler_parameter dotnet_11_parameters[] = {
    DOTNET_PARAMETERS,
    {NULL},
};

const struct scheduler scheduler_dotnet_11 = {
    .name = "dotnet-11",
    .summary = "as .NET 11: dotnet, but asks for a worker only if it sees work",
    DOTNET_COMMON,
    .idle = "dotnet-11-handshake",
    .parameters = dotnet_11_parameters,
    .pool_state_size = sizeof(struct dotnet),
    .worker_state_size = sizeof(struct dotnet_worker),
    .next = dotnet_next,
    .pending = dotnet_pending,
    .surrender_local = dotnet_surrender_local,
    .drain = dotnet_drain,
    .depth = dotnet_depth,
};
