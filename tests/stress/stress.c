/* SPDX-License-Identifier: MIT
 *
 * Stress: real threads, many tasks, many pools. Promises R6 (conservation), R7 (a submit after idle starts), R10 (stop
 * is safe) with large numbers, and R8, R9 in sanitizer builds.
 *
 * Method. Three parts, each in a child under a watch (conformance/harness.h):
 *   storm   tasks in every shape of load on 1, 2, 8 and 64 workers, counted item by item and by the executor's counters
 *   idle    one task into a pool that is at rest, again and again; prints the distribution of the times to start
 *   cycles  pools that are opened, loaded and closed while threads submit
 *
 * Usage: stress NAME TASKS ROUNDS CYCLES. Status 0, or 1 with what broke.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "histogram.h"
#include "inside.h"
#include "invariants.h"
#include "load.h"

#define LOAD_TASKS_MAX 500000 /* tasks of one load; a part larger than this is run as several */
#define PATIENCE_S     60

static const uint32_t worker_counts[] = {1, 2, 8, 64};
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static struct {
    uint32_t tasks, rounds, cycles;
} wanted; /* written by main before the children are made */

static void storm(const struct subject *subject)
{
    const uint32_t parts = COUNT_OF(worker_counts) * LOAD_SHAPES;
    uint64_t all = 0;
    for (uint32_t i = 0; i < COUNT_OF(worker_counts); i++) {
        struct pilfer_executor *executor = load_open(subject, inside_workers(subject, worker_counts[i]), 5, 3);
        uint64_t expected = 0;
        for (uint32_t shape = 0; shape < LOAD_SHAPES; shape++) {
            check_trying("%s on %u workers", load_shape_name(shape), worker_counts[i]);
            for (uint32_t left = wanted.tasks / parts; left > 0;) {
                const uint32_t tasks = left < LOAD_TASKS_MAX ? left : LOAD_TASKS_MAX;
                expected += load_run(executor, shape, tasks, subject->seed + left);
                left -= tasks;
            }
        }
        if (inside_scheduler(subject) != NULL)
            load_verify_counters(executor, expected);
        pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
        all += expected;
    }
    fprintf(stderr, "storm: %" PRIu64 " tasks\n", all);
}

struct starter {
    struct pilfer_task task;
    uint64_t started_ns;    /* written before runs */
    struct shared_u32 runs; /* @P stress.1 */
};

static void note_start(struct pilfer_task *task)
{
    struct starter *starter = (struct starter *)task;
    starter->started_ns = platform_now_ns();
    shared_u32_add_release(&starter->runs, 1); /* @P stress.1: when it started */
}

struct expected_runs {
    const struct starter *starter;
    uint32_t runs;
};

static bool has_run(void *context)
{
    const struct expected_runs *expected = context;
    return shared_u32_load_acquire(&expected->starter->runs) >= expected->runs; /* @P stress.1 */
}

static bool is_at_rest(void *context)
{
    return inside_engaged(context) == 0;
}

static void idle(const struct subject *subject)
{
    struct pilfer_executor *executor = load_open(subject, inside_workers(subject, 4), 5, 3);
    struct histogram *histogram = calloc(1, sizeof(*histogram));
    struct starter starter = {.task.run = note_start};
    check_setup(histogram != NULL);
    histogram_init(histogram);
    for (uint32_t round = 1; round <= wanted.rounds; round++) {
        struct expected_runs expected = {&starter, round};
        check_trying("round %u of one task into a pool at rest", round);
        check_until(is_at_rest, executor);
        const uint64_t submitted_ns = platform_now_ns();
        if (pilfer_submit(executor, &starter.task, PILFER_PLACEMENT_DEFAULT) != 0)
            check_broken("a submit to a pool at rest was refused");
        check_until(has_run, &expected);
        histogram_record(histogram, starter.started_ns - submitted_ns);
    }
    fprintf(stderr, "idle: %u rounds, us to start: p50 %.1f, p99 %.1f, max %.1f\n", wanted.rounds,
            histogram_quantile_ns(histogram, 0.5) / 1000, histogram_quantile_ns(histogram, 0.99) / 1000,
            histogram_quantile_ns(histogram, 1) / 1000);
    free(histogram);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}

static void cycles(const struct subject *subject)
{
    static const uint32_t counts[] = {1, 2, 8};
    for (uint32_t i = 0; i < COUNT_OF(counts); i++)
        check_close_races(subject, counts[i], wanted.cycles / COUNT_OF(counts));
    fprintf(stderr, "cycles: %u pools opened and closed\n", 2 * wanted.cycles);
}

static uint32_t parse_count(const char *text)
{
    char *end;
    errno = 0;
    const unsigned long value = strtoul(text, &end, 10);
    if (errno != 0 || *end != '\0' || text[0] < '0' || text[0] > '9' || value > UINT32_MAX) {
        fprintf(stderr, "stress: '%s' is not a count\n", text);
        exit(2);
    }
    return (uint32_t)value;
}

int main(int argument_count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)(const struct subject *subject);
    } parts[] = {{"storm", storm}, {"idle", idle}, {"cycles", cycles}};
    if (argument_count != 5) {
        fprintf(stderr, "usage: stress NAME TASKS ROUNDS CYCLES\n");
        return 2;
    }
    const struct subject subject = {.name = arguments[1], .seed = 1};
    wanted.tasks = parse_count(arguments[2]);
    wanted.rounds = parse_count(arguments[3]);
    wanted.cycles = parse_count(arguments[4]);
    int status = platform_init() == 0 ? 0 : 3;
    for (size_t i = 0; i < COUNT_OF(parts) && status != 3; i++) {
        struct verdict verdict;
        if (harness_run(parts[i].run, &subject, PATIENCE_S, &verdict) != 0)
            return 3;
        printf("%-7s %s%s\n", parts[i].name, verdict.outcome == OUTCOME_BROKEN ? "broken: " : "ok", verdict.text);
        status |= verdict.outcome == OUTCOME_BROKEN;
    }
    return status;
}
