/* SPDX-License-Identifier: MIT
 *
 * The pictures that `pilfer reproduce` leaves; see pictures.h.
 */
#include "pictures.h"

#include "output.h"
#include "published.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PICTURE_PATH_SIZE (PATH_MAX + 64)

/* --output-dir, else the store's folder. */
static void picture_folder(const struct invocation *invocation, char *out, size_t size)
{
    if (invocation->options[OPTION_output_dir] != NULL) {
        snprintf(out, size, "%s", invocation->options[OPTION_output_dir]);
        return;
    }
    snprintf(out, size, "%s", option_store_path(invocation));
    char *slash = strrchr(out, '/');
    if (slash == NULL)
        snprintf(out, size, ".");
    else
        slash[slash == out ? 1 : 0] = '\0';
}

static void picture_path(const char *folder, enum plot_kind kind, char out[PICTURE_PATH_SIZE])
{
    snprintf(out, PICTURE_PATH_SIZE, "%s/%s.png", folder, plot_kinds[kind].name);
}

int pictures_check(const struct invocation *invocation, const struct pictures *pictures)
{
    const char *folder = invocation->options[OPTION_output_dir];
    if (folder == NULL)
        return 0;
    struct stat status;
    if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode) || access(folder, W_OK | X_OK) != 0)
        return complain("reproduce: --output-dir %s is no folder that can be written to; make it first",
                        escaped(folder));
    for (size_t i = 0; invocation->options[OPTION_force] == NULL && i < pictures->count; i++) {
        char path[PICTURE_PATH_SIZE];
        picture_path(folder, pictures->kinds[i], path);
        if (access(path, F_OK) == 0)
            return complain("reproduce: %s exists; --force replaces it", escaped(path));
    }
    return 0;
}

/* Draws one; with the published points beside where there is room for them. */
static int draw(enum plot_kind kind, const struct stored_sweep *stored, const char *path)
{
    char published[64], message[PLOT_MESSAGE_SIZE];
    int descriptor = kind == PLOT_CPU_VS_THREADS ? published_open(published, sizeof published) : -1;
    struct plot_request request = {
        .kind = kind,
        .set = &stored->rows,
        .sweep = &stored->sweep,
        .output = path,
        .force = true,
        .published = descriptor >= 0 ? published : NULL,
    };
    int status = plot_write(&request, message);
    if (descriptor >= 0)
        close(descriptor);
    if (status != EXIT_DONE)
        complain("reproduce: %s", message);
    return status;
}

int pictures_draw(const struct invocation *invocation, const struct pictures *pictures,
                  const struct stored_sweep *stored)
{
    char folder[PATH_MAX], path[PICTURE_PATH_SIZE];
    bool drawn[PLOT_KIND_COUNT] = {false};
    int status = EXIT_DONE;
    picture_folder(invocation, folder, sizeof folder);
    for (size_t i = 0; i < pictures->count; i++) {
        picture_path(folder, pictures->kinds[i], path);
        int result = draw(pictures->kinds[i], stored, path);
        drawn[i] = result == EXIT_DONE;
        status = result != EXIT_DONE ? result : status;
    }
    printf("\n");
    for (size_t i = 0; i < pictures->count; i++) {
        picture_path(folder, pictures->kinds[i], path);
        if (drawn[i])
            printf("%s\n", path);
    }
    return status;
}
