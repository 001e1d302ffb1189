/* SPDX-License-Identifier: MIT
 *
 * Pictures of a sweep: router CPU against threads, per request, split by activity, as a map, and the model beside a
 * real runtime.
 *
 * How it works. The repeats of a sweep become a chart (chart.h: panels, series, points with intervals), the chart
 * becomes a script and data files in a fresh temporary folder (script.h), gnuplot draws there under a time limit
 * (gnuplot.h), and the finished picture is copied beside its destination and renamed. Without gnuplot the same chart is
 * printed as bars of text (bars.h). Modes, rates, workloads and machines are never pooled: each gets a panel of its
 * own.
 *
 * Worst case. gnuplot hangs: it is ended after the time limit, and script and data stay for a look.
 */
#ifndef PILFER_PLOT_PLOT_H
#define PILFER_PLOT_PLOT_H

#include "results.h"
#include "store.h"

#include <stdio.h>

#define PLOT_MESSAGE_SIZE 1024

enum plot_kind {
    PLOT_CPU_VS_THREADS,
    PLOT_CPU_PER_REQUEST,
    PLOT_CPU_SPLIT,
    PLOT_HEATMAP,
    PLOT_FIDELITY,
    PLOT_KIND_COUNT,
};

/* The kinds by enum plot_kind, for help and "did you mean". */
struct plot_kind_description {
    const char *name;    /* "cpu-vs-threads" */
    const char *summary; /* one line */
};
extern const struct plot_kind_description plot_kinds[PLOT_KIND_COUNT];

/* Index of a kind by name, or -1. */
int plot_kind_find(const char *name);

struct plot_request {
    enum plot_kind kind;
    const struct result_set *set;    /* all repeats of the sweep */
    const struct store_sweep *sweep; /* its context is printed at the foot */
    const char *output;              /* a path that ends in .png, .svg or .pdf; NULL: text */
    bool force;                      /* replace an existing file */
    uint32_t width, height; /* pixels at 200 per inch, or columns and lines of text; 0: what suits the content */
    const char *published;  /* CSV of published figures, drawn as a panel of cpu-vs-threads; NULL: none */
    FILE *text;             /* where text goes; NULL: standard output */
    double limit_s;         /* time limit of gnuplot; 0: 30 s */
};

/* Draws. Returns an exit status, 0 with an empty message or else one line in message (PLOT_MESSAGE_SIZE bytes):
 *   0 drawn;
 *   1 nothing to draw: no repeats, or none of them valid or with the number in question, or not both sides of fidelity;
 *   2 the request cannot be met as it stands: unknown suffix, the file exists and force is not set, a size too small;
 *   3 surroundings: no context stored, unwritable folder, gnuplot absent, too old, hanging or failing. When it was
 *     gnuplot, the chart has been printed as bars of text instead.
 * A file is either complete or not there. One thread at a time; no other thread may change the working folder. Ends the
 * program with a message when memory runs out. */
int plot_write(const struct plot_request *request, char *message);

#endif
