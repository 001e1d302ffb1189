/* SPDX-License-Identifier: MIT
 *
 * A chart: what a picture shows, before anybody decides how it is drawn.
 *
 * How it works. Repeats are grouped into cells (statistics.h), each cell is reduced to one interval, and the cells are
 * sorted into panels (mode, rate, workload, target, machine, connections; a map also: one scheduler each), series
 * (label, spin limit, and whatever else varies) and positions (max-workers, `default` to the right of the numbers).
 * Cells without max-workers become reference lines, and so does the one-worker cell with the lowest spin limit.
 */
#ifndef PILFER_PLOT_CHART_H
#define PILFER_PLOT_CHART_H

#include "plot.h"
#include "statistics.h"

/* The parts of the CPU split are the columns from run_cpu_percent to unaccounted_cpu_percent. */
#define CHART_PARTS (RESULT_unaccounted_cpu_percent - RESULT_run_cpu_percent + 1)

/* More series than this are drawn in one grey, without a name. */
#define CHART_SERIES_NAMED 8

/* Name of a part ("run"), in a buffer of CHART_PART_NAME_SIZE bytes. */
#define CHART_PART_NAME_SIZE 32
void chart_part_name(uint32_t part, char *out);

struct chart_tick {
    char *text;
    char *below; /* a second line, or NULL */
    double position;
    bool is_default; /* the category to the right of the numbers */
};

struct chart_point {
    uint32_t tick; /* of the panel */
    struct interval value;
    double parts[CHART_PARTS]; /* cpu-split only; medians */
};

struct chart_series {
    uint32_t style; /* index into the chart's series titles */
    bool open;      /* published figures: open markers */
    struct chart_point *points;
    uint32_t count;
};

/* A value without an axis position: a horizontal line. */
struct chart_reference {
    char *title;
    double value;
};

struct chart_panel {
    char *title;
    bool closed_loop;
    struct chart_tick *ticks;
    uint32_t tick_count;
    struct chart_series *series;
    uint32_t series_count;
    struct chart_reference *references;
    uint32_t reference_count;
};

struct chart {
    enum plot_kind kind;
    char *title, *about; /* what is shown, and of what: scheduler, workload, machine as far as all panels share them */
    char *x_title, *y_title;
    char *notes; /* how many repeats, which interval, what was left out */
    char **series_titles;
    uint32_t series_count;
    struct chart_panel *panels;
    uint32_t panel_count;
};

/* Builds the chart of a request (set and kind). 0, or 1 with one line in message if there is nothing to draw. */
int chart_init(struct chart *chart, const struct plot_request *request, char *message);
void chart_fini(struct chart *chart);

/* Index of a series title, added if it is new. */
uint32_t chart_series_index(struct chart *chart, const char *title);
/* A further tick of a panel; below: a second line, or NULL. */
uint32_t chart_tick_add(struct chart_panel *panel, const char *text, const char *below, double position,
                        bool is_default);
/* A further panel at the end, empty. The title is taken over. */
struct chart_panel *chart_panel_add(struct chart *chart, char *title);
/* The same before panel index (at most the number of panels). */
struct chart_panel *chart_panel_insert(struct chart *chart, uint32_t index, char *title);
struct chart_series *chart_series_add(struct chart_panel *panel, uint32_t style);
struct chart_point *chart_point_add(struct chart_series *series, uint32_t tick, struct interval value);
/* A horizontal line. The title is taken over. */
void chart_reference_add(struct chart_panel *panel, char *title, double value);
/* A further sentence of the notes. */
void chart_note(struct chart *chart, const char *text);

/* The highest and lowest value of a panel that a bar, a point or a line reaches. */
void chart_panel_extent(const struct chart *chart, const struct chart_panel *panel, double *low, double *high);

#endif
