/* SPDX-License-Identifier: MIT
 *
 * The invariants, one function each; they run in a child of their own (harness.h). What each one promises stands in
 * schedulers/README.md; how it is tested stands at the head of its file.
 */
#ifndef PILFER_TESTS_CONFORMANCE_INVARIANTS_H
#define PILFER_TESTS_CONFORMANCE_INVARIANTS_H

#include "harness.h"

/* A line of the report. Lists of them end with a NULL id. */
struct invariant {
    const char *id, *name;
    void (*test)(const struct subject *subject);
    bool every_pair; /* depends on the idle and the sizing policy */
};

/* schedulers and idle policies */
void check_conservation(const struct subject *subject);  /* S1, conservation.c */
void check_once(const struct subject *subject);          /* S2, conservation.c */
void check_wake(const struct subject *subject);          /* S3, wake.c */
void check_refusal(const struct subject *subject);       /* S4, refusal.c */
void check_bounded_next(const struct subject *subject);  /* S5, table.c */
void check_order(const struct subject *subject);         /* S6, order.c */
void check_owner(const struct subject *subject);         /* S7, table.c */
void check_quiet_end(const struct subject *subject);     /* S8, quiet_end.c */
void check_worker_counts(const struct subject *subject); /* S9, conservation.c */
void check_no_lock(const struct subject *subject);       /* S10, no_lock.c */

/* The threads' part of S8 alone, for schedulers and bounds: cycles pools of workers, opened, loaded and closed while
 * threads submit. quiet_end.c */
void check_close_races(const struct subject *subject, uint32_t workers, uint32_t cycles);

/* bounds: bounds.c */
void check_items_conserved(const struct subject *subject); /* B1 */
void check_limit(const struct subject *subject);           /* B2 */
void check_stranded(const struct subject *subject);        /* B3 */
void check_readers(const struct subject *subject);         /* B4 */

/* The checklist of scheduler dotnet, in order: D1 to D26. dotnet_items.c */
extern const struct invariant dotnet_items[];

/* both: interleavings.c */
void check_interleavings(const struct subject *subject);

#endif
