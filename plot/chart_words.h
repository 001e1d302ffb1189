/* SPDX-License-Identifier: MIT
 *
 * The words of a chart, from drafts (draft.h): what all panels share is said once, above them; what differs is in the
 * names of panels and series. All returned strings are owned by the caller.
 */
#ifndef PILFER_PLOT_CHART_WORDS_H
#define PILFER_PLOT_CHART_WORDS_H

#include "chart.h"
#include "draft.h"

/* What is the same in all panels goes into the chart's title, what differs into the panels'. */
struct chart_shared {
    bool keys[DRAFT_PANEL_KEYS];
    bool label;          /* one label */
    double spin_default; /* what spin limit `default` stands for; infinity: for several */
    const struct draft_set *set;
};

void chart_shared_init(struct chart_shared *shared, const struct draft_set *set);

/* Whether a draft has no place on the x axis: it is a line across. */
bool chart_is_reference(const struct chart *chart, const struct draft *draft);

/* Adds ", text" (or "text") to a string that it owns; takes over text. */
void chart_append(char **string, char *text);

/* "default" is spelt out only where it stands for several numbers; else the notes say which. */
char *chart_spin_text(const struct chart_shared *shared, const struct draft_key *spin);
char *chart_series_title(const struct chart *chart, const struct chart_shared *shared, const struct draft *draft);
char *chart_panel_title(const struct chart_shared *shared, const struct draft *draft);
/* Adds the words for those panel keys of a draft that are (same) or are not the same in all panels. */
void chart_describe(char **title, const struct chart_shared *shared, const struct draft *draft, bool same);
/* "25 engaged", or "14-25 engaged" where the cells with max-workers default differ; NULL if nobody counted. */
char *chart_engaged_text(const struct draft *drafts, size_t count);

/* The ticks of an axis: the max-workers of these drafts, evenly spaced, `default` last and apart, with a second line
 * below it (or NULL). */
void chart_ticks_add(struct chart_panel *panel, const struct draft *drafts, size_t count, const char *below);
uint32_t chart_tick_find(const struct chart_panel *panel, const char *text);

#endif
