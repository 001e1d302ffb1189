/* SPDX-License-Identifier: MIT
 *
 * The other programs of the build; see sibling.h.
 */
#include "cli/sibling.h"

#include "cli/output.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The folder of this program. */
static int own_folder(char *out, size_t room)
{
    ssize_t length = readlink("/proc/self/exe", out, room - 1);
    if (length < 0)
        return -errno;
    out[length] = '\0';
    *strrchr(out, '/') = '\0';
    return 0;
}

int sibling_find(const char *program, const char *folder, char *out, size_t room)
{
    char self[PATH_MAX];
    int status = own_folder(self, sizeof self);
    if (status != 0)
        return status;
    snprintf(out, room, "%s/%s", self, program);
    if (access(out, F_OK) == 0)
        return 0;
    static const char *const ways[] = {"tests", ".."}; /* from the top of the build; from a folder of tests/ */
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        snprintf(out, room, "%s/%s/%s/%s", self, ways[i], folder, program);
        if (access(out, F_OK) == 0)
            return 0;
    }
    return -ENOENT;
}

int sibling_become(const char *verb, const char *program, const char *folder, char *const *words)
{
    enum { WORDS_MAX_PASSED = 256 };
    char path[PATH_MAX + 128];
    char *arguments[WORDS_MAX_PASSED + 2] = {path};
    size_t count = 0;
    int status = sibling_find(program, folder, path, sizeof path);
    if (status == -ENOENT)
        return complain("%s: the program %s is missing beside this one; build everything: `./run test`", verb, program),
               EXIT_SURROUNDINGS;
    if (status != 0)
        return complain("%s: cannot find my own file in /proc/self/exe: %s; is /proc mounted?", verb,
                        strerror(-status)),
               EXIT_SURROUNDINGS;
    for (; words[count] != NULL; count++) {
        if (count == WORDS_MAX_PASSED)
            return complain("%s: more than %d words", verb, WORDS_MAX_PASSED), EXIT_USAGE;
        arguments[count + 1] = words[count];
    }
    output_hand_over();
    execv(path, arguments);
    return complain("%s: cannot start %s: %s", verb, escaped(path), strerror(errno)), EXIT_SURROUNDINGS;
}
