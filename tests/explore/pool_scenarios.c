/* SPDX-License-Identifier: MIT
 *
 * Scenarios of pool schedulers.
 */
#include "scenario.h"

struct job {
    struct pilfer_task task;
    struct pilfer_latch latch;
    int runs;
};

static void job_run(struct pilfer_task *task)
{
    struct job *job = (struct job *)task;
    job->runs++;
    pilfer_latch_arrive(&job->latch);
}

static void submit_one(const struct configuration *configuration)
{
    struct pilfer_options options = {.scheduler = configuration->scheduler,
                                     .over = configuration->over,
                                     .idle = configuration->idle,
                                     .sizing = configuration->sizing,
                                     .max_workers = 1};
    struct pilfer_executor *executor;
    char message[PILFER_MESSAGE_SIZE];
    if (pilfer_open(&options, &executor, message) != 0)
        explored_fail("S1", "cannot be opened: %s", message);
    struct job *job = platform_alloc(sizeof *job);
    job->task.run = job_run;
    pilfer_latch_init(&job->latch, 1);
    pilfer_submit(executor, &job->task, PILFER_PLACEMENT_DEFAULT);
    pilfer_wait(executor, &job->latch);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}

const struct scenario pool_scenarios[] = {
    {"submit-one", "one task, then silence: it runs", SCENARIO_SCHEDULER, NULL, submit_one, true},
};
const uint32_t pool_scenario_count = sizeof pool_scenarios / sizeof pool_scenarios[0];
