/* SPDX-License-Identifier: MIT
 *
 * Building targets and asking for versions; see target_prepare.h.
 */
#include "runner/target_prepare.h"

#include "cli/memory.h"
#include "cli/output.h"
#include "runner/foreign.h"
#include "window.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How often a running command is looked at. */
#define LOOK_EVERY_NS 20000000

/* ---- the environment ---- */

struct environment {
    char **entries; /* owned, NULL behind the last */
    size_t count;
};

static void add_entry(struct environment *environment, const char *name, const char *value)
{
    environment->entries = memory_resize(environment->entries, environment->count + 2, sizeof *environment->entries);
    environment->entries[environment->count++] = memory_format("%s=%s", name, value);
    environment->entries[environment->count] = NULL;
}

static bool is_set_by_file(const struct target *target, const char *name)
{
    for (uint32_t i = 0; i < target->variable_count; i++) {
        if (strcmp(target->variables[i].name, name) == 0)
            return true;
    }
    return false;
}

static void pass_on(struct environment *environment, const struct target *target, const char *names)
{
    char *copy = memory_copy_text(names), *rest = copy, *name;
    while ((name = strsep(&rest, " \t")) != NULL) {
        const char *value = *name != '\0' ? getenv(name) : NULL;
        if (value != NULL && !is_set_by_file(target, name))
            add_entry(environment, name, value);
    }
    free(copy);
}

char **target_environment(const struct target_use *use, const struct placeholder_values *values)
{
    const struct target *target = &use->target;
    struct environment environment = {memory_allocate(1, sizeof(char *)), 0};
    pass_on(&environment, target, "PATH HOME USER LOGNAME TMPDIR");
    if (target->texts[TARGET_KEY_pass] != NULL)
        pass_on(&environment, target, target->texts[TARGET_KEY_pass]);
    for (uint32_t i = 0; i < target->variable_count; i++) {
        char *value = placeholders_replace(target->variables[i].value, values);
        if (value != NULL)
            add_entry(&environment, target->variables[i].name, value);
        free(value);
    }
    return environment.entries;
}

/* ---- commands ---- */

enum outcome { COMMAND_DONE, COMMAND_FAILED, COMMAND_LATE, COMMAND_INTERRUPTED };

static bool is_stopped(const volatile int *stop)
{
    return stop != NULL && *stop != 0;
}

static enum outcome await_command(pid_t pid, double limit_s, const volatile int *stop)
{
    const struct timespec pause = {.tv_nsec = LOOK_EVERY_NS};
    uint64_t deadline_ns = window_now_ns() + (uint64_t)(limit_s * 1e9);
    for (;;) {
        int status;
        pid_t ended = waitpid(pid, &status, WNOHANG);
        if (ended == pid)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? COMMAND_DONE : COMMAND_FAILED;
        if (ended < 0 && errno != EINTR) /* it has ended, but where SIGCHLD is ignored nobody knows how */
            return COMMAND_FAILED;
        bool interrupted = is_stopped(stop);
        if (interrupted || window_now_ns() >= deadline_ns) {
            kill(-pid, SIGKILL);
            while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                continue;
            return interrupted ? COMMAND_INTERRUPTED : COMMAND_LATE;
        }
        nanosleep(&pause, NULL);
    }
}

/* More than a command can use before its time is over: it ends what has left the group of a command that is killed. */
static uint64_t cpu_limit_s(double limit_s)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return (uint64_t)limit_s * (uint64_t)(cpus > 0 ? cpus : 1) + 1;
}

/* Runs a command line of the target's file; its output goes to a descriptor. */
static enum outcome run_command(const struct target_use *use, const char *line, int output, double limit_s,
                                const volatile int *stop)
{
    const struct placeholder_values values = {
        .texts = {[PLACEHOLDER_folder] = use->folder, [PLACEHOLDER_build] = use->build}};
    char **words = command_words(line, &values);
    char **environment = target_environment(use, &values);
    const struct foreign_options options = {.output = output, .parent = getpid(), .cpu_limit_s = cpu_limit_s(limit_s)};
    pid_t pid = fork();
    if (pid == 0)
        foreign_become(words, environment, &options);
    command_words_free(words);
    command_words_free(environment);
    if (pid < 0)
        return COMMAND_FAILED;
    setpgid(pid, pid);
    enum outcome outcome = await_command(pid, limit_s, stop);
    kill(-pid, SIGKILL); /* what it left behind */
    return outcome;
}

/* ---- version ---- */

/* The first line that is not empty, without what is not printable. */
static void take_first_line(int file, char *out, size_t size)
{
    char text[4096];
    ssize_t length = pread(file, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    const char *line = text + strspn(text, " \t\r\n");
    snprintf(out, size, "%.*s", (int)strcspn(line, "\r\n"), line);
    for (char *byte = out; *byte != '\0'; byte++)
        *byte = *byte < ' ' || *byte > '~' ? '?' : *byte;
}

bool target_ask_version(struct target_use *use, const volatile int *stop)
{
    const char *line = use->target.texts[TARGET_KEY_version];
    use->version[0] = '\0';
    int file = line != NULL ? memfd_create("version", MFD_CLOEXEC) : -1;
    if (file < 0)
        return false;
    bool told = run_command(use, line, file, TARGET_VERSION_LIMIT_S, stop) == COMMAND_DONE;
    if (told)
        take_first_line(file, use->version, sizeof use->version);
    close(file);
    return use->version[0] != '\0';
}

/* ---- building ---- */

static bool make_folders(const char *path)
{
    char *copy = memory_copy_text(path);
    bool made = true;
    for (char *slash = copy; made && (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = '\0';
        made = mkdir(copy, 0777) == 0 || errno == EEXIST;
        *slash = '/';
    }
    made = made && (mkdir(copy, 0777) == 0 || errno == EEXIST);
    free(copy);
    return made;
}

static enum outcome cannot(struct target_use *use, const char *what)
{
    snprintf(use->message, sizeof use->message, "target %s: cannot %s its build folder %s: %s", use->target.name, what,
             escaped(use->build), strerror(errno));
    return COMMAND_FAILED;
}

/* One build of a target at a time on this machine; the lock goes with the descriptor. Asked for again and again, so
 * that a signal which comes between two looks at stop is not missed. */
static enum outcome lock_folder(struct target_use *use, const volatile int *stop, int *out)
{
    const struct timespec pause = {.tv_nsec = LOOK_EVERY_NS};
    bool said = false;
    *out = make_folders(use->build) ? open(use->build, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (*out < 0)
        return cannot(use, "make");
    while (flock(*out, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return cannot(use, "lock");
        if (is_stopped(stop))
            return COMMAND_INTERRUPTED;
        if (!said && errno == EWOULDBLOCK)
            complain("target %s: waiting for another build", use->target.name);
        said |= errno == EWOULDBLOCK;
        nanosleep(&pause, NULL);
    }
    return COMMAND_DONE;
}

static enum outcome build_locked(struct target_use *use, const volatile int *stop)
{
    char *log = memory_format("%s/build.log", use->build);
    int output = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    enum outcome outcome = output < 0 ? cannot(use, "write to") : COMMAND_DONE;
    if (outcome == COMMAND_DONE) {
        complain("building target %s", use->target.name);
        outcome = run_command(use, use->target.texts[TARGET_KEY_build], output, TARGET_BUILD_LIMIT_S, stop);
        close(output);
        if (outcome == COMMAND_FAILED)
            snprintf(use->message, sizeof use->message, "target %s: its build failed; see %s", use->target.name,
                     escaped(log));
        else if (outcome == COMMAND_LATE)
            snprintf(use->message, sizeof use->message, "target %s: its build took more than %d s; see %s",
                     use->target.name, TARGET_BUILD_LIMIT_S, escaped(log));
    }
    free(log);
    return outcome;
}

static enum cell_status build(struct target_use *use, const volatile int *stop)
{
    int lock;
    enum outcome outcome = lock_folder(use, stop, &lock);
    if (outcome == COMMAND_DONE)
        outcome = build_locked(use, stop);
    if (lock >= 0)
        close(lock);
    return outcome == COMMAND_DONE          ? CELL_MEASURED
           : outcome == COMMAND_INTERRUPTED ? CELL_INTERRUPTED
                                            : CELL_SURROUNDINGS;
}

enum cell_status target_prepare(struct target_use *use, const volatile int *stop, char *message)
{
    enum cell_status status = CELL_MEASURED;
    if (use->state == TARGET_UNPREPARED) {
        if (!target_is_here(use, NULL, 0, use->message))
            status = CELL_SURROUNDINGS;
        else if (use->target.texts[TARGET_KEY_build] != NULL)
            status = build(use, stop);
        if (status == CELL_MEASURED && !target_ask_version(use, stop) && !is_stopped(stop) &&
            use->target.texts[TARGET_KEY_version] != NULL)
            complain("target %s: its version command tells no version: %s", use->target.name,
                     escaped(use->target.texts[TARGET_KEY_version]));
        if (status == CELL_INTERRUPTED || is_stopped(stop))
            return CELL_INTERRUPTED;
        use->state = status == CELL_MEASURED ? TARGET_PREPARED : TARGET_UNUSABLE;
    }
    if (use->state == TARGET_PREPARED)
        return CELL_MEASURED;
    snprintf(message, CELL_MESSAGE_SIZE, "%s", use->message);
    return CELL_SURROUNDINGS;
}
