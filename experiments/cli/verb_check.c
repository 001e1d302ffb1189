/* SPDX-License-Identifier: MIT
 *
 * `pilfer check NAME`: the conformance suite, a program of its own (tests/conformance).
 */
#include "verbs.h"

#include "cli/sibling.h"

int verb_check(const struct invocation *invocation)
{
    return sibling_become("check", "pilfer-check", "conformance", invocation->words + 1);
}
