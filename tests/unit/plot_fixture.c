/* SPDX-License-Identifier: MIT
 *
 * What the tests of plot/ share: see plot_fixture.h.
 */
#include "plot_fixture.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char folder[256];
char temporary[300];
static char path_before[4096];
struct made_sweep made;
char message[PLOT_MESSAGE_SIZE];

void setup(void)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.200s/pilfer-test-XXXXXX", parent != NULL ? parent : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(temporary, sizeof temporary, "%s/temporary", folder);
    ck_assert_int_eq(mkdir(temporary, 0700), 0);
    snprintf(path_before, sizeof path_before, "%s", getenv("PATH"));
    ck_assert_int_eq(setenv("TMPDIR", temporary, 1), 0);
    made_sweep_init(&made);
}

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *where)
{
    return remove(path);
}

void teardown(void)
{
    made_sweep_fini(&made);
    setenv("PATH", path_before, 1);
    char *slash = strrchr(folder, '/');
    *slash = '\0';
    setenv("TMPDIR", folder, 1);
    *slash = '/';
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A path in the test's folder; valid until four more were asked for. */
const char *in_folder(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

size_t entries(const char *path)
{
    DIR *directory = opendir(path);
    ck_assert_ptr_nonnull(directory);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(directory);
    return count;
}

/* The whole of a file as text; owned by the caller. */
char *content(const char *path)
{
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s: %s", path, strerror(errno));
    char *text = NULL;
    size_t size = 0;
    if (getdelim(&text, &size, '\0', file) < 0) {
        text[0] = '\0';
    }
    fclose(file);
    return text;
}

void expect_text(const char *text, const char *wanted)
{
    ck_assert_msg(strstr(text, wanted) != NULL, "expected \"%s\" in:\n%s", wanted, text);
}

/* Draws; what was printed, owned by the caller. */
char *draw(struct plot_request request, int status)
{
    char *text = NULL;
    size_t size = 0;
    request.set = &made.set;
    request.sweep = &made.sweep;
    request.text = open_memstream(&text, &size);
    memset(message, 'x', sizeof message);
    int drawn = plot_write(&request, message);
    fclose(request.text);
    ck_assert_msg(drawn == status, "expected status %d, found %d: %s", status, drawn, message);
    ck_assert_int_eq(status == 0, message[0] == '\0');
    ck_assert_ptr_null(strchr(message, '\n'));
    return text;
}

/* The same for a file; its content. */
char *draw_file(struct plot_request request, const char *name)
{
    request.output = in_folder(name);
    free(draw(request, 0));
    ck_assert_uint_eq(entries(temporary), 0);
    return content(in_folder(name));
}

void without_gnuplot(void)
{
    ck_assert_int_eq(setenv("PATH", temporary, 1), 0);
}

/* A program named gnuplot that is first in PATH. */
void fake_gnuplot(const char *script)
{
    char path[8192];
    ck_assert_int_eq(mkdir(in_folder("bin"), 0700), 0);
    FILE *file = fopen(in_folder("bin/gnuplot"), "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    fclose(file);
    ck_assert_int_eq(chmod(in_folder("bin/gnuplot"), 0700), 0);
    snprintf(path, sizeof path, "%s:%s", in_folder("bin"), path_before);
    ck_assert_int_eq(setenv("PATH", path, 1), 0);
}
