/* SPDX-License-Identifier: MIT
 *
 * Progress; see progress.h.
 */
#include "runner/progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINE_SIZE     512
#define WIDTH_DEFAULT 80
#define PLAIN_LINES   10

void progress_begin(struct progress *progress, FILE *stream, uint32_t total, double seconds)
{
    const char *terminal = getenv("TERM");
    *progress = (struct progress){.stream = stream, .total = total, .seconds_total = seconds};
    progress->terminal = isatty(fileno(stream)) == 1 && terminal != NULL && strcmp(terminal, "dumb") != 0;
}

void progress_format_seconds(double seconds, char *out, size_t size)
{
    unsigned long long whole = seconds > 0 ? (unsigned long long)(seconds + 0.5) : 0;
    if (whole >= 3600)
        snprintf(out, size, "%llu h %llu min", whole / 3600, whole / 60 % 60);
    else if (whole >= 60)
        snprintf(out, size, "%llu min %llu s", whole / 60, whole % 60);
    else
        snprintf(out, size, "%llu s", whole);
}

/* The estimate of what is left, scaled by how what is done compared with its own. */
static double seconds_left(const struct progress *progress)
{
    double left = progress->seconds_total - progress->seconds_done;
    if (progress->seconds_done > 0)
        left *= progress->seconds_spent / progress->seconds_done;
    return left;
}

static uint32_t terminal_width(const struct progress *progress)
{
    struct winsize size;
    if (ioctl(fileno(progress->stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return WIDTH_DEFAULT;
}

void progress_show(struct progress *progress, const char *line)
{
    /* One column stays free, so that the line never wraps. */
    fprintf(progress->stream, "\r%.*s\033[K", (int)terminal_width(progress) - 1, line);
    fflush(progress->stream);
    progress->shown = true;
}

void progress_step(struct progress *progress, const char *name)
{
    char line[LINE_SIZE], left[32];
    progress_format_seconds(seconds_left(progress), left, sizeof left);
    if (progress->terminal) {
        snprintf(line, sizeof line, "%u of %u, %s left: %s", progress->done, progress->total, left, name);
        progress_show(progress, line);
    } else if (progress->total >= PLAIN_LINES && progress->done * PLAIN_LINES / progress->total > progress->reported) {
        progress->reported = progress->done * PLAIN_LINES / progress->total;
        fprintf(progress->stream, "%u of %u, %s left\n", progress->done, progress->total, left);
        fflush(progress->stream);
    }
}

void progress_done(struct progress *progress, double seconds, double spent)
{
    progress->done++;
    progress->seconds_done += seconds;
    progress->seconds_spent += spent;
}

void progress_clear(struct progress *progress)
{
    if (progress->shown)
        fprintf(progress->stream, "\r\033[K");
    progress->shown = false;
    fflush(progress->stream);
}
