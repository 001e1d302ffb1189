/* SPDX-License-Identifier: MIT
 *
 * INI texts; see ini_text.h.
 */
#include "cli/ini_text.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct reading {
    const struct ini_text *ini;
    struct faults *faults;
    const char *text, *end; /* what is not yet read */
    bool in_section;
};

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static void enter_section(struct reading *reading, const char *name)
{
    reading->in_section = true;
    reading->ini->section(reading->ini->context, name);
}

/* line begins with '['. */
static void read_section(struct reading *reading, const char *line)
{
    size_t length = strcspn(line, "]");
    if (line[length] == '\0' || line[length + 1 + strspn(line + length + 1, " \t")] != '\0') {
        fault(reading->faults, "found '%s', expected %s alone on the line", escaped(line), reading->ini->sections);
        enter_section(reading, NULL);
        return;
    }
    char name[INI_LINE_LENGTH_MAX + 1];
    snprintf(name, sizeof name, "%.*s", (int)length - 1, line + 1);
    enter_section(reading, name);
}

/* A key line as libinih reads it without surprises? Else a fault. */
static bool check_key_line(struct reading *reading, const char *line)
{
    struct faults *faults = reading->faults;
    size_t length = strcspn(line, "=:");
    if (line[length] != '=') {
        fault(faults, "found '%s', expected KEY = VALUE, a section or a comment", escaped(line));
        return false;
    }
    if (length == 0) {
        fault(faults, "found no key before '=', expected KEY = VALUE");
        return false;
    }
    for (const char *byte = line + 1; *byte != '\0'; byte++) {
        if ((*byte == ';' || *byte == '#') && is_blank(byte[-1])) {
            fault(faults, "found a comment behind a value, expected it on a line of its own");
            return false;
        }
    }
    if (!reading->in_section) {
        fault(faults, "found a key before any section, expected %s first", reading->ini->first);
        enter_section(reading, NULL);
    }
    return true;
}

/* Whether libinih may see the line; line ends with NUL and has no line end. */
static bool check_line(struct reading *reading, const char *line)
{
    size_t indent = strspn(line, " \t");
    if (line[indent] == '\0' || line[indent] == ';' || line[indent] == '#')
        return false; /* blank or comment: nothing to see */
    if (indent > 0) {
        fault(reading->faults, "found an indented line, expected each key at the start of a line");
        return false;
    }
    if (line[0] == '[') {
        read_section(reading, line);
        return false;
    }
    return check_key_line(reading, line);
}

/* The next line of the text without its end: its length, with *start on it. */
static size_t next_line(struct reading *reading, const char **start)
{
    *start = reading->text;
    size_t left = (size_t)(reading->end - reading->text);
    const char *newline = memchr(reading->text, '\n', left);
    size_t length = newline != NULL ? (size_t)(newline - reading->text) : left;
    reading->text += newline != NULL ? length + 1 : length;
    if (length > 0 && (*start)[length - 1] == '\r')
        length--;
    return length;
}

static bool has_control_byte(struct reading *reading, const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)line[i];
        if ((byte < 0x20 && byte != '\t') || byte == 0x7f) {
            fault(reading->faults, "found the %s byte 0x%02x in column %zu, expected text",
                  byte == 0 ? "NUL" : "control", byte, i + 1);
            return true;
        }
    }
    return false;
}

/* The reader hook: as fgets, but for what the head of this file says. */
static char *read_line(char *out, int size, void *context)
{
    struct reading *reading = context;
    if (reading->text == reading->end || size < 3)
        return NULL;
    const char *start;
    size_t length = next_line(reading, &start);
    size_t length_max = (size_t)size - 3;
    if (length_max > INI_LINE_LENGTH_MAX)
        length_max = INI_LINE_LENGTH_MAX;
    reading->faults->line++;
    uint32_t faults_before = reading->faults->count;
    bool is_good = !has_control_byte(reading, start, length);
    if (is_good && length > length_max) {
        fault(reading->faults, "found a line of %zu bytes, expected at most %zu", length, length_max);
        is_good = false;
    }
    if (is_good) {
        memcpy(out, start, length);
        out[length] = '\0';
        is_good = check_line(reading, out);
    }
    if (reading->faults->count != faults_before && reading->in_section && reading->ini->refused != NULL)
        reading->ini->refused(reading->ini->context);
    snprintf(is_good ? out + length : out, 2, "\n");
    return out;
}

/* The key hook: called for each key line that read_line let pass, before the next line is read. libinih cuts long names
 * of sections; read_line has told the section. */
static int take_key(void *context, const char *section, const char *key, const char *value)
{
    (void)section;
    const struct reading *reading = context;
    reading->ini->key(reading->ini->context, key, value);
    return 1;
}

bool ini_text_read(const struct ini_text *ini, const char *text, size_t size)
{
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        size -= 3;
    }
    struct reading reading = {ini, ini->faults, text, text + size, false};
    if (ini_parse_stream(read_line, &reading, take_key, &reading) < 0)
        fault(ini->faults, "no memory to read it");
    return reading.in_section;
}

char *ini_text_file(const char *path, const char *what, const char *elsewhere, size_t *size, struct faults *faults)
{
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = NULL;
    *size = 0;
    if (descriptor < 0 || fstat(descriptor, &status) != 0)
        fault(faults, "cannot read the %s: %s%s", what, strerror(errno), elsewhere);
    else if (!S_ISREG(status.st_mode))
        fault(faults, "found %s, expected a regular file", S_ISDIR(status.st_mode) ? "a folder" : "a special file");
    else if (status.st_size > INI_FILE_SIZE_MAX)
        fault(faults, "found %lld bytes, expected at most %d", (long long)status.st_size, INI_FILE_SIZE_MAX);
    else if ((text = malloc((size_t)status.st_size + 1)) == NULL)
        fault(faults, "no memory for %lld bytes", (long long)status.st_size);
    while (text != NULL && *size < (size_t)status.st_size) {
        ssize_t length = read(descriptor, text + *size, (size_t)status.st_size - *size);
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0) {
            fault(faults, "cannot read the %s: %s", what, strerror(errno));
            free(text);
            text = NULL;
        }
        if (length <= 0)
            break;
        *size += (size_t)length;
    }
    if (descriptor >= 0)
        close(descriptor);
    return text;
}
