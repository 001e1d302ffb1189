/* SPDX-License-Identifier: MIT
 *
 * Command lines of targets; see command_line.h.
 *
 * How it works. One pass over the bytes, both to check and to split: it is checked with every placeholder standing for
 * nothing. {command} is a command line itself: it must be alone, and its words take its place.
 */
#include "runner/command_line.h"

#include "cli/memory.h"
#include "cli/output.h"
#include "cli/parameters.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    bool is_knob;
} placeholders[PLACEHOLDER_COUNT] = {
#define PLACEHOLDER_ROW(symbol, name, is_knob) {name, is_knob},
    PLACEHOLDERS(PLACEHOLDER_ROW)
#undef PLACEHOLDER_ROW
};

uint32_t placeholder_set(const char *name)
{
    for (int i = 0; i < PLACEHOLDER_COUNT; i++) {
        if (strcmp(placeholders[i].name, name) == 0)
            return 1U << i;
    }
    return 0;
}

struct pass {
    const struct placeholder_values *values;
    uint32_t allowed, used;
    bool splits; /* quotes and brackets mean something */
    char *message;
    bool failed;
    char *word; /* the word so far, owned; NULL between words */
    size_t length;
    char quote;         /* that is open, or NUL */
    bool in_group;      /* between [ and ] */
    bool is_missing;    /* a knob here is at its default */
    size_t group_start; /* index of its first word */
    char **words;       /* owned */
    size_t count;
};

static void fail(struct pass *pass, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void fail(struct pass *pass, const char *format, ...)
{
    va_list arguments;
    if (pass->failed)
        return;
    pass->failed = true;
    va_start(arguments, format);
    vsnprintf(pass->message, COMMAND_MESSAGE_SIZE, format, arguments);
    va_end(arguments);
}

/* ---- words ---- */

static void append(struct pass *pass, const char *text, size_t length)
{
    pass->word = memory_resize(pass->word, pass->length + length + 1, 1);
    memcpy(pass->word + pass->length, text, length);
    pass->length += length;
    pass->word[pass->length] = '\0';
}

static void add_word(struct pass *pass, char *word)
{
    pass->words = memory_resize(pass->words, pass->count + 2, sizeof *pass->words);
    pass->words[pass->count++] = word;
    pass->words[pass->count] = NULL;
}

static void end_word(struct pass *pass)
{
    if (pass->word == NULL)
        return;
    add_word(pass, pass->word);
    pass->word = NULL;
    pass->length = 0;
}

static void begin_group(struct pass *pass)
{
    if (pass->in_group)
        fail(pass, "found '[' inside of [ ], expected ']' first");
    pass->in_group = true;
    pass->is_missing = false;
    pass->group_start = pass->count;
}

static void end_group(struct pass *pass)
{
    end_word(pass);
    while (pass->is_missing && pass->count > pass->group_start) {
        free(pass->words[--pass->count]);
        pass->words[pass->count] = NULL;
    }
    pass->in_group = pass->is_missing = false;
}

/* ---- placeholders ---- */

/* "{a}, {b} or {c}" of those allowed. */
static void list_allowed(uint32_t allowed, char *out, size_t size)
{
    size_t used = 0;
    uint32_t left = (uint32_t)__builtin_popcount(allowed);
    out[0] = '\0';
    for (int i = 0; i < PLACEHOLDER_COUNT; i++) {
        if ((allowed >> i & 1) == 0)
            continue;
        left--;
        used += (size_t)snprintf(out + used, size - used, "{%s}%s", placeholders[i].name,
                                 left > 1    ? ", "
                                 : left == 1 ? " or "
                                             : "");
    }
}

static void fail_unknown(struct pass *pass, const char *name)
{
    const char *names[PLACEHOLDER_COUNT];
    char list[160];
    size_t count = 0;
    for (int i = 0; i < PLACEHOLDER_COUNT; i++) {
        if (pass->allowed >> i & 1)
            names[count++] = placeholders[i].name;
    }
    const char *nearest = nearest_word(name, names, count);
    list_allowed(pass->allowed, list, sizeof list);
    if (nearest != NULL)
        fail(pass, "found {%s}, which has no meaning here; did you mean {%s}?", escaped(name), nearest);
    else
        fail(pass, "found {%s}, which has no meaning here, expected %s", escaped(name), list);
}

/* The placeholder of this name and form, or -1 after a fault. */
static int find_placeholder(struct pass *pass, char *name, bool *is_hexadecimal)
{
    char *colon = strchr(name, ':');
    *is_hexadecimal = colon != NULL && strcmp(colon, ":x") == 0;
    if (*is_hexadecimal)
        *colon = '\0';
    for (int i = 0; i < PLACEHOLDER_COUNT; i++) {
        if (strcmp(placeholders[i].name, name) != 0 || (pass->allowed >> i & 1) == 0)
            continue;
        if (*is_hexadecimal && !placeholders[i].is_knob) {
            fail(pass, "found {%s:x}, expected {%s}: it is no number", name, name);
            return -1;
        }
        return i;
    }
    if (*is_hexadecimal)
        *colon = ':';
    fail_unknown(pass, name);
    return -1;
}

static void put_knob(struct pass *pass, int index, bool is_hexadecimal)
{
    char digits[24];
    const char *text = pass->values != NULL ? pass->values->texts[index] : NULL;
    if (pass->splits && !pass->in_group)
        fail(pass,
             "found {%s} outside of [ ], expected it inside: at its default there is no value, and what stands in "
             "[ ] is left out",
             placeholders[index].name);
    if (text == NULL) {
        pass->is_missing = true;
        return;
    }
    snprintf(digits, sizeof digits, is_hexadecimal ? "%lx" : "%lu", strtoul(text, NULL, 10));
    append(pass, digits, strlen(digits));
}

/* at is behind the brace. Returns what is behind the placeholder. */
static const char *put_placeholder(struct pass *pass, const char *at)
{
    char name[32];
    bool is_hexadecimal;
    size_t length = strcspn(at, "{} \t'\"");
    if (at[length] != '}' || length == 0) {
        fail(pass, "found '{' without a name and '}', expected a placeholder such as {port}, or {{ for a brace");
        return at;
    }
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    int index = find_placeholder(pass, name, &is_hexadecimal);
    if (index < 0)
        return at + length + 1;
    pass->used |= 1U << index;
    append(pass, "", 0); /* a word, even if it is empty */
    const char *text = pass->values != NULL ? pass->values->texts[index] : NULL;
    if (placeholders[index].is_knob)
        put_knob(pass, index, is_hexadecimal);
    else if (index == PLACEHOLDER_command)
        fail(pass, "found {command} beside other words, expected it alone");
    else if (text != NULL)
        append(pass, text, strlen(text));
    return at + length + 1;
}

/* ---- the pass ---- */

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* What only splitting sees. Returns true when the byte is done with. */
static bool take_separator(struct pass *pass, const char *at)
{
    if (pass->quote != '\0') {
        if (*at != pass->quote)
            return false;
        pass->quote = '\0';
        return true;
    }
    if (is_blank(*at)) {
        end_word(pass);
        return true;
    }
    if (*at == '\'' || *at == '"') {
        pass->quote = *at;
        append(pass, "", 0);
        return true;
    }
    if (*at == '[' && pass->word == NULL) {
        begin_group(pass);
        return true;
    }
    if (*at == ']' && pass->in_group && (at[1] == '\0' || is_blank(at[1]))) {
        end_group(pass);
        return true;
    }
    return false;
}

static void run(struct pass *pass, const char *text)
{
    if (!pass->splits)
        append(pass, "", 0);
    for (const char *at = text; *at != '\0' && !pass->failed;) {
        if (pass->splits && take_separator(pass, at)) {
            at++;
        } else if (at[0] == '{' && at[1] == '{') {
            append(pass, at, 1);
            at += 2;
        } else if (at[0] == '{') {
            at = put_placeholder(pass, at + 1);
        } else {
            append(pass, at++, 1);
        }
    }
    if (pass->quote != '\0')
        fail(pass, "found no second %c, expected quotes in pairs", pass->quote);
    if (pass->in_group)
        fail(pass, "found no ']', expected one for each '['");
    if (pass->splits)
        end_word(pass);
}

static bool is_command_alone(const char *text)
{
    static const char alone[] = "{command}";
    text += strspn(text, " \t");
    size_t length = sizeof alone - 1;
    return strncmp(text, alone, length) == 0 && text[length + strspn(text + length, " \t")] == '\0';
}

static bool check(const char *text, uint32_t allowed, bool splits, uint32_t *used, char *message)
{
    struct pass pass = {.allowed = allowed, .splits = splits, .message = message};
    run(&pass, text);
    if (splits && !pass.failed && pass.count == 0)
        fail(&pass, "found no word, expected a program and its arguments");
    *used = pass.used;
    command_words_free(pass.words);
    free(pass.word);
    return !pass.failed;
}

bool command_line_check(const char *text, uint32_t allowed, uint32_t *used, char *message)
{
    if ((allowed & PLACEHOLDER_BIT(command)) != 0 && is_command_alone(text)) {
        *used = PLACEHOLDER_BIT(command);
        return true;
    }
    return check(text, allowed, true, used, message);
}

bool placeholders_check(const char *text, uint32_t allowed, uint32_t *used, char *message)
{
    return check(text, allowed, false, used, message);
}

char **command_words(const char *text, const struct placeholder_values *values)
{
    char message[COMMAND_MESSAGE_SIZE];
    struct pass pass = {
        .values = values,
        .allowed = PLACEHOLDERS_ALL,
        .splits = true,
        .message = message,
        .words = memory_allocate(1, sizeof *pass.words),
    };
    run(&pass, is_command_alone(text) ? values->texts[PLACEHOLDER_command] : text);
    free(pass.word);
    return pass.words;
}

void command_words_free(char **words)
{
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        free(words[i]);
    free(words);
}

char *placeholders_replace(const char *text, const struct placeholder_values *values)
{
    char message[COMMAND_MESSAGE_SIZE];
    struct pass pass = {.values = values, .allowed = PLACEHOLDERS_ALL, .message = message};
    run(&pass, text);
    if (!pass.is_missing)
        return pass.word;
    free(pass.word);
    return NULL;
}
