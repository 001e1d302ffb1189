/* SPDX-License-Identifier: MIT
 *
 * Pictures of a sweep, from repeats to a finished file: see plot.h.
 */
#include "plot.h"
#include "bars.h"
#include "chart.h"
#include "foot.h"
#include "gnuplot.h"
#include "layout.h"
#include "published.h"
#include "script.h"
#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLOT_LIMIT_S      30
#define PLOT_TEXT_COLUMNS 100
#define PLOT_TEXT_WIDEST  160  /* in a wider terminal the plot stays as wide as can be taken in */
#define PLOT_TEXT_MAX     1000 /* gnuplot's terminal ends a little above */
#define PLOT_SIZE_MAX     20000

const struct plot_kind_description plot_kinds[PLOT_KIND_COUNT] = {
    [PLOT_CPU_VS_THREADS] = {"cpu-vs-threads", "router CPU against max-workers, a line per spin limit or scheduler"},
    [PLOT_CPU_PER_REQUEST] = {"cpu-per-request", "the same per request, a panel per paced rate"},
    [PLOT_CPU_SPLIT] = {"cpu-split", "where the CPU time went: run, search, spin, yield, wake, park, poll"},
    [PLOT_HEATMAP] = {"heatmap", "max-workers by spin limit, the value in each cell"},
    [PLOT_FIDELITY] = {"fidelity", "the model beside the real runtime, CPU per request as ratio to one worker"},
};

int plot_kind_find(const char *name)
{
    for (int kind = 0; kind < PLOT_KIND_COUNT; kind++) {
        if (strcmp(plot_kinds[kind].name, name) == 0) {
            return kind;
        }
    }
    return -1;
}

/* One line, whatever the names in it contain. */
static void plot_message_clean(char *message)
{
    char *clean = text_clean(message, PLOT_MESSAGE_SIZE - 4);
    snprintf(message, PLOT_MESSAGE_SIZE, "%s", clean);
    free(clean);
}

static int plot_format(const struct plot_request *request, enum layout_format *out, char *message)
{
    static const struct {
        const char *suffix;
        enum layout_format format;
    } formats[] = {{".png", LAYOUT_PNG}, {".svg", LAYOUT_SVG}, {".pdf", LAYOUT_PDF}};
    *out = LAYOUT_TEXT;
    if (request->output == NULL) {
        return 0;
    }
    size_t length = strlen(request->output);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (length > 4 && strcmp(request->output + length - 4, formats[i].suffix) == 0) {
            *out = formats[i].format;
            return 0;
        }
    }
    snprintf(message, PLOT_MESSAGE_SIZE,
             "plot: '%s' has no known suffix; expected a name that ends in .png, .svg or .pdf", request->output);
    return 2;
}

static int plot_exists(const char *output, char *message)
{
    snprintf(message, PLOT_MESSAGE_SIZE, "plot: %s exists; choose another name, or --force to replace it", output);
    return 2;
}

/* Refuses what can be refused before anything is drawn. */
static int plot_admit(const struct plot_request *request, enum layout_format *format, char *message)
{
    int status = plot_format(request, format, message);
    struct stat facts;
    uint32_t most = *format == LAYOUT_TEXT ? PLOT_TEXT_MAX : PLOT_SIZE_MAX;
    if (status == 0 && (request->width > most || request->height > most)) {
        snprintf(message, PLOT_MESSAGE_SIZE, "plot: %u x %u is too large; expected at most %u each way", request->width,
                 request->height, most);
        return 2;
    }
    if (status != 0 || request->output == NULL) {
        return status;
    }
    if (lstat(request->output, &facts) == 0) {
        if (S_ISDIR(facts.st_mode)) {
            snprintf(message, PLOT_MESSAGE_SIZE, "plot: %s is a folder; expected the name of a file", request->output);
            return 2;
        }
        if (!request->force) {
            return plot_exists(request->output, message);
        }
    }
    return 0;
}

static uint32_t plot_text_columns(const struct plot_request *request, FILE *text)
{
    struct winsize size;
    if (request->width > 0) {
        return request->width;
    }
    int descriptor = fileno(text);
    if (descriptor >= 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col < PLOT_TEXT_WIDEST ? size.ws_col : PLOT_TEXT_WIDEST;
    }
    return PLOT_TEXT_COLUMNS;
}

/* Removes a folder that holds only files. */
static void plot_folder_remove(const char *folder)
{
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        unlinkat(dirfd(directory), entry->d_name, 0);
    }
    if (directory != NULL) {
        closedir(directory);
    }
    rmdir(folder);
}

static char *plot_folder_make(char *message)
{
    const char *parent = getenv("TMPDIR");
    char *folder = text_format("%s/pilfer-plot-XXXXXX", parent != NULL && parent[0] != '\0' ? parent : "/tmp");
    if (mkdtemp(folder) == NULL) {
        snprintf(message, PLOT_MESSAGE_SIZE,
                 "plot: cannot make a temporary folder %s: %s; set TMPDIR to a folder with space", folder,
                 strerror(errno));
        free(folder);
        return NULL;
    }
    return folder;
}

/* Copies all of one open file to another; 0 or -1 with errno. */
static int plot_copy(int from, int to)
{
    char buffer[65536];
    for (ssize_t got; (got = read(from, buffer, sizeof buffer)) != 0;) {
        if (got < 0) {
            return -1;
        }
        for (ssize_t put, done = 0; done < got; done += put) {
            put = write(to, buffer + done, (size_t)(got - done));
            if (put < 0) {
                return -1;
            }
        }
    }
    return fsync(to);
}

/* Gives a finished file its name; without force it must not replace one that has come into being meanwhile. */
static int plot_rename(const char *part, const char *output, bool force)
{
    if (force) {
        return rename(part, output);
    }
    if (renameat2(AT_FDCWD, part, AT_FDCWD, output, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return -1;
    }
    return link(part, output) == 0 ? unlink(part) : -1;
}

/* The picture beside its destination, then renamed: it is complete or not there. */
static int plot_deliver(const char *folder, const struct plot_request *request, char *message)
{
    char *picture = text_format("%s/" SCRIPT_PICTURE, folder);
    char *part = text_format("%s.part-%ld", request->output, (long)getpid());
    int from = open(picture, O_RDONLY | O_CLOEXEC);
    int to = from >= 0 ? open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    bool made = to >= 0;
    bool failed = !made || plot_copy(from, to) != 0;
    int error = errno;
    if (made && close(to) != 0 && !failed) {
        failed = true;
        error = errno;
    }
    if (!failed && plot_rename(part, request->output, request->force) != 0) {
        failed = true;
        error = errno;
    }
    if (failed && made) {
        unlink(part);
    }
    if (from >= 0) {
        close(from);
    }
    int status = !failed ? 0 : error == EEXIST && !request->force ? plot_exists(request->output, message) : 3;
    if (status == 3) {
        snprintf(message, PLOT_MESSAGE_SIZE, "plot: cannot write %s: %s; choose another folder", request->output,
                 strerror(error));
    }
    free(picture);
    free(part);
    return status;
}

/* What gnuplot drew as text, without the spaces at the ends of the lines. Whether the stream takes it is for its owner
 * to see: a reader of standard output may leave early. */
static int plot_print(const char *folder, FILE *text, char *message)
{
    char *picture = text_format("%s/" SCRIPT_PICTURE, folder), *line = NULL;
    size_t size = 0;
    FILE *file = fopen(picture, "re");
    bool blank = true;
    for (ssize_t got; file != NULL && (got = getline(&line, &size, file)) >= 0;) {
        while (got > 0 && strchr(" \n\f", line[got - 1]) != NULL) {
            line[--got] = '\0';
        }
        blank &= got == 0;
        if (!blank) {
            fprintf(text, "%s\n", line);
        }
    }
    int status = file != NULL && !ferror(file) ? 0 : 3;
    if (status != 0) {
        snprintf(message, PLOT_MESSAGE_SIZE, "plot: cannot read %s: %s; set TMPDIR to another folder", picture,
                 strerror(errno));
    }
    if (file != NULL) {
        fclose(file);
    }
    free(line);
    free(picture);
    return status;
}

/* What one drawing by gnuplot needs and says. */
struct plot_drawing {
    const struct plot_request *request;
    const struct chart *chart;
    const struct layout *layout;
    FILE *text;
    sigset_t mask;       /* the caller's, and gnuplot's */
    bool gnuplot_failed; /* then the chart is still to be printed as bars */
};

/* Draws in a folder, and delivers. */
static int plot_draw_in(const char *folder, struct plot_drawing *drawing, char *message)
{
    const struct plot_request *request = drawing->request;
    bool keep = false;
    int status = script_write(folder, drawing->chart, drawing->layout, message);
    if (status == 0) {
        double limit_s = request->limit_s > 0 ? request->limit_s : PLOT_LIMIT_S;
        status = gnuplot_run(folder, limit_s, &drawing->mask, &keep, message);
        drawing->gnuplot_failed = status != 0;
    }
    if (status == 0 && request->output != NULL) {
        status = plot_deliver(folder, request, message);
    } else if (status == 0) {
        status = plot_print(folder, drawing->text, message);
    }
    if (!keep) {
        plot_folder_remove(folder);
    }
    return status;
}

/* The same in a folder of its own. Signals that end the program wait until that is gone. */
static int plot_draw(struct plot_drawing *drawing, char *message)
{
    gnuplot_block_signals(&drawing->mask);
    char *folder = plot_folder_make(message);
    int status = folder != NULL ? plot_draw_in(folder, drawing, message) : 3;
    free(folder);
    sigprocmask(SIG_SETMASK, &drawing->mask, NULL);
    return status;
}

static int plot_chart(const struct plot_request *request, const struct chart *chart, enum layout_format format,
                      const char *foot, char *message)
{
    FILE *text = request->text != NULL ? request->text : stdout;
    uint32_t columns = plot_text_columns(request, text);
    bool areas = chart->kind == PLOT_CPU_SPLIT || chart->kind == PLOT_HEATMAP;
    bool strands = chart->key_count > 0; /* neither dashes nor colours are left in a terminal */
    if (format == LAYOUT_TEXT && (areas || strands)) {
        bars_print(text, chart, foot, columns);
        return 0;
    }
    struct layout layout;
    uint32_t width = format == LAYOUT_TEXT ? columns : request->width;
    int status = layout_init(&layout, chart, format, width, request->height, foot, message);
    if (status != 0) {
        return status;
    }
    struct plot_drawing drawing = {.request = request, .chart = chart, .layout = &layout, .text = text};
    status = plot_draw(&drawing, message);
    layout_fini(&layout);
    if (drawing.gnuplot_failed) {
        bars_print(text, chart, foot, columns);
    }
    return status;
}

static int plot_build(const struct plot_request *request, enum layout_format format, char *message)
{
    struct chart chart;
    int status = chart_init(&chart, request, message);
    if (status == 0) {
        if (request->published != NULL && request->kind == PLOT_CPU_VS_THREADS) {
            status = published_add(&chart, request->published, message);
        }
        char *foot = foot_text(&chart, request->sweep, request->output != NULL ? " · " : "; ");
        if (status == 0 && foot == NULL) {
            snprintf(
                message, PLOT_MESSAGE_SIZE,
                "plot: sweep %lld has no stored context, and a plot without it is not written; run the sweep again",
                (long long)request->sweep->id);
            status = 3;
        }
        if (status == 0) {
            status = plot_chart(request, &chart, format, foot, message);
        }
        free(foot);
    }
    chart_fini(&chart);
    return status;
}

int plot_write(const struct plot_request *request, char *message)
{
    message[0] = '\0';
    enum layout_format format;
    int status = plot_admit(request, &format, message);
    if (status == 0) {
        locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        locale_t before = uselocale(plain); /* a decimal point, whatever the user's locale */
        status = plot_build(request, format, message);
        uselocale(before);
        if (plain != (locale_t)0) {
            freelocale(plain);
        }
    }
    plot_message_clean(message);
    return status;
}
