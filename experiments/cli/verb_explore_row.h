/* SPDX-License-Identifier: MIT
 *
 * The row of the verb `explore`. Two programs have it: pilfer, which looks at the options and starts pilfer-explore,
 * and pilfer-explore itself (tests/explore/command.c), which can also be started alone, under a debugger. Each adds its
 * words.
 */
#ifndef PILFER_EXPERIMENTS_CLI_VERB_EXPLORE_ROW_H
#define PILFER_EXPERIMENTS_CLI_VERB_EXPLORE_ROW_H

#include "cli/options.h"

/* clang-format off */
#define VERB_EXPLORE_ROW                                                                                              \
    .name = "explore",                                                                                                \
    .arguments = "NAME",                                                                                              \
    .summary = "Try the interleavings of a scheduler, idle policy, bound or structure",                               \
    .details = "Small programs run over the unmodified sources, and the explorer chooses every interleaving of their " \
               "threads and every value that a load may return. Each kind of violation is printed once with the "     \
               "command that replays exactly that run. Status 0 if nothing is broken, 1 after a violation, 2 for an "  \
               "unknown name.",                                                                                       \
    .arguments_max = 1,                                                                                               \
    .options = TAKES(scenario) | TAKES(configuration) | TAKES(model) | TAKES(strategy) | TAKES(runs) | TAKES(seed) |  \
               TAKES(preemptions) | TAKES(stale) | TAKES(replay) | TAKES(brief) | TAKES(mutants) | TAKES(search) |    \
               TAKES(list)
/* clang-format on */

#endif
