/* SPDX-License-Identifier: MIT
 *
 * The memory models: what an operation may see.
 *
 * How it works. Each location has its stores in a list, in modification order; a store's stamp grows along the list.
 * A thread's view holds, for each location, the stamp of the oldest store that it may still read. A load takes a store
 * from there to the newest, and moves the view on. A release store carries its thread's view, an acquire load joins it.
 * A relaxed store carries the view of its thread's last full fence, a relaxed load keeps the view that it met for the
 * next full fence. A read-modify-write goes directly behind the store that it read, and nothing may come between: it
 * passes on what that store carried (the release sequence). Sequentially consistent fences exchange views with one
 * another through one global view; a sequentially consistent store does so for its own location only, and such a
 * load reads nothing older than that view has. A store may go before others that its thread does not know of yet.
 *
 * sc and tso always take the newest store; what differs there is when a store becomes the newest: at once, or when it
 * leaves its thread's buffer. The order of entries is kept; when an entry leaves is asked for only when another thread
 * touches the same location, since nobody could notice before; and when a store leaves its buffer, the others to the
 * same location are asked for, since their order shows.
 *
 * Happens-before (clocks) travels with the views, but not through fences' exchange: a full fence makes values visible,
 * and only a load that reads from a store, with acquire or a fence behind it, orders plain accesses.
 *
 * A park compares as the kernel does: as a sequentially consistent load, since futex(2) has a full barrier before it,
 * and with nothing older than what the callers of a wake knew.
 *
 * Not covered: see README.md.
 *
 * Source. The view machine of Kang et al. 2017 without promises; the tso machine of Sewell et al. 2010.
 */
#include <string.h>

#include "internal.h"

enum { LOCATIONS_MAX = 2048, STORES_MAX = 32768, BUFFER_MAX = 16, CANDIDATES_MAX = 8 };
enum { STAMP_GAP = 1024, VIEW_WORDS = 1 << 22, NO_STORE = 0 };

struct store {
    uint64_t value;
    uint32_t stamp;
    uint32_t older, newer; /* in modification order; NO_STORE at the ends */
    bool follows;          /* a read-modify-write: nothing may come between older and this */
    struct view view;      /* what an acquire of it gets */
};

struct location {
    void *cell;
    uint32_t size;
    uint32_t newest;
};

struct entry {
    uint32_t location;
    uint64_t value;
};

struct memory_thread {
    struct view known, met, fenced; /* current; from relaxed loads since; as of the last full fence */
    uint32_t known_at[LOCATIONS_MAX], met_at[LOCATIONS_MAX], fenced_at[LOCATIONS_MAX];
    struct entry buffer[BUFFER_MAX];
    uint32_t buffered;
};

enum membarrier { UNDECIDED, PRESENT, ABSENT };

static struct {
    enum explored_model model;
    enum membarrier membarrier;
    struct location locations[LOCATIONS_MAX]; /* 0 is none */
    struct store stores[STORES_MAX];
    uint32_t words[VIEW_WORDS]; /* of the stores' views */
    uint32_t location_count, store_count, word_count;
    uint32_t ordered_at[LOCATIONS_MAX]; /* the global view of the full fences and sequentially consistent stores */
    uint32_t ordered_count;
    uint32_t woken_at[LOCATIONS_MAX]; /* what the threads knew that have called for a wake */
    uint32_t woken_count;
    struct memory_thread threads[EXPLORED_THREADS_MAX];
    const void *watched;
    void (*watcher)(void *context, const struct explored_event *event);
    void *watcher_context;
} memory;

/* ---- views ---- */

static void view_clear(struct view *view)
{
    memset(view->clock, 0, sizeof view->clock);
    memset(view->at, 0, view->count * sizeof *view->at);
    view->count = 0;
}

static void at_join(uint32_t *to, uint32_t *to_count, const uint32_t *from, uint32_t from_count)
{
    for (uint32_t i = 0; i < from_count; i++)
        if (to[i] < from[i])
            to[i] = from[i];
    if (*to_count < from_count)
        *to_count = from_count;
}

static void view_join(struct view *to, const struct view *from)
{
    for (uint32_t i = 0; i < EXPLORED_THREADS_MAX; i++)
        if (to->clock[i] < from->clock[i])
            to->clock[i] = from->clock[i];
    at_join(to->at, &to->count, from->at, from->count);
}

static void view_copy(struct view *to, const struct view *from)
{
    view_clear(to);
    view_join(to, from);
}

static void view_raise(struct view *view, uint32_t location, uint32_t stamp)
{
    if (view->at[location] < stamp)
        view->at[location] = stamp;
    if (view->count <= location)
        view->count = location + 1;
}

struct view *memory_view(uint32_t thread)
{
    return &memory.threads[thread].known;
}

static struct view *own_view(void)
{
    return &memory.threads[run_thread()].known;
}

static void tick(uint32_t thread)
{
    memory.threads[thread].known.clock[thread]++;
}

/* ---- the run ---- */

void memory_begin(enum explored_model model)
{
    memory.model = model;
    memory.membarrier = UNDECIDED;
    memory.location_count = 0;
    memory.store_count = 0;
    memory.word_count = 0;
    memset(memory.ordered_at, 0, memory.ordered_count * sizeof memory.ordered_at[0]);
    memory.ordered_count = 0;
    memset(memory.woken_at, 0, memory.woken_count * sizeof memory.woken_at[0]);
    memory.woken_count = 0;
    memory.watched = NULL;
    for (uint32_t i = 0; i < EXPLORED_THREADS_MAX; i++) {
        struct memory_thread *thread = &memory.threads[i];
        thread->known.at = thread->known_at;
        thread->met.at = thread->met_at;
        thread->fenced.at = thread->fenced_at;
        view_clear(&thread->known);
        view_clear(&thread->met);
        view_clear(&thread->fenced);
        thread->known.clock[i] = 1;
        thread->buffered = 0;
    }
}

void memory_started(uint32_t parent, uint32_t child)
{
    memory_drain(parent);
    view_join(&memory.threads[child].known, &memory.threads[parent].known);
    tick(parent);
}

void memory_joined(uint32_t waiter, uint32_t ended)
{
    memory_drain(ended);
    view_join(&memory.threads[waiter].known, &memory.threads[ended].known);
}

/* ---- locations and stores ---- */

static uint64_t read_cell(const struct explored_word *word)
{
    uint64_t value = 0;
    if (word->size == sizeof(uint32_t)) {
        uint32_t narrow;
        memcpy(&narrow, word->cell, sizeof narrow);
        return narrow;
    }
    memcpy(&value, word->cell, sizeof value);
    return value;
}

static void write_cell(const struct location *location, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;
    if (location->size == sizeof narrow)
        memcpy(location->cell, &narrow, sizeof narrow);
    else
        memcpy(location->cell, &value, sizeof value);
}

static uint32_t new_store(uint64_t value, uint32_t stamp)
{
    if (memory.store_count + 1 >= STORES_MAX)
        run_broken("limit", "a run of more than %d stores", STORES_MAX);
    uint32_t index = ++memory.store_count;
    struct store *store = &memory.stores[index];
    memset(store, 0, sizeof *store);
    store->value = value;
    store->stamp = stamp;
    return index;
}

/* 0: not touched in this run yet. */
static uint32_t known_location(const struct explored_word *word)
{
    uint32_t number = *word->location;
    return number <= memory.location_count && memory.locations[number].cell == word->cell ? number : 0;
}

static uint32_t find_location(const struct explored_word *word)
{
    plain_check_ordered(word->cell, word->size);
    uint32_t number = known_location(word);
    if (number > 0)
        return number;
    if (memory.location_count + 1 >= LOCATIONS_MAX)
        run_broken("limit", "a run of more than %d locations", LOCATIONS_MAX);
    number = ++memory.location_count;
    *word->location = number;
    memory.locations[number] = (struct location){word->cell, word->size, 0};
    memory.locations[number].newest = new_store(read_cell(word), 0);
    return number;
}

static struct store *newest_store(uint32_t location)
{
    return &memory.stores[memory.locations[location].newest];
}

/* Keeps a view with a store, in memory of the run. */
static void keep_view(struct store *store, const struct view *view)
{
    if (memory.word_count + view->count > VIEW_WORDS)
        run_broken("limit", "a run whose views take more than %d words", VIEW_WORDS);
    store->view = *view;
    store->view.at = &memory.words[memory.word_count];
    memcpy(store->view.at, view->at, view->count * sizeof *view->at);
    memory.word_count += view->count;
}

/* Puts a store behind `behind`; the stamp lies between its neighbours'. */
static struct store *insert_store(uint32_t location, uint32_t behind, uint64_t value)
{
    struct location *where = &memory.locations[location];
    uint32_t next = memory.stores[behind].newer;
    uint32_t low = memory.stores[behind].stamp;
    uint32_t index = new_store(value, next == NO_STORE ? low + STAMP_GAP : low + (memory.stores[next].stamp - low) / 2);
    struct store *store = &memory.stores[index];
    store->older = behind;
    store->newer = next;
    memory.stores[behind].newer = index;
    if (next != NO_STORE) {
        memory.stores[next].older = index;
    } else {
        where->newest = index;
        write_cell(where, value);
    }
    return store;
}

/* Whether something may still be put directly behind a store. */
static bool has_room_behind(uint32_t index)
{
    const struct store *store = &memory.stores[index];
    if (store->newer == NO_STORE)
        return true;
    const struct store *next = &memory.stores[store->newer];
    return !next->follows && next->stamp - store->stamp >= 2;
}

/* ---- what an operation may see ---- */

static bool has_acquire(uint8_t order)
{
    return order == EXPLORED_acquire || order == EXPLORED_acq_rel || order == EXPLORED_seq_cst;
}

static bool has_release(uint8_t order)
{
    return order == EXPLORED_release || order == EXPLORED_acq_rel || order == EXPLORED_seq_cst;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* The oldest stamp that the running thread may read with this order. */
static uint32_t oldest_visible(uint32_t location, uint8_t order)
{
    return larger(own_view()->at[location], order == EXPLORED_seq_cst ? memory.ordered_at[location] : 0);
}

/* What the operation wants to do with the store that it takes. */
enum purpose { TO_READ, TO_FOLLOW, TO_COMPARE, TO_PRECEDE };

static uint32_t choose_store(uint32_t location, uint32_t oldest, enum purpose purpose, uint64_t expected)
{
    uint32_t candidates[CANDIDATES_MAX], count = 0;
    uint32_t index = memory.locations[location].newest;
    if (memory.model != EXPLORED_RA)
        return index;
    for (; count < CANDIDATES_MAX && index != NO_STORE && memory.stores[index].stamp >= oldest;
         index = memory.stores[index].older) {
        bool needs_room = purpose == TO_FOLLOW || purpose == TO_PRECEDE ||
                          (purpose == TO_COMPARE && memory.stores[index].value == expected);
        if (!needs_room || has_room_behind(index))
            candidates[count++] = index;
    }
    if (count == 1)
        return candidates[0];
    return candidates[choices_make(purpose == TO_PRECEDE ? EXPLORED_CHOICE_PLACE : EXPLORED_CHOICE_VALUE, count, 0, 1)];
}

/* The running thread has read a store. */
static void take_in(uint32_t location, const struct store *store, uint8_t order)
{
    struct memory_thread *thread = &memory.threads[run_thread()];
    view_raise(&thread->known, location, store->stamp);
    view_join(has_acquire(order) ? &thread->known : &thread->met, &store->view);
}

/* The running thread has made a store: what it carries. passed_on: of the store that a read-modify-write followed. */
static void hand_out(uint32_t location, struct store *store, uint8_t order, const struct view *passed_on)
{
    static struct view carried;
    static uint32_t carried_at[LOCATIONS_MAX];
    uint32_t self = run_thread();
    struct memory_thread *thread = &memory.threads[self];
    carried.at = carried_at;
    view_raise(&thread->known, location, store->stamp);
    view_copy(&carried, has_release(order) ? &thread->known : &thread->fenced);
    view_raise(&carried, location, store->stamp);
    if (passed_on != NULL)
        view_join(&carried, passed_on);
    keep_view(store, &carried);
    if (has_release(order))
        tick(self);
    if (order == EXPLORED_seq_cst) {
        memory.ordered_at[location] = larger(memory.ordered_at[location], store->stamp);
        memory.ordered_count = larger(memory.ordered_count, location + 1);
    }
}

/* ---- tso ---- */

static void settle_buffers(uint32_t location, uint32_t draining);

/* Stores of other threads to the same location may leave their buffers before: the order of two such stores is decided
 * here. draining: the threads that are in the midst of this, as bits; what is still in their buffers comes later. */
static void drain_oldest(uint32_t thread, uint32_t draining)
{
    struct memory_thread *owner = &memory.threads[thread];
    const struct entry entry = owner->buffer[0];
    settle_buffers(entry.location, draining | 1u << thread);
    memmove(&owner->buffer[0], &owner->buffer[1], --owner->buffered * sizeof entry);
    insert_store(entry.location, memory.locations[entry.location].newest, entry.value);
}

/* Which of the stores to a location that wait in buffers are visible already? */
static void settle_buffers(uint32_t location, uint32_t draining)
{
    for (uint32_t thread = 0; memory.model == EXPLORED_TSO && thread < EXPLORED_THREADS_MAX; thread++) {
        const struct memory_thread *owner = &memory.threads[thread];
        for (uint32_t i = 0; (draining >> thread & 1) == 0 && i < owner->buffered; i++) {
            if (owner->buffer[i].location != location)
                continue;
            if (choices_make(EXPLORED_CHOICE_DRAIN, 2, 0, 1) != 0)
                break;
            for (uint32_t oldest = 0; oldest <= i; oldest++)
                drain_oldest(thread, draining);
            i = UINT32_MAX; /* from the start again */
        }
    }
}

void memory_drain(uint32_t thread)
{
    while (memory.threads[thread].buffered > 0)
        drain_oldest(thread, 0);
}

static bool find_buffered(uint32_t thread, uint32_t location, uint64_t *value)
{
    const struct memory_thread *owner = &memory.threads[thread];
    for (uint32_t i = owner->buffered; i-- > 0;) {
        if (owner->buffer[i].location == location) {
            *value = owner->buffer[i].value;
            return true;
        }
    }
    return false;
}

/* Does a load of the running thread take the value from its own buffer? Where others' stores to the location wait as
 * well, its own may have left already, and one of theirs behind it. */
static bool read_buffered(uint32_t location, uint64_t *value)
{
    uint32_t self = run_thread();
    uint64_t other;
    bool others = false;
    if (memory.model != EXPLORED_TSO || !find_buffered(self, location, value))
        return false;
    for (uint32_t thread = 0; thread < EXPLORED_THREADS_MAX; thread++)
        others = others || (thread != self && find_buffered(thread, location, &other));
    if (!others || choices_make(EXPLORED_CHOICE_DRAIN, 2, 0, 1) == 0)
        return true;
    while (find_buffered(self, location, value))
        drain_oldest(self, 0);
    return false;
}

/* ---- the operations ---- */

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash != NULL ? slash + 1 : file;
}

static void line(const struct explored_site *site, const char *verb, uint64_t value, const char *remark)
{
    char text[32];
    if (run_is_tracing())
        run_line("%s %s%s%s%s  %s:%u", site->operation, site->expression, verb,
                 verb[0] != '\0' ? run_value_text(value, text, sizeof text) : "", remark, base_name(site->file),
                 site->line);
}

/* word: NULL for a fence. */
static void begin(const struct explored_site *site, const struct explored_word *word)
{
    ((struct explored_site *)(uintptr_t)site)->reached = 1;
    choices_touch(word != NULL ? known_location(word) : 0);
    run_point();
}

void explored_watch(const void *word, void (*seen)(void *context, const struct explored_event *event), void *context)
{
    memory.watched = word;
    memory.watcher = seen;
    memory.watcher_context = context;
}

static void tell_watcher(const struct explored_word *word, const struct store *found, bool changes, uint64_t left)
{
    if (word->cell != memory.watched)
        return;
    struct explored_event event = {.thread = run_thread(), .changes = changes, .found = found->value, .left = left};
    for (uint32_t newer = found->newer; !changes && newer != NO_STORE; newer = memory.stores[newer].newer)
        event.age++;
    memory.watcher(memory.watcher_context, &event);
}

static const char *age(uint32_t location, const struct store *store)
{
    return store == newest_store(location) ? "" : " (not the newest)";
}

/* At rest nobody runs any more, and whoever looks at what is left may take it apart. */
static uint64_t change_at_rest(const struct explored_word *word, uint64_t value)
{
    struct location outside = {word->cell, word->size, 0};
    uint64_t before = read_cell(word);
    write_cell(&outside, value);
    return before;
}

uint64_t explored_load(struct explored_word word, const struct explored_site *site)
{
    if (!run_is_running())
        return read_cell(&word);
    begin(site, &word);
    uint32_t location = find_location(&word);
    uint64_t value;
    if (read_buffered(location, &value)) {
        line(site, " -> ", value, " (own buffer)");
        return value;
    }
    settle_buffers(location, 0);
    uint32_t oldest = oldest_visible(location, site->order);
    const struct store *store = &memory.stores[choose_store(location, oldest, TO_READ, 0)];
    take_in(location, store, site->order);
    line(site, " -> ", store->value, age(location, store));
    tell_watcher(&word, store, false, store->value);
    return store->value;
}

void explored_store(struct explored_word word, uint64_t value, const struct explored_site *site)
{
    if (!run_is_running()) {
        change_at_rest(&word, value);
        return;
    }
    begin(site, &word);
    uint32_t location = find_location(&word);
    struct memory_thread *thread = &memory.threads[run_thread()];
    if (memory.model == EXPLORED_TSO && site->order != EXPLORED_seq_cst) {
        if (thread->buffered == BUFFER_MAX)
            drain_oldest(run_thread(), 0);
        thread->buffer[thread->buffered++] = (struct entry){location, value};
        line(site, " = ", value, "");
        return;
    }
    memory_drain(run_thread());
    settle_buffers(location, 0);
    uint32_t behind = choose_store(location, oldest_visible(location, site->order), TO_PRECEDE, 0);
    struct store *store = insert_store(location, behind, value);
    hand_out(location, store, site->order, NULL);
    line(site, " = ", value, store->newer == NO_STORE ? "" : " (before a store of another thread)");
}

/* A read-modify-write: takes the store that it follows and puts the new value behind it. */
static void follow(uint32_t location, uint32_t read, uint64_t value, uint8_t order)
{
    take_in(location, &memory.stores[read], order);
    struct store *store = insert_store(location, read, value);
    store->follows = true;
    hand_out(location, store, order, &memory.stores[read].view);
}

static uint32_t begin_modify(struct explored_word *word, const struct explored_site *site)
{
    begin(site, word);
    uint32_t location = find_location(word);
    memory_drain(run_thread());
    settle_buffers(location, 0);
    return location;
}

uint64_t explored_exchange(struct explored_word word, uint64_t value, const struct explored_site *site)
{
    if (!run_is_running())
        return change_at_rest(&word, value);
    uint32_t location = begin_modify(&word, site);
    uint32_t read = choose_store(location, oldest_visible(location, site->order), TO_FOLLOW, 0);
    follow(location, read, value, site->order);
    line(site, ": was ", memory.stores[read].value, "");
    line(site, " = ", value, "");
    tell_watcher(&word, &memory.stores[read], true, value);
    return memory.stores[read].value;
}

uint64_t explored_add(struct explored_word word, uint64_t amount, const struct explored_site *site)
{
    if (!run_is_running())
        return change_at_rest(&word, read_cell(&word) + amount);
    uint32_t location = begin_modify(&word, site);
    uint32_t read = choose_store(location, oldest_visible(location, site->order), TO_FOLLOW, 0);
    uint64_t sum = memory.stores[read].value + amount;
    follow(location, read, word.size == sizeof(uint32_t) ? (uint32_t)sum : sum, site->order);
    line(site, " = ", word.size == sizeof(uint32_t) ? (uint32_t)sum : sum, "");
    tell_watcher(&word, &memory.stores[read], true, word.size == sizeof(uint32_t) ? (uint32_t)sum : sum);
    return memory.stores[read].value;
}

bool explored_cas(struct explored_word word, uint64_t *expected, uint64_t desired, const struct explored_site *site)
{
    if (!run_is_running()) {
        bool equal = read_cell(&word) == *expected;
        *expected = equal ? *expected : read_cell(&word);
        if (equal)
            change_at_rest(&word, desired);
        return equal;
    }
    uint32_t location = begin_modify(&word, site);
    uint32_t read = choose_store(location, oldest_visible(location, site->order), TO_COMPARE, *expected);
    const struct store *store = &memory.stores[read];
    if (store->value != *expected) {
        take_in(location, store, site->failure);
        *expected = store->value;
        line(site, ": lost, found ", store->value, age(location, store));
        tell_watcher(&word, store, false, store->value);
        return false;
    }
    follow(location, read, desired, site->order);
    line(site, " = ", desired, "");
    tell_watcher(&word, store, true, desired);
    return true;
}

static void fence_of(uint32_t thread)
{
    struct memory_thread *own = &memory.threads[thread];
    memory_drain(thread);
    view_join(&own->known, &own->met);
    view_clear(&own->met);
    at_join(own->known.at, &own->known.count, memory.ordered_at, memory.ordered_count);
    at_join(memory.ordered_at, &memory.ordered_count, own->known.at, own->known.count);
    view_copy(&own->fenced, &own->known);
    tick(thread);
}

/* membarrier: a full fence of the caller, of every other thread at some moment before the call returns, and of the
 * caller again. (sc: nobody could tell the moments apart.) */
static void heavy_fence(void)
{
    uint32_t self = run_thread(), met = 1u << self;
    bool apart = memory.model != EXPLORED_SC;
    fence_of(self);
    for (;;) {
        uint32_t others[EXPLORED_THREADS_MAX], count = 0;
        for (uint32_t thread = 0; thread < run_thread_count(); thread++)
            if ((met >> thread & 1) == 0)
                others[count++] = thread;
        if (count == 0)
            break;
        uint32_t next = others[apart && count > 1 ? choices_make(EXPLORED_CHOICE_SCENARIO, count, 0, 1) : 0];
        fence_of(next);
        met |= 1u << next;
        if (apart)
            run_point();
    }
    fence_of(self);
}

/* Whether this run's machine has membarrier: asked at the first fence of the pair. */
static bool has_membarrier(void)
{
    if (memory.membarrier == UNDECIDED)
        memory.membarrier = choices_make(EXPLORED_CHOICE_SCENARIO, 2, 0, 0) == 0 ? PRESENT : ABSENT;
    return memory.membarrier == PRESENT;
}

void explored_fence(const struct explored_site *site)
{
    if (!run_is_running())
        return;
    begin(site, NULL);
    bool asymmetric = (site->fence == EXPLORED_FENCE_heavy || site->fence == EXPLORED_FENCE_light) && has_membarrier();
    if (asymmetric && site->fence == EXPLORED_FENCE_heavy)
        heavy_fence();
    else if (!asymmetric && site->fence != EXPLORED_FENCE_none)
        fence_of(run_thread());
    line(site, "", 0, "");
}

uint64_t memory_compared(struct explored_word word)
{
    uint32_t location = find_location(&word);
    settle_buffers(location, 0);
    uint32_t oldest = larger(oldest_visible(location, EXPLORED_seq_cst), memory.woken_at[location]);
    return memory.stores[choose_store(location, oldest, TO_READ, 0)].value;
}

void memory_woken(void)
{
    memory_drain(run_thread());
    at_join(memory.woken_at, &memory.woken_count, own_view()->at, own_view()->count);
}
