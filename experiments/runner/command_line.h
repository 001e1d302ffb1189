/* SPDX-License-Identifier: MIT
 *
 * Command lines of targets: text with placeholders, split into the words of an exec.
 *
 * How it works. Blanks separate words, 'single' and "double" quotes keep them together; there is no shell. {port} and
 * the like are replaced; {max-workers:x} is the number in hexadecimal; {{ is a brace. What stands in [ ] is left out
 * when a knob in it is at its default, since then there is nothing to say: `server --port {port} [--workers
 * {max-workers}]`.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_COMMAND_LINE_H
#define PILFER_EXPERIMENTS_RUNNER_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(symbol, name, is a knob: a number, or at its default) */
#define PLACEHOLDERS(X)                    \
    X(port, "port", false)                 \
    X(control_port, "control-port", false) \
    X(min_workers, "min-workers", true)    \
    X(max_workers, "max-workers", true)    \
    X(spin_limit, "spin-limit", true)      \
    X(processors, "processors", true)      \
    X(folder, "folder", false)             \
    X(build, "build", false)               \
    X(command, "command", false)

enum placeholder {
#define PLACEHOLDER_ENUM(symbol, name, knob) PLACEHOLDER_##symbol,
    PLACEHOLDERS(PLACEHOLDER_ENUM)
#undef PLACEHOLDER_ENUM
        PLACEHOLDER_COUNT
};

/* Sets of placeholders. */
#define PLACEHOLDER_BIT(symbol) (1U << PLACEHOLDER_##symbol)
#define PLACEHOLDERS_ALL        ((1U << PLACEHOLDER_COUNT) - 1)

/* The set that holds the one of this name alone; empty for any other word. */
uint32_t placeholder_set(const char *name);

/* What each stands for. A knob that is NULL is at its default. */
struct placeholder_values {
    const char *texts[PLACEHOLDER_COUNT];
};

#define COMMAND_MESSAGE_SIZE 256

/* Whether text is a command line whose placeholders are among those allowed; *used out: which it has, also on a fault.
 * Else one line in message (COMMAND_MESSAGE_SIZE bytes): what was found, what was expected, the nearest word. */
bool command_line_check(const char *text, uint32_t allowed, uint32_t *used, char *message);

/* The same for a text that stays one, without quotes and brackets: the value of a variable. */
bool placeholders_check(const char *text, uint32_t allowed, uint32_t *used, char *message);

/* The words of a checked command line, NULL behind the last; command_words_free frees them. There is none where
 * {command} stands for an empty line. */
char **command_words(const char *text, const struct placeholder_values *values);
void command_words_free(char **words);

/* A checked text with its placeholders replaced, the caller frees; NULL when a knob in it is at its default. */
char *placeholders_replace(const char *text, const struct placeholder_values *values);

#endif
