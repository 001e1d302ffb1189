/* SPDX-License-Identifier: MIT
 *
 * Targets that come with the program; see shipped.h.
 */
#include "cli/shipped.h"

#include "cli/memory.h"
#include "cli/shipped_folders.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHIPPED_MAX 64
#define SUFFIX      ".ini"

static struct shipped_target targets[SHIPPED_MAX];
static uint32_t count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int is_target_file(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > strlen(SUFFIX) &&
           strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX) == 0;
}

/* The first line "description = ..." of a file. */
static char *read_description(const char *path)
{
    static const char key[] = "description";
    char line[256];
    FILE *file = fopen(path, "re");
    char *found = NULL;
    while (file != NULL && found == NULL && fgets(line, sizeof line, file) != NULL) {
        char *value = line + strlen(key);
        if (strncmp(line, key, strlen(key)) != 0)
            continue;
        value += strspn(value, " \t");
        if (*value != '=')
            continue;
        value += 1 + strspn(value + 1, " \t");
        value[strcspn(value, "\r\n")] = '\0';
        found = memory_copy_text(value);
    }
    if (file != NULL)
        fclose(file);
    return found != NULL ? found : memory_copy_text("");
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct shipped_target *)a)->name, ((const struct shipped_target *)b)->name);
}

static void read_folder(void)
{
    struct dirent **entries;
    int found = scandir(TARGETS_FOLDER, &entries, is_target_file, NULL);
    for (int i = 0; i < found; i++) {
        const char *file = entries[i]->d_name;
        if (count < SHIPPED_MAX) {
            char *path = memory_format("%s/%s", TARGETS_FOLDER, file);
            char *name = memory_format("%.*s", (int)(strlen(file) - strlen(SUFFIX)), file);
            targets[count++] = (struct shipped_target){name, read_description(path), path};
        }
        free(entries[i]);
    }
    if (found >= 0)
        free(entries);
    qsort(targets, count, sizeof targets[0], compare_names);
}

const struct shipped_target *shipped_target(uint32_t index)
{
    pthread_once(&once, read_folder);
    return index < count ? &targets[index] : NULL;
}

const char *shipped_build_folder(void)
{
    return TARGETS_BUILD_FOLDER;
}
