/* SPDX-License-Identifier: MIT
 *
 * S10: no callback holds a lock while the core runs a task.
 *
 * Method. A task that does not end until other things have happened, so that a lock held around it is a deadlock, which
 * the watch sees: (1) a long task on one of two workers, while an outside thread submits and the other worker runs; (2)
 * a long task that submits by itself and waits for the other worker to run it; (3) tasks that submit a task and wait
 * for it, on one worker, which must run the awaited one from inside; (4) a task that opens an executor of the same kind
 * and uses it.
 */
#include "invariants.h"

#include "inside.h"
#include "load.h"

#define OTHERS 200

struct long_task {
    struct pilfer_task task;
    struct pilfer_executor *executor;
    const struct subject *subject;
    struct load others;
    struct shared_u32 started; /* written by the task, read by the test; @P no_lock.1 */
    struct pilfer_latch done;
};

static bool others_are_done(void *context)
{
    struct long_task *self = context;
    return shared_u32_load_acquire(&self->others.latch.remaining) == 0; /* @P pool.latch: every run of the others */
}

static bool has_started(void *context)
{
    struct long_task *self = context;
    return shared_u32_load_acquire(&self->started) != 0; /* @P no_lock.1: the task is being run */
}

static void run_until_others_are_done(struct pilfer_task *task)
{
    struct long_task *self = (struct long_task *)task;
    shared_u32_store_release(&self->started, 1); /* @P no_lock.1: nothing but the word itself */
    check_until(others_are_done, self);
    pilfer_latch_arrive(&self->done);
}

static void submit_and_run_until_others_are_done(struct pilfer_task *task)
{
    struct long_task *self = (struct long_task *)task;
    load_start(&self->others);
    run_until_others_are_done(task);
}

static void submit_and_wait(struct pilfer_task *task)
{
    struct long_task *self = (struct long_task *)task;
    load_start(&self->others);
    load_wait(&self->others);
    pilfer_latch_arrive(&self->done);
}

static void open_another(struct pilfer_task *task)
{
    struct long_task *self = (struct long_task *)task;
    struct pilfer_executor *inner = load_open(self->subject, inside_workers(self->subject, 2), 0, 0);
    load_run(inner, LOAD_FAN_OUT, OTHERS, self->subject->seed);
    pilfer_close(inner, PILFER_CLOSE_RUN, NULL);
    pilfer_latch_arrive(&self->done);
}

/* Runs one long task; outside: the calling thread submits the others once it has started. */
static void run_long(const struct subject *subject, uint32_t workers, void (*run)(struct pilfer_task *task),
                     bool outside)
{
    struct long_task self = {.task.run = run, .subject = subject};
    self.executor = load_open(subject, inside_workers(subject, workers), 0, 0);
    load_init(&self.others, self.executor, LOAD_CHAINS, OTHERS, subject->seed);
    pilfer_latch_init(&self.done, 1);
    if (pilfer_submit(self.executor, &self.task, PILFER_PLACEMENT_DEFAULT) != 0)
        check_broken("a submit to an idle executor was refused");
    if (outside) {
        check_until(has_started, &self);
        load_start(&self.others);
    }
    pilfer_wait(self.executor, &self.done);
    if (run != open_another)
        load_verify(&self.others);
    load_free(&self.others);
    pilfer_close(self.executor, PILFER_CLOSE_RUN, NULL);
}

void check_no_lock(const struct subject *subject)
{
    for (uint32_t round = 0; round < 10; round++) {
        if (!inside_runs_in_submitter(subject)) {
            check_trying("a task that runs on one of 2 workers until tasks submitted from outside are done");
            run_long(subject, 2, run_until_others_are_done, true);
            if (!inside_has_private_slot(subject)) {
                check_trying("a task that submits and runs on until another worker has run what it submitted");
                run_long(subject, 2, submit_and_run_until_others_are_done, false);
            }
        }
        for (uint32_t workers = 1; workers <= 2; workers++) {
            check_trying("a task that submits and waits, on %u workers", workers);
            run_long(subject, workers, submit_and_wait, false);
            check_trying("a task that opens an executor of the same kind and uses it, on %u workers", workers);
            run_long(subject, workers, open_another, false);
        }
    }
}
