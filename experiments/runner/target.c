/* SPDX-License-Identifier: MIT
 *
 * Targets in use, and whether they can be; see target.h. Files are read in target_file.c.
 */
#include "runner/target.h"

#include "cli/memory.h"
#include "cli/output.h"
#include "cli/shipped.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* All that were asked for, the newest first. */
static struct target_use *uses;

bool target_is_path(const char *selector)
{
    return strpbrk(selector, "/.") != NULL;
}

bool target_is_model(const char *selector)
{
    return strcmp(selector, "none") == 0;
}

/* ---- folders ---- */

/* The absolute folder of a file, "." of one that is not there. */
static char *folder_of(const char *path)
{
    char absolute[PATH_MAX];
    if (realpath(path, absolute) == NULL)
        return memory_copy_text(".");
    char *slash = strrchr(absolute, '/');
    slash[slash == absolute ? 1 : 0] = '\0';
    return memory_copy_text(absolute);
}

/* FNV-1a. */
static uint32_t hash(const char *text)
{
    uint32_t value = 2166136261u;
    for (; *text != '\0'; text++)
        value = (value ^ (unsigned char)*text) * 16777619u;
    return value;
}

/* A folder of its own for each file: two may have the same name. */
static char *build_folder(const struct target_use *use)
{
    if (!target_is_path(use->selector))
        return memory_format("%s/%s", shipped_build_folder(), use->target.name);
    char *whole = memory_format("%s/%s", use->folder, use->path);
    char *folder = memory_format("%s/%s-%08x", shipped_build_folder(), use->target.name, hash(whole));
    free(whole);
    return folder;
}

/* ---- finding ---- */

/* The file of a selector; the caller frees. A shipped target may have gone since it was listed: then NULL. */
static char *path_of(const char *selector)
{
    const struct shipped_target *shipped;
    if (target_is_path(selector))
        return memory_copy_text(selector);
    for (uint32_t i = 0; (shipped = shipped_target(i)) != NULL; i++) {
        if (strcmp(shipped->name, selector) == 0)
            return memory_copy_text(shipped->path);
    }
    return NULL;
}

static struct target_use *known_use(const char *selector)
{
    struct target_use *use = uses;
    while (use != NULL && strcmp(use->selector, selector) != 0)
        use = use->next;
    return use;
}

static void read_file(struct target_use *use, FILE *faults)
{
    if (use->path == NULL) {
        fprintf(faults, "%s: found no target of this name\n", escaped(use->selector));
        use->faults = 1;
        return;
    }
    use->faults = target_parse_file(use->path, faults, &use->target);
    if (use->faults == 0) {
        use->folder = folder_of(use->path);
        use->build = build_folder(use);
    }
}

/* The use of a target, whose file is read if it is not known yet. What is wrong with it is kept: whoever has it read is
 * seldom who tells the person. */
static struct target_use *use_of(const char *selector)
{
    struct target_use *use = known_use(selector);
    size_t size;
    if (use != NULL)
        return use;
    use = memory_allocate(1, sizeof *use);
    *use = (struct target_use){.next = uses, .selector = memory_copy_text(selector), .path = path_of(selector)};
    FILE *faults = open_memstream(&use->fault_lines, &size);
    if (faults == NULL)
        memory_end();
    read_file(use, faults);
    if (fclose(faults) != 0)
        memory_end();
    uses = use;
    return use;
}

struct target_use *target_find(const char *selector)
{
    if (target_is_model(selector))
        return NULL;
    struct target_use *use = use_of(selector);
    return use->faults == 0 ? use : NULL;
}

int target_check(const char *selector, FILE *stream)
{
    if (target_is_model(selector))
        return 0;
    const struct target_use *use = use_of(selector);
    fputs(use->fault_lines, stream);
    return use->faults;
}

/* ---- programs ---- */

/* A file that may be run; a folder may have that right as well. */
static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

bool target_find_program(const char *name, char *out, size_t size)
{
    if (strchr(name, '/') != NULL) {
        snprintf(out, size, "%s", name);
        return is_program(name);
    }
    const char *path = getenv("PATH");
    for (const char *next = path != NULL ? path : "/bin:/usr/bin";; next++) {
        int length = (int)strcspn(next, ":");
        snprintf(out, size, "%.*s%s%s", length, next, length > 0 ? "/" : "./", name);
        if (is_program(out))
            return true;
        next += length;
        if (*next == '\0')
            return false;
    }
}

bool target_is_here(const struct target_use *use, char *program, size_t size, char *message)
{
    const char *wanted = use->target.texts[TARGET_KEY_requires];
    const char *install = use->target.texts[TARGET_KEY_install];
    char *copy = memory_copy_text(wanted != NULL ? wanted : ""), *rest = copy, *word;
    bool is_here = true, is_first = true;
    if (program != NULL)
        program[0] = '\0';
    while (is_here && (word = strsep(&rest, " \t")) != NULL) {
        char path[PATH_MAX];
        if (*word == '\0')
            continue;
        is_here = target_find_program(word, path, sizeof path);
        if (!is_here)
            snprintf(message, TARGET_MESSAGE_SIZE, "target %s: there is no program %s here%s%s", use->target.name,
                     escaped(word), install != NULL ? "; install " : "", install != NULL ? escaped(install) : "");
        else if (is_first && program != NULL)
            snprintf(program, size, "%s", path);
        is_first = false;
    }
    free(copy);
    return is_here;
}
