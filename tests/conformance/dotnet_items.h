/* SPDX-License-Identifier: MIT
 *
 * The fidelity checklist of scheduler dotnet: what makes it a faithful model of the .NET 8 thread pool, item by item.
 *
 * How it works. `pilfer-check dotnet` prints one line for each, after the invariants. As those they run in a child of
 * their own. Most are played by one thread (dotnet_play.h), and so the same every time; those that need threads count
 * events and compare counts, never times. dotnet_mutants.list holds a fault for each, which that item alone must find.
 */
#ifndef PILFER_TESTS_CONFORMANCE_DOTNET_ITEMS_H
#define PILFER_TESTS_CONFORMANCE_DOTNET_ITEMS_H

#include "harness.h"

/* The item is broken unless the two are equal; what: in words. */
void expect(const char *what, uint64_t is, uint64_t expected);

/* dotnet_queueing.c */
void dotnet_global_fifo(const struct subject *subject);   /* D1 */
void dotnet_local_deque(const struct subject *subject);   /* D2 */
void dotnet_exchanges(const struct subject *subject);     /* D3 */
void dotnet_placement(const struct subject *subject);     /* D4 */
void dotnet_dequeue_order(const struct subject *subject); /* D5 */
void dotnet_steal_scan(const struct subject *subject);    /* D6 */
void dotnet_missed_steal(const struct subject *subject);  /* D7 */

/* dotnet_requests.c */
void dotnet_request_flag(const struct subject *subject);  /* D8 */
void dotnet_releases(const struct subject *subject);      /* D9 */
void dotnet_counts(const struct subject *subject);        /* D10 */
void dotnet_one_worker(const struct subject *subject);    /* D11 */
void dotnet_last_look(const struct subject *subject);     /* D12 */
void dotnet_between_turns(const struct subject *subject); /* D21 */
void dotnet_quantum(const struct subject *subject);       /* D22 */

/* dotnet_waiting.c */
void dotnet_spin_shape(const struct subject *subject);     /* D14 */
void dotnet_pause_unit(const struct subject *subject);     /* D15 */
void dotnet_spinners(const struct subject *subject);       /* D16 */
void dotnet_silent_release(const struct subject *subject); /* D17 */
void dotnet_wake_order(const struct subject *subject);     /* D18 */
void dotnet_lost_wake(const struct subject *subject);      /* D19 */

/* dotnet_sizing.c */
void dotnet_stop_check(const struct subject *subject);    /* D13 */
void dotnet_idle_exit(const struct subject *subject);     /* D20 */
void dotnet_gate(const struct subject *subject);          /* D23 */
void dotnet_hill_climbing(const struct subject *subject); /* D24 */
void dotnet_limits(const struct subject *subject);        /* D25 */

/* dotnet_policy.c: what of D23 to D25 is not arithmetic */
void dotnet_play_gate(const struct subject *subject);
void dotnet_play_samples(const struct subject *subject);
void dotnet_try_limits(const struct subject *subject);

/* dotnet_router.c */
void dotnet_router_items(const struct subject *subject); /* D26 */

/* The pool of the tests that need threads: dotnet with these workers, under sizing fixed unless sizing is given. */
struct pilfer_executor;
struct pilfer_setting;
struct dotnet_pool {
    uint32_t min_workers, max_workers, spin_limit;
    const char *sizing;
    const struct pilfer_setting *settings;
    uint32_t setting_count;
};
struct pilfer_executor *dotnet_open(const struct subject *subject, const struct dotnet_pool *pool);

#endif
