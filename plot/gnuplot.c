/* SPDX-License-Identifier: MIT
 *
 * Runs gnuplot in a folder, under a time limit: see gnuplot.h.
 */
#include "gnuplot.h"
#include "plot.h"
#include "script.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GNUPLOT_SAID    "messages.txt"
#define GNUPLOT_POLL_NS 4000000

enum gnuplot_end { GNUPLOT_EXITED, GNUPLOT_OVERDUE, GNUPLOT_INTERRUPTED };

/* In the child: never returns. Only async-signal-safe calls, but for setenv, which is safe in a program of one thread.
 */
static void gnuplot_child(const char *folder, int report, const sigset_t *mask)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("GNUTERM");
    int input = open("/dev/null", O_RDONLY);
    if (chdir(folder) == 0 && input >= 0) {
        int said = open(GNUPLOT_SAID, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (said >= 0 && dup2(input, 0) >= 0 && dup2(said, 1) >= 0 && dup2(said, 2) >= 0) {
            execlp("gnuplot", "gnuplot", "-d", SCRIPT_NAME, (char *)NULL);
        }
    }
    int error = errno;
    ssize_t ignored = write(report, &error, sizeof error);
    (void)ignored;
    _exit(127);
}

/* The signals that end a program from outside. */
static void gnuplot_ending(sigset_t *ending)
{
    sigemptyset(ending);
    sigaddset(ending, SIGINT);
    sigaddset(ending, SIGTERM);
    sigaddset(ending, SIGHUP);
    sigaddset(ending, SIGQUIT);
}

static double gnuplot_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool gnuplot_interrupted(const sigset_t *ending)
{
    sigset_t pending;
    sigpending(&pending);
    bool interrupted = false;
    for (int number = 1; number < NSIG; number++) {
        interrupted |= sigismember(ending, number) == 1 && sigismember(&pending, number) == 1;
    }
    return interrupted;
}

/* Waits for the child, at most until the limit, and kills what is left of its group. */
static enum gnuplot_end gnuplot_wait(pid_t child, double limit_s, const sigset_t *ending, int *status)
{
    enum gnuplot_end end = GNUPLOT_EXITED;
    double until_s = gnuplot_now_s() + limit_s;
    while (waitpid(child, status, WNOHANG) == 0) {
        if (gnuplot_interrupted(ending)) {
            end = GNUPLOT_INTERRUPTED;
        } else if (gnuplot_now_s() > until_s) {
            end = GNUPLOT_OVERDUE;
        }
        if (end != GNUPLOT_EXITED) {
            kill(-child, SIGKILL);
            kill(child, SIGKILL);
            waitpid(child, status, 0);
            return end;
        }
        nanosleep(&(struct timespec){.tv_nsec = GNUPLOT_POLL_NS}, NULL);
    }
    kill(-child, SIGKILL);
    return end;
}

/* The last line that gnuplot said, where it says what is wrong, or "". */
static char *gnuplot_said(const char *folder, double *version)
{
    char *path = text_format("%s/" GNUPLOT_SAID, folder), *line = NULL, *said = text_format("%s", "");
    size_t size = 0;
    FILE *file = fopen(path, "re");
    *version = 0;
    while (file != NULL && getline(&line, &size, file) >= 0) {
        char *end = line;
        double number = strtod(line, &end);
        if (*version == 0 && end != line && line[strcspn(line, " ")] == '\0') {
            *version = number;
        } else if (line[strspn(line, " \t\r\n^")] != '\0') {
            line[strcspn(line, "\r\n")] = '\0';
            free(said);
            said = text_clean(line + strspn(line, " \t"), 200);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    free(line);
    free(path);
    return said;
}

static bool gnuplot_drew(const char *folder)
{
    char *path = text_format("%s/" SCRIPT_PICTURE, folder);
    struct stat facts;
    bool drew = stat(path, &facts) == 0 && facts.st_size > 0;
    free(path);
    return drew;
}

/* What became of a gnuplot that ended by itself: 0, or 3 with one line in message. */
static int gnuplot_judge(const char *folder, int status, char *message)
{
    double version = 0;
    char *said = gnuplot_said(folder, &version);
    const char *colon = said[0] != '\0' ? ": " : "";
    int judged = 3;
    if (version > 0 && version < strtod(GNUPLOT_OLDEST, NULL)) {
        snprintf(message, PLOT_MESSAGE_SIZE, "gnuplot %g is too old: install version " GNUPLOT_OLDEST " or newer",
                 version);
    } else if (WIFSIGNALED(status)) {
        snprintf(message, PLOT_MESSAGE_SIZE, "gnuplot was ended by signal %d%s%s; its script is in %s",
                 WTERMSIG(status), colon, said, folder);
    } else if (WEXITSTATUS(status) != 0) {
        snprintf(message, PLOT_MESSAGE_SIZE, "gnuplot failed with status %d%s%s; its script is in %s",
                 WEXITSTATUS(status), colon, said, folder);
    } else if (!gnuplot_drew(folder)) {
        snprintf(message, PLOT_MESSAGE_SIZE, "gnuplot ended well but wrote nothing%s%s; its script is in %s", colon,
                 said, folder);
    } else {
        judged = 0;
    }
    free(said);
    return judged;
}

/* Starts the child; its process id, or -1 with errno set to why it could not be started. */
static pid_t gnuplot_start(const char *folder, const sigset_t *mask)
{
    int report[2], error = 0;
    if (pipe2(report, O_CLOEXEC) != 0) {
        return -1;
    }
    pid_t child = fork();
    if (child == 0) {
        gnuplot_child(folder, report[1], mask);
    }
    error = errno;
    close(report[1]);
    if (child > 0) {
        setpgid(child, child);
        ssize_t got = read(report[0], &error, sizeof error);
        if (got == (ssize_t)sizeof error) {
            waitpid(child, NULL, 0);
            child = -1;
        }
    }
    close(report[0]);
    errno = error;
    return child;
}

void gnuplot_block_signals(sigset_t *before)
{
    sigset_t ending;
    gnuplot_ending(&ending);
    sigprocmask(SIG_BLOCK, &ending, before);
}

int gnuplot_run(const char *folder, double limit_s, const sigset_t *mask, bool *keep, char *message)
{
    sigset_t ending;
    gnuplot_ending(&ending);
    *keep = false;
    int status = 0, judged = 3;
    pid_t child = gnuplot_start(folder, mask);
    if (child < 0) {
        snprintf(message, PLOT_MESSAGE_SIZE, "cannot run gnuplot: %s; install gnuplot-nox or look at PATH",
                 strerror(errno));
        return 3;
    }
    switch (gnuplot_wait(child, limit_s, &ending, &status)) {
    case GNUPLOT_EXITED:
        judged = gnuplot_judge(folder, status, message);
        *keep = judged != 0;
        break;
    case GNUPLOT_OVERDUE:
        snprintf(message, PLOT_MESSAGE_SIZE, "gnuplot did not finish within %g s and was ended; its script is in %s",
                 limit_s, folder);
        *keep = true;
        break;
    case GNUPLOT_INTERRUPTED:
        snprintf(message, PLOT_MESSAGE_SIZE, "interrupted while gnuplot was drawing; nothing was written");
        break;
    }
    return judged;
}
