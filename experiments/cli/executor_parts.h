/* SPDX-License-Identifier: MIT
 *
 * The repeats of a sweep by what executed them, so that no table and no sentence of a report mixes two.
 *
 * How it works. A model goes by its label (a tunable that departs from the default is in it), a target by its name: a
 * model may have the same. The model of the published pool comes first, then the other models by name, then targets.
 */
#ifndef PILFER_EXPERIMENTS_CLI_EXECUTOR_PARTS_H
#define PILFER_EXPERIMENTS_CLI_EXECUTOR_PARTS_H

#include "results.h"

struct executor_part {
    char *name;             /* "dotnet+hill-climbing=0", "target go", or "" where no label is stored; owned */
    struct result_set rows; /* copies whose texts belong to the whole set; the array alone is owned */
};

struct executor_parts {
    struct executor_part *parts; /* owned; one that is empty, if the set is */
    size_t count;
};

/* The set must stay. Free with executor_parts_fini. */
void executor_parts_init(struct executor_parts *parts, const struct result_set *set);
void executor_parts_fini(struct executor_parts *parts);

#endif
