/* SPDX-License-Identifier: MIT
 *
 * The picture `fidelity`: the model beside real runtimes. Levels differ, as what the model's work items cost is an
 * estimate; shapes can be compared: every value is the ratio to what the same executor needs with one worker and spin
 * limit 0, in the same mode and at the same rate.
 *
 * How it works. The ratio of two cells comes from their repeats block by block (cell_ratio in statistics.h). A panel
 * shows one model variant beside one real runtime; panels of one mode and rate have one scale.
 */
#ifndef PILFER_PLOT_FIDELITY_H
#define PILFER_PLOT_FIDELITY_H

#include "strands.h"

/* Values become ratios; what has none, or no other side to be compared with, is left out and counted. 0, or 1 with one
 * line in message if nothing is left. */
int fidelity_relate(struct draft_set *set, const struct plot_request *request, char *message);

/* The panels, their order and scale. */
void fidelity_build(struct chart *chart, const struct chart_shared *shared, const struct strands *strands);

#endif
