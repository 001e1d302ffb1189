/* SPDX-License-Identifier: MIT
 *
 * Output files that are whole or not there; see output.h.
 */
#include "output.h"
#include "heap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(char *message, const char *what, const char *path, int error, const char *advice)
{
    snprintf(message, OUTPUT_MESSAGE_SIZE, "cannot %s %s: %s; %s", what, path, strerror(error), advice);
    return -1;
}

/* Folder of an absolute or relative path, with its slash; the caller frees it. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? heap_or_end(strndup(path, (size_t)(slash - path) + 1)) : heap_text("./");
}

static int open_device(struct output *output, char *message)
{
    /* A pipe that nobody reads would keep the program waiting here for ever: then it is an error. */
    int descriptor = open(output->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (descriptor < 0 && errno == ENXIO) {
        return fail(message, "write to", output->path, errno, "start what reads this pipe first, or name another file");
    }
    if (descriptor >= 0) {
        fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
    }
    output->stream = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (!output->stream) {
        return fail(message, "write to", output->path, errno, "name another file");
    }
    output->beside = output->path;
    return 0;
}

static int open_part(struct output *output, const char *suffix, mode_t mode, char *message)
{
    char *folder = folder_of(output->path);
    const char *slash = strrchr(output->path, '/');
    if (asprintf(&output->part, "%s.%s.%ld.part%s", folder, slash ? slash + 1 : output->path, (long)getpid(),
                 suffix ? suffix : "") < 0) {
        heap_or_end(NULL);
    }
    free(folder);
    int descriptor = open(output->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    output->stream = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (!output->stream) {
        fail(message, "create", output->path, errno, "name another file, or make its folder writable");
        return -1;
    }
    output->beside = output->part;
    return 0;
}

int output_open(struct output *output, const char *path, const char *suffix, bool force, char *message)
{
    struct stat status;
    *output = (struct output){.force = force};
    bool exists = stat(path, &status) == 0;
    int error = exists ? 0 : errno;
    int result = 0;
    if (!exists && (error != ENOENT || path[0] == '\0')) {
        result = fail(message, "write", path[0] ? path : "a file without a name", error, "name another file");
    } else if (!exists && lstat(path, &status) == 0) {
        result = fail(message, "write", path, ENOENT, "this link leads nowhere: name another file");
    } else if (exists && S_ISDIR(status.st_mode)) {
        result = fail(message, "write", path, EISDIR, "name a file in it");
    } else if (exists && S_ISREG(status.st_mode) && !force) {
        result = fail(message, "write", path, EEXIST, "name another file, or replace it with --force");
    }
    if (result) {
        return result;
    }
    char *real = exists ? realpath(path, NULL) : NULL;
    output->path = real ? real : heap_text(path);
    result = exists && !S_ISREG(status.st_mode)
                 ? open_device(output, message)
                 : open_part(output, suffix, exists ? status.st_mode & 0777 : 0666, message);
    if (result) {
        output_discard(output);
    }
    return result;
}

int output_flush(FILE *stream, const char *name, char *message)
{
    errno = 0;
    if (fflush(stream) != 0 || ferror(stream)) {
        return fail(message, "write", name, errno ? errno : EIO, "make room or name another file");
    }
    return 0;
}

/* The name must survive a power failure too; a file system that cannot sync a folder is not an error. */
static void sync_folder(const char *path)
{
    char *folder = folder_of(path);
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        fsync(descriptor);
        close(descriptor);
    }
    free(folder);
}

/* Syncs the file beside by name: another program may have replaced the one that stream wrote to. */
static int sync_part(const struct output *output)
{
    int descriptor = open(output->part, O_RDONLY | O_CLOEXEC);
    int error = descriptor < 0 || fsync(descriptor) != 0 ? errno : 0;
    if (descriptor >= 0) {
        close(descriptor);
    }
    return error;
}

/* rename that replaces only if forced; file systems without such a rename get a hard link, which never replaces. */
static int give_name(const struct output *output)
{
    if (output->force) {
        return rename(output->part, output->path) == 0 ? 0 : errno;
    }
    if (renameat2(AT_FDCWD, output->part, AT_FDCWD, output->path, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return errno;
    }
    if (link(output->part, output->path) != 0) {
        return errno;
    }
    unlink(output->part);
    return 0;
}

int output_commit(struct output *output, char *message)
{
    int result = output_flush(output->stream, output->path, message);
    int error = 0;
    if (fclose(output->stream) != 0 && !result) {
        result = fail(message, "write", output->path, errno, "make room or name another file");
    }
    output->stream = NULL;
    if (!result && output->part) {
        error = sync_part(output);
        if (!error) {
            error = give_name(output);
        }
        if (error) {
            result = fail(message, "write", output->path, error, "make room, name another file, or use --force");
        } else {
            sync_folder(output->path);
            free(output->part);
            output->part = NULL;
        }
    }
    output_discard(output);
    return result;
}

void output_discard(struct output *output)
{
    if (output->stream) {
        fclose(output->stream);
    }
    if (output->part) {
        unlink(output->part);
    }
    free(output->part);
    free(output->path);
    *output = (struct output){0};
}
