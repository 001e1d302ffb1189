/* SPDX-License-Identifier: MIT
 *
 * A chart: what a picture shows, before anybody decides how it is drawn.
 *
 * How it works. Repeats are grouped into cells (statistics.h), each cell is reduced to one interval, and the cells are
 * sorted into panels (mode, rate, workload, machine, connections; a map also: one scheduler or target each), series
 * (label or target, spin limit, and whatever else varies) and positions (max-workers, `default` to the right of the
 * numbers). Cells without max-workers become reference lines beside cells that have it, else points at one tick;
 * the one-worker cell with the lowest spin limit becomes a reference line as well.
 */
#ifndef PILFER_PLOT_CHART_H
#define PILFER_PLOT_CHART_H

#include "plot.h"
#include "statistics.h"

/* The parts of the CPU split are the columns from run_cpu_percent to unaccounted_cpu_percent. */
#define CHART_PARTS (RESULT_unaccounted_cpu_percent - RESULT_run_cpu_percent + 1)

/* More series than this are drawn in one grey, without a name. */
#define CHART_SERIES_NAMED 8

/* Dashes and markers for real runtimes, and as many for models. */
#define CHART_STRANDS 6
/* In the key: what has all colours. */
#define CHART_NO_COLOUR UINT32_MAX

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

/* How a series looks. strand 0: a colour and a marker of its own. Else the colour is the spin limit, and the strand
 * says what executes, by dashes and marker: 1 to CHART_STRANDS real runtimes, the next as many models (strands.h). */
struct chart_look {
    uint32_t colour, strand;
};

/* An entry of a key that names colours and strands by themselves. */
struct chart_key {
    char *title;
    struct chart_look look;
};

struct chart_series {
    uint32_t style; /* index into the chart's series titles and looks */
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
    uint32_t group; /* fidelity: panels of one group have one scale */
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
    struct chart_look *series_looks;
    uint32_t series_count;
    struct chart_key *keys;        /* in place of the series' titles, where there are strands */
    uint32_t key_count, key_break; /* the entries from key_break on begin a row of their own; 0: none do */
    struct chart_panel *panels;
    uint32_t panel_count;
    uint32_t columns; /* of panels; 0: as many as suit */
    bool logarithmic;
};

/* Builds the chart of a request (set and kind). 0, or 1 with one line in message if there is nothing to draw. */
int chart_init(struct chart *chart, const struct plot_request *request, char *message);
void chart_fini(struct chart *chart);

/* Index of a series title, added if it is new, with a look of its own. */
uint32_t chart_series_index(struct chart *chart, const char *title);
/* A further entry of the key. The title is taken over. */
void chart_key_add(struct chart *chart, char *title, struct chart_look look);
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
