/* SPDX-License-Identifier: MIT
 *
 * What scheduler dotnet offers beside its table.
 */
#ifndef PILFER_SCHEDULERS_DOTNET_H
#define PILFER_SCHEDULERS_DOTNET_H

#include "pilfer.h"

struct pool;
struct worker;

/* Submits to the high-priority queue, which workers look into before the shared one. No public placement leads there:
 * on Unix the original uses it for nothing either. worker as in scheduler.submit; any thread. 0 or -ENOMEM. */
int dotnet_submit_high_priority(struct pool *pool, struct worker *worker, struct pilfer_task *task);

#endif
