/* SPDX-License-Identifier: MIT
 *
 * Runs gnuplot in a folder, under a time limit.
 *
 * How it works. gnuplot runs without its start-up files, in the C locale, in its own process group, with nothing on its
 * standard input; what it says goes into a file of the folder. It is polled; when the limit is over, or a signal that
 * ends the program is pending, the whole group is killed.
 */
#ifndef PILFER_PLOT_GNUPLOT_H
#define PILFER_PLOT_GNUPLOT_H

#include <signal.h>
#include <stdbool.h>

/* The oldest version that knows everything the scripts use. */
#define GNUPLOT_OLDEST "5.4"

/* Blocks the signals that end the program, so that whoever made a folder can remove it before they do. *before: the
 * mask to restore then. One thread. */
void gnuplot_block_signals(sigset_t *before);

/* Runs the folder's script; mask is the signal mask for gnuplot. 0 if the picture is there; else 3 with one line in
 * message, also when a signal that gnuplot_block_signals blocked is pending. *keep says whether the folder is worth a
 * look. One thread; the caller must have no child of its own that it waits for with waitpid(-1). */
int gnuplot_run(const char *folder, double limit_s, const sigset_t *mask, bool *keep, char *message);

#endif
