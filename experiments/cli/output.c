/* SPDX-License-Identifier: MIT
 *
 * Standard output that is checked, messages, escaping; see output.h.
 */
#include "output.h"

#include "cli/parameters.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool output_was_closed;

void output_init(void)
{
    for (int descriptor = 0; descriptor <= 2; descriptor++) {
        if (fcntl(descriptor, F_GETFD) != -1)
            continue;
        if (descriptor == STDOUT_FILENO)
            output_was_closed = true;
        /* The lowest free number is this one, since all below are open. */
        if (open("/dev/null", O_RDWR) != descriptor)
            _exit(EXIT_SURROUNDINGS);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* who started this program may have ignored it: then no child could be waited for */
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is then an error that the store and exports tell */
}

/* Why an earlier write failed: stdio remembers that one did, not why. The output is broken already, so that one more
 * byte does no harm. */
static int earlier_error(void)
{
    return write(STDOUT_FILENO, "\n", 1) < 0 ? errno : EIO;
}

int output_finish(int status)
{
    int error = 0;
    if (fflush(stdout) != 0)
        error = errno;
    else if (ferror(stdout) != 0)
        error = earlier_error();
    if (output_was_closed)
        error = EBADF;
    if (error == 0)
        return status;
    bool replace = status == EXIT_DONE || status == EXIT_INVALID;
    if (error == EPIPE)
        return replace ? EXIT_READER_LEFT : status;
    complain("cannot write to standard output: %s; what is in the store is not affected",
             output_was_closed ? "it is closed" : strerror(error));
    return replace ? EXIT_SURROUNDINGS : status;
}

void output_hand_over(void)
{
    fflush(stdout);
    if (output_was_closed)
        close(STDOUT_FILENO);
}

/* Whether the code point shows nothing of its own and changes how its neighbours are shown: marks of direction,
 * joiners, separators of lines, tags. */
static bool is_format(uint32_t point)
{
    return point == 0xad || point == 0x61c || point == 0x180e || (point >= 0x200b && point <= 0x200f) ||
           (point >= 0x2028 && point <= 0x202e) || (point >= 0x2060 && point <= 0x206f) || point == 0xfeff ||
           (point >= 0xfff9 && point <= 0xfffb) || (point >= 0xe0000 && point <= 0xe0fff);
}

/* Length of the printable UTF-8 sequence at text, 0 if there is none (RFC 3629: no overlong form, no surrogate). */
static size_t printable_length(const unsigned char *text)
{
    if (text[0] < 0x80)
        return text[0] >= 0x20 && text[0] != 0x7f ? 1 : 0;
    size_t length = text[0] >= 0xc2 && text[0] <= 0xdf   ? 2
                    : text[0] >= 0xe0 && text[0] <= 0xef ? 3
                    : text[0] >= 0xf0 && text[0] <= 0xf4 ? 4
                                                         : 0;
    uint32_t point = text[0] & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (text[i] & 0x3fU);
    }
    if (is_format(point))
        return 0;
    if ((text[0] == 0xc2 && text[1] < 0xa0) /* C1 control characters */
        || (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
        (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

/* What is not printable as \xNN, byte by byte. */
static void put_escaped(const char *text, FILE *stream)
{
    for (const unsigned char *in = (const unsigned char *)text; *in != '\0';) {
        size_t length = printable_length(in);
        if (length == 0)
            fprintf(stream, "\\x%02x", *in++);
        for (; length > 0; length--)
            fputc(*in++, stream);
    }
}

int complain(const char *format, ...)
{
    va_list arguments;
    char *line, cut[512];
    va_start(arguments, format);
    if (vasprintf(&line, format, arguments) < 0)
        line = NULL;
    va_end(arguments);
    if (line == NULL) {
        va_start(arguments, format);
        vsnprintf(cut, sizeof cut, format, arguments);
        va_end(arguments);
    }
    flockfile(stderr);
    fputs("pilfer: ", stderr);
    put_escaped(line != NULL ? line : cut, stderr);
    fputc('\n', stderr);
    funlockfile(stderr);
    free(line);
    return -1;
}

bool is_printable(const char *text)
{
    const unsigned char *in = (const unsigned char *)text;
    size_t length;
    for (; *in != '\0'; in += length) {
        length = printable_length(in);
        if (length == 0)
            return false;
    }
    return true;
}

const char *escaped(const char *text)
{
    static char buffers[4][OUTPUT_ESCAPED_MAX + 8];
    static unsigned next;
    char *out = buffers[next++ % 4];
    size_t used = 0;
    const unsigned char *in = (const unsigned char *)text;
    while (*in != '\0') {
        size_t length = printable_length(in);
        size_t needed = length != 0 ? length : 4;
        if (used + needed > OUTPUT_ESCAPED_MAX) {
            memcpy(out + used, "...", 3);
            used += 3;
            break;
        }
        if (length != 0)
            memcpy(out + used, in, length);
        else
            snprintf(out + used, 5, "\\x%02x", *in);
        used += needed;
        in += length != 0 ? length : 1;
    }
    out[used] = '\0';
    return out;
}

const char *hint(const char *word, const char *const *words, size_t count)
{
    static char text[512];
    const char *nearest = nearest_word(word, words, count);
    for (size_t i = 0; i < count && nearest == NULL; i++) {
        if (word[0] != '\0' && strncmp(words[i], word, strlen(word)) == 0)
            nearest = words[i];
    }
    text[0] = '\0';
    if (nearest != NULL) {
        snprintf(text, sizeof text, "; did you mean '%s'?", nearest);
    } else if (count > 0 && count <= 12) {
        size_t used = (size_t)snprintf(text, sizeof text, "; expected %s", count == 1 ? "" : "one of ");
        for (size_t i = 0; i < count && used < sizeof text; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i == 0 ? "" : ", ", words[i]);
    }
    return text;
}

const char *program_name(void)
{
    const char *name = getenv(PROGRAM_NAME_VARIABLE);
    return name != NULL && name[0] != '\0' ? escaped(name) : "pilfer";
}
