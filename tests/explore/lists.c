/* SPDX-License-Identifier: MIT
 *
 * Lists of scenario.h that have no file yet.
 */
#include "scenario.h"

const struct code_subject structure_subjects[] = {{0}};
const uint32_t structure_subject_count = 0;
