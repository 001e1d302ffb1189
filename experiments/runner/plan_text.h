/* SPDX-License-Identifier: MIT
 *
 * Texts of a plan: ids of cells, what makes cells equal, the canonical text.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_PLAN_TEXT_H
#define PILFER_EXPERIMENTS_RUNNER_PLAN_TEXT_H

#include "results.h"
#include "runner/plan.h"

/* "scheduler=chase-lev max-workers=25 mode=paced": the scheduler, the rate of a paced cell, and what is not at its
 * default. The caller frees. */
char *plan_cell_id(const struct configuration *configuration);

/* Equal for cells that mean the same: every parameter with effect, defaults replaced by what they mean. The caller
 * frees. */
char *plan_cell_meaning(const struct configuration *configuration, const struct result *resolved);

/* plan->text for what the other fields say; meanings[i] belongs to cell i. The caller frees. */
char *plan_canonical_text(const struct plan *plan, bool seed_given, char *const *meanings);

#endif
