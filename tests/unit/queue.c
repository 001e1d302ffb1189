/* SPDX-License-Identifier: MIT
 *
 * The promises of the shared queues (task_fifo, task_channel, segment_queue, library_ring): first in, first out; each
 * task handed out exactly once; a task is taken back only while it is there and the oldest; a queue that grows keeps
 * all of this; a full ring refuses and changes nothing;
 * and none is ever "empty" to the last look of a thread that announced, passed a full fence and then looked, when the
 * push came before the pusher's own full fence.
 *
 * Method: random operations against the plainest queue there is (an array under a lock); real producers and consumers
 * that count each task; and rounds of the store-load litmus test of a sleeping worker and a submitter.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "dotnet_queues.h"
#include "queues.h"
#ifdef HAVE_LIBRARY_RING
#include "library_ring.h"
#endif

#define RING_CAPACITY 64

/* For loops: ck_assert makes a system call each time it holds. */
#define HOLDS(condition)                            \
    do {                                            \
        if (!(condition))                           \
            ck_abort_msg("not so: %s", #condition); \
    } while (0)

/* ---- the queues behind one set of functions ---- */

struct queue {
    struct task_fifo fifo;
    struct task_channel channel;
    struct segment_queue segments;
    struct library_ring *ring;
};

struct queue_kind {
    const char *name;
    bool takes_back;
    uint64_t capacity; /* 0: unbounded */
    bool (*push)(struct queue *queue, struct pilfer_task *task, uint64_t *ticket);
    struct pilfer_task *(*pop)(struct queue *queue);
    struct pilfer_task *(*take_back)(struct queue *queue, uint64_t ticket);
    uint64_t (*depth)(const struct queue *queue);
    bool (*is_empty)(const struct queue *queue);
};

static bool fifo_push(struct queue *queue, struct pilfer_task *task, uint64_t *ticket)
{
    *ticket = task_fifo_push(&queue->fifo, task);
    return true;
}

static struct pilfer_task *fifo_pop(struct queue *queue)
{
    return task_fifo_pop(&queue->fifo);
}

static struct pilfer_task *fifo_take_back(struct queue *queue, uint64_t ticket)
{
    return task_fifo_take_back(&queue->fifo, ticket);
}

static uint64_t fifo_depth(const struct queue *queue)
{
    return task_fifo_depth(&queue->fifo);
}

static bool fifo_is_empty(const struct queue *queue)
{
    return task_fifo_is_empty(&queue->fifo);
}

static bool channel_push(struct queue *queue, struct pilfer_task *task, uint64_t *ticket)
{
    return task_channel_push(&queue->channel, task, ticket) == 0;
}

static struct pilfer_task *channel_pop(struct queue *queue)
{
    return task_channel_pop(&queue->channel);
}

static struct pilfer_task *channel_take_back(struct queue *queue, uint64_t ticket)
{
    return task_channel_take_back(&queue->channel, ticket);
}

static uint64_t channel_depth(const struct queue *queue)
{
    return task_channel_depth(&queue->channel);
}

static bool channel_is_empty(const struct queue *queue)
{
    return task_channel_is_empty(&queue->channel);
}

static bool segments_push(struct queue *queue, struct pilfer_task *task, uint64_t *ticket)
{
    (void)ticket;
    return segment_queue_push(&queue->segments, task) == 0;
}

/* A push that is half-way, which is missed, comes later: those who pop in a loop look again. */
static struct pilfer_task *segments_pop(struct queue *queue)
{
    bool missed = false;
    return segment_queue_pop(&queue->segments, &missed);
}

static uint64_t segments_depth(const struct queue *queue)
{
    return segment_queue_depth(&queue->segments);
}

static bool segments_is_empty(const struct queue *queue)
{
    return segment_queue_is_empty(&queue->segments);
}

#ifdef HAVE_LIBRARY_RING
static bool ring_push(struct queue *queue, struct pilfer_task *task, uint64_t *ticket)
{
    return library_ring_push(queue->ring, task);
}

static struct pilfer_task *ring_pop(struct queue *queue)
{
    return library_ring_pop(queue->ring);
}

static uint64_t ring_depth(const struct queue *queue)
{
    return library_ring_depth(queue->ring);
}

static bool ring_is_empty(const struct queue *queue)
{
    return library_ring_is_empty(queue->ring);
}
#endif

static const struct queue_kind kinds[] = {
    {"task_fifo", true, 0, fifo_push, fifo_pop, fifo_take_back, fifo_depth, fifo_is_empty},
    {"task_channel", true, 0, channel_push, channel_pop, channel_take_back, channel_depth, channel_is_empty},
    {"segment_queue", false, 0, segments_push, segments_pop, NULL, segments_depth, segments_is_empty},
#ifdef HAVE_LIBRARY_RING
    {"library_ring", false, RING_CAPACITY - 1, ring_push, ring_pop, NULL, ring_depth, ring_is_empty},
#endif
};

#define KINDS           ((int)(sizeof kinds / sizeof kinds[0]))
#define UNBOUNDED_KINDS 3 /* the first ones */

static struct queue *queue_new(void)
{
    struct queue *queue = platform_alloc(sizeof *queue);
    ck_assert_ptr_nonnull(queue);
    ck_assert_int_eq(task_channel_init(&queue->channel, 2), 0);
    ck_assert_int_eq(segment_queue_init(&queue->segments), 0);
#ifdef HAVE_LIBRARY_RING
    queue->ring = library_ring_create(RING_CAPACITY);
    ck_assert_ptr_nonnull(queue->ring);
#endif
    return queue;
}

static void queue_free(struct queue *queue)
{
    task_channel_fini(&queue->channel);
    segment_queue_fini(&queue->segments);
#ifdef HAVE_LIBRARY_RING
    library_ring_destroy(queue->ring);
#endif
    platform_free(queue);
}

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t below)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545F4914F6CDD1Du % below;
}

/* ---- against the plain queue ---- */

#define STEPS     1000000
#define TASKS_MAX 1000

/* The oracle: an array, oldest first, under a lock. */
struct plain_queue {
    struct lock lock;
    uint32_t count;
    struct pilfer_task *tasks[TASKS_MAX];
    uint64_t tickets[TASKS_MAX];
};

static void plain_push(struct plain_queue *plain, struct pilfer_task *task, uint64_t ticket)
{
    lock_lock(&plain->lock);
    plain->tasks[plain->count] = task;
    plain->tickets[plain->count++] = ticket;
    lock_unlock(&plain->lock);
}

static struct pilfer_task *plain_pop(struct plain_queue *plain)
{
    lock_lock(&plain->lock);
    struct pilfer_task *task = plain->count > 0 ? plain->tasks[0] : NULL;
    if (task != NULL) {
        plain->count--;
        memmove(plain->tasks, plain->tasks + 1, plain->count * sizeof *plain->tasks);
        memmove(plain->tickets, plain->tickets + 1, plain->count * sizeof *plain->tickets);
    }
    lock_unlock(&plain->lock);
    return task;
}

struct differential {
    const struct queue_kind *kind;
    struct queue *queue;
    struct plain_queue plain;
    struct pilfer_task tasks[TASKS_MAX];
    struct pilfer_task *spare[TASKS_MAX]; /* tasks that are in no queue */
    uint32_t spare_count;
};

static void step_push(struct differential *test)
{
    if (test->spare_count == 0)
        return;
    struct pilfer_task *task = test->spare[test->spare_count - 1];
    uint64_t ticket = 0;
    bool fits = test->kind->capacity == 0 || test->plain.count < test->kind->capacity;
    HOLDS(test->kind->push(test->queue, task, &ticket) == fits);
    if (!fits)
        return;
    test->spare_count--;
    plain_push(&test->plain, task, ticket);
}

static void step_pop(struct differential *test)
{
    struct pilfer_task *task = test->kind->pop(test->queue);
    HOLDS(task == plain_pop(&test->plain));
    if (task != NULL)
        test->spare[test->spare_count++] = task;
}

static void step_take_back(struct differential *test)
{
    if (!test->kind->takes_back || test->plain.count == 0)
        return;
    uint32_t place = (uint32_t)random_below(2) * (uint32_t)random_below(test->plain.count);
    uint64_t ticket = test->plain.tickets[place];
    struct pilfer_task *task = test->kind->take_back(test->queue, ticket);
    HOLDS(task == (place == 0 ? test->plain.tasks[0] : NULL));
    if (task == NULL)
        return;
    test->spare[test->spare_count++] = plain_pop(&test->plain);
    HOLDS(test->kind->take_back(test->queue, ticket) == NULL); /* not twice */
}

/* Several at once, where the queue has that. */
static void step_push_batch(struct differential *test)
{
    uint32_t count = (uint32_t)random_below(9);
    if (test->kind->push != fifo_push || count == 0 || count > test->spare_count)
        return;
    uint64_t first = test->queue->fifo.popped + test->plain.count;
    struct pilfer_task **batch = test->spare + (test->spare_count - count);
    for (uint32_t index = 0; index < count; index++) {
        batch[index]->next = index + 1 < count ? batch[index + 1] : batch[0]; /* the last link means nothing */
        plain_push(&test->plain, batch[index], first + index);
    }
    task_fifo_push_batch(&test->queue->fifo, batch[0], count);
    test->spare_count -= count;
}

START_TEST(equals_the_plain_queue)
{
    struct differential *test = calloc(1, sizeof *test);
    ck_assert_ptr_nonnull(test);
    test->kind = &kinds[_i];
    test->queue = queue_new();
    for (uint32_t index = 0; index < TASKS_MAX; index++)
        test->spare[test->spare_count++] = &test->tasks[index];
    uint64_t pushes_of_8 = 4;
    for (int step = 0; step < STEPS; step++) {
        if (step % 5000 == 0)
            pushes_of_8 = 2 + random_below(5); /* phases of filling and of emptying */
        uint64_t choice = random_below(8);
        if (choice < pushes_of_8 - 1)
            step_push(test);
        else if (choice < pushes_of_8)
            step_push_batch(test);
        else if (choice == 7)
            step_take_back(test);
        else
            step_pop(test);
        HOLDS(test->kind->depth(test->queue) == test->plain.count);
        HOLDS(test->kind->is_empty(test->queue) == (test->plain.count == 0));
    }
    queue_free(test->queue);
    free(test);
}
END_TEST

/* ---- real threads ---- */

#define PRODUCERS 2
#define CONSUMERS 2
#ifndef TASKS_PER_PRODUCER
#define TASKS_PER_PRODUCER 100000
#endif

struct numbered {
    struct pilfer_task task;
    uint32_t producer, number;
    struct shared_u32 taken;
};

struct crowd {
    const struct queue_kind *kind;
    struct queue *queue;
    struct numbered *tasks; /* [PRODUCERS][TASKS_PER_PRODUCER] */
    struct shared_u32 taken, disorders;
};

struct member {
    struct crowd *crowd;
    uint32_t index;
};

static void produce(void *argument)
{
    struct member *member = argument;
    struct crowd *crowd = member->crowd;
    struct numbered *tasks = crowd->tasks + member->index * TASKS_PER_PRODUCER;
    for (uint32_t number = 0; number < TASKS_PER_PRODUCER; number++) {
        tasks[number].producer = member->index;
        tasks[number].number = number;
        uint64_t ticket;
        while (!crowd->kind->push(crowd->queue, &tasks[number].task, &ticket))
            platform_yield();
    }
}

/* Takes tasks; those of one producer must come in order. */
static void consume(void *argument)
{
    struct crowd *crowd = ((struct member *)argument)->crowd;
    uint32_t next[PRODUCERS] = {0};
    while (shared_u32_load_relaxed(&crowd->taken) < PRODUCERS * TASKS_PER_PRODUCER) {
        struct numbered *numbered = (struct numbered *)crowd->kind->pop(crowd->queue);
        if (numbered == NULL) {
            platform_yield();
            continue;
        }
        if (numbered->number < next[numbered->producer])
            shared_u32_add_relaxed(&crowd->disorders, 1);
        next[numbered->producer] = numbered->number + 1;
        shared_u32_add_relaxed(&numbered->taken, 1);
        shared_u32_add_relaxed(&crowd->taken, 1);
    }
}

START_TEST(each_task_once_and_in_order)
{
    struct crowd crowd = {.kind = &kinds[_i], .queue = queue_new()};
    crowd.tasks = calloc(PRODUCERS * TASKS_PER_PRODUCER, sizeof *crowd.tasks);
    ck_assert_ptr_nonnull(crowd.tasks);
    struct platform_thread *threads[PRODUCERS + CONSUMERS];
    struct member members[PRODUCERS + CONSUMERS];
    for (uint32_t index = 0; index < PRODUCERS + CONSUMERS; index++) {
        members[index] = (struct member){&crowd, index};
        ck_assert_int_eq(
            platform_thread_start(&threads[index], "member", index < PRODUCERS ? produce : consume, &members[index]),
            0);
    }
    for (uint32_t index = 0; index < PRODUCERS + CONSUMERS; index++)
        platform_thread_join(threads[index]);
    for (uint32_t index = 0; index < PRODUCERS * TASKS_PER_PRODUCER; index++)
        HOLDS(shared_u32_load_relaxed(&crowd.tasks[index].taken) == 1);
    ck_assert_uint_eq(shared_u32_load_relaxed(&crowd.disorders), 0);
    ck_assert(crowd.kind->is_empty(crowd.queue));
    free(crowd.tasks);
    queue_free(crowd.queue);
}
END_TEST

/* Consumers alone, on a full queue: nothing but races for the oldest task. */
START_TEST(consumers_race_for_each_task)
{
    struct crowd crowd = {.kind = &kinds[_i], .queue = queue_new()};
    struct member members[PRODUCERS] = {{&crowd, 0}, {&crowd, 1}};
    struct platform_thread *threads[CONSUMERS];
    crowd.tasks = calloc(PRODUCERS * TASKS_PER_PRODUCER, sizeof *crowd.tasks);
    ck_assert_ptr_nonnull(crowd.tasks);
    for (int index = 0; index < PRODUCERS; index++)
        produce(&members[index]);
    for (int index = 0; index < CONSUMERS; index++)
        ck_assert_int_eq(platform_thread_start(&threads[index], "member", consume, &members[0]), 0);
    for (int index = 0; index < CONSUMERS; index++)
        platform_thread_join(threads[index]);
    for (uint32_t index = 0; index < PRODUCERS * TASKS_PER_PRODUCER; index++)
        HOLDS(shared_u32_load_relaxed(&crowd.tasks[index].taken) == 1);
    ck_assert_uint_eq(shared_u32_load_relaxed(&crowd.disorders), 0);
    free(crowd.tasks);
    queue_free(crowd.queue);
}
END_TEST

/* ---- the last look ---- */

#define ROUNDS 20000

/* One round: the pusher pushes, fences and asks whether the sleeper is announced; the sleeper announces, fences and
 * looks. If neither sees the other, the task is left behind. */
struct last_look {
    const struct queue_kind *kind;
    struct queue *queue;
    struct shared_u32 round;    /* raised by the pusher; both go on it */
    struct shared_u32 finished; /* rounds that the sleeper is done with */
    _Alignas(CACHE_LINE_SIZE) struct shared_u32 announced;
    struct shared_u32 sleeper_saw;
    struct pilfer_task task;
};

static void wait_for(const struct shared_u32 *word, uint32_t value)
{
    for (uint32_t turn = 1; shared_u32_load_acquire(word) < value; turn++) {
        if (turn % 64 == 0)
            platform_yield(); /* there may be one CPU only */
    }
}

static void last_look_sleep(void *argument)
{
    struct last_look *look = argument;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        wait_for(&look->round, round);
        shared_u32_store_relaxed(&look->announced, round);
        ordered_fence_seq_cst();
        shared_u32_store_relaxed(&look->sleeper_saw, !look->kind->is_empty(look->queue));
        shared_u32_store_release(&look->finished, round);
    }
}

START_TEST(the_last_look_misses_nothing)
{
    struct last_look *look = platform_alloc(sizeof *look);
    ck_assert_ptr_nonnull(look);
    look->kind = &kinds[_i];
    look->queue = queue_new();
    struct platform_thread *sleeper;
    ck_assert_int_eq(platform_thread_start(&sleeper, "sleeper", last_look_sleep, look), 0);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        uint64_t ticket;
        shared_u32_store_release(&look->round, round);
        look->kind->push(look->queue, &look->task, &ticket);
        ordered_fence_seq_cst();
        bool pusher_saw = shared_u32_load_relaxed(&look->announced) == round;
        wait_for(&look->finished, round);
        HOLDS(pusher_saw || shared_u32_load_relaxed(&look->sleeper_saw) == 1);
        HOLDS(look->kind->pop(look->queue) == &look->task);
    }
    platform_thread_join(sleeper);
    queue_free(look->queue);
    platform_free(look);
}
END_TEST

int main(void)
{
    if (platform_init() != 0)
        return 1;
    Suite *suite = suite_create("queue");
    TCase *cases = tcase_create("queue");
    tcase_set_timeout(cases, 300);
    tcase_add_loop_test(cases, equals_the_plain_queue, 0, KINDS);
    tcase_add_loop_test(cases, each_task_once_and_in_order, 0, KINDS);
    tcase_add_loop_test(cases, consumers_race_for_each_task, 0, UNBOUNDED_KINDS);
    tcase_add_loop_test(cases, the_last_look_misses_nothing, 0, KINDS);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
