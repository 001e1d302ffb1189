/* SPDX-License-Identifier: MIT
 *
 * The trials of trial.h.
 *
 * How it works. The books lie on the stack of the run's main thread, which the engine does not check for races: they
 * are no part of the program. A set of operations is a mask, an operation's bit is its place in the list.
 */
#include "structures/trial.h"

#include <string.h>

enum { ITEMS_MAX = 8, OPERATIONS_MAX = 24, NOTHING = -1, MISSED = -2, REFUSED = -3, PRESENT = -4 };
enum item_state { ITEM_FREE, ITEM_PUSHED, ITEM_TAKEN };

struct item {
    struct pilfer_task task;
    int payload; /* plain on purpose */
};

struct operation {
    char letter;
    uint8_t thread;
    int argument; /* the item that is pushed or taken back; the first of two */
    int result;   /* the item that was taken; NOTHING, MISSED, REFUSED, PRESENT */
    uint32_t before;
    bool hides;   /* others may have found nothing because of it */
    bool excused; /* it has found nothing because of such a one */
};

struct trial {
    const struct structure *structure;
    void *object;
    bool in_time; /* model sc */
    struct item *items[ITEMS_MAX];
    enum item_state states[ITEMS_MAX];
    uint32_t item_count, items_used;
    struct operation operations[OPERATIONS_MAX];
    uint32_t count, returned;
    uint32_t fenced, told;      /* masks: known to the fences so far, sent with the message */
    struct shared_u32 *message; /* 1: sent; @P trial.1 */
};

struct actor {
    struct trial *trial;
    const char *steps;
    uint8_t thread;
    uint32_t known; /* the operations that come before its next one */
    int last;       /* the item that it pushed last, and its ticket */
    uint64_t ticket;
};

/* ---- the sequence ---- */

struct sequence {
    int8_t items[OPERATIONS_MAX];
    uint32_t first, end;
    uint32_t capacity;
};

static bool take(struct sequence *sequence, int result, bool newest)
{
    bool empty = sequence->first == sequence->end;
    if (result == MISSED)
        return true;
    if (result == NOTHING)
        return empty; /* but for what is excused */
    if (empty)
        return false;
    return newest ? sequence->items[--sequence->end] == result : sequence->items[sequence->first++] == result;
}

/* Whether the sequence answers the same. */
static bool apply(const struct operation *operation, struct sequence *sequence)
{
    uint32_t length = sequence->end - sequence->first;
    if (operation->excused)
        return true;
    switch (operation->letter) {
    case '+':
        if (operation->result == REFUSED)
            return length >= sequence->capacity;
        sequence->items[sequence->end++] = (int8_t)operation->argument;
        return true;
    case '2':
        sequence->items[sequence->end++] = (int8_t)operation->argument;
        sequence->items[sequence->end++] = (int8_t)(operation->argument + 1);
        return true;
    case 'b': {
        bool is_oldest = length > 0 && sequence->items[sequence->first] == operation->argument;
        sequence->first += is_oldest;
        return operation->result == (is_oldest ? operation->argument : NOTHING);
    }
    case '?':
        return (operation->result == NOTHING) == (length == 0);
    default:
        return take(sequence, operation->result, operation->letter == 'n');
    }
}

/* Whether the operations that are not in done yet can follow the sequence in some order. */
static bool has_order(const struct trial *trial, const struct sequence *sequence, uint32_t done)
{
    bool all = true;
    for (uint32_t i = 0; i < trial->count; i++) {
        const struct operation *operation = &trial->operations[i];
        if ((done & 1u << i) != 0)
            continue;
        all = false;
        struct sequence next = *sequence;
        if ((operation->before & ~done) == 0 && apply(operation, &next) && has_order(trial, &next, done | 1u << i))
            return true;
    }
    return all;
}

/* ---- recording ---- */

static const char *const item_names[ITEMS_MAX] = {"task 0", "task 1", "task 2", "task 3",
                                                  "task 4", "task 5", "task 6", "task 7"};

static const char *describe(char letter)
{
    switch (letter) {
    case '+':
        return "push";
    case '2':
        return "push two";
    case 'o':
        return "take the oldest";
    case 'n':
        return "take the newest";
    case 'b':
        return "take back";
    default:
        return "is it empty";
    }
}

static const char *describe_result(int result)
{
    switch (result) {
    case NOTHING:
        return "nothing";
    case MISSED:
        return "missed";
    case REFUSED:
        return "refused";
    case PRESENT:
        return "no";
    default:
        return item_names[result];
    }
}

static struct operation *call(struct actor *actor, char letter, int argument)
{
    struct trial *trial = actor->trial;
    if (trial->in_time) /* a moment at which others may run while this thread is in no operation */
        (void)shared_u32_load_relaxed(trial->message);
    if (trial->count == OPERATIONS_MAX)
        explored_fail("trial", "more than %d operations", OPERATIONS_MAX);
    struct operation *operation = &trial->operations[trial->count++];
    *operation = (struct operation){letter, actor->thread, argument, NOTHING, actor->known, false, false};
    if (trial->in_time)
        operation->before |= trial->returned;
    explored_note("-- %s %s", describe(letter), argument >= 0 ? item_names[argument] : "");
    return operation;
}

static void answer(struct actor *actor, struct operation *operation, int result)
{
    uint32_t own = 1u << (operation - actor->trial->operations);
    operation->result = result;
    actor->known = operation->before | actor->known | own;
    actor->trial->returned |= own;
    if (operation->letter != '2' && (operation->letter != '+' || result == REFUSED))
        explored_note("-- %s: %s", describe(operation->letter), describe_result(result));
}

/* ---- the operations ---- */

static int next_item(struct trial *trial)
{
    int number = (int)trial->items_used++;
    trial->items[number]->payload = number + 1;
    trial->items[number]->task.next = &trial->items[number]->task; /* a link left over from an earlier queue */
    trial->states[number] = ITEM_PUSHED;
    return number;
}

static void push(struct actor *actor)
{
    struct trial *trial = actor->trial;
    int number = next_item(trial);
    struct operation *operation = call(actor, '+', number);
    int status = trial->structure->push(trial->object, &trial->items[number]->task, &actor->ticket);
    if (status != 0)
        trial->states[number] = ITEM_FREE;
    operation->hides = trial->structure->hides && actor->ticket == 1;
    actor->last = number;
    answer(actor, operation, status == 0 ? NOTHING : REFUSED);
}

static void push_two(struct actor *actor)
{
    struct trial *trial = actor->trial;
    int first = next_item(trial), second = next_item(trial);
    trial->items[first]->task.next = &trial->items[second]->task;
    struct operation *operation = call(actor, '2', first);
    trial->structure->push_batch(trial->object, &trial->items[first]->task, 2);
    answer(actor, operation, NOTHING);
}

/* A task has come out: the number of its item, whose memory is given back at once. */
static int receive(struct trial *trial, const struct pilfer_task *task)
{
    int number = 0;
    while (number < (int)trial->item_count && &trial->items[number]->task != task)
        number++;
    if (number == (int)trial->item_count)
        explored_fail("exactly once", "what came out is not a task");
    if (trial->states[number] == ITEM_TAKEN)
        explored_fail("exactly once", "%s is taken twice", item_names[number]);
    if (trial->states[number] == ITEM_FREE)
        explored_fail("exactly once", "%s is taken and was not pushed", item_names[number]);
    trial->states[number] = ITEM_TAKEN;
    if (trial->items[number]->payload != number + 1)
        explored_fail("payload", "%s holds %d", item_names[number], trial->items[number]->payload);
    platform_free(trial->items[number]);
    return number;
}

static int take_out(struct actor *actor, char letter)
{
    struct trial *trial = actor->trial;
    const struct structure *structure = trial->structure;
    struct operation *operation = call(actor, letter, letter == 'b' ? actor->last : NOTHING);
    struct pilfer_task *task = NULL;
    enum take_result result = letter == 'b'   ? structure->take_back(trial->object, actor->ticket, &task)
                              : letter == 'n' ? structure->take_newest(trial->object, &task)
                                              : structure->take_oldest(trial->object, &task);
    int number = result == TAKE_TASK ? receive(trial, task) : result == TAKE_MISSED ? MISSED : NOTHING;
    operation->hides = structure->hides && number == MISSED;
    answer(actor, operation, number);
    return number;
}

static void look(struct actor *actor)
{
    struct operation *operation = call(actor, '?', NOTHING);
    answer(actor, operation, actor->trial->structure->is_empty(actor->trial->object) ? NOTHING : PRESENT);
}

/* No place in the sequence: a depth may be a little old, but never more than was ever pushed. */
static void look_at_depth(struct actor *actor)
{
    uint64_t depth = actor->trial->structure->depth(actor->trial->object);
    if (depth > actor->trial->items_used)
        explored_fail("depth", "a depth of %lld", (long long)depth);
}

/* No other thread runs between the fence and the books about it: the next scheduling point comes later. */
static void fence(struct actor *actor)
{
    ordered_fence_seq_cst(); /* @F trial.1: what came before is seen after a later one */
    actor->trial->fenced |= actor->known;
    actor->known = actor->trial->fenced;
}

static void send(struct actor *actor)
{
    actor->trial->told = actor->known;
    /* @P trial.1: publishes this thread's operations. */
    shared_u32_store_release(actor->trial->message, 1);
}

static void look_for_message(struct actor *actor)
{
    /* @P trial.1: relies on the sender's operations. */
    if (shared_u32_load_acquire(actor->trial->message) != 0)
        actor->known |= actor->trial->told;
}

static void act(void *argument)
{
    struct actor *actor = argument;
    for (const char *step = actor->steps; *step != '\0'; step++)
        switch (*step) {
        case '+':
            push(actor);
            break;
        case '2':
            push_two(actor);
            break;
        case '?':
            look(actor);
            break;
        case 'd':
            look_at_depth(actor);
            break;
        case '|':
            fence(actor);
            break;
        case '!':
            send(actor);
            break;
        case '@':
            look_for_message(actor);
            break;
        default:
            take_out(actor, *step);
        }
}

/* ---- the trial ---- */

/* One came neither before nor after the other. */
static bool are_beside(const struct trial *trial, uint32_t i, uint32_t j)
{
    return (trial->operations[i].before & 1u << j) == 0 && (trial->operations[j].before & 1u << i) == 0;
}

/* A lost race has a winner: another operation that took a task; or it was a push that stood in the way. */
static bool has_winner(const struct trial *trial, uint32_t missed)
{
    for (uint32_t i = 0; i < trial->count; i++) {
        const struct operation *operation = &trial->operations[i];
        bool takes = strchr("onb", operation->letter) != NULL && operation->result >= 0;
        bool pushes = operation->letter == '+' && trial->structure->misses_pushes;
        if ((takes || pushes) && are_beside(trial, i, missed))
            return true;
    }
    return false;
}

/* Where a lock is only tried, its holder may itself lose the race a little later. */
static void check_missed(const struct trial *trial, uint32_t missed)
{
    bool explained = has_winner(trial, missed);
    for (uint32_t i = 0; i < trial->count && trial->structure->hides; i++)
        if (trial->operations[i].result == MISSED && i != missed && are_beside(trial, i, missed))
            explained = explained || has_winner(trial, i);
    if (!explained)
        explored_fail("missed", "nobody took the task that was missed");
}

static void excuse(struct trial *trial)
{
    for (uint32_t i = 0; i < trial->count; i++) {
        struct operation *operation = &trial->operations[i];
        if (strchr("on?", operation->letter) == NULL || operation->result != NOTHING)
            continue;
        for (uint32_t j = 0; j < trial->count; j++)
            operation->excused = operation->excused || (trial->operations[j].hides && are_beside(trial, i, j));
    }
}

static void check_history(struct trial *trial)
{
    struct sequence empty = {.capacity = trial->structure->capacity};
    for (uint32_t i = 0; i < trial->item_count; i++)
        if (trial->states[i] == ITEM_PUSHED)
            explored_fail("conservation", "%s was pushed and is nowhere", item_names[i]);
    for (uint32_t i = 0; i < trial->count; i++)
        if (trial->operations[i].result == MISSED)
            check_missed(trial, i);
    excuse(trial);
    if (!has_order(trial, &empty, 0))
        explored_fail("linearizable", "no order of the operations gives these answers");
}

static void count_items(struct trial *trial, const char *steps)
{
    for (; steps != NULL && *steps != '\0'; steps++)
        trial->item_count += *steps == '+' ? 1 : *steps == '2' ? 2 : 0;
}

static void open_trial(struct trial *trial, const struct structure *structure, const struct program *program)
{
    trial->structure = structure;
    trial->in_time = explored_model() == EXPLORED_SC;
    count_items(trial, program->before);
    count_items(trial, program->main);
    for (uint32_t i = 0; i < TRIAL_THREADS_MAX; i++)
        count_items(trial, program->others[i]);
    for (uint32_t i = 0; i < trial->item_count; i++) {
        trial->items[i] = platform_alloc(sizeof *trial->items[i]);
        explored_name(&trial->items[i]->task, item_names[i]);
    }
    trial->message = platform_alloc(sizeof *trial->message);
    trial->object = structure->open();
}

static void close_trial(struct trial *trial)
{
    trial->structure->close(trial->object);
    for (uint32_t i = 0; i < trial->item_count; i++)
        if (trial->states[i] == ITEM_FREE)
            platform_free(trial->items[i]);
    platform_free(trial->message);
    if (explored_blocks() > 0)
        explored_fail("leak", "%u blocks of memory are left", explored_blocks());
}

void trial_run(const struct structure *structure, const struct program *program)
{
    static const char *const names[TRIAL_THREADS_MAX] = {"second", "third", "fourth", "fifth"};
    struct trial trial = {0};
    struct actor actors[TRIAL_THREADS_MAX + 1];
    struct platform_thread *threads[TRIAL_THREADS_MAX];
    uint32_t others = 0;
    open_trial(&trial, structure, program);
    actors[0] = (struct actor){.trial = &trial, .steps = program->before != NULL ? program->before : ""};
    act(&actors[0]);
    for (; others < TRIAL_THREADS_MAX && program->others[others] != NULL; others++) {
        struct actor *actor = &actors[others + 1];
        *actor = (struct actor){.trial = &trial, .steps = program->others[others], .known = actors[0].known};
        actor->thread = (uint8_t)(others + 1);
        platform_thread_start(&threads[others], names[others], act, actor);
    }
    if (program->memory_fails)
        explored_allocations_may_fail(1);
    actors[0].steps = program->main;
    act(&actors[0]);
    for (uint32_t i = 0; i < others; i++) {
        platform_thread_join(threads[i]);
        actors[0].known |= actors[i + 1].known;
    }
    while (take_out(&actors[0], 'o') >= 0)
        ;
    check_history(&trial);
    close_trial(&trial);
}
