/* SPDX-License-Identifier: MIT
 *
 * A draft: one cell of a sweep, reduced to what a chart needs, with the keys by which it is sorted into the chart.
 */
#ifndef PILFER_PLOT_DRAFT_H
#define PILFER_PLOT_DRAFT_H

#include "chart.h"

/* What a cell is sorted by: unknown first, then by number, then by text ("spin-limit 5" before "spin-limit 50"). */
struct draft_key {
    char *text;    /* owned; "" if unknown */
    double number; /* NaN if it is none */
};

enum draft_panel_key {
    DRAFT_MODE,
    DRAFT_RATE,
    DRAFT_WORKLOAD,
    DRAFT_MACHINE,
    DRAFT_CORES,
    DRAFT_CONNECTIONS,
    DRAFT_PANEL_SPIN,   /* with several schedulers, one panel per spin limit, so that a line is a scheduler */
    DRAFT_PANEL_LABEL,  /* a map has one panel per scheduler */
    DRAFT_PANEL_OTHERS, /* and per combination of the others */
    DRAFT_PANEL_KEYS,
};

enum draft_series_key {
    DRAFT_LABEL, /* what executes: the model's label, or a target by name and version */
    DRAFT_SPIN,
    DRAFT_OTHERS, /* further parameters that tell cells apart: "lifo-slot 1, cpu-quota 50" */
    DRAFT_SERIES_KEYS,
};

struct draft {
    const struct cell *cell;
    struct interval value;
    double parts[CHART_PARTS];
    double engaged;      /* median of workers_max, or NaN */
    bool is_real;        /* a target, not the model */
    bool disturbed_only; /* no repeat was undisturbed: the disturbed ones are shown */
    struct draft_key panel[DRAFT_PANEL_KEYS];
    struct draft_key series[DRAFT_SERIES_KEYS];
    struct draft_key workers; /* infinity: `default`; NaN: the variant has no such knob */
};

struct draft_set {
    struct draft *drafts; /* sorted by panel, series, workers */
    size_t count;
    size_t invalid;     /* cells left out: no valid repeat */
    size_t unknown;     /* cells left out: the number in question is not known */
    size_t unstamped;   /* cells of targets left out of the split: nobody stamps what a foreign process does */
    size_t baseless;    /* cells left out of fidelity: no cell of one worker at spin limit 0 to compare with */
    size_t alone;       /* and those of which the other side, model or target, was not measured */
    size_t off_the_map; /* cells left out of a map and of fidelity: no max-workers */
    size_t disturbed_only;
    bool mixed;    /* the sweep holds both the model and targets */
    bool stranded; /* and both share panels: see strands.h */
};

/* Reduces cells to drafts of one kind of plot; points into cells, which must stay. Free with draft_set_fini. */
void draft_set_init(struct draft_set *set, const struct cell_set *cells, enum plot_kind kind);
void draft_set_fini(struct draft_set *set);
/* Takes one draft out of the set. */
void draft_set_remove(struct draft_set *set, size_t index);

/* The spin limit, whichever key holds it. */
const struct draft_key *draft_spin(const struct draft *draft);

/* Whether two drafts are in panels that differ at most in the spin limit. */
bool draft_is_beside(const struct draft *left, const struct draft *right);

int draft_key_compare(const struct draft_key *left, const struct draft_key *right);
int draft_panel_compare(const struct draft *left, const struct draft *right);
int draft_series_compare(const struct draft *left, const struct draft *right);

#endif
