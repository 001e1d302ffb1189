/* SPDX-License-Identifier: MIT
 *
 * `pilfer explore NAME`: the explorer, a program of its own (tests/explore). The options have been looked at by the
 * same code and the same row that it has; the names and what their values mean it knows alone.
 */
#include "verbs.h"

#include "cli/sibling.h"
#include "pilfer.h"

/* Structures and protocols have scenarios in the explorer only and are missing here. */
void words_explored(struct words *words)
{
    struct pilfer_entry entry;
    words_executors(words);
    for (uint32_t i = 0; pilfer_entry(PILFER_KIND_IDLE, i, &entry); i++)
        words_add(words, entry.name);
}

int verb_explore(const struct invocation *invocation)
{
    return sibling_become("explore", "pilfer-explore", "explore", invocation->words + 1);
}
