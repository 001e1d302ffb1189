/* SPDX-License-Identifier: MIT
 *
 * Statistics of repeats: medians, bootstrap intervals, ratios, and the grouping of repeats into cells.
 *
 * How it works. Percentile bootstrap of the median with a fixed seed, so that a report is the same every time. Fewer
 * than six values: the range instead of an interval. A ratio of two cells is the ratio of their medians; its interval
 * comes from resampling both sides; where both cells were measured in the same blocks (interleaved repeats), from
 * resampling the blocks, so that drift common to a block cancels.
 *
 * Sources. Efron 1979; Kalibera & Jones 2013 ("Rigorous benchmarking in reasonable time").
 */
#ifndef PILFER_RESULTS_STATISTICS_H
#define PILFER_RESULTS_STATISTICS_H

#include "results.h"

#define STATISTICS_INTERVAL_MINIMUM 6

/* What cells are compared by. */
#define CELL_CPU_US      "router_cpu_us_per_request"
#define CELL_CPU_PERCENT "router_cpu_percent"

struct interval {
    double median, low, high; /* NaN without values */
    uint32_t count;           /* values used */
    bool is_range;            /* low and high are minimum and maximum, not a 95 % interval */
};

double statistics_median(const double *values, size_t count); /* NaN if count is 0; values are not changed */
struct interval statistics_interval(const double *values, size_t count);

/* Ratio of two medians; all NaN if the lower one is not above 0 or a side has no values. paired: values[i] of both come
 * from the same block and count is equal. */
struct interval statistics_ratio(const double *above, size_t above_count, const double *below, size_t below_count,
                                 bool paired);

/* One cell: the repeats of one configuration. */
struct cell {
    const char *cell_id;        /* of the first row */
    const struct result *first; /* for its parameters */
    const struct result **rows; /* all repeats, by repeat number */
    uint32_t count;
};
struct cell_set {
    struct cell *cells; /* in order of first appearance in the set */
    size_t count;
    const struct result **rows; /* what the cells' rows point into */
};

/* Groups by cell_id; points into set, which must stay. Free with cell_set_fini. */
void cell_set_init(struct cell_set *cells, const struct result_set *set);
void cell_set_fini(struct cell_set *cells);

/* Whether it is the setting to which others are ratios: one worker, spin limit 0. A word ("default") is what it was
 * resolved to. */
bool cell_is_base(const struct cell *cell);

/* Interval of a number over a cell's valid repeats. disturbed_too: do not leave out disturbed ones. */
struct interval cell_interval(const struct cell *cell, const char *name, bool disturbed_too);

/* The same of a number divided by the completed requests of its repeat (a counter per request). */
struct interval cell_interval_per_request(const struct cell *cell, const char *name, bool disturbed_too);

/* Ratio of a number between two cells over their valid, undisturbed repeats. Two cells of one sweep are paired by
 * repeat number, since each repeat is a block in which every cell is measured once; repeats that only one of them has
 * are left out then. If fewer than STATISTICS_INTERVAL_MINIMUM pairs (or no pair at all, if neither has that many)
 * would be left, and for cells of two sweeps, the sides are resampled apart. */
struct interval cell_ratio(const struct cell *above, const struct cell *below, const char *name);
/* The same with nothing rejected: disturbed repeats too. */
struct interval cell_ratio_unrejected(const struct cell *above, const struct cell *below, const char *name);
/* Over the undisturbed repeats, or, where one of the two cells has none, over all valid ones; *disturbed out: it stands
 * on these. */
struct interval cell_ratio_or_disturbed(const struct cell *above, const struct cell *below, const char *name,
                                        bool *disturbed);

/* The same without pairing: for cells of two sweeps, whose numbers may be equal by chance (two stores). */
struct interval cell_ratio_apart(const struct cell *above, const struct cell *below, const char *name);

/* Spearman's rank correlation of two lists, ties at their mean rank; NaN for fewer than 3 pairs or a constant list. */
double statistics_rank_correlation(const double *first, const double *second, size_t count);

#endif
