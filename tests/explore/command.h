/* SPDX-License-Identifier: MIT
 *
 * The command line of pilfer-explore. It is that of the verb: the same row, the same parser, the same messages.
 */
#ifndef PILFER_TESTS_EXPLORE_COMMAND_H
#define PILFER_TESTS_EXPLORE_COMMAND_H

#include "request.h"

struct command {
    struct request request;
    const char *name;   /* one of those known; NULL with mutants, perhaps with list */
    const char *replay; /* RUN or NULL */
    bool brief, mutants, search, list;
};

/* known: what NAME may be. -1, or the exit status to end with, after a complaint or the help. */
int command_read(int argument_count, char **arguments, const char *const *known, uint32_t known_count,
                 struct command *out);

#endif
