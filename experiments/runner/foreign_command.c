/* SPDX-License-Identifier: MIT
 *
 * Commands of a target's file and their keeper; see foreign_command.h.
 */
#include "runner/foreign_command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/output.h"
#include "process_tree.h"
#include "runner/foreign.h"
#include "window.h"

/* How often a running command is looked at. */
#define LOOK_EVERY_MS 20
/* What a pipe holds, and so what is left in it when nobody writes any more. */
#define OUTPUT_SIZE 65536

/* With what a keeper leaves; the bits are added. */
enum { KEEPER_FAILED = 1, KEEPER_LEFT_SOME = 2 };

/* ---- the keeper ---- */

/* More than a command can use before its time is over: for what could not be killed. */
static uint64_t cpu_limit_s(double limit_s)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return (uint64_t)limit_s * (uint64_t)(cpus > 0 ? cpus : 1) + 1;
}

/* Until the command has ended, or the other end of the leash is closed. Orphans that have ended are waited for. True if
 * it has done what it was to. */
static bool await_end(pid_t leader, int leash)
{
    struct pollfd polled = {.fd = leash, .events = POLLIN};
    while (poll(&polled, 1, LOOK_EVERY_MS) <= 0) {
        pid_t ended;
        int status;
        while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
            if (ended == leader)
                return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        }
    }
    return false;
}

/* In a group of its own, so that a terminal's signals do not reach it: this program hears them, and tells it. */
static _Noreturn void keep(const struct foreign_command *command, int leash, int output)
{
    const struct foreign_options options = {
        .output = output, .parent = getpid(), .cpu_limit_s = cpu_limit_s(command->limit_s)};
    setpgid(0, 0);
    signal(SIGCHLD, SIG_DFL); /* ignored, it would not be known how the command has ended */
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        _exit(KEEPER_FAILED);
    pid_t leader = fork();
    if (leader == 0)
        foreign_become(command->words, command->environment, &options);
    if (leader < 0)
        dprintf(output, "pilfer: cannot start the command: %s\n", strerror(errno));
    close(output);
    int status = leader > 0 && await_end(leader, leash) ? 0 : KEEPER_FAILED;
    if (!process_tree_kill(getpid()))
        status |= KEEPER_LEFT_SOME;
    _exit(status);
}

/* ---- this program ---- */

/* Reads what is there. False once there is nobody left who could write. */
static bool take_output(const struct foreign_command *command, int output)
{
    char bytes[OUTPUT_SIZE];
    ssize_t got = read(output, bytes, sizeof bytes);
    if (got > 0)
        command->take(command->context, bytes, (size_t)got);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

static enum command_outcome judge(const struct foreign_command *command, int status)
{
    if (WIFEXITED(status) && (WEXITSTATUS(status) & KEEPER_LEFT_SOME) != 0)
        complain("%s: not all of its processes could be killed", command->name);
    return WIFEXITED(status) && (WEXITSTATUS(status) & KEEPER_FAILED) == 0 ? COMMAND_DONE : COMMAND_FAILED;
}

/* Tells the keeper to end, and waits until it has. */
static void end_keeper(const struct foreign_command *command, pid_t keeper, int *leash)
{
    int status;
    pid_t ended;
    close(*leash);
    *leash = -1;
    do
        ended = waitpid(keeper, &status, 0);
    while (ended < 0 && errno == EINTR);
    if (ended == keeper)
        judge(command, status);
}

static enum command_outcome await_keeper(const struct foreign_command *command, pid_t keeper, int *leash, int output)
{
    uint64_t deadline_ns = window_now_ns() + (uint64_t)(command->limit_s * 1e9);
    struct pollfd polled = {.fd = output, .events = POLLIN};
    for (;;) {
        int status;
        pid_t ended = waitpid(keeper, &status, WNOHANG);
        if (polled.fd >= 0 && !take_output(command, output))
            polled.fd = -1;
        if (ended == keeper)
            return judge(command, status);
        if (ended < 0 && errno != EINTR) /* it has ended, but where SIGCHLD is ignored nobody knows how */
            return COMMAND_FAILED;
        bool interrupted = command->stop != NULL && *command->stop != 0;
        if (interrupted || window_now_ns() >= deadline_ns) {
            end_keeper(command, keeper, leash);
            take_output(command, output);
            return interrupted ? COMMAND_INTERRUPTED : COMMAND_LATE;
        }
        poll(&polled, 1, LOOK_EVERY_MS);
    }
}

enum command_outcome foreign_command_run(const struct foreign_command *command)
{
    int leash[2] = {-1, -1}, output[2] = {-1, -1};
    enum command_outcome outcome = COMMAND_FAILED;
    pid_t keeper = -1;
    if (pipe2(leash, O_CLOEXEC) == 0 && pipe2(output, O_CLOEXEC) == 0)
        keeper = fork();
    if (keeper == 0) {
        close(leash[1]);
        close(output[0]);
        keep(command, leash[0], output[1]);
    }
    if (keeper > 0) {
        close(leash[0]);
        close(output[1]);
        leash[0] = output[1] = -1;
        fcntl(output[0], F_SETFL, O_NONBLOCK);
        outcome = await_keeper(command, keeper, &leash[1], output[0]);
    }
    const int ends[] = {leash[0], leash[1], output[0], output[1]};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (ends[i] >= 0)
            close(ends[i]);
    }
    return outcome;
}
