/* SPDX-License-Identifier: MIT
 *
 * Outside threads that submit small tasks in a pattern; see in_process.h.
 *
 * Labels.
 *   @P in_process.1  a task's end: its time is written before its state says done
 *   @P in_process.2  the window's end is written before its start says that it is set
 *   @P in_process.3  a submitter that has finished writes nothing more
 */
#include "in_process.h"

#include "platform.h"

#include <errno.h>
#include <string.h>

/* Trickle tasks that may be on their way at once: a ring that is reused in order. */
#define SLOTS 1024
/* How often a stopped trickle looks whether its last tasks have ended. */
#define HARVEST_EVERY_NS 1000000

enum slot_state { SLOT_FREE, SLOT_SENT, SLOT_DONE };

enum count { COUNT_SENT, COUNT_ANSWERED, COUNT_FAILED, COUNT_ARRIVALS, COUNT_REQUESTS, COUNT_SUBMITTED, COUNT_KINDS };

struct submitter;

/* One task. All fields but state belong to the submitter while it is free or done, to the task while it is sent. */
struct slot {
    struct pilfer_task task;
    struct submitter *submitter;
    struct shared_u32
        state;           /* enum slot_state; submitter writes sent and free, the task writes done; @P in_process.1 */
    uint32_t links_left; /* chain */
    uint64_t intended_ns, done_ns;
};

/* What one thread needs, on lines of its own. */
struct submitter {
    _Alignas(CACHE_LINE_SIZE) struct in_process *run;
    struct platform_thread *thread;
    struct slot *slots;
    uint32_t slot_count;
    struct pilfer_latch latch;
    struct shared_u64 counters[COUNT_KINDS]; /* written by the submitter, read by in_process_stop; plain counters */
    struct shared_u32 finished;              /* written once by the submitter; @P in_process.3 */
    struct histogram latencies;
};

struct in_process {
    struct pilfer_executor *executor;
    struct in_process_options options;
    const struct pattern *pattern;
    struct shared_u32 stop;             /* written once by in_process_stop, read by submitters; publishes nothing */
    struct shared_u32 finished;         /* how many submitters have; woken on each; re-checked in each of them */
    struct shared_u64 start_ns, end_ns; /* written by in_process_window, read by submitters; @P in_process.2 */
    uint32_t started;
    struct submitter submitters[];
};

struct pattern {
    const char *name;
    bool latency;
    void (*run_task)(struct pilfer_task *task);
    void (*drive)(struct submitter *submitter);
};

static struct slot *slot_of(struct pilfer_task *task)
{
    return (struct slot *)((char *)task - offsetof(struct slot, task));
}

static bool is_stopped(const struct in_process *run)
{
    return shared_u32_load_relaxed(&run->stop) != 0; /* single writer; nothing else is read on its account */
}

static bool in_window(const struct in_process *run, uint64_t at_ns)
{
    /* @P in_process.2: a start that is set tells that the end is set too */
    uint64_t start_ns = shared_u64_load_acquire(&run->start_ns);
    return start_ns != 0 && at_ns >= start_ns &&
           at_ns < shared_u64_load_relaxed(&run->end_ns); /* ordered by @P in_process.2 */
}

/* Blocks until the time has come or the run stops. */
static void sleep_until(struct in_process *run, uint64_t deadline_ns)
{
    pilfer_guest_polls();
    while (!is_stopped(run) && platform_now_ns() < deadline_ns)
        platform_park(&run->stop, 0, deadline_ns);
    pilfer_guest_runs();
}

static void count(struct submitter *submitter, enum count kind, uint64_t amount)
{
    counter_add(&submitter->counters[kind], amount);
}

static bool send(struct submitter *submitter, struct slot *slot)
{
    count(submitter, COUNT_SENT, 1);
    bool accepted = pilfer_submit(submitter->run->executor, &slot->task, PILFER_PLACEMENT_DEFAULT) == 0;
    count(submitter, accepted ? COUNT_SUBMITTED : COUNT_FAILED, 1);
    return accepted;
}

/* ---- trickle ---- */

static void trickle_run(struct pilfer_task *task)
{
    struct slot *slot = slot_of(task);
    platform_charge(slot->submitter->run->options.task_ns);
    slot->done_ns = platform_now_ns();
    shared_u32_store_release(&slot->state, SLOT_DONE); /* @P in_process.1: done_ns is written */
}

/* Takes a task's end in; false if it is still on its way. */
static bool trickle_harvest(struct submitter *submitter, struct slot *slot)
{
    uint32_t state = shared_u32_load_acquire(&slot->state); /* @P in_process.1: done_ns may be read */
    if (state == SLOT_SENT)
        return false;
    if (state == SLOT_DONE) {
        count(submitter, COUNT_ANSWERED, 1);
        if (in_window(submitter->run, slot->intended_ns)) {
            count(submitter, COUNT_REQUESTS, 1);
            histogram_record(&submitter->latencies, slot->done_ns - slot->intended_ns);
        }
        shared_u32_store_relaxed(&slot->state, SLOT_FREE); /* single writer: the task has ended */
    }
    return true;
}

static void trickle_send(struct submitter *submitter, struct slot *slot, uint64_t intended_ns)
{
    count(submitter, COUNT_ARRIVALS, in_window(submitter->run, intended_ns));
    if (!trickle_harvest(submitter, slot)) { /* the ring is full of tasks that have not ended */
        count(submitter, COUNT_SENT, 1);
        count(submitter, COUNT_FAILED, 1);
        return;
    }
    slot->intended_ns = intended_ns;
    shared_u32_store_relaxed(&slot->state, SLOT_SENT); /* single writer until the submit publishes the task */
    if (!send(submitter, slot))
        shared_u32_store_relaxed(&slot->state, SLOT_FREE); /* single writer: refused, the task is still ours */
}

static void trickle_drive(struct submitter *submitter)
{
    struct in_process *run = submitter->run;
    uint64_t intended_ns = platform_now_ns();
    for (uint32_t next = 0; !is_stopped(run); next = (next + 1) % submitter->slot_count) {
        if (platform_now_ns() < intended_ns)
            sleep_until(run, intended_ns);
        if (is_stopped(run))
            break;
        trickle_send(submitter, &submitter->slots[next], intended_ns);
        intended_ns += run->options.period_ns;
    }
    for (uint32_t i = 0; i < submitter->slot_count; i++) {
        while (!trickle_harvest(submitter, &submitter->slots[i]))
            platform_park(&run->stop, 1, platform_now_ns() + HARVEST_EVERY_NS);
    }
}

/* ---- the awaited ones ---- */

static void latched_run(struct pilfer_task *task)
{
    struct submitter *submitter = slot_of(task)->submitter;
    if (submitter->run->options.task_ns > 0)
        platform_charge(submitter->run->options.task_ns);
    pilfer_latch_arrive(&submitter->latch);
}

static void chain_run(struct pilfer_task *task)
{
    struct slot *slot = slot_of(task);
    struct submitter *submitter = slot->submitter;
    platform_charge(submitter->run->options.task_ns);
    slot->links_left--;
    /* A refused link ends the chain; the submitter sees it by links_left. */
    if (slot->links_left == 0 || pilfer_submit(submitter->run->executor, task, PILFER_PLACEMENT_DEFAULT) != 0)
        pilfer_latch_arrive(&submitter->latch);
}

static void await(struct submitter *submitter)
{
    pilfer_guest_polls();
    pilfer_wait(submitter->run->executor, &submitter->latch); /* from outside: cannot fail */
    pilfer_guest_runs();
}

/* Submits the first slots and waits for all of them; returns how many were run. */
static uint32_t round_of(struct submitter *submitter, uint32_t tasks)
{
    uint32_t refused = 0;
    pilfer_latch_init(&submitter->latch, tasks);
    for (uint32_t i = 0; i < tasks; i++) {
        if (!send(submitter, &submitter->slots[i])) {
            refused++;
            pilfer_latch_arrive(&submitter->latch);
        }
    }
    await(submitter);
    count(submitter, COUNT_ANSWERED, tasks - refused);
    return tasks - refused;
}

/* Returns whether they are of the window: asked once, since it may open meanwhile. */
static bool count_requests(struct submitter *submitter, uint64_t requests)
{
    if (!in_window(submitter->run, platform_now_ns()))
        return false;
    count(submitter, COUNT_ARRIVALS, requests);
    count(submitter, COUNT_REQUESTS, requests);
    return true;
}

static void burst_drive(struct submitter *submitter)
{
    struct in_process *run = submitter->run;
    while (!is_stopped(run)) {
        count_requests(submitter, round_of(submitter, run->options.tasks) > 0);
        sleep_until(run, platform_now_ns() + run->options.gap_ns);
    }
}

static void spawn_drive(struct submitter *submitter)
{
    while (!is_stopped(submitter->run))
        count_requests(submitter, round_of(submitter, submitter->run->options.tasks));
}

static void ping_drive(struct submitter *submitter)
{
    while (!is_stopped(submitter->run)) {
        uint64_t sent_ns = platform_now_ns();
        uint32_t answered = round_of(submitter, 1);
        uint64_t done_ns = platform_now_ns();
        if (count_requests(submitter, answered) && answered == 1)
            histogram_record(&submitter->latencies, done_ns - sent_ns);
    }
}

static void chain_drive(struct submitter *submitter)
{
    struct in_process *run = submitter->run;
    struct slot *slot = &submitter->slots[0];
    while (!is_stopped(run)) {
        pilfer_latch_init(&submitter->latch, 1);
        slot->links_left = run->options.chain_length;
        if (!send(submitter, slot))
            continue;
        await(submitter);
        /* Links beyond the first were submitted by tasks: counted here, where only this thread writes. */
        uint32_t done = run->options.chain_length - slot->links_left;
        bool broken = slot->links_left > 0;
        count(submitter, COUNT_SENT, done - 1 + broken);
        count(submitter, COUNT_SUBMITTED, done - 1);
        count(submitter, COUNT_ANSWERED, done);
        count(submitter, COUNT_FAILED, broken);
        count_requests(submitter, done);
    }
}

static const struct pattern patterns[] = {
    {"trickle", true, trickle_run, trickle_drive}, {"burst", false, latched_run, burst_drive},
    {"chain", false, chain_run, chain_drive},      {"spawn", false, latched_run, spawn_drive},
    {"ping", true, latched_run, ping_drive},
};

static const struct pattern *find_pattern(const char *workload)
{
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        if (strcmp(patterns[i].name, workload) == 0)
            return &patterns[i];
    }
    return NULL;
}

bool in_process_is(const char *workload)
{
    return find_pattern(workload) != NULL;
}

bool in_process_has_latency(const char *workload)
{
    const struct pattern *pattern = find_pattern(workload);
    return pattern != NULL && pattern->latency;
}

static void submitter_main(void *argument)
{
    struct submitter *submitter = argument;
    struct in_process *run = submitter->run;
    /* Without memory for a record the run still counts; its CPU is then unaccounted, which the cell reports. */
    bool attached = pilfer_attach(run->executor, "submitter") == 0;
    run->pattern->drive(submitter);
    if (attached)
        pilfer_detach(run->executor);
    shared_u32_store_release(&submitter->finished, 1); /* @P in_process.3: counters and latencies are final */
    shared_u32_add_relaxed(&run->finished, 1);         /* counter only: says that something changed */
    platform_wake(&run->finished, 1);
}

static uint32_t slots_needed(const struct in_process_options *options)
{
    if (strcmp(options->workload, "trickle") == 0)
        return SLOTS;
    bool many = strcmp(options->workload, "burst") == 0 || strcmp(options->workload, "spawn") == 0;
    return many ? options->tasks : 1;
}

static bool prepare(struct in_process *run, struct submitter *submitter)
{
    submitter->run = run;
    submitter->slot_count = slots_needed(&run->options);
    submitter->slots = platform_alloc(submitter->slot_count * sizeof *submitter->slots);
    if (submitter->slots == NULL)
        return false;
    for (uint32_t i = 0; i < submitter->slot_count; i++) {
        submitter->slots[i].submitter = submitter;
        submitter->slots[i].task.run = run->pattern->run_task;
    }
    histogram_init(&submitter->latencies);
    return true;
}

static void release(struct in_process *run)
{
    for (uint32_t i = 0; i < run->options.submitters; i++)
        platform_free(run->submitters[i].slots);
    platform_free(run);
}

static bool has_finished(const struct submitter *submitter)
{
    return shared_u32_load_acquire(&submitter->finished) != 0; /* @P in_process.3: its latencies may be read */
}

/* True when every submitter has ended; false when one is still waiting for a task at the deadline. */
static bool stop_submitters(struct in_process *run, uint64_t deadline_ns)
{
    shared_u32_store_relaxed(&run->stop, 1); /* single writer; publishes nothing */
    platform_wake(&run->stop, IN_PROCESS_SUBMITTERS_MAX);
    for (;;) {
        uint32_t finished = shared_u32_load_relaxed(&run->finished); /* counter only */
        if (finished >= run->started)
            break;
        if (platform_park(&run->finished, finished, deadline_ns) == -ETIMEDOUT)
            return false;
    }
    for (uint32_t i = 0; i < run->started; i++)
        platform_thread_join(run->submitters[i].thread);
    return true;
}

static bool is_sound(const struct in_process_options *options)
{
    return in_process_is(options->workload) && options->submitters >= 1 &&
           options->submitters <= IN_PROCESS_SUBMITTERS_MAX && options->tasks >= 1 && options->chain_length >= 1 &&
           options->period_ns >= 1;
}

int in_process_start(struct pilfer_executor *executor, const struct in_process_options *options,
                     struct in_process **out)
{
    if (!is_sound(options))
        return -EINVAL;
    struct in_process *run = platform_alloc(sizeof *run + options->submitters * sizeof run->submitters[0]);
    if (run == NULL)
        return -ENOMEM;
    run->executor = executor;
    run->options = *options;
    run->pattern = find_pattern(options->workload);
    run->options.workload = run->pattern->name;
    if (strcmp(options->workload, "spawn") == 0 || strcmp(options->workload, "ping") == 0)
        run->options.task_ns = 0;
    int error = 0;
    for (uint32_t i = 0; i < options->submitters && error == 0; i++)
        error = prepare(run, &run->submitters[i]) ? 0 : -ENOMEM;
    while (error == 0 && run->started < options->submitters) {
        struct submitter *submitter = &run->submitters[run->started];
        error = platform_thread_start(&submitter->thread, "submitter", submitter_main, submitter);
        run->started += error == 0;
    }
    if (error != 0) {
        stop_submitters(run, PLATFORM_FOREVER);
        release(run);
        return error;
    }
    *out = run;
    return 0;
}

void in_process_window(struct in_process *run, uint64_t start_ns, uint64_t end_ns)
{
    shared_u64_store_relaxed(&run->end_ns, end_ns);     /* ordered by @P in_process.2 */
    shared_u64_store_release(&run->start_ns, start_ns); /* @P in_process.2: end_ns is written */
}

static void add(struct in_process_counts *into, const struct submitter *from)
{
    into->sent += counter_read(&from->counters[COUNT_SENT]);
    into->answered += counter_read(&from->counters[COUNT_ANSWERED]);
    into->failed += counter_read(&from->counters[COUNT_FAILED]);
    into->arrivals += counter_read(&from->counters[COUNT_ARRIVALS]);
    into->requests += counter_read(&from->counters[COUNT_REQUESTS]);
    into->submitted += counter_read(&from->counters[COUNT_SUBMITTED]);
}

bool in_process_stop(struct in_process *run, uint64_t patience_ns, struct in_process_counts *counts,
                     struct histogram *latencies)
{
    bool whole = stop_submitters(run, platform_now_ns() + patience_ns);
    *counts = (struct in_process_counts){0};
    histogram_init(latencies);
    for (uint32_t i = 0; i < run->options.submitters; i++) {
        add(counts, &run->submitters[i]);
        if (has_finished(&run->submitters[i]))
            histogram_merge(latencies, &run->submitters[i].latencies);
    }
    counts->in_flight = counts->sent - counts->answered - counts->failed;
    if (whole)
        release(run);
    return whole;
}
