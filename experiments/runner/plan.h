/* SPDX-License-Identifier: MIT
 *
 * The plan: which cells a specification means on this machine, and the order in which they are measured.
 *
 * How it works. Each part's cross product is resolved point by point (cell_resolve). A point collapses into another
 *   - when they differ only in a parameter without effect: a knob that the scheduler lacks, the rate of a closed loop,
 * a parameter of another workload;
 *   - when what they mean is equal (max-workers `default` and `2` on two cores): the one written with numbers stays.
 * Points that are not admitted (an idle policy that a scheduler refuses) are left out. Both are noted. What is left is
 * a list of cells, each with an id that names its configuration: the scheduler or the target, the rate where there is
 * one, and every parameter of its identity that is not at its default, in table order: "scheduler=chase-lev
 * max-workers=25 spin-limit=0 mode=paced rate=2000".
 *
 * Repeats are interleaved: block r runs every cell that has r repeats or more once, in a random order that depends on
 * the seed and r only, so that slow drift of the machine falls on all cells alike.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_PLAN_H
#define PILFER_EXPERIMENTS_RUNNER_PLAN_H

#include "runner/specification.h"

/* Seeds are exact in every export: at most 2^53 - 1. */
#define PLAN_SEED_MAX ((UINT64_C(1) << 53) - 1)

/* Repeats of all cells together. */
#define PLAN_STEPS_MAX 10000000

/* Time that repeats of disturbed measurements may take in all, of the plan's estimate. */
#define PLAN_RETRY_SHARE 0.25

struct plan_cell {
    char *id;       /* owned */
    uint32_t part;  /* of the specification */
    uint32_t point; /* in the part's cross product */
    uint32_t repeats;
    double seconds; /* estimate of one repeat */
};

struct plan_step {
    uint32_t cell;
    uint32_t repeat; /* from 1 */
};

struct plan {
    const struct specification *specification; /* borrowed; must outlive the plan */
    struct plan_cell *cells;                   /* owned, as are all below */
    uint32_t cell_count;
    struct plan_step *steps; /* in the order of measuring */
    uint32_t step_count;
    uint64_t seed;
    char *text;   /* canonical: equal texts mean equal plans; what --resume compares */
    char **notes; /* what collapsed and what was left out, one line each */
    uint32_t note_count;
    double seconds; /* estimate of all steps; disturbed ones may add PLAN_RETRY_SHARE */
};

/* Resolves, collapses and orders. seed_given: the person asked for this seed, so it is part of what --resume compares.
 * Returns 0 (plan_fini frees it), or the number of faults written, among them: more than SPECIFICATION_CELLS_MAX
 * points, more than PLAN_STEPS_MAX
 * repeats, no cell left. Starts nothing. */
int plan_build(const struct specification *specification, uint64_t seed, bool seed_given, FILE *faults,
               struct plan *out);
void plan_fini(struct plan *plan);

/* Orders the steps by another seed (that of the sweep that is continued). */
void plan_reorder(struct plan *plan, uint64_t seed);

/* The configuration of a cell. */
void plan_configuration(const struct plan *plan, uint32_t cell, struct configuration *out);

/* The seed of one repeat: the same for all cells of a block, so that they see the same arrivals. Repeat 1 has the
 * plan's own. At most PLAN_SEED_MAX. */
uint64_t plan_step_seed(const struct plan *plan, uint32_t repeat);

/* What --show-plan prints: cells, order (of many repeats how it is made), seed, notes, estimate. A cell is told with
 * more than its id, so that cells of one plan can be told apart by reading: mode=closed beside mode=paced. */
void plan_print(const struct plan *plan, FILE *out);

#endif
