/* SPDX-License-Identifier: MIT
 *
 * The targets that come with the program: the files *.ini in experiments/targets/ of the source tree.
 *
 * How it works. The folder is read once, when it is first asked about; a file that is added there is found by the next
 * run, without a list and without building anything. What stands in the files is read elsewhere (runner/target.h).
 */
#ifndef PILFER_EXPERIMENTS_CLI_SHIPPED_H
#define PILFER_EXPERIMENTS_CLI_SHIPPED_H

#include <stdint.h>

struct shipped_target {
    const char *name, *description, *path; /* kept until the program ends */
};

/* The index-th in the order of names; NULL past the end, and where the folder is gone. Any thread. */
const struct shipped_target *shipped_target(uint32_t index);

/* Where targets are built: a folder for each below this one. */
const char *shipped_build_folder(void);

#endif
