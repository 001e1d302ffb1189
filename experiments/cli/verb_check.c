/* SPDX-License-Identifier: MIT
 *
 * `pilfer check NAME`: the conformance suite, which is a program of its own (checking code must not be in the one that
 * measures). It lies beside this one, or where the build puts it.
 */
#include "verbs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Relative to the folder of this program. */
static const char *const places[] = {"pilfer-check", "tests/conformance/pilfer-check"};

int verb_check(const struct invocation *invocation)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return complain("check: cannot find my own file in /proc/self/exe: %s; is /proc mounted?", strerror(errno)),
               EXIT_SURROUNDINGS;
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    fflush(stdout);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char path[PATH_MAX + 64];
        snprintf(path, sizeof path, "%s/%s", self, places[i]);
        char *arguments[] = {path, (char *)invocation->arguments[0], NULL};
        execv(path, arguments);
        if (errno != ENOENT && errno != ENOTDIR)
            return complain("check: cannot start %s: %s", escaped(path), strerror(errno)), EXIT_SURROUNDINGS;
    }
    return complain("check: the conformance program pilfer-check is missing beside %s; build everything: `./run test`",
                    escaped(self)),
           EXIT_SURROUNDINGS;
}
