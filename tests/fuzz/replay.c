/* SPDX-License-Identifier: MIT
 *
 * Replays a corpus through a fuzz entry point, where there is no fuzzer: replay FILE|FOLDER...
 *
 * A property that does not hold aborts in the entry point; the file's name is the last line printed. A corpus without a
 * file is a failure, so that a wrong path cannot pass.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned replayed;

static int replay_file(const char *path, long long size)
{
    FILE *file = fopen(path, "rb");
    /* Exactly as large as the input, so that a sanitizer sees each byte read beyond it. */
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    if (file == NULL || data == NULL || fread(data, 1, (size_t)size, file) != (size_t)size) {
        perror(path);
        return EXIT_FAILURE;
    }
    fclose(file);
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    replayed++;
    return EXIT_SUCCESS;
}

static int replay_path(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        perror(path);
        return EXIT_FAILURE;
    }
    if (!S_ISDIR(status.st_mode))
        return replay_file(path, status.st_size);
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort), failed = count < 0;
    for (int i = 0; i < count; i++) {
        char inner[4096];
        snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        failed |= entries[i]->d_name[0] != '.' && replay_path(inner) != EXIT_SUCCESS;
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed |= replay_path(argv[i]) != EXIT_SUCCESS;
    printf("%u inputs replayed\n", replayed);
    return failed || replayed == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
