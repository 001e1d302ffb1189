/* SPDX-License-Identifier: MIT
 *
 * The registry: names to tables. The lists are those of schedulers/meson.build and pool/meson.build, which generate
 * registry.inc; a name whose file lacks its table is a link error.
 */
#include <string.h>

#include "pool.h"

#define REGISTRY_SCHEDULER(stem, hidden, specimen) extern const struct scheduler scheduler_##stem;
#define REGISTRY_IDLE(stem, hidden, specimen)      extern const struct idle_policy idle_##stem;
#define REGISTRY_SIZING(stem, hidden, specimen)    extern const struct sizing_policy sizing_##stem;
#define REGISTRY_BOUND(stem, hidden, specimen)     extern const struct bound bound_##stem;
#include "registry.inc"
#undef REGISTRY_SCHEDULER
#undef REGISTRY_IDLE
#undef REGISTRY_SIZING
#undef REGISTRY_BOUND

struct row {
    enum pilfer_kind kind;
    bool hidden, specimen;
    const void *table;
};

static const struct row rows[] = {
#define REGISTRY_SCHEDULER(stem, hidden, specimen) {PILFER_KIND_SCHEDULER, hidden, specimen, &scheduler_##stem},
#define REGISTRY_IDLE(stem, hidden, specimen)      {PILFER_KIND_IDLE, hidden, specimen, &idle_##stem},
#define REGISTRY_SIZING(stem, hidden, specimen)    {PILFER_KIND_SIZING, hidden, specimen, &sizing_##stem},
#define REGISTRY_BOUND(stem, hidden, specimen)     {PILFER_KIND_BOUND, hidden, specimen, &bound_##stem},
#include "registry.inc"
};
enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

/* Every table begins with its name. */
static const char *row_name(const struct row *row)
{
    return *(const char *const *)row->table;
}

static const void *find(enum pilfer_kind kind, const char *name)
{
    for (uint32_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].kind == kind && strcmp(row_name(&rows[i]), name) == 0)
            return rows[i].table;
    return NULL;
}

const struct scheduler *registry_scheduler(const char *name)
{
    return find(PILFER_KIND_SCHEDULER, name);
}

const struct bound *registry_bound(const char *name)
{
    return find(PILFER_KIND_BOUND, name);
}

const struct idle_policy *registry_idle(const char *name)
{
    return find(PILFER_KIND_IDLE, name);
}

const struct sizing_policy *registry_sizing(const char *name)
{
    return find(PILFER_KIND_SIZING, name);
}

static uint32_t scheduler_knobs(const struct scheduler *scheduler)
{
    if ((scheduler->caps & SCHEDULER_RUNS_IN_SUBMITTER) != 0)
        return 0;
    return PILFER_KNOB_WORKERS | PILFER_KNOB_SPIN |
           ((scheduler->caps & SCHEDULER_LIFO_SLOT) != 0 ? PILFER_KNOB_LIFO_SLOT : 0);
}

bool pilfer_entry(enum pilfer_kind kind, uint32_t index, struct pilfer_entry *out)
{
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        const struct row *row = &rows[i];
        if (row->kind != kind || index-- != 0)
            continue;
        *out = (struct pilfer_entry){.name = row_name(row), .hidden = row->hidden, .specimen = row->specimen};
        if (kind == PILFER_KIND_SCHEDULER) {
            const struct scheduler *scheduler = row->table;
            out->summary = scheduler->summary;
            out->knobs = scheduler_knobs(scheduler);
        } else if (kind == PILFER_KIND_BOUND) {
            out->summary = ((const struct bound *)row->table)->summary;
            out->knobs = PILFER_KNOB_WORKERS | PILFER_KNOB_SPIN | PILFER_KNOB_PARALLELISM;
        } else if (kind == PILFER_KIND_IDLE) {
            out->summary = ((const struct idle_policy *)row->table)->summary;
            out->knobs = ((const struct idle_policy *)row->table)->spins ? PILFER_KNOB_SPIN : 0;
        } else {
            out->summary = ((const struct sizing_policy *)row->table)->summary;
        }
        return true;
    }
    return false;
}
