/* SPDX-License-Identifier: MIT
 *
 * `pilfer list`: what there is to choose from, one item a line, its name first.
 */
#include "verbs.h"

#include "pilfer.h"
#include "runner/specification.h"

#include <stdio.h>
#include <string.h>

static void print_item(const char *indent, const char *name, const char *summary)
{
    printf("%s%-28s %s\n", indent, name, summary);
}

static void print_entries(enum pilfer_kind kind, const char *indent)
{
    struct pilfer_entry entry;
    for (uint32_t i = 0; pilfer_entry(kind, i, &entry); i++) {
        if (!entry.hidden)
            print_item(indent, entry.name, entry.summary);
    }
}

static void print_schedulers(const char *indent)
{
    print_entries(PILFER_KIND_SCHEDULER, indent);
}

static void print_bounds(const char *indent)
{
    print_entries(PILFER_KIND_BOUND, indent);
}

static void print_idle(const char *indent)
{
    print_entries(PILFER_KIND_IDLE, indent);
}

static void print_sizing(const char *indent)
{
    print_entries(PILFER_KIND_SIZING, indent);
}

/* The choices of a parameter, e.g. of "workload". */
static void print_choices(const char *key, const char *indent)
{
    int index = parameter_find(key);
    struct parameter_choice choice;
    for (uint32_t i = 0; index >= 0 && parameter_choice_at(&parameters[index], i, &choice); i++) {
        if (!choice.hidden)
            print_item(indent, choice.name, choice.summary);
    }
}

static void print_workloads(const char *indent)
{
    print_choices("workload", indent);
}

static void print_targets(const char *indent)
{
    print_choices("target", indent);
}

static void print_sweeps(const char *indent)
{
    const struct builtin_sweep *sweep;
    for (uint32_t i = 0; (sweep = builtin_sweep(i)) != NULL; i++)
        print_item(indent, sweep->name, sweep->description);
}

static const struct {
    const char *name, *title;
    void (*print)(const char *indent);
} lists[] = {
    {"schedulers", "Schedulers: where a task goes and who takes it (--scheduler)", print_schedulers},
    {"bounds", "Bounds: how many items run at once on another executor (--scheduler, with --over)", print_bounds},
    {"idle", "Idle policies: whom a submit wakes, how a worker waits (--idle)", print_idle},
    {"sizing", "Sizing policies: how many workers may be engaged (--sizing)", print_sizing},
    {"workloads", "Workloads: what runs on the executor (--workload)", print_workloads},
    {"sweeps", "Built-in sweeps (pilfer sweep NAME)", print_sweeps},
    {"targets", "Targets: foreign servers measured in place of the model (--target)", print_targets},
};
#define LIST_COUNT (sizeof lists / sizeof lists[0])

void words_lists(struct words *words)
{
    for (size_t i = 0; i < LIST_COUNT; i++)
        words_add(words, lists[i].name);
}

void words_executors(struct words *words)
{
    const enum pilfer_kind kinds[] = {PILFER_KIND_SCHEDULER, PILFER_KIND_BOUND};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        struct pilfer_entry entry;
        for (uint32_t i = 0; pilfer_entry(kinds[k], i, &entry); i++)
            words_add(words, entry.name);
    }
}

int verb_list(const struct invocation *invocation)
{
    const char *which = invocation->argument_count > 0 ? invocation->arguments[0] : NULL;
    for (size_t i = 0; i < LIST_COUNT; i++) {
        if (which == NULL)
            printf("%s%s\n", i > 0 ? "\n" : "", lists[i].title);
        if (which == NULL || strcmp(lists[i].name, which) == 0)
            lists[i].print(which == NULL ? "  " : "");
    }
    return EXIT_DONE;
}
