/* SPDX-License-Identifier: MIT
 *
 * The policy around the arithmetic of D23 to D25: when sizing hill-climbing takes a sample and what it does with the
 * answer, what its gate does at each look, and what the limits of a pool are.
 *
 * Method. The pool is played by one thread (dotnet_play.h) on a clock of the test's own (calls.h), which also answers
 * in the climber's place. The gate's thread is this one: it runs the gate's body, and wherever that would wait, the
 * test does what happens meanwhile and moves the clock to the deadline. The limits are those of real pools.
 *
 * Source. .NET 8 PortableThreadPool (NotifyWorkItemProgress, AdjustMaxWorkersActive, GetAvailableThreads), .GateThread.
 */
#include <errno.h>
#include <math.h>

#include "../held.h"
#include "calls.h"
#include "dotnet_items.h"
#include "dotnet_play.h"
#include "inside.h"
#include "pool.h"
#include "sizing/gate.h"

#define NS_PER_MS UINT64_C(1000000)
#define START_NS  UINT64_C(5000000000)
enum { WORKERS = 6, PROCESSORS = 2 };

/* ---- a played pool with sizing hill-climbing ---- */

struct policy {
    struct play play;
    struct call_clock clock;
    uint32_t samples; /* that the climber was given */
    struct climb_sample sample;
    struct climb_step answer; /* what it says */
};

static struct climb_step answer_sample(void *context, const struct climb_sample *sample)
{
    struct policy *policy = context;
    policy->samples++;
    policy->sample = *sample;
    return policy->answer;
}

static void set_ms(struct policy *policy, uint64_t ms)
{
    policy->clock.now_ns = START_NS + ms * NS_PER_MS;
}

/* The hooks come from the caller; of them those of the clock and the climber are set here. */
static void policy_open(struct policy *policy, const struct subject *subject, uint32_t minimum, uint32_t maximum,
                        struct call_hooks *hooks)
{
    play_open(&policy->play, subject, WORKERS, minimum, NULL, 0);
    struct pool *pool = policy->play.pool;
    pool->sizing = registry_sizing("hill-climbing"); /* whose states the workers have, as their scheduler's own */
    pool->sizing_state = platform_alloc(pool->sizing->pool_state_size);
    check_setup(pool->sizing_state != NULL);
    pool->min_workers = minimum;
    pool->max_workers = maximum;
    pool->processors = PROCESSORS;
    set_ms(policy, 0);
    hooks->context = policy;
    hooks->clock = &policy->clock;
    hooks->climb = answer_sample;
    calls_begin(hooks);
    check_setup(pool->sizing->init(pool) == 0);
    expect("the goal at the start", pool_numbers(pool).goal, minimum);
}

static void policy_close(struct policy *policy)
{
    calls_begin(NULL);
    while (still_drain(&policy->play.still) != NULL)
        ;
    platform_free(policy->play.pool->sizing_state);
    play_close(&policy->play);
}

/* Worker ends a task at that moment. */
static void end_task(struct policy *policy, uint32_t worker, uint64_t ms)
{
    struct worker *self = pool_worker(policy->play.pool, worker);
    set_ms(policy, ms);
    self->account->last_ticks = policy->clock.now_ns;
    check_progress();
    policy->play.pool->sizing->task_done(self);
}

static void begin_turn(struct policy *policy, uint32_t worker, uint64_t ms)
{
    struct worker *self = pool_worker(policy->play.pool, worker);
    play_wake(&policy->play, worker);
    set_ms(policy, ms);
    self->account->last_ticks = policy->clock.now_ns;
    policy->play.pool->sizing->turn_began(self);
}

/* ---- D24 ---- */

static void expect_sample(const struct policy *policy, uint32_t samples, uint64_t ms, uint64_t completions)
{
    expect("samples taken", policy->samples, samples);
    expect("milliseconds that the last sample covers", (uint64_t)llround(policy->sample.seconds * 1000), ms);
    expect("tasks done in it", policy->sample.completions, completions);
    expect("the minimum in it", policy->sample.minimum, 2);
    expect("the maximum in it", policy->sample.maximum, 5);
}

/* When: at the time that the climber has asked for and not before, whoever of the workers ends a task then. */
static void play_when(struct policy *policy)
{
    policy->answer = (struct climb_step){.goal = 2, .interval_ms = 100};
    end_task(policy, 0, 40);
    expect_sample(policy, 1, 40, 1);
    expect("the goal in it", policy->sample.goal, 2);
    end_task(policy, 0, 60);
    end_task(policy, 1, 95);
    end_task(policy, 0, 139);
    expect("samples before the interval of 100 ms is over", policy->samples, 1);
    end_task(policy, 1, 140);
    expect_sample(policy, 2, 100, 4);
    end_task(policy, 0, 250);
    expect_sample(policy, 3, 110, 1);
}

/* A worker that has found a sample due may come to take it when another one has just done so. */
static void play_half_interval(struct policy *policy)
{
    struct worker *late = pool_worker(policy->play.pool, 0);
    const struct sizing_policy *sizing = policy->play.pool->sizing;
    late->account->last_ticks = START_NS + 400 * NS_PER_MS; /* due */
    set_ms(policy, 299);
    sizing->task_done(late);
    expect("samples when less than half of the interval is over", policy->samples, 3);
    set_ms(policy, 300);
    sizing->task_done(late);
    expect_sample(policy, 4, 50, 2);
}

static void set_engaged(const struct policy *policy, uint32_t engaged)
{
    const struct pool_numbers numbers = pool_numbers(policy->play.pool);
    pool_counts_change(policy->play.pool, (int)engaged - (int)numbers.engaged, 0, -(int)numbers.blocked);
}

/* A raise adds one worker, whatever it is; a cut none. */
static void play_answers(struct policy *policy)
{
    struct play *play = &policy->play;
    const uint64_t releases = play_count(play, COUNTER_releases);
    expect("releases while the goal stays", releases, 0);
    policy->answer.goal = 5;
    end_task(policy, 0, 400);
    expect("the goal that the climber has raised by 3", pool_numbers(play->pool).goal, 5);
    expect("releases by that", play_count(play, COUNTER_releases) - releases, 1);
    expect("engaged by that", play_engaged(play), 3);
    policy->answer.goal = 2;
    end_task(policy, 0, 500);
    expect("the goal that the climber has cut", pool_numbers(play->pool).goal, 2);
    expect("releases by the cut", play_count(play, COUNTER_releases) - releases, 1);
    expect_sample(policy, 6, 100, 1);
    /* While more than the goal are engaged a sample would say nothing of the goal. */
    set_engaged(policy, 3);
    end_task(policy, 1, 700);
    expect("samples while more than the goal are engaged", policy->samples, 6);
    set_engaged(policy, 2);
    end_task(policy, 2, 701);
    expect_sample(policy, 7, 201, 2);
}

void dotnet_play_samples(const struct subject *subject)
{
    static struct policy policy;
    struct call_hooks hooks = {.context = NULL};
    check_trying("samples on a driven clock");
    policy_open(&policy, subject, 2, 5, &hooks);
    set_engaged(&policy, 2);
    play_when(&policy);
    play_half_interval(&policy);
    play_answers(&policy);
    policy_close(&policy);
}

/* ---- D23 ---- */

enum { GATE_TASKS = 3 };

struct gate_play {
    struct policy policy; /* first: the context of its hooks */
    void (*body)(void *argument);
    void *argument;
    uint32_t looks; /* that are over */
    bool rested;
    struct still_task tasks[GATE_TASKS];
};

static void catch_gate(void *context, void (*body)(void *argument), void *argument)
{
    struct gate_play *play = context;
    if (play->body != NULL)
        check_broken("a second gate is started");
    play->body = body;
    play->argument = argument;
}

/* What happens before each look, and the percentage of the CPUs that is used meanwhile. The gate begins at 1000 ms. */
static void before_look(struct gate_play *gate, uint32_t look)
{
    struct policy *policy = &gate->policy;
    struct play *play = &policy->play;
    switch (look) {
    case 0: /* the only worker that the goal allows begins a turn; its first task asks for another one */
        begin_turn(policy, 0, 1300);
        play_next(play, 0, true, &gate->tasks[0]);
        break;
    case 1: /* it takes its second one, in which it is stuck */
        end_task(policy, 0, 1900);
        expect("percent of the CPUs that a sample is told", policy->sample.cpu_percent, 30);
        play_next(play, 0, false, &gate->tasks[1]);
        break;
    case 4: /* the one that was added answers the request and finds nothing */
        begin_turn(policy, 1, 3010);
        play_next(play, 1, true, NULL);
        if (play_end(play, 1, false))
            check_broken("a worker begins another turn, and nobody has asked for it");
        break;
    case 6: /* after the rest */
        play->pool->sizing->stop(play->pool);
        break;
    default:
        break;
    }
}

static const struct {
    uint32_t cpu_percent; /* since the one before */
    uint32_t goal;        /* afterwards */
    const char *what;
} looks[] = {
    {30, 1, "a turn began 200 ms ago"},
    {90, 1, "a task was taken 100 ms ago"},
    {90, 1, "a task was taken 600 ms ago, and 1000 are due while the CPUs are busy"},
    {90, 2, "a task was taken 1100 ms ago"},
    {10, 2, "nobody is asked for"},
    {10, 2, "nobody is asked for, once more"},
};
enum { LOOKS = sizeof looks / sizeof looks[0] };

static void rest(struct gate_play *gate)
{
    struct policy *policy = &gate->policy;
    if (gate->rested || gate->looks != LOOKS)
        check_broken("the gate rests after %u looks, expected after %d", gate->looks, LOOKS);
    gate->rested = true;
    set_ms(policy, 10000);
    const uint64_t wakes = calls_read().wakes;
    play_submit(&policy->play, PLAY_OUTSIDE, &gate->tasks[2], PILFER_PLACEMENT_GLOBAL);
    expect("wake-ups by a request while the gate rests", calls_read().wakes - wakes, 1);
}

static void after_look(const struct gate_play *gate, uint32_t look)
{
    const struct play *play = &gate->policy.play;
    const uint32_t goal = pool_numbers(play->pool).goal;
    if (goal != looks[look].goal)
        check_broken("%s, and after the gate's look the goal is %u, expected %u", looks[look].what, goal,
                     looks[look].goal);
    const struct calls calls = calls_read();
    expect("changes of the goal by the gate that the climber is told", calls.climb_forces, goal - 1);
    expect("releases by the first request and by the gate", calls.releases, goal);
    if (goal > 1)
        expect("the goal that the climber is told", calls.climb_forced_goal, goal);
}

/* The gate waits. */
static int pass_time(void *context, struct shared_u32 *word, uint32_t expected, uint64_t deadline_ns)
{
    struct gate_play *gate = context;
    struct policy *policy = &gate->policy;
    if (shared_u32_load_relaxed(word) != expected) /* one thread */
        return 0;
    if (gate->looks > 0 && !gate->rested)
        after_look(gate, gate->looks - 1);
    if (deadline_ns == PLATFORM_FOREVER) {
        rest(gate);
        return 0;
    }
    if (gate->looks >= LOOKS && !gate->rested)
        check_broken("the gate looks again, and two looks in a row have seen no request");
    expect("milliseconds to the gate's next look", (deadline_ns - policy->clock.now_ns) / NS_PER_MS, 500);
    before_look(gate, gate->looks);
    if (gate->looks >= LOOKS)
        return 0; /* it is stopped */
    policy->clock.now_ns = deadline_ns;
    policy->clock.cpu_ns += 500 * NS_PER_MS * PROCESSORS * looks[gate->looks].cpu_percent / 100;
    gate->looks++;
    return -ETIMEDOUT;
}

void dotnet_play_gate(const struct subject *subject)
{
    static struct gate_play gate;
    struct call_hooks hooks = {.thread = catch_gate, .park = pass_time};
    struct play *play = &gate.policy.play;
    check_trying("the gate on a driven clock");
    policy_open(&gate.policy, subject, 1, WORKERS, &hooks);
    gate.policy.answer = (struct climb_step){.goal = 1, .interval_ms = 100000};
    set_ms(&gate.policy, 1000);
    for (uint32_t i = 0; i < GATE_TASKS; i++)
        gate.tasks[i].id = i;
    play_submit(play, PLAY_OUTSIDE, &gate.tasks[0], PILFER_PLACEMENT_GLOBAL);
    if (gate.body == NULL)
        check_broken("the first request starts no gate");
    play_submit(play, PLAY_OUTSIDE, &gate.tasks[1], PILFER_PLACEMENT_GLOBAL);
    gate.body(gate.argument);
    if (!gate.rested)
        check_broken("the gate has ended before it was stopped");
    policy_close(&gate.policy);
}

/* ---- D25 ---- */

static struct pilfer_executor *open_with(const struct subject *subject, const struct pilfer_setting *settings,
                                         uint32_t setting_count)
{
    return dotnet_open(subject, &(struct dotnet_pool){.max_workers = 8,
                                                      .sizing = "hill-climbing",
                                                      .settings = settings,
                                                      .setting_count = setting_count});
}

static struct pilfer_limit_values read_limits(struct pilfer_executor *executor)
{
    struct pilfer_limit_values values;
    check_setup(pilfer_read_limits(executor, &values) == 0);
    return values;
}

/* The worker whose task is held is engaged, and when those that were woken with it have left, nobody else is. */
static void try_available(const struct subject *subject)
{
    static const struct pilfer_setting settings[] = {{"processors", 3}, {"hill-climbing", 0}};
    struct held held;
    struct pilfer_executor *executor = open_with(subject, settings, 2);
    held_init(&held, run_held);
    check_setup(pilfer_submit(executor, &held.task, PILFER_PLACEMENT_DEFAULT) == 0);
    held_await(&held);
    while (inside_engaged(executor) > 1)
        platform_yield();
    const struct pilfer_limit_values values = read_limits(executor);
    expect("available workers while one of 8 is busy", (uint64_t)values.available.workers, 7);
    expect("the maximum meanwhile", (uint64_t)values.maximum.workers, 8);
    expect("available completion threads", (uint64_t)values.available.completion_threads, 1000);
    held_let_go(&held);
    pilfer_wait(executor, &held.latch);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}

static void try_forced(const struct subject *subject)
{
    static const struct pilfer_setting settings[] = {
        {"processors", 2}, {"force-min-workers", 3}, {"force-max-workers", 5}};
    struct pilfer_executor *executor = open_with(subject, settings, 3);
    const struct pilfer_limit_values values = read_limits(executor);
    expect("a minimum that is forced to 3", (uint64_t)values.minimum.workers, 3);
    expect("a maximum that is forced to 5", (uint64_t)values.maximum.workers, 5);
    expect("the goal at the start", pool_numbers(inside_pool(executor)).goal, 3);
    if (pilfer_set_min_workers(executor, (struct pilfer_limits){2, 1}) != -EINVAL ||
        pilfer_set_max_workers(executor, (struct pilfer_limits){6, 1}) != -EINVAL)
        check_broken("a limit that is forced can be set to something else");
    if (pilfer_set_min_workers(executor, (struct pilfer_limits){3, 1}) != 0 ||
        pilfer_set_max_workers(executor, (struct pilfer_limits){5, 1}) != 0)
        check_broken("a limit cannot be set to what it is forced to");
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}

void dotnet_try_limits(const struct subject *subject)
{
    check_trying("the limits of a pool with a busy worker");
    try_available(subject);
    check_trying("forced limits");
    try_forced(subject);
}
