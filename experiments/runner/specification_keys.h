/* SPDX-License-Identifier: MIT
 *
 * What specification.c and specification_file.c share: setting one key of one section.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_SPECIFICATION_KEYS_H
#define PILFER_EXPERIMENTS_RUNNER_SPECIFICATION_KEYS_H

#include "cli/faults.h"
#include "runner/specification.h"

/* Keys that are not parameters. */
#define SPECIFICATION_EXTRA_KEYS 4
extern const char *const specification_extra_keys[SPECIFICATION_EXTRA_KEYS];

/* Index of a key: that of the parameter, or parameter_count + index of the extra key; -1 after a fault. */
int specification_key_find(const char *key, struct faults *faults);

/* Sets a key of a section to a list. The section's earlier values stay when there is a fault. part belongs to
 * specification. */
bool specification_key_set(struct specification *specification, struct specification_part *part, uint32_t key,
                           const char *values, struct faults *faults);

/* NULL when there is no memory. Moves the parts. */
struct specification_part *specification_add_part(struct specification *specification, const char *name);

void specification_part_fini(struct specification_part *part);

/* Letters, digits, dot, underscore and hyphen, a letter or digit first, shorter than SPECIFICATION_NAME_SIZE. */
bool specification_name_is_good(const char *name);

/* Faults of the whole: too many points. */
void specification_check(const struct specification *specification, struct faults *faults);

#endif
