/* SPDX-License-Identifier: MIT
 *
 * Targets: foreign HTTP servers that are measured in place of the model.
 *
 * How it works. A target is an INI file that says how a server is built, started and asked. Those that come with the
 * program lie in experiments/targets/ (cli/shipped.h) and are called by their names; any other file is called by its
 * path. experiments/targets/README.md says what may stand in it. [target] has the keys of TARGET_KEYS, [environment]
 * variables; the knobs that a target has are the placeholders it uses.
 *
 * Faults are told as those of a sweep file: all at once, "file:line: what was found, what was expected".
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_TARGET_H
#define PILFER_EXPERIMENTS_RUNNER_TARGET_H

#include "cli/parameters.h"
#include "runner/command_line.h"

#include <stdio.h>

#define TARGET_NAME_SIZE       64
#define TARGET_VARIABLES_MAX   64
#define TARGET_VERSION_SIZE    128
#define TARGET_MESSAGE_SIZE    512
#define TARGET_PATH_INITIAL    "/ping"
#define TARGET_READY_INITIAL_S 20

/* What may stand in the parameter `command`. */
#define TARGET_COMMAND_PLACEHOLDERS                                                         \
    (PLACEHOLDER_BIT(port) | PLACEHOLDER_BIT(control_port) | PLACEHOLDER_BIT(min_workers) | \
     PLACEHOLDER_BIT(max_workers) | PLACEHOLDER_BIT(spin_limit) | PLACEHOLDER_BIT(processors))

/* X(symbol, key). Keys of [target], each at most once. */
#define TARGET_KEYS(X)              \
    X(name, "name")                 \
    X(description, "description")   \
    X(workload, "workload")         \
    X(requires, "requires")         \
    X(install, "install")           \
    X(build, "build")               \
    X(start, "start")               \
    X(version, "version")           \
    X(path, "path")                 \
    X(ready_within, "ready-within") \
    X(warmup, "warmup")             \
    X(pass, "pass")

enum target_key {
#define TARGET_KEY_ENUM(symbol, key) TARGET_KEY_##symbol,
    TARGET_KEYS(TARGET_KEY_ENUM)
#undef TARGET_KEY_ENUM
        TARGET_KEY_COUNT
};

struct target_variable {
    char *name, *value; /* owned; value with placeholders */
};

struct target {
    char name[TARGET_NAME_SIZE];
    char *texts[TARGET_KEY_COUNT]; /* owned; NULL: not given */
    struct target_variable variables[TARGET_VARIABLES_MAX];
    uint32_t variable_count;
    uint32_t placeholders; /* in start and [environment]; PLACEHOLDER_BIT(command): and in the command given */
    bool is_router;        /* an extension stands behind it, on {control-port} */
    double ready_s;        /* how long it may take to answer first */
    double warmup_s;       /* a cell's warm-up is at least this long; 0: no matter */
};

/* Reads a target file; its name is the key `name` or the file's stem. Returns 0 (target_fini frees it), or the number
 * of faults written to the stream. */
int target_parse_file(const char *path, FILE *faults, struct target *out);
int target_parse_text(const char *origin, const char *text, size_t size, FILE *faults, struct target *out);
void target_fini(struct target *target);

/* ---- targets in use ---- */

/* A target that was asked for, kept until the program ends. One thread. */
struct target_use {
    struct target_use *next;
    char *selector; /* a name, or a path */
    char *path;     /* of its file */
    char *folder;   /* of its file, absolute */
    char *build;    /* folder for what is built, absolute; need not exist */
    struct target target;
    int faults;
    char *fault_lines; /* what they are; owned */
    /* target_prepare.h */
    enum { TARGET_UNPREPARED, TARGET_PREPARED, TARGET_UNUSABLE } state;
    char version[TARGET_VERSION_SIZE]; /* "": not told */
    char message[TARGET_MESSAGE_SIZE]; /* why it is unusable */
    uint32_t failures_in_a_row;        /* repeats that could not be measured, since the last that could */
    bool closing_was_told;             /* that it closes its connections */
};

/* True if a value of the parameter `target` means no target: the model. */
bool target_is_model(const char *selector);

/* True if a value of the parameter `target` names a file rather than a shipped target. */
bool target_is_path(const char *selector);

/* The target that a value of the parameter `target` means; NULL for the model, and for a target whose file has faults.
 * The file is read once. */
struct target_use *target_find(const char *selector);

/* Writes the faults of its file, whoever has read it, as often as it is asked; returns how many. 0 for the model. */
int target_check(const char *selector, FILE *stream);

/* False with one line in message when a program that it requires is not on PATH. program out, or NULL: where the first
 * one is. */
bool target_is_here(const struct target_use *use, char *program, size_t size, char *message);

/* Where an exec would find a program: on PATH, where an empty element is the current folder, or at the path that its
 * name is. False if there is none that may be run. */
bool target_find_program(const char *name, char *out, size_t size);

#endif
