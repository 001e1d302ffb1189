/* SPDX-License-Identifier: MIT
 *
 * The suspect from inside (see inside.h).
 */
#include "inside.h"

#include <string.h>

#include "harness.h"
#include "pool.h"

const struct scheduler *inside_scheduler(const struct subject *subject)
{
    return registry_scheduler(subject->name);
}

bool inside_runs_in_submitter(const struct subject *subject)
{
    const struct scheduler *scheduler = inside_scheduler(subject);
    return scheduler != NULL && (scheduler->caps & SCHEDULER_RUNS_IN_SUBMITTER) != 0;
}

bool inside_is_specimen(const struct subject *subject)
{
    struct pilfer_entry entry;
    for (uint32_t i = 0; pilfer_entry(PILFER_KIND_BOUND, i, &entry); i++)
        if (strcmp(entry.name, subject->name) == 0)
            return entry.specimen;
    return false;
}

bool inside_has_private_slot(const struct subject *subject)
{
    const struct scheduler *scheduler = inside_scheduler(subject);
    if (scheduler == NULL || (scheduler->caps & SCHEDULER_LIFO_SLOT) == 0)
        return false;
    const struct pool defaults = {.scheduler = scheduler};
    return pool_setting(&defaults, "lifo-slot") != 0;
}

uint32_t inside_workers(const struct subject *subject, uint32_t workers)
{
    return inside_runs_in_submitter(subject) ? 0 : workers;
}

struct pool *inside_pool(struct pilfer_executor *executor)
{
    return executor->pool;
}

uint32_t inside_engaged(struct pilfer_executor *executor)
{
    return counts_unpack(shared_u64_load_seq_cst(&executor->pool->counts)).engaged;
}

void inside_verify_structure(struct pilfer_executor *executor)
{
    const struct pool *pool = executor->pool;
    const char *broken = pool->scheduler->check != NULL ? pool->scheduler->check(executor->pool) : NULL;
    if (broken != NULL)
        check_broken("at rest the scheduler's own check says: %s", broken);
}
