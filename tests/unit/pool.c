/* SPDX-License-Identifier: MIT
 *
 * The public API of the pool library (pool/pilfer.h): what each function promises to its caller.
 *
 * Method. libcheck, each test in a child with a time limit; every scheduler that is listed, where the promise is one of
 * all executors. Nothing sleeps: a test waits on latches, which the executor must bring to zero.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../held.h"
#include "account.h"
#include "pilfer.h"

#define TIMEOUT_S 60

static const char *const schedulers[] = {"skeleton", "inline", "global-queue", "chase-lev", "fixed-concurrency"};
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static struct pilfer_executor *open_executor(const char *name, uint32_t workers)
{
    const struct pilfer_options options = {.scheduler = name, .max_workers = workers, .parallelism = 4};
    struct pilfer_executor *executor = NULL;
    char message[PILFER_MESSAGE_SIZE] = "";
    ck_assert_msg(pilfer_open(&options, &executor, message) == 0, "%s: %s", name, message);
    return executor;
}

/* A task that counts its runs and arrives at a latch. */
struct counted {
    struct pilfer_task task;
    struct pilfer_latch *latch;
    struct shared_u32 runs, cancelled; /* written by workers or close; read after the latch or close */
};

static void run_counted(struct pilfer_task *task)
{
    struct counted *counted = (struct counted *)task;
    shared_u32_add_relaxed(&counted->runs, 1);
    if (counted->latch != NULL)
        pilfer_latch_arrive(counted->latch);
}

static void cancel_counted(struct pilfer_task *task)
{
    shared_u32_add_relaxed(&((struct counted *)task)->cancelled, 1);
}

static struct counted *counted_tasks(uint32_t count, struct pilfer_latch *latch)
{
    struct counted *tasks = calloc(count, sizeof(*tasks));
    ck_assert_ptr_nonnull(tasks);
    for (uint32_t i = 0; i < count; i++)
        tasks[i] = (struct counted){.task.run = run_counted, .latch = latch};
    return tasks;
}

/* ---- submitting ---- */

/* A task is run once, whatever the placement, and may be submitted again as soon as it has run. */
START_TEST(test_submit_again)
{
    struct pilfer_executor *executor = open_executor(schedulers[_i], 2);
    struct pilfer_latch latch;
    struct counted *task = counted_tasks(1, &latch);
    for (uint32_t round = 1; round <= 300; round++) {
        pilfer_latch_init(&latch, 1);
        ck_assert_int_eq(pilfer_submit(executor, &task->task, (enum pilfer_placement)(round % 3)), 0);
        ck_assert_int_eq(pilfer_wait(executor, &latch), 0);
        ck_assert_uint_eq(shared_u32_load_relaxed(&task->runs), round);
    }
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
    free(task);
}
END_TEST

/* A batch is taken from the front, in any length. */
START_TEST(test_submit_batch)
{
    static const uint32_t lengths[] = {1, 2, 7, 1000};
    struct pilfer_executor *executor = open_executor(schedulers[_i], 2);
    for (uint32_t i = 0; i < COUNT_OF(lengths); i++) {
        struct pilfer_latch latch;
        struct counted *tasks = counted_tasks(lengths[i], &latch);
        for (uint32_t j = 0; j + 1 < lengths[i]; j++)
            tasks[j].task.next = &tasks[j + 1].task;
        pilfer_latch_init(&latch, lengths[i]);
        ck_assert_int_eq(pilfer_submit_batch(executor, &tasks[0].task, lengths[i], PILFER_PLACEMENT_DEFAULT),
                         (int)lengths[i]);
        ck_assert_int_eq(pilfer_wait(executor, &latch), 0);
        for (uint32_t j = 0; j < lengths[i]; j++)
            ck_assert_uint_eq(shared_u32_load_relaxed(&tasks[j].runs), 1);
        free(tasks);
    }
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

/* A task's memory is the task's own: it may free itself in its run function. */
struct freed {
    struct pilfer_task task;
    struct pilfer_latch *latch;
};

static void free_itself(struct pilfer_task *task)
{
    struct freed *freed = (struct freed *)task;
    struct pilfer_latch *latch = freed->latch;
    memset(freed, 0xA5, sizeof(*freed));
    free(freed);
    pilfer_latch_arrive(latch);
}

START_TEST(test_task_frees_itself)
{
    enum { TASKS = 2000 };
    struct pilfer_executor *executor = open_executor(schedulers[_i], 3);
    struct pilfer_latch latch;
    pilfer_latch_init(&latch, TASKS);
    for (uint32_t i = 0; i < TASKS; i++) {
        struct freed *freed = calloc(1, sizeof(*freed));
        *freed = (struct freed){.task.run = free_itself, .latch = &latch};
        ck_assert_int_eq(pilfer_submit(executor, &freed->task, PILFER_PLACEMENT_DEFAULT), 0);
    }
    ck_assert_int_eq(pilfer_wait(executor, &latch), 0);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

/* PILFER_CLOSE_RUN runs what is queued; PILFER_CLOSE_DROP runs or gives back each task, never both, with or without a
 * function to tell it to. */
START_TEST(test_close)
{
    enum { TASKS = 1000 };
    for (uint32_t how = PILFER_CLOSE_RUN; how <= PILFER_CLOSE_DROP; how++)
        for (uint32_t told = 0; told <= 1; told++) {
            struct pilfer_executor *executor = open_executor(schedulers[_i], 2);
            struct counted *tasks = counted_tasks(TASKS, NULL);
            for (uint32_t i = 0; i < TASKS; i++)
                ck_assert_int_eq(pilfer_submit(executor, &tasks[i].task, PILFER_PLACEMENT_DEFAULT), 0);
            pilfer_close(executor, (enum pilfer_close)how, told ? cancel_counted : NULL);
            for (uint32_t i = 0; i < TASKS; i++) {
                const uint32_t runs = shared_u32_load_relaxed(&tasks[i].runs),
                               cancelled = shared_u32_load_relaxed(&tasks[i].cancelled);
                ck_assert_uint_le(runs + cancelled, 1);
                if (how == PILFER_CLOSE_RUN)
                    ck_assert_uint_eq(runs, 1);
                else if (told)
                    ck_assert_uint_eq(runs + cancelled, 1);
            }
            free(tasks);
        }
}
END_TEST

/* A submit while the executor is stopped is refused with -ESHUTDOWN, and the task is still the caller's. The attached
 * submitter is refused from outside; the task that keeps the executor from ending is refused from inside. What was
 * accepted before is run, or run or given back. */
struct stopping {
    struct pilfer_task task; /* keeps the executor from ending until the submitter has been refused */
    struct pilfer_executor *executor;
    struct shared_u32 runs, refused; /* @P test.stopping */
    int inside;                      /* what a submit from inside answered at last */
    struct submitted *last;          /* the submitter's newest; read after close */
};

struct submitted {
    struct counted counted;
    struct submitted *previous;
    bool accepted;
};

static void keep_open(struct pilfer_task *task)
{
    struct stopping *stopping = (struct stopping *)task;
    shared_u32_store_release(&stopping->runs, 1);
    while (shared_u32_load_acquire(&stopping->refused) ==
           0) /* @P test.stopping: the submitter's last submit returned */
        platform_yield();
    struct pilfer_latch latch;
    struct counted inside = {.task.run = run_counted, .latch = &latch};
    pilfer_latch_init(&latch, 1);
    stopping->inside = pilfer_submit(stopping->executor, &inside.task, PILFER_PLACEMENT_DEFAULT);
    if (stopping->inside == 0)
        pilfer_wait(stopping->executor, &latch);
}

/* Waits for no task: one that is given back would never arrive. */
static void submit_until_refused(void *argument)
{
    struct stopping *stopping = argument;
    ck_assert_int_eq(pilfer_attach(stopping->executor, "submitter"), 0);
    for (int status = 0; status == 0;) {
        struct submitted *submitted = calloc(1, sizeof(*submitted));
        ck_assert_ptr_nonnull(submitted);
        *submitted = (struct submitted){.counted.task.run = run_counted, .previous = stopping->last};
        stopping->last = submitted;
        status = pilfer_submit(stopping->executor, &submitted->counted.task, PILFER_PLACEMENT_DEFAULT);
        ck_assert(status == 0 || status == -ESHUTDOWN);
        submitted->accepted = status == 0;
        platform_yield();
    }
    pilfer_detach(stopping->executor);
    shared_u32_store_release(&stopping->refused, 1); /* @P test.stopping */
}

START_TEST(test_submit_while_stopping)
{
    for (uint32_t how = PILFER_CLOSE_RUN; how <= PILFER_CLOSE_DROP; how++) {
        struct stopping stopping = {.task.run = keep_open};
        struct platform_thread *thread;
        stopping.executor = open_executor("chase-lev", 2);
        ck_assert_int_eq(pilfer_submit(stopping.executor, &stopping.task, PILFER_PLACEMENT_DEFAULT), 0);
        ck_assert_int_eq(platform_thread_start(&thread, "submitter", submit_until_refused, &stopping), 0);
        while (shared_u32_load_acquire(&stopping.runs) == 0)
            platform_yield();
        pilfer_close(stopping.executor, (enum pilfer_close)how, cancel_counted);
        platform_thread_join(thread);
        /* What runs may still submit while the rest is run, and not when it is dropped. */
        ck_assert_int_eq(stopping.inside, how == PILFER_CLOSE_RUN ? 0 : -ESHUTDOWN);
        for (struct submitted *submitted = stopping.last, *previous; submitted != NULL; submitted = previous) {
            const uint32_t runs = shared_u32_load_relaxed(&submitted->counted.runs),
                           cancelled = shared_u32_load_relaxed(&submitted->counted.cancelled);
            previous = submitted->previous;
            ck_assert_uint_eq(runs + cancelled, submitted->accepted);
            ck_assert(how == PILFER_CLOSE_DROP || cancelled == 0);
            free(submitted);
        }
    }
}
END_TEST

/* ---- waiting ---- */

/* A latch at zero is no wait, from anywhere; its memory may go as soon as the wait has returned. */
START_TEST(test_latch)
{
    struct pilfer_executor *executor = open_executor(schedulers[_i], 2);
    for (uint32_t round = 0; round < 500; round++) {
        struct pilfer_latch *latch = malloc(sizeof(*latch));
        struct counted *tasks = counted_tasks(3, latch);
        pilfer_latch_init(latch, 0);
        ck_assert_int_eq(pilfer_wait(executor, latch), 0);
        pilfer_latch_init(latch, 3);
        for (uint32_t i = 0; i < 3; i++)
            ck_assert_int_eq(pilfer_submit(executor, &tasks[i].task, PILFER_PLACEMENT_DEFAULT), 0);
        ck_assert_int_eq(pilfer_wait(executor, latch), 0);
        memset(latch, 0xA5, sizeof(*latch));
        free(latch);
        free(tasks);
    }
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

/* Each level submits the next one and waits for it. */
struct nested {
    struct pilfer_task task;
    struct pilfer_executor *executor;
    struct nested *below; /* NULL: the innermost */
    struct pilfer_latch latch;
    int status; /* of the wait */
};

static void submit_below_and_wait(struct pilfer_task *task)
{
    struct nested *self = (struct nested *)task;
    if (self->below != NULL) {
        ck_assert_int_eq(pilfer_submit(self->executor, &self->below->task, PILFER_PLACEMENT_DEFAULT), 0);
        self->status = pilfer_wait(self->executor, &self->below->latch);
    }
    pilfer_latch_arrive(&self->latch);
}

/* Returns how many waits were refused with -EDEADLK; any other refusal fails the test. */
static uint32_t nest(const char *scheduler, uint32_t workers, uint32_t depth)
{
    struct pilfer_executor *executor = open_executor(scheduler, workers);
    struct nested *levels = calloc(depth, sizeof(*levels));
    uint32_t refused = 0;
    for (uint32_t i = 0; i < depth; i++) {
        levels[i] = (struct nested){.task.run = submit_below_and_wait, .executor = executor};
        levels[i].below = i + 1 < depth ? &levels[i + 1] : NULL;
        pilfer_latch_init(&levels[i].latch, 1);
    }
    ck_assert_int_eq(pilfer_submit(executor, &levels[0].task, PILFER_PLACEMENT_DEFAULT), 0);
    ck_assert_int_eq(pilfer_wait(executor, &levels[0].latch), 0);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL); /* a refused wait leaves its inner task behind: it runs now */
    for (uint32_t i = 0; i < depth; i++) {
        ck_assert_uint_eq(shared_u32_load_relaxed(&levels[i].latch.remaining), 0);
        ck_assert(levels[i].status == 0 || levels[i].status == -EDEADLK);
        refused += levels[i].status != 0;
    }
    free(levels);
    return refused;
}

/* One worker is enough for waits nested 1,000 deep: they help, and where that is too deep a substitute comes. */
START_TEST(test_wait_nested)
{
    static const char *const names[] = {"skeleton", "global-queue", "chase-lev"};
    ck_assert_uint_eq(nest(names[_i], 1, 1000), 0);
    ck_assert_uint_eq(nest(names[_i], 2, 1000), 0);
}
END_TEST

/* Deeper than helping and substitutes reach, a wait is refused: nothing hangs, nothing is lost, no stack overflows. */
START_TEST(test_wait_refused)
{
    ck_assert_uint_gt(nest("chase-lev", 1, (PILFER_SUBSTITUTES_MAX + 4) * (PILFER_HELP_DEPTH_MAX + 1)), 0);
}
END_TEST

/* Closing while tasks wait for tasks, deeper than one thread helps: whoever waits gets what it waits for, or its submit
 * was refused; close returns, in both manners. */
struct closing {
    struct pilfer_task task;
    struct pilfer_executor *executor;
    struct closing *below;
    struct pilfer_latch latch;
    struct shared_u32 *begun; /* levels that run; counter only */
    uint32_t accepted, runs;  /* of the level below; of this one */
};

static void submit_below_or_end(struct pilfer_task *task)
{
    struct closing *self = (struct closing *)task;
    self->runs++;
    shared_u32_add_relaxed(self->begun, 1);
    if (self->below != NULL) {
        const int status = pilfer_submit(self->executor, &self->below->task, PILFER_PLACEMENT_DEFAULT);
        ck_assert(status == 0 || status == -ESHUTDOWN);
        self->accepted = status == 0;
        if (status == 0)
            ck_assert_int_eq(pilfer_wait(self->executor, &self->below->latch), 0);
    }
    pilfer_latch_arrive(&self->latch);
}

START_TEST(test_close_while_waiting)
{
    enum { DEPTH = 3000, HEAD_START = 3 * PILFER_HELP_DEPTH_MAX };
    static const char *const names[] = {"skeleton", "global-queue", "chase-lev"};
    for (uint32_t round = 0; round < 20; round++) {
        struct pilfer_executor *executor = open_executor(names[_i], 1 + round % 3);
        struct closing *levels = calloc(DEPTH, sizeof(*levels));
        struct shared_u32 begun = {0};
        for (uint32_t i = 0; i < DEPTH; i++) {
            levels[i] = (struct closing){.task.run = submit_below_or_end, .executor = executor, .begun = &begun};
            levels[i].below = i + 1 < DEPTH ? &levels[i + 1] : NULL;
            pilfer_latch_init(&levels[i].latch, 1);
        }
        ck_assert_int_eq(pilfer_submit(executor, &levels[0].task, PILFER_PLACEMENT_DEFAULT), 0);
        while (shared_u32_load_relaxed(&begun) < HEAD_START)
            platform_yield();
        pilfer_close(executor, round % 2 == 0 ? PILFER_CLOSE_RUN : PILFER_CLOSE_DROP, NULL);
        ck_assert_uint_eq(levels[0].runs, 1);
        for (uint32_t i = 0; i + 1 < DEPTH; i++)
            ck_assert_uint_eq(levels[i].accepted, levels[i + 1].runs);
        free(levels);
    }
}
END_TEST

/* A task that waits for one submitted from outside later: its worker is replaced, so that the other one runs. */
struct handed {
    struct pilfer_task task;
    struct pilfer_executor *executor;
    struct pilfer_latch *awaited, *done;
    struct shared_u32 waits; /* @P test.handed */
};

static void wait_for_outside(struct pilfer_task *task)
{
    struct handed *self = (struct handed *)task;
    shared_u32_store_release(&self->waits, 1); /* @P test.handed: nothing but the word itself */
    ck_assert_int_eq(pilfer_wait(self->executor, self->awaited), 0);
    pilfer_latch_arrive(self->done);
}

START_TEST(test_wait_is_replaced)
{
    static const char *const names[] = {"skeleton", "global-queue", "chase-lev"};
    struct pilfer_executor *executor = open_executor(names[_i], 1);
    for (uint32_t round = 0; round < 200; round++) {
        struct pilfer_latch awaited, done;
        struct handed handed = {.task.run = wait_for_outside, .executor = executor, .awaited = &awaited, .done = &done};
        struct counted *task = counted_tasks(1, &awaited);
        pilfer_latch_init(&awaited, 1);
        pilfer_latch_init(&done, 1);
        ck_assert_int_eq(pilfer_submit(executor, &handed.task, PILFER_PLACEMENT_DEFAULT), 0);
        while (shared_u32_load_acquire(&handed.waits) == 0) /* @P test.handed */
            platform_yield();
        ck_assert_int_eq(pilfer_submit(executor, &task->task, PILFER_PLACEMENT_DEFAULT), 0);
        ck_assert_int_eq(pilfer_wait(executor, &done), 0);
        free(task);
    }
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

/* ---- guests ---- */

/* An attached thread has one record; attaching twice is refused; detaching is for the attached; counts stay. */
START_TEST(test_attach)
{
    enum { TASKS = 100 };
    struct pilfer_executor *executor = open_executor(schedulers[_i], 2);
    struct pilfer_latch latch;
    struct counted *tasks = counted_tasks(TASKS, &latch);
    const uint64_t before = count_of(executor, COUNTER_tasks_accepted);
    pilfer_detach(executor); /* not attached: nothing */
    for (uint32_t round = 0; round < 20; round++) {
        ck_assert_int_eq(pilfer_attach(executor, "tester"), 0);
        ck_assert_int_eq(pilfer_attach(executor, "tester"), -EBUSY);
        pilfer_latch_init(&latch, TASKS);
        pilfer_guest_polls();
        pilfer_guest_runs();
        for (uint32_t i = 0; i < TASKS; i++)
            ck_assert_int_eq(pilfer_submit(executor, &tasks[i].task, PILFER_PLACEMENT_DEFAULT), 0);
        ck_assert_int_eq(pilfer_wait(executor, &latch), 0);
        pilfer_detach(executor);
        pilfer_detach(executor);
    }
    ck_assert_uint_ge(count_of(executor, COUNTER_tasks_accepted) - before, 20 * TASKS);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
    free(tasks);
}
END_TEST

/* Two executors at once, the calling thread attached to both, and one opened, used and closed inside another's task. */
struct opener {
    struct pilfer_task task;
    struct pilfer_executor *outer;
    struct pilfer_latch *done;
};

static void use_another(struct pilfer_task *task)
{
    struct opener *self = (struct opener *)task;
    struct pilfer_latch latch;
    struct pilfer_executor *inner = open_executor("chase-lev", 2);
    struct counted *tasks = counted_tasks(50, &latch);
    ck_assert_int_eq(pilfer_attach(inner, "task"), 0);
    pilfer_latch_init(&latch, 50);
    for (uint32_t i = 0; i < 50; i++) /* by turns: each executor knows its own thread record */
        ck_assert_int_eq(pilfer_submit(i % 2 != 0 ? inner : self->outer, &tasks[i].task, PILFER_PLACEMENT_LOCAL), 0);
    ck_assert_int_eq(pilfer_wait(self->outer, &latch), 0);
    pilfer_detach(inner);
    pilfer_close(inner, PILFER_CLOSE_RUN, NULL);
    free(tasks);
    pilfer_latch_arrive(self->done);
}

START_TEST(test_two_executors)
{
    struct pilfer_executor *first = open_executor("chase-lev", 2), *second = open_executor("global-queue", 2);
    struct pilfer_latch done;
    struct opener openers[8];
    ck_assert_int_eq(pilfer_attach(first, "tester"), 0);
    ck_assert_int_eq(pilfer_attach(second, "tester"), 0);
    pilfer_latch_init(&done, 8);
    for (uint32_t i = 0; i < 8; i++) {
        struct pilfer_executor *executor = i % 2 != 0 ? first : second;
        openers[i] = (struct opener){.task.run = use_another, .outer = executor, .done = &done};
        ck_assert_int_eq(pilfer_submit(executor, &openers[i].task, PILFER_PLACEMENT_DEFAULT), 0);
    }
    ck_assert_int_eq(pilfer_wait(first, &done), 0);
    pilfer_detach(second);
    pilfer_detach(first);
    pilfer_close(first, PILFER_CLOSE_RUN, NULL);
    pilfer_close(second, PILFER_CLOSE_RUN, NULL);
}
END_TEST

/* ---- fork ---- */

/* A child has no workers. It may exec or _exit, at any moment, also while the parent submits; the parent's executor
 * does not notice. */
static void fork_once(bool execs)
{
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        if (execs)
            execl("/bin/true", "true", (char *)NULL);
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

START_TEST(test_fork)
{
    enum { ROUNDS = 60, TASKS = 200 };
    struct pilfer_executor *executor = open_executor(schedulers[_i], 2);
    struct pilfer_latch latch;
    struct counted *tasks = counted_tasks(TASKS, &latch);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        pilfer_latch_init(&latch, TASKS);
        for (uint32_t i = 0; i < TASKS; i++) {
            if (i == round)
                fork_once(round % 8 == 0);
            ck_assert_int_eq(pilfer_submit(executor, &tasks[i].task, PILFER_PLACEMENT_DEFAULT), 0);
        }
        ck_assert_int_eq(pilfer_wait(executor, &latch), 0);
    }
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
    for (uint32_t i = 0; i < TASKS; i++)
        ck_assert_uint_eq(shared_u32_load_relaxed(&tasks[i].runs), ROUNDS);
    free(tasks);
}
END_TEST

static Suite *pool_suite(void)
{
    Suite *suite = suite_create("pool");
    TCase *submits = tcase_create("submitting"), *waits = tcase_create("waiting"), *guests = tcase_create("guests"),
          *forks = tcase_create("fork");
    TCase *const all[] = {submits, waits, guests, forks};
    const int count = (int)COUNT_OF(schedulers);
    tcase_add_loop_test(submits, test_submit_again, 0, count);
    tcase_add_loop_test(submits, test_submit_batch, 0, count);
    tcase_add_loop_test(submits, test_task_frees_itself, 0, count);
    tcase_add_loop_test(submits, test_close, 0, count);
    tcase_add_test(submits, test_submit_while_stopping);
    tcase_add_loop_test(waits, test_latch, 0, count);
    tcase_add_loop_test(waits, test_wait_nested, 0, 3);
    tcase_add_test(waits, test_wait_refused);
    tcase_add_loop_test(waits, test_close_while_waiting, 0, 3);
    tcase_add_loop_test(waits, test_wait_is_replaced, 0, 3);
    tcase_add_loop_test(guests, test_attach, 0, count);
    tcase_add_test(guests, test_two_executors);
    tcase_add_loop_test(forks, test_fork, 0, count);
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        tcase_set_timeout(all[i], TIMEOUT_S);
        suite_add_tcase(suite, all[i]);
    }
    return suite;
}

int main(void)
{
    if (platform_init() != 0)
        return 3;
    SRunner *runner = srunner_create(pool_suite());
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
