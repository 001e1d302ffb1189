/* SPDX-License-Identifier: MIT
 *
 * What the tests of plot/ share: a folder for each test, and drawing made-up sweeps (plot_sweep.h) into it.
 */
#ifndef PILFER_TESTS_UNIT_PLOT_FIXTURE_H
#define PILFER_TESTS_UNIT_PLOT_FIXTURE_H

#include "plot.h"
#include "plot_sweep.h"

extern char folder[256];    /* this test's */
extern char temporary[300]; /* its TMPDIR, a folder in it */
extern struct made_sweep made;
extern char message[PLOT_MESSAGE_SIZE];

/* Before and after each test. */
void setup(void);
void teardown(void);

/* A path in the test's folder; valid until four more were asked for. */
const char *in_folder(const char *name);
size_t entries(const char *path);
/* The whole of a file as text; owned by the caller. */
char *content(const char *path);
void expect_text(const char *text, const char *wanted);

/* Draws the made-up sweep and expects a status; what was printed, owned by the caller. */
char *draw(struct plot_request request, int status);
/* The same, well, into a file of the test's folder; its content. */
char *draw_file(struct plot_request request, const char *name);

/* PATH without gnuplot, or with a script of that name first in it. */
void without_gnuplot(void);
void fake_gnuplot(const char *script);

#endif
