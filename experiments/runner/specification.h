/* SPDX-License-Identifier: MIT
 *
 * The specification: what a person asked to have measured, before it is known what that means on this machine.
 *
 * How it works. A sweep file is INI, read with libinih through a reader hook of our own. [sweep] holds what is common
 * to the whole sweep; [part NAME] sections, if there are any, override it, so that one sweep can consist of parts with
 * their own mode, rate or axes. A key is a parameter (cli/parameters.h) or one of name, description, repeats, order. A
 * value is a comma list whose items are single values, ranges ("1..4", "0..100 step 10") or, for names, "all". A list
 * with more than one value is an axis; a part is measured at every point of the cross product of its axes.
 *
 * Command lines take the same way: `--set KEY=V[,V...]` and the options of `run` call specification_set.
 *
 * Faults. Every fault of a text is written to the stream, one line each: "origin:line: what was found, what was
 * expected, the nearest valid word". Nothing is clamped and nothing half-read is used: on a fault the specification is
 * empty again (text) or as it was (set).
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_SPECIFICATION_H
#define PILFER_EXPERIMENTS_RUNNER_SPECIFICATION_H

#include "cli/parameters.h"

#include <stdio.h>

#define SPECIFICATION_NAME_SIZE        64
#define SPECIFICATION_DESCRIPTION_SIZE 256
#define SPECIFICATION_KEYS_MAX         1000
#define SPECIFICATION_PARTS_MAX        100
#define SPECIFICATION_VALUES_MAX       1000
#define SPECIFICATION_CELLS_MAX        100000
#define SPECIFICATION_REPEATS_MAX      10000

/* What --quick cuts repeats and times to. */
#define SPECIFICATION_QUICK_REPEATS  3
#define SPECIFICATION_QUICK_DURATION "0.5"
#define SPECIFICATION_QUICK_WARMUP   "0.2" /* and no waiting for a steady goal */

/* The values of one parameter, normalised, in the order written. count 0: not given here. */
struct specification_axis {
    uint32_t count;
    char (*values)[PARAMETER_TEXT_SIZE]; /* owned */
};

/* [sweep], or one [part NAME]. */
struct specification_part {
    char name[SPECIFICATION_NAME_SIZE]; /* "" for [sweep] */
    uint32_t repeats;                   /* 0: not given here */
    struct specification_axis axes[PARAMETER_LIMIT];
};

enum specification_order {
    SPECIFICATION_ORDER_RANDOM, /* each block in an order of its own, from the seed */
    SPECIFICATION_ORDER_LISTED, /* as written */
};

struct specification {
    char name[SPECIFICATION_NAME_SIZE];
    char description[SPECIFICATION_DESCRIPTION_SIZE];
    enum specification_order order;
    struct specification_part common;
    struct specification_part *parts; /* owned; none: the sweep is its own only part */
    uint32_t part_count;
};

/* An empty specification: one cell, all defaults, one repeat. Memory of the caller; specification_fini frees the rest.
 */
void specification_init(struct specification *specification, const char *name);
void specification_fini(struct specification *specification);

/* Reads a sweep file into an uninitialised specification; its name is the key `name` or the file's stem. Returns 0, or
 * the number of faults written to the stream (then there is nothing to fini). */
int specification_parse_file(const char *path, FILE *faults, struct specification *out);

/* As specification_parse_file for a text of size bytes; origin stands where the path would. */
int specification_parse_text(const char *origin, const char *text, size_t size, FILE *faults,
                             struct specification *out);

/* Sets one key in [sweep] and takes it out of all parts: what --set does. values is a list as in a file. option is the
 * origin shown in faults ("--set", "--max-workers"). Returns 0 or the number of faults written. */
int specification_set(struct specification *specification, const char *option, const char *key, const char *values,
                      FILE *faults);

/* As specification_set for "KEY=V[,V...]". */
int specification_set_text(struct specification *specification, const char *option, const char *assignment,
                           FILE *faults);

/* Cuts repeats and times, never the values of an axis: what --quick does. Call before specification_set. */
void specification_quick(struct specification *specification);

/* Keeps only the part of this name; -1 if there is none. */
int specification_keep_part(struct specification *specification, const char *name);

/* The values of a parameter in a part (index 0 when there are no parts): its own, else those of [sweep], else NULL. */
const struct specification_axis *specification_axis(const struct specification *specification, uint32_t part,
                                                    uint32_t parameter);
uint32_t specification_repeats(const struct specification *specification, uint32_t part);

/* Parts to measure: part_count, or 1 when there are none. */
uint32_t specification_part_count(const struct specification *specification);

/* Points of a part's cross product; UINT64_MAX when it does not fit. */
uint64_t specification_points(const struct specification *specification, uint32_t part);

/* ---- built-in sweeps ---- */

struct builtin_sweep {
    const char *name, *description, *text;
};

/* The index-th sweep that the program contains, in list order; NULL past the end. */
const struct builtin_sweep *builtin_sweep(uint32_t index);

/* Reads a built-in sweep, or a file if the selector holds a slash or a dot. An unknown name is a fault with the nearest
 * one. Returns as specification_parse_file. */
int specification_parse_selector(const char *selector, FILE *faults, struct specification *out);

#endif
