/* SPDX-License-Identifier: MIT
 *
 * Sweep files; see specification.h for what they may hold.
 *
 * How it works. libinih splits lines into key and value; it pulls them through read_line, our reader hook, which counts
 * lines, keeps the section, and refuses what libinih would silently misread: NUL and other control bytes, lines that do
 * not fit its buffer, indented lines (it would append them to the value before), comments behind a value (it would cut
 * the value), text behind a section's bracket, a colon for an equals sign. A refused line is handed on as an empty one,
 * so that parsing goes on and all faults of a file are found at once.
 */
#include "runner/specification.h"

#include "runner/specification_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_SECTION     (-2)
#define SECTION_SWEEP  (-1) /* else the index of a part */
#define SECTION_FAULTY (-3) /* its keys are checked all the same, and dropped */

/* Section 0 is [sweep], 1 + i part i, the last one takes what is dropped. */
#define SECTION_SLOTS (SPECIFICATION_PARTS_MAX + 2)

#define KEY_LIMIT (PARAMETER_LIMIT + SPECIFICATION_EXTRA_KEYS)

/* Where a section and its keys were seen; line 0: not yet. */
struct section_lines {
    uint32_t header, content; /* content: the last line that holds or was meant to hold a key */
    uint32_t keys[KEY_LIMIT];
};

struct reading {
    struct specification *specification;
    struct faults faults;
    const char *text, *end; /* what is not yet read */
    int section;
    uint32_t key_count;
    struct section_lines *sections;    /* SECTION_SLOTS */
    struct specification_part scratch; /* takes the keys of a faulty section */
};

static struct section_lines *lines_of(struct reading *reading)
{
    return &reading->sections[reading->section == SECTION_FAULTY ? SECTION_SLOTS - 1 : reading->section + 1];
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* ---- sections ---- */

static void enter_sweep(struct reading *reading)
{
    struct section_lines *lines = &reading->sections[0];
    reading->section = SECTION_SWEEP;
    if (lines->header == 0) {
        lines->header = reading->faults.line;
        return;
    }
    fault(&reading->faults, "found [sweep] again, expected it once: the first is on line %u", lines->header);
    reading->section = SECTION_FAULTY;
}

static void enter_part(struct reading *reading, const char *name)
{
    struct specification *specification = reading->specification;
    reading->section = SECTION_FAULTY;
    if (!specification_name_is_good(name)) {
        fault(&reading->faults, "found the part name '%s', expected 1 to %d letters, digits, '.', '_' or '-'",
              escaped(name), SPECIFICATION_NAME_SIZE - 1);
        return;
    }
    for (uint32_t i = 0; i < specification->part_count; i++) {
        if (strcmp(specification->parts[i].name, name) == 0) {
            fault(&reading->faults, "found [part %s] again, expected another name: the first is on line %u", name,
                  reading->sections[1 + i].header);
            return;
        }
    }
    if (specification->part_count == SPECIFICATION_PARTS_MAX) {
        fault(&reading->faults, "found more than %d parts, expected at most that many", SPECIFICATION_PARTS_MAX);
        return;
    }
    if (specification_add_part(specification, name) == NULL) {
        fault(&reading->faults, "no memory for [part %s]", name);
        return;
    }
    reading->section = (int)specification->part_count - 1;
    reading->sections[specification->part_count].header = reading->faults.line;
}

/* line begins with '['. */
static void enter_section(struct reading *reading, const char *line)
{
    static const char *const names[] = {"sweep", "part NAME"};
    size_t length = strcspn(line, "]");
    reading->section = SECTION_FAULTY;
    if (line[length] == '\0' || line[length + 1 + strspn(line + length + 1, " \t")] != '\0') {
        fault(&reading->faults, "found '%s', expected [sweep] or [part NAME] alone on the line", escaped(line));
        return;
    }
    char name[SPECIFICATION_LINE_LENGTH_MAX + 1];
    snprintf(name, sizeof name, "%.*s", (int)length - 1, line + 1);
    if (strcmp(name, "sweep") == 0)
        enter_sweep(reading);
    else if (strncmp(name, "part ", 5) == 0)
        enter_part(reading, name + 5 + strspn(name + 5, " \t"));
    else
        fault(&reading->faults, "found the unknown section [%s]%s", escaped(name), hint(name, names, 2));
}

/* ---- lines ---- */

/* A key line as libinih reads it without surprises? Else a fault. */
static bool check_key_line(struct reading *reading, const char *line)
{
    struct faults *faults = &reading->faults;
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
    if (reading->section == NO_SECTION) {
        fault(faults, "found a key before any section, expected [sweep] first");
        reading->section = SECTION_FAULTY;
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
        fault(&reading->faults, "found an indented line, expected each key at the start of a line");
        return false;
    }
    if (line[0] == '[') {
        enter_section(reading, line);
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
            fault(&reading->faults, "found the %s byte 0x%02x in column %zu, expected text",
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
    if (length_max > SPECIFICATION_LINE_LENGTH_MAX)
        length_max = SPECIFICATION_LINE_LENGTH_MAX;
    reading->faults.line++;
    uint32_t faults_before = reading->faults.count;
    bool is_good = !has_control_byte(reading, start, length);
    if (is_good && length > length_max) {
        fault(&reading->faults, "found a line of %zu bytes, expected at most %zu", length, length_max);
        is_good = false;
    }
    if (is_good) {
        memcpy(out, start, length);
        out[length] = '\0';
        is_good = check_line(reading, out);
    }
    if (reading->faults.count != faults_before && reading->section != NO_SECTION)
        lines_of(reading)->content = reading->faults.line;
    snprintf(is_good ? out + length : out, 2, "\n");
    return out;
}

/* The key hook: called for each key line that read_line let pass, before the next line is read. */
static int read_key(void *context, const char *section, const char *key, const char *value)
{
    (void)section; /* libinih cuts long names; read_line keeps the section */
    struct reading *reading = context;
    struct faults *faults = &reading->faults;
    if (++reading->key_count > SPECIFICATION_KEYS_MAX) {
        if (reading->key_count == SPECIFICATION_KEYS_MAX + 1)
            fault(faults, "found more than %d keys, expected at most that many", SPECIFICATION_KEYS_MAX);
        return 1;
    }
    struct section_lines *lines = lines_of(reading);
    lines->content = faults->line;
    int index = specification_key_find(key, faults);
    if (index < 0)
        return 1;
    if (lines->keys[index] != 0 && reading->section != SECTION_FAULTY) {
        fault(faults, "found the key '%s' again, expected it once: the first is on line %u", key, lines->keys[index]);
        return 1;
    }
    lines->keys[index] = faults->line;
    struct specification *specification = reading->specification;
    struct specification_part *part = reading->section == SECTION_FAULTY  ? &reading->scratch
                                      : reading->section == SECTION_SWEEP ? &specification->common
                                                                          : &specification->parts[reading->section];
    if (part != &reading->scratch || (uint32_t)index < parameter_count)
        specification_key_set(specification, part, (uint32_t)index, value, faults);
    return 1;
}

/* ---- texts and files ---- */

/* A sweep without a name has that of its file, less the suffix. */
static void name_after_origin(struct reading *reading, const char *origin)
{
    const char *slash = strrchr(origin, '/');
    const char *stem = slash != NULL ? slash + 1 : origin;
    const char *dot = strrchr(stem, '.');
    size_t length = dot != NULL && dot != stem ? (size_t)(dot - stem) : strlen(stem);
    char name[SPECIFICATION_NAME_SIZE];
    snprintf(name, sizeof name, "%.*s", (int)length, stem);
    if (length < sizeof name && specification_name_is_good(name))
        memcpy(reading->specification->name, name, sizeof name);
    else
        fault(&reading->faults, "found a file name that cannot name the sweep, expected the key name in [sweep]");
}

static void check_sections(struct reading *reading)
{
    struct faults *faults = &reading->faults;
    const struct specification *specification = reading->specification;
    if (reading->section == NO_SECTION) {
        faults->line = 0;
        fault(faults, "found no section, expected [sweep]");
    }
    for (uint32_t i = 0; i <= specification->part_count; i++) {
        const struct section_lines *lines = &reading->sections[i];
        faults->line = lines->header;
        if (lines->header == 0 || lines->content != 0)
            continue;
        fault(faults, "found [%s%s] without keys, expected at least one", i == 0 ? "sweep" : "part ",
              i == 0 ? "" : specification->parts[i - 1].name);
    }
    faults->line = 0;
    if (faults->count == 0)
        specification_check(specification, faults);
}

int specification_parse_text(const char *origin, const char *text, size_t size, FILE *stream, struct specification *out)
{
    struct faults faults;
    faults_init(&faults, stream, origin);
    specification_init(out, "");
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        size -= 3;
    }
    struct reading *reading = calloc(1, sizeof *reading);
    struct section_lines *sections = calloc(SECTION_SLOTS, sizeof *sections);
    if (reading == NULL || sections == NULL) {
        fault(&faults, "no memory to read it");
    } else {
        *reading = (struct reading){out, faults, text, text + size, NO_SECTION, .sections = sections};
        if (ini_parse_stream(read_line, reading, read_key, reading) < 0)
            fault(&reading->faults, "no memory to read it");
        check_sections(reading);
        if (out->name[0] == '\0')
            name_after_origin(reading, origin);
        faults.count = reading->faults.count;
        specification_part_fini(&reading->scratch);
    }
    free(sections);
    free(reading);
    if (faults.count > 0)
        specification_fini(out);
    return (int)faults.count;
}

/* Reads at most SPECIFICATION_FILE_SIZE_MAX bytes of a regular file. NULL after a fault; the caller frees. */
static char *read_file(const char *path, size_t *size, struct faults *faults)
{
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = NULL;
    *size = 0;
    if (descriptor < 0 || fstat(descriptor, &status) != 0)
        fault(faults, "cannot read the sweep file: %s; `%s list sweeps` shows the built-in ones", strerror(errno),
              program_name());
    else if (!S_ISREG(status.st_mode))
        fault(faults, "found %s, expected a regular file", S_ISDIR(status.st_mode) ? "a folder" : "a special file");
    else if (status.st_size > SPECIFICATION_FILE_SIZE_MAX)
        fault(faults, "found %lld bytes, expected at most %d", (long long)status.st_size, SPECIFICATION_FILE_SIZE_MAX);
    else if ((text = malloc((size_t)status.st_size + 1)) == NULL)
        fault(faults, "no memory for %lld bytes", (long long)status.st_size);
    while (text != NULL && *size < (size_t)status.st_size) {
        ssize_t length = read(descriptor, text + *size, (size_t)status.st_size - *size);
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0) {
            fault(faults, "cannot read the sweep file: %s", strerror(errno));
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

int specification_parse_file(const char *path, FILE *stream, struct specification *out)
{
    struct faults faults;
    faults_init(&faults, stream, path);
    specification_init(out, "");
    size_t size;
    char *text = read_file(path, &size, &faults);
    if (text == NULL)
        return (int)faults.count;
    int count = specification_parse_text(path, text, size, stream, out);
    free(text);
    return count;
}

/* ---- built-in sweeps ---- */

static const struct builtin_sweep builtin_sweeps[] = {
#include "sweeps/builtin_sweeps.inc"
};
#define BUILTIN_SWEEPS (sizeof builtin_sweeps / sizeof builtin_sweeps[0])

const struct builtin_sweep *builtin_sweep(uint32_t index)
{
    return index < BUILTIN_SWEEPS ? &builtin_sweeps[index] : NULL;
}

int specification_parse_selector(const char *selector, FILE *stream, struct specification *out)
{
    const char *names[BUILTIN_SWEEPS];
    if (strpbrk(selector, "/.") != NULL)
        return specification_parse_file(selector, stream, out);
    for (size_t i = 0; i < BUILTIN_SWEEPS; i++) {
        names[i] = builtin_sweeps[i].name;
        if (strcmp(names[i], selector) == 0)
            return specification_parse_text(selector, builtin_sweeps[i].text, strlen(builtin_sweeps[i].text), stream,
                                            out);
    }
    struct faults faults;
    faults_init(&faults, stream, selector);
    specification_init(out, "");
    fault(&faults, "found no built-in sweep of this name (a file is given with a slash or a dot, such as ./%s.sweep)%s",
          faults.origin, hint(selector, names, BUILTIN_SWEEPS));
    return (int)faults.count;
}
