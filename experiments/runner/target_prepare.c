/* SPDX-License-Identifier: MIT
 *
 * Building targets and asking for versions; see target_prepare.h.
 */
#include "runner/target_prepare.h"

#include "cli/memory.h"
#include "cli/output.h"
#include "runner/foreign_command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* How often it is asked for a lock that somebody else holds. */
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

static bool is_stopped(const volatile int *stop)
{
    return stop != NULL && *stop != 0;
}

/* Runs a command line of the target's file; what it writes is taken as it comes. */
static enum command_outcome run_command(const struct target_use *use, enum target_key key, double limit_s,
                                        const volatile int *stop,
                                        void (*take)(void *context, const char *bytes, size_t count), void *context)
{
    const struct placeholder_values values = {
        .texts = {[PLACEHOLDER_folder] = use->folder, [PLACEHOLDER_build] = use->build}};
    char **words = command_words(use->target.texts[key], &values);
    char **environment = target_environment(use, &values);
    char name[TARGET_NAME_SIZE + 32];
    snprintf(name, sizeof name, "target %s: %s command", use->target.name,
             key == TARGET_KEY_build ? "build" : "version");
    const struct foreign_command command = {name, words, environment, limit_s, stop, take, context};
    enum command_outcome outcome = foreign_command_run(&command);
    command_words_free(words);
    command_words_free(environment);
    return outcome;
}

/* ---- version ---- */

/* What is looked at of it. */
struct answer {
    char text[4096];
    size_t length;
};

static void take_answer(void *context, const char *bytes, size_t count)
{
    struct answer *answer = context;
    size_t room = sizeof answer->text - 1 - answer->length, kept = count < room ? count : room;
    memcpy(answer->text + answer->length, bytes, kept);
    answer->length += kept;
}

/* The first line that is not empty, without what is not printable. */
static void take_first_line(const char *text, char *out, size_t size)
{
    const char *line = text + strspn(text, " \t\r\n");
    snprintf(out, size, "%.*s", (int)strcspn(line, "\r\n"), line);
    for (char *byte = out; *byte != '\0'; byte++)
        *byte = *byte < ' ' || *byte > '~' ? '?' : *byte;
}

bool target_ask_version(struct target_use *use, const volatile int *stop)
{
    struct answer answer = {.length = 0};
    use->version[0] = '\0';
    if (use->target.texts[TARGET_KEY_version] == NULL)
        return false;
    if (run_command(use, TARGET_KEY_version, TARGET_VERSION_LIMIT_S, stop, take_answer, &answer) == COMMAND_DONE)
        take_first_line(answer.text, use->version, sizeof use->version);
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

static enum command_outcome cannot(struct target_use *use, const char *what)
{
    snprintf(use->message, sizeof use->message, "target %s: cannot %s its build folder %s: %s", use->target.name, what,
             escaped(use->build), strerror(errno));
    return COMMAND_FAILED;
}

/* One build of a target at a time on this machine; the lock goes with the descriptor. Asked for again and again, so
 * that a signal which comes between two looks at stop is not missed. */
static enum command_outcome lock_folder(struct target_use *use, const volatile int *stop, int *out)
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

/* build.log, and how much there is room for in it. */
struct log {
    int file;
    size_t room;
    bool is_cut;
};

/* A log that cannot be written to is no reason for a build to fail. */
static void take_log(void *context, const char *bytes, size_t count)
{
    struct log *log = context;
    size_t kept = count < log->room ? count : log->room;
    for (size_t written = 0; written < kept;) {
        ssize_t now = write(log->file, bytes + written, kept - written);
        if (now < 0 && errno != EINTR)
            break;
        written += now > 0 ? (size_t)now : 0;
    }
    log->room -= kept;
    if (kept == count || log->is_cut)
        return;
    log->is_cut = true;
    dprintf(log->file, "\npilfer: the rest is left out: it is more than %d MiB\n", TARGET_LOG_MAX >> 20);
}

static enum command_outcome build_locked(struct target_use *use, const volatile int *stop)
{
    char *log = memory_format("%s/build.log", use->build);
    int output = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    enum command_outcome outcome = output < 0 ? cannot(use, "write to") : COMMAND_DONE;
    if (outcome == COMMAND_DONE) {
        struct log text = {.file = output, .room = TARGET_LOG_MAX};
        complain("building target %s", use->target.name);
        outcome = run_command(use, TARGET_KEY_build, TARGET_BUILD_LIMIT_S, stop, take_log, &text);
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
    enum command_outcome outcome = lock_folder(use, stop, &lock);
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
