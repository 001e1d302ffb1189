/* SPDX-License-Identifier: MIT
 *
 * Starting, hearing and ending one process of a cell; see child.h.
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/output.h"
#include "process_tree.h"
#include "window.h"

void child_init(struct child *child, const char *role)
{
    *child = (struct child){.role = role, .commands = -1};
    line_reader_init(&child->reader, -1);
    report_init(&child->report);
}

/* After fork, in the child: says why it cannot go on, where the runner listens, and leaves. */
static _Noreturn void give_up(int report, const char *what)
{
    char text[160];
    snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
    report_write_text(report, "surroundings", text);
    _exit(3);
}

static void limit(int resource, rlim_t soft, rlim_t hard)
{
    struct rlimit wanted = {.rlim_cur = soft, .rlim_max = hard};
    setrlimit(resource, &wanted);
}

static void set_limits(uint64_t cpu_limit_s)
{
    limit(RLIMIT_CPU, cpu_limit_s, cpu_limit_s + 1);
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        limit(RLIMIT_NOFILE, files.rlim_max, files.rlim_max);
    /* When memory runs out the kernel shall end the process under test, not the runner with its store. */
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0) {
        ssize_t written = write(score, "1000", 4);
        (void)written; /* refused: then the kernel chooses by itself */
        close(score);
    }
}

static void reset_signals(void)
{
    for (int number = 1; number < NSIG; number++) {
        if (number != SIGKILL && number != SIGSTOP)
            signal(number, SIG_DFL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The ends are moved out of the way first: a socket may be descriptor 3 or 4 already. */
static void place_descriptors(int commands, int report)
{
    int high_commands = fcntl(commands, F_DUPFD, CHILD_REPORT + 1);
    int high_report = fcntl(report, F_DUPFD, CHILD_REPORT + 1);
    int null = open("/dev/null", O_RDWR);
    if (null < 0 && errno != EMFILE && errno != ENFILE)
        give_up(report, "opening /dev/null");
    if (high_commands < 0 || high_report < 0 || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0)
        give_up(report, "opening files (see ulimit -n)");
    if (fcntl(2, F_GETFD) < 0)
        dup2(null, 2);
    if (dup2(high_commands, CHILD_COMMANDS) < 0 || dup2(high_report, CHILD_REPORT) < 0)
        give_up(high_report, "opening files (see ulimit -n)");
    close_range(CHILD_REPORT + 1, ~0U, 0);
}

static _Noreturn void become(const struct child *child, int commands, int report, pid_t runner, uint64_t cpu_limit_s)
{
    setpgid(0, 0);
    place_descriptors(commands, report);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        give_up(CHILD_REPORT, "asking to die with the runner");
    if (getppid() != runner) /* the runner died before the request stood */
        _exit(3);
    reset_signals();
    set_limits(cpu_limit_s);
    char *arguments[] = {"pilfer", "role", (char *)child->role, NULL};
    execv("/proc/self/exe", arguments);
    give_up(CHILD_REPORT, "starting the program again from /proc/self/exe");
}

int child_start(struct child *child, uint64_t cpu_limit_s)
{
    int commands[2], report[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, commands) != 0)
        return -errno;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, report) != 0) {
        int error = errno;
        close(commands[0]);
        close(commands[1]);
        return -error;
    }
    pid_t runner = getpid();
    pid_t pid = fork();
    if (pid == 0)
        become(child, commands[1], report[1], runner, cpu_limit_s);
    int error = errno;
    close(commands[1]);
    close(report[1]);
    if (pid < 0) {
        close(commands[0]);
        close(report[0]);
        return -error;
    }
    setpgid(pid, pid); /* both sides do it, so that neither can be too late */
    fcntl(report[0], F_SETFL, O_NONBLOCK);
    child->pid = pid;
    child->commands = commands[0];
    line_reader_init(&child->reader, report[0]);
    return 0;
}

bool child_send(struct child *child, const char *key, const char *text)
{
    if (child->commands < 0)
        return false;
    if (text != NULL)
        return report_write_text(child->commands, key, text);
    return report_write_word(child->commands, key);
}

static bool take_line(void *context, char *name, char *text)
{
    struct child *child = context;
    if (text != NULL)
        report_set(&child->report, name, text);
    else if (strcmp(name, "ready") == 0)
        child->ready = true;
    else if (strcmp(name, "done") == 0)
        child->done = true;
    return true;
}

/* What a keeper has started. While it lives all of that is below it; should it have died, the kernel has killed the
 * server, whose group is what is left to go by. */
static void end_tree(const struct child *child)
{
    uint64_t server;
    if (!process_tree_kill(child->pid))
        complain("%s: not all of its processes could be killed", child->role);
    if (!child->done && report_integer(&child->report, "server-pid", &server) && server > 1)
        kill(-(pid_t)server, SIGKILL);
}

/* Kills the group and waits. A process that is ending already keeps the status that it ends with. */
static void end_process(struct child *child)
{
    if (child->pid == 0)
        return;
    if (child->keeps_tree)
        end_tree(child);
    kill(-child->pid, SIGKILL);
    kill(child->pid, SIGKILL); /* it may not lead its group yet */
    while (waitpid(child->pid, &child->wait_status, 0) < 0 && errno == EINTR)
        continue;
    child->pid = 0;
    child->ended = true;
}

bool children_listen(struct child *children, uint32_t count, uint64_t until_ns)
{
    struct pollfd polled[CHILDREN_MAX];
    for (uint32_t i = 0; i < count; i++) {
        bool listening = children[i].reader.descriptor >= 0 && !children[i].reader.ended;
        polled[i] = (struct pollfd){.fd = listening ? children[i].reader.descriptor : -1, .events = POLLIN};
    }
    uint64_t now_ns = window_now_ns();
    uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    struct timespec left = {.tv_sec = (time_t)(left_ns / 1000000000), .tv_nsec = (long)(left_ns % 1000000000)};
    if (ppoll(polled, count, &left, NULL) <= 0)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (polled[i].fd < 0 || polled[i].revents == 0)
            continue;
        line_reader_read(&children[i].reader, take_line, &children[i]);
        if (children[i].reader.ended)
            end_process(&children[i]);
    }
    return true;
}

static void close_ends(struct child *child)
{
    if (child->commands >= 0)
        close(child->commands);
    if (child->reader.descriptor >= 0)
        close(child->reader.descriptor);
    child->commands = -1;
    line_reader_fini(&child->reader);
}

void child_end(struct child *child)
{
    end_process(child);
    close_ends(child);
}

void child_fini(struct child *child)
{
    child_end(child);
    report_fini(&child->report);
}

/* What may have ended a process by a signal: ", under ulimit -t 1, ulimit -v 40000". */
static void append_limits(char *text, size_t size)
{
    static const struct {
        int resource;
        char option;
        rlim_t unit;
    } limits[] = {{RLIMIT_CPU, 't', 1}, {RLIMIT_AS, 'v', 1024}, {RLIMIT_DATA, 'd', 1024}, {RLIMIT_STACK, 's', 1024}};
    const char *before = ", under";
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct rlimit now;
        if (getrlimit(limits[i].resource, &now) != 0 || now.rlim_max == RLIM_INFINITY)
            continue;
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s ulimit -%c %llu", before, limits[i].option,
                 (unsigned long long)(now.rlim_max / limits[i].unit));
        before = ",";
    }
}

void child_fate(const struct child *child, char *text, size_t size)
{
    if (!child->ended)
        snprintf(text, size, "still running");
    else if (WIFSIGNALED(child->wait_status)) {
        snprintf(text, size, "killed by signal %d (%s)", WTERMSIG(child->wait_status),
                 strsignal(WTERMSIG(child->wait_status)));
        if (WTERMSIG(child->wait_status) == SIGKILL)
            strncat(text, ", by somebody or because memory ran out (dmesg tells)", size - strlen(text) - 1);
        append_limits(text, size);
    } else
        snprintf(text, size, "left with status %d", WEXITSTATUS(child->wait_status));
}
