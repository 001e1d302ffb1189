/* SPDX-License-Identifier: MIT
 *
 * Cases of unit tests as invariants; see check.h beside this file.
 */
#include "unit_cases/unit_cases.h"

#include <stdbool.h>
#include <string.h>

#include "harness.h"

/* The call of unit_cases_run that goes on; one thread. */
static struct {
    const char *const *names;
    int count, found, rounds;
} wanted;

static bool is_wanted(const char *name)
{
    for (int i = 0; i < wanted.count; i++)
        if (strcmp(wanted.names[i], name) == 0)
            return true;
    return false;
}

void unit_cases_add(const char *name, void (*test)(int round), int first, int after)
{
    if (!is_wanted(name))
        return;
    wanted.found++;
    for (int round = first; round < after; round++, wanted.rounds++) {
        check_trying("%s, round %d", name, round);
        test(round);
    }
}

int unit_cases_run(int (*main_of_unit)(void), const char *const *names, int count)
{
    wanted.names = names;
    wanted.count = count;
    wanted.found = wanted.rounds = 0;
    check_setup(main_of_unit() == 0);
    check_setup(wanted.found == count);
    return wanted.rounds;
}
