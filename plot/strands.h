/* SPDX-License-Identifier: MIT
 *
 * Strands: how a chart tells the model and real runtimes apart where both share a panel. What executes is a strand,
 * with dashes and a marker of its own (solid and filled: real; dashed and open: model), and the spin limit is the
 * colour, so that the same spin limit has the same colour everywhere. With one spin limit the colour is the strand's,
 * too.
 */
#ifndef PILFER_PLOT_STRANDS_H
#define PILFER_PLOT_STRANDS_H

#include "chart_words.h"

struct strands {
    const struct draft **executors; /* one draft of each executor (label and others), real ones first */
    const struct draft **spins;     /* one of each spin limit, in order; what has none last */
    size_t executor_count, spin_count;
};

/* Points into the set, which must stay as it is. */
void strands_init(struct strands *strands, const struct draft_set *set);
void strands_fini(struct strands *strands);

/* Whether all strands can be told apart in one panel, and still be read. */
bool strands_fit(const struct draft_set *set);

/* Whether two drafts are of one executor. */
bool strands_is_executor(const struct draft *left, const struct draft *right);

struct chart_look strands_look(const struct strands *strands, const struct draft *draft);

/* Adds what the key says: the executors, and the spin limits. */
void strands_key(struct chart *chart, const struct strands *strands, const struct chart_shared *shared);

#endif
