/* SPDX-License-Identifier: MIT
 *
 * The checklist of dotnet_items.h as a list, and what its items share.
 */
#include "dotnet_items.h"

#include "invariants.h"

void expect(const char *what, uint64_t is, uint64_t expected)
{
    if (is != expected)
        check_broken("%s: %llu, expected %llu", what, (unsigned long long)is, (unsigned long long)expected);
}

const struct invariant dotnet_items[] = {
    {"D1", "global FIFO", dotnet_global_fifo, false},
    {"D2", "local deque", dotnet_local_deque, false},
    {"D3", "one full exchange", dotnet_exchanges, false},
    {"D4", "placement", dotnet_placement, false},
    {"D5", "dequeue order", dotnet_dequeue_order, false},
    {"D6", "steal scan", dotnet_steal_scan, false},
    {"D7", "missed steal", dotnet_missed_steal, false},
    {"D8", "request flag", dotnet_request_flag, false},
    {"D9", "one more worker", dotnet_releases, false},
    {"D10", "counts word", dotnet_counts, false},
    {"D11", "max 1 releases none", dotnet_one_worker, false},
    {"D12", "last look", dotnet_last_look, false},
    {"D13", "stop check", dotnet_stop_check, false},
    {"D14", "spin shape", dotnet_spin_shape, false},
    {"D15", "unit of pause", dotnet_pause_unit, false},
    {"D16", "255 spinners", dotnet_spinners, false},
    {"D17", "release to a spinner", dotnet_silent_release, false},
    {"D18", "LIFO wake order", dotnet_wake_order, false},
    {"D19", "lost wake", dotnet_lost_wake, false},
    {"D20", "idle exit", dotnet_idle_exit, false},
    {"D21", "between requests", dotnet_between_turns, false},
    {"D22", "quantum", dotnet_quantum, false},
    {"D23", "gate", dotnet_gate, false},
    {"D24", "hill climbing", dotnet_hill_climbing, false},
    {"D25", "limits", dotnet_limits, false},
    {"D26", "router items", dotnet_router_items, false},
    {NULL},
};
