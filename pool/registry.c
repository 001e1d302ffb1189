/* SPDX-License-Identifier: MIT
 *
 * The registry: names to tables. The lists are those of schedulers/meson.build and pool/meson.build, which generate
 * registry.inc; a name whose file lacks its table is a link error. A table is found by the name in the list; whether it
 * is complete and carries that name is asked when it is to be used (registry_fault).
 */
#include <string.h>

#include "pool.h"

#define REGISTRY_SCHEDULER(stem, name, hidden, specimen) extern const struct scheduler scheduler_##stem;
#define REGISTRY_IDLE(stem, name, hidden, specimen)      extern const struct idle_policy idle_##stem;
#define REGISTRY_SIZING(stem, name, hidden, specimen)    extern const struct sizing_policy sizing_##stem;
#define REGISTRY_BOUND(stem, name, hidden, specimen)     extern const struct bound bound_##stem;
#include "registry.inc"
#undef REGISTRY_SCHEDULER
#undef REGISTRY_IDLE
#undef REGISTRY_SIZING
#undef REGISTRY_BOUND

struct row {
    enum pilfer_kind kind;
    const char *name; /* in the list */
    bool hidden, specimen;
    const void *table;
};

static const struct row rows[] = {
#define REGISTRY_SCHEDULER(stem, name, hidden, specimen) \
    {PILFER_KIND_SCHEDULER, name, hidden, specimen, &scheduler_##stem},
#define REGISTRY_IDLE(stem, name, hidden, specimen)   {PILFER_KIND_IDLE, name, hidden, specimen, &idle_##stem},
#define REGISTRY_SIZING(stem, name, hidden, specimen) {PILFER_KIND_SIZING, name, hidden, specimen, &sizing_##stem},
#define REGISTRY_BOUND(stem, name, hidden, specimen)  {PILFER_KIND_BOUND, name, hidden, specimen, &bound_##stem},
#include "registry.inc"
};
enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

static const void *find(enum pilfer_kind kind, const char *name)
{
    for (uint32_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].kind == kind && strcmp(rows[i].name, name) == 0)
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

#define REQUIRE(table, callback)   \
    if ((table)->callback == NULL) \
    return "callback " #callback " is missing"

static const char *scheduler_fault(const struct scheduler *scheduler)
{
    REQUIRE(scheduler, submit);
    REQUIRE(scheduler, next);
    REQUIRE(scheduler, pending);
    REQUIRE(scheduler, drain);
    if (scheduler->idle == NULL || registry_idle(scheduler->idle) == NULL)
        return "its idle policy does not exist";
    if (scheduler->sizing == NULL || registry_sizing(scheduler->sizing) == NULL)
        return "its sizing policy does not exist";
    return NULL;
}

static const char *idle_fault(const struct idle_policy *idle)
{
    REQUIRE(idle, submitted);
    REQUIRE(idle, dispatch_begin);
    REQUIRE(idle, got_first);
    REQUIRE(idle, found_nothing);
    REQUIRE(idle, wait);
    REQUIRE(idle, release);
    REQUIRE(idle, stop);
    return NULL;
}

static const char *sizing_fault(const struct sizing_policy *sizing)
{
    REQUIRE(sizing, limits);
    REQUIRE(sizing, init);
    return NULL;
}

static const char *bound_fault(const struct bound *bound)
{
    REQUIRE(bound, submit);
    REQUIRE(bound, drain);
    REQUIRE(bound, busy);
    return NULL;
}

static const char *table_fault(const struct row *row)
{
    const char *const *table_name = row->table; /* every table begins with its name */
    if (*table_name == NULL || strcmp(*table_name, row->name) != 0)
        return "its table has another name than the list";
    switch (row->kind) {
    case PILFER_KIND_SCHEDULER:
        return scheduler_fault(row->table);
    case PILFER_KIND_IDLE:
        return idle_fault(row->table);
    case PILFER_KIND_SIZING:
        return sizing_fault(row->table);
    case PILFER_KIND_BOUND:
        return bound_fault(row->table);
    }
    return NULL;
}

const char *registry_fault(enum pilfer_kind kind, const char *name)
{
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].kind == kind && strcmp(rows[i].name, name) == 0)
            return table_fault(&rows[i]);
    }
    return "it is not in the list";
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
        *out = (struct pilfer_entry){.name = row->name, .hidden = row->hidden, .specimen = row->specimen};
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
            const struct sizing_policy *sizing = row->table;
            out->summary = sizing->summary;
            out->knobs = sizing->set_minimum != NULL ? PILFER_KNOB_LIMITS : 0;
        }
        return true;
    }
    return false;
}

bool pilfer_tunable(const char *name, uint32_t index, struct pilfer_tunable *out)
{
    const struct scheduler *scheduler = registry_scheduler(name);
    const struct scheduler_parameter *p = scheduler != NULL ? scheduler->parameters : NULL;
    for (uint32_t i = 0; p != NULL && p->name != NULL; i++, p++) {
        if (i == index) {
            *out = (struct pilfer_tunable){p->name, p->help, p->minimum, p->maximum, p->initial};
            return true;
        }
    }
    return false;
}
