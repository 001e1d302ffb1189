/* SPDX-License-Identifier: MIT
 *
 * Servers for tests of targets, each of which does one thing right or wrong, and the target file that starts them: a
 * fixture.
 *
 * How it works. The program of a test is its servers too: when servers_are_asked(), its main is servers_main(). The
 * file lies in a folder of its own, beside which a server may write.
 */
#ifndef PILFER_TESTS_UNIT_TARGET_SERVERS_H
#define PILFER_TESTS_UNIT_TARGET_SERVERS_H

#include <limits.h>
#include <stdbool.h>

#include "cli/parameters.h"
#include "results.h"

bool servers_are_asked(int argc, char **argv);

/* The words behind "server": MODE PORT [FILE [WORD...]]. */
int servers_main(char **arguments);

/* The folder, the target file in it, and the file that a server may write. */
extern char servers_folder[PATH_MAX], servers_ini[PATH_MAX + 16], servers_file[PATH_MAX + 16];

/* A checked fixture: the folder is made, and goes with all in it. */
void servers_setup(void);
void servers_teardown(void);

/* A target whose server is this program in a mode; more: further words, and lines. */
void write_target(const char *mode, const char *more);

/* Cells of the target that are over soon. */
void configure(struct configuration *configuration);

/* A number that must be known. */
double number(const struct result *result, const char *name);

#endif
