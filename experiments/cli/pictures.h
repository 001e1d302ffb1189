/* SPDX-License-Identifier: MIT
 *
 * The pictures that `pilfer reproduce` leaves: where, and whether they may be there.
 */
#ifndef PILFER_EXPERIMENTS_CLI_PICTURES_H
#define PILFER_EXPERIMENTS_CLI_PICTURES_H

#include "options.h"
#include "plot.h"
#include "store_option.h"

struct pictures {
    const enum plot_kind *kinds;
    size_t count;
};

/* Before anything is measured: an --output-dir that cannot be written to, or a picture that is there and would be
 * replaced without --force. 0, or -1 after a complaint. */
int pictures_check(const struct invocation *invocation, const struct pictures *pictures);

/* Draws one after the other into --output-dir, else into the store's folder, and prints where they are. Earlier ones
 * are replaced. Returns an exit status. */
int pictures_draw(const struct invocation *invocation, const struct pictures *pictures,
                  const struct stored_sweep *stored);

#endif
