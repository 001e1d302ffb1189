/* SPDX-License-Identifier: MIT
 *
 * The line `explore`: a short exploration, in which the interleavings are chosen and not left to the machine.
 *
 * How it works. The explored back ends give the pool's structures another layout, so they are a program of their own,
 * pilfer-explore. It is started for the subject with a fixed number of runs and the seed of the check; what it says in
 * its short form is read here. Long explorations are `pilfer explore`'s.
 */
#include "invariants.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/sibling.h"
#include "inside.h"

enum { RUNS = 20000, LIMIT_S = 300, LOOK_MS = 1000, SAID_MAX = 64 * 1024, WORDS_SIZE = HARNESS_TEXT_SIZE - 128 };
#define SEED_MAX ((UINT64_C(1) << 53) - 1) /* as pilfer-explore takes it */

static _Noreturn void be_explorer(const char *path, const struct subject *subject, int output, pid_t parent)
{
    char runs[32], seed[32];
    snprintf(runs, sizeof runs, "%d", RUNS);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)(subject->seed & SEED_MAX));
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    alarm(LIMIT_S);
    execl(path, path, subject->name, "--brief", "--runs", runs, "--seed", seed, (char *)NULL);
    dprintf(STDERR_FILENO, "%s: %s\n", path, strerror(errno));
    _exit(127); /* as a shell does */
}

/* Until the end of what it says; each look counts as progress, since its own alarm ends what takes too long. */
static void read_all(int descriptor, char *out, size_t room)
{
    size_t length = 0;
    ssize_t got = 1;
    while (got > 0 && length + 1 < room) {
        struct pollfd set = {.fd = descriptor, .events = POLLIN};
        check_progress();
        if (poll(&set, 1, LOOK_MS) <= 0)
            continue;
        got = read(descriptor, out + length, room - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    }
    out[length] = '\0';
}

/* The first line that gives a replay is cut out; others of what is broken: the names of those behind it. */
static const char *cut_violations(char *said, char *others, size_t room)
{
    const char *first = NULL;
    size_t length = 0;
    others[0] = '\0';
    for (char *line, *rest = said; (line = strsep(&rest, "\n")) != NULL;) {
        if (strstr(line, "; replay: ") == NULL)
            continue;
        if (first == NULL)
            first = line;
        else if (length < room)
            length += (size_t)snprintf(others + length, room - length, "%s%.*s", length > 0 ? ", " : "; also ",
                                       (int)strcspn(line, ":"), line);
    }
    return first;
}

static _Noreturn void report_violations(const struct subject *subject, char *said)
{
    char others[HARNESS_TEXT_SIZE / 4];
    const char *first = cut_violations(said, others, sizeof others);
    if (first != NULL && strlen(first) + strlen(others) < WORDS_SIZE)
        check_broken("%s%s", first, others);
    check_broken("see ./run explore %s --runs %d --seed %llu", subject->name, RUNS,
                 (unsigned long long)(subject->seed & SEED_MAX));
}

static void judge(const struct subject *subject, int status, char *said)
{
    enum { CLEAN, BROKEN, REFUSED, UNSTARTED = 127 };
    const char *message = strncmp(said, "pilfer: explore: ", 17) == 0 ? said + 17 : said;
    const int ended = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (ended == BROKEN)
        report_violations(subject, said);
    said[strcspn(said, "\n")] = '\0';
    if (ended == REFUSED || ended == UNSTARTED)
        check_skip("%.*s", WORDS_SIZE, message);
    if (ended == CLEAN && inside_is_specimen(subject))
        check_broken("its known races were not found in %d runs", RUNS);
    if (ended == CLEAN)
        check_held("%d runs", RUNS);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        check_broken("%d runs took more than %d s", RUNS, LIMIT_S);
    check_broken("pilfer-explore ended with %s %d: %.*s", WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : ended, WORDS_SIZE, message);
}

void check_interleavings(const struct subject *subject)
{
    static char said[SAID_MAX];
    char path[PATH_MAX + 128];
    int ends[2], status;
    if (subject->idle != NULL || subject->sizing != NULL || subject->over != NULL)
        check_skip("explored under all policies at once, when none is chosen");
#ifdef PILFER_SANITIZED
    check_skip("explored in the plain build");
#endif
    if (sibling_find("pilfer-explore", "explore", path, sizeof path) != 0)
        check_skip("the program pilfer-explore is missing beside this one");
    check_trying("%d runs of chosen interleavings", RUNS);
    check_setup(pipe(ends) == 0);
    const pid_t parent = getpid(), child = fork();
    check_setup(child >= 0);
    if (child == 0)
        be_explorer(path, subject, ends[1], parent);
    close(ends[1]);
    read_all(ends[0], said, sizeof said);
    check_setup(waitpid(child, &status, 0) == child);
    judge(subject, status, said);
}
