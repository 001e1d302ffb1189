/* SPDX-License-Identifier: MIT
 *
 * Sweep files; see specification.h for what they may hold.
 *
 * How it works. cli/ini_text.h gives sections and keys one by one and refuses what is no line of a sweep file; here the
 * section is kept, and each key set in it once. Reading goes on after a fault, so that all of a file are found at once.
 */
#include "runner/specification.h"

#include "cli/ini_text.h"
#include "runner/specification_keys.h"

#include <stdlib.h>
#include <string.h>

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
    int section;
    uint32_t key_count;
    struct section_lines *sections;    /* SECTION_SLOTS */
    struct specification_part scratch; /* takes the keys of a faulty section */
};

static struct section_lines *lines_of(struct reading *reading)
{
    return &reading->sections[reading->section == SECTION_FAULTY ? SECTION_SLOTS - 1 : reading->section + 1];
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

static void enter_section(void *context, const char *name)
{
    static const char *const names[] = {"sweep", "part NAME"};
    struct reading *reading = context;
    reading->section = SECTION_FAULTY;
    if (name == NULL)
        return;
    if (strcmp(name, "sweep") == 0)
        enter_sweep(reading);
    else if (strncmp(name, "part ", 5) == 0)
        enter_part(reading, name + 5 + strspn(name + 5, " \t"));
    else
        fault(&reading->faults, "found the unknown section [%s]%s", escaped(name), hint(name, names, 2));
}

static void take_refused(void *context)
{
    struct reading *reading = context;
    lines_of(reading)->content = reading->faults.line;
}

/* ---- keys ---- */

static void take_key(void *context, const char *key, const char *value)
{
    struct reading *reading = context;
    struct faults *faults = &reading->faults;
    if (++reading->key_count > SPECIFICATION_KEYS_MAX) {
        if (reading->key_count == SPECIFICATION_KEYS_MAX + 1)
            fault(faults, "found more than %d keys, expected at most that many", SPECIFICATION_KEYS_MAX);
        return;
    }
    struct section_lines *lines = lines_of(reading);
    lines->content = faults->line;
    int index = specification_key_find(key, faults);
    if (index < 0)
        return;
    if (lines->keys[index] != 0 && reading->section != SECTION_FAULTY) {
        fault(faults, "found the key '%s' again, expected it once: the first is on line %u", key, lines->keys[index]);
        return;
    }
    lines->keys[index] = faults->line;
    struct specification *specification = reading->specification;
    struct specification_part *part = reading->section == SECTION_FAULTY  ? &reading->scratch
                                      : reading->section == SECTION_SWEEP ? &specification->common
                                                                          : &specification->parts[reading->section];
    if (part != &reading->scratch || (uint32_t)index < parameter_count)
        specification_key_set(specification, part, (uint32_t)index, value, faults);
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
    struct reading *reading = calloc(1, sizeof *reading);
    struct section_lines *sections = calloc(SECTION_SLOTS, sizeof *sections);
    if (reading == NULL || sections == NULL) {
        fault(&faults, "no memory to read it");
    } else {
        *reading = (struct reading){out, faults, NO_SECTION, .sections = sections};
        const struct ini_text ini = {
            .faults = &reading->faults,
            .sections = "[sweep] or [part NAME]",
            .first = "[sweep]",
            .context = reading,
            .section = enter_section,
            .key = take_key,
            .refused = take_refused,
        };
        ini_text_read(&ini, text, size);
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

int specification_parse_file(const char *path, FILE *stream, struct specification *out)
{
    struct faults faults;
    faults_init(&faults, stream, path);
    specification_init(out, "");
    size_t size;
    char elsewhere[128];
    snprintf(elsewhere, sizeof elsewhere, "; `%s list sweeps` shows the built-in ones", program_name());
    char *text = ini_text_file(path, "sweep file", elsewhere, &size, &faults);
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
