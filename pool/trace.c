/* SPDX-License-Identifier: MIT
 *
 * Event rings and their JSON form.
 *
 * How it works. A ring is an array of events of a power of two and the number of events ever recorded. Its thread
 * writes the event into the place of the oldest one and then raises the number. The writer of the JSON document copies
 * what is there, reads the number again, and drops what may have been overwritten meanwhile; so an idle worker that
 * still records how it parks disturbs nothing.
 *
 * Pairs. The viewer wants each thread's begins and ends to nest. The oldest end in a ring may have lost its begin: it
 * gets one at the time of the oldest event kept ("lost": true). A begin that has no end yet gets one at the time of the
 * thread's newest event. An end that nothing can be the begin of is left out.
 *
 * Labels.
 *   @P trace.1  a record: the event is written before the number that counts it
 *   @P trace.2  an overwrite: the number that says "the next place is being written" is raised before the place is
 *
 * Source. "Trace Event Format" (the JSON object form) as read by Perfetto and chrome://tracing.
 */
#include "trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define THREAD_NAME_SIZE 32
#define OUTPUT_SIZE      8192
#define LINE_SIZE_MAX    512 /* no single print is longer */

static const char *const kind_names[] = {
#define TRACE_NAME(name) #name,
    TRACE_EVENTS(TRACE_NAME)
#undef TRACE_NAME
};

/* One event. Written by the ring's thread, read by the writer of the document; @P trace.1, @P trace.2 */
struct event_cell {
    struct shared_u64 stamp, argument;
    struct shared_u64 what; /* kind x 4 + phase */
};

struct trace_ring {
    uint64_t capacity; /* a power of two; constant, as are the next three */
    uint64_t created_stamp;
    uint32_t thread_index;
    char thread_name[THREAD_NAME_SIZE];
    /* Events ever recorded. Written by the ring's thread; read by the writer of the document; @P trace.1, @P trace.2 */
    _Alignas(CACHE_LINE_SIZE) struct shared_u64 recorded;
    struct event_cell cells[];
};

struct trace_ring *trace_ring_create(uint32_t events, const char *thread_name, uint32_t thread_index)
{
    uint64_t capacity = 1;
    while (capacity < events)
        capacity *= 2;
    struct trace_ring *ring = platform_alloc(sizeof *ring + capacity * sizeof ring->cells[0]);
    if (ring == NULL)
        return NULL;
    ring->capacity = capacity;
    ring->created_stamp = platform_stamp();
    ring->thread_index = thread_index;
    snprintf(ring->thread_name, sizeof ring->thread_name, "%s", thread_name);
    return ring;
}

void trace_ring_destroy(struct trace_ring *ring)
{
    platform_free(ring);
}

void trace_record(struct trace_ring *ring, enum trace_kind kind, enum trace_phase phase, uint64_t argument)
{
    /* Relaxed: single writer. */
    uint64_t recorded = shared_u64_load_relaxed(&ring->recorded);
    struct event_cell *cell = &ring->cells[recorded & (ring->capacity - 1)];
    /* Release @P trace.2, three times: whoever reads a part of this event also sees recorded events, and so knows that
     * the place's older event is gone. */
    shared_u64_store_release(&cell->stamp, platform_stamp());
    shared_u64_store_release(&cell->argument, argument);
    shared_u64_store_release(&cell->what, (uint64_t)kind * 4 + (uint64_t)phase);
    /* Release @P trace.1: the event's parts are written before the number that counts it. */
    shared_u64_store_release(&ring->recorded, recorded + 1);
}

/* ---- output ---- */

/* Bytes on their way to a descriptor; the first failure is kept and ends all writing. */
struct output {
    int descriptor, status;
    size_t used;
    char bytes[OUTPUT_SIZE];
};

static void output_flush(struct output *output)
{
    size_t written = 0;
    while (output->status == 0 && written < output->used) {
        ssize_t count = write(output->descriptor, output->bytes + written, output->used - written);
        if (count >= 0)
            written += (size_t)count;
        else if (errno != EINTR)
            output->status = -errno;
    }
    output->used = 0;
}

__attribute__((format(printf, 2, 3))) static void output_print(struct output *output, const char *format, ...)
{
    if (output->used > sizeof output->bytes - LINE_SIZE_MAX)
        output_flush(output);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(output->bytes + output->used, LINE_SIZE_MAX, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= LINE_SIZE_MAX)
        output->status = output->status != 0 ? output->status : -EOVERFLOW;
    else
        output->used += (size_t)length;
}

/* A JSON string. Bytes outside ASCII become '?', since nobody promised that they are UTF-8. */
static void output_string(struct output *output, const char *string)
{
    output_print(output, "\"");
    for (; *string != '\0'; string++) {
        unsigned char byte = (unsigned char)*string;
        if (byte == '"' || byte == '\\')
            output_print(output, "\\%c", byte);
        else if (byte < 0x20)
            output_print(output, "\\u%04x", byte);
        else
            output_print(output, "%c", byte < 0x7f ? byte : '?');
    }
    output_print(output, "\"");
}

/* ---- one thread's events ---- */

struct event {
    uint64_t stamp, argument;
    enum trace_kind kind;
    enum trace_phase phase;
};

/* A consistent copy of one ring, and what is known of its pairs. */
struct copied {
    struct event *events;
    uint8_t *open; /* kinds of the begins without an end so far, outermost first */
    uint8_t *lost; /* kinds of the ends whose begin was overwritten, innermost first */
    uint64_t count, open_count, lost_count;
    uint64_t overwritten; /* events that the ring no longer has */
};

static void copied_free(struct copied *copied)
{
    platform_free(copied->events);
    platform_free(copied->open);
    platform_free(copied->lost);
}

static void event_load(struct event *event, const struct event_cell *cell)
{
    /* Acquire @P trace.2, three times: if a part is of a newer event, recorded says so when it is read again. */
    event->stamp = shared_u64_load_acquire(&cell->stamp);
    event->argument = shared_u64_load_acquire(&cell->argument);
    uint64_t what = shared_u64_load_acquire(&cell->what);
    event->kind = (enum trace_kind)(what / 4);
    event->phase = (enum trace_phase)(what % 4);
}

static int copied_take(struct copied *copied, const struct trace_ring *ring)
{
    *copied = (struct copied){.events = platform_alloc(ring->capacity * sizeof *copied->events),
                              .open = platform_alloc(ring->capacity),
                              .lost = platform_alloc(ring->capacity)};
    if (copied->events == NULL || copied->open == NULL || copied->lost == NULL) {
        copied_free(copied);
        return -ENOMEM;
    }
    /* Acquire @P trace.1: the events counted are written. */
    uint64_t end = shared_u64_load_acquire(&ring->recorded);
    uint64_t begin = end > ring->capacity ? end - ring->capacity : 0;
    for (uint64_t index = begin; index < end; index++)
        event_load(&copied->events[index - begin], &ring->cells[index & (ring->capacity - 1)]);
    /* Relaxed: ordered by the acquire loads @P trace.2. One event more than counted may have been begun by now; only
     * its place can be in doubt when nothing was counted since. */
    uint64_t begun = shared_u64_load_relaxed(&ring->recorded) + 1;
    uint64_t oldest = begun > ring->capacity ? begun - ring->capacity : 0;
    if (oldest > end)
        oldest = end;
    copied->overwritten = oldest;
    copied->count = end - oldest;
    memmove(copied->events, copied->events + (oldest - begin), copied->count * sizeof *copied->events);
    return 0;
}

/* Is there an open begin of this kind? */
static bool is_open(const struct copied *copied, enum trace_kind kind)
{
    for (uint64_t index = 0; index < copied->open_count; index++) {
        if (copied->open[index] == kind)
            return true;
    }
    return false;
}

/* ---- the document ---- */

struct document {
    struct output *output;
    uint64_t first_stamp; /* time 0 of the document: when the first ring was created */
    uint64_t overwritten;
    bool separate; /* an entry was written: the next one needs a comma */
};

static void document_separate(struct document *document)
{
    output_print(document->output, document->separate ? ",\n" : "\n");
    document->separate = true;
}

/* An event's entry up to and without the closing brace. Time is in microseconds; integers only, so that no locale can
 * spoil it. */
static void document_entry(struct document *document, uint32_t thread, const char *phase, enum trace_kind kind,
                           uint64_t stamp)
{
    uint64_t ns = platform_stamp_ns(stamp - document->first_stamp);
    document_separate(document);
    output_print(document->output,
                 "{\"name\":\"%s\",\"ph\":\"%s\",\"pid\":1,\"tid\":%" PRIu32 ",\"ts\":%" PRIu64 ".%03u",
                 kind_names[kind], phase, thread, ns / 1000, (unsigned)(ns % 1000));
}

/* Ends the innermost open begin. */
static void document_close(struct document *document, uint32_t thread, struct copied *copied, uint64_t stamp)
{
    document_entry(document, thread, "E", (enum trace_kind)copied->open[--copied->open_count], stamp);
    output_print(document->output, "}");
}

/* Finds the ends whose begin was overwritten. Leaves the stack of open begins empty. */
static void copied_find_lost(struct copied *copied)
{
    if (copied->overwritten == 0)
        return;
    for (uint64_t index = 0; index < copied->count; index++) {
        const struct event *event = &copied->events[index];
        if (event->phase == TRACE_BEGIN)
            copied->open[copied->open_count++] = (uint8_t)event->kind;
        else if (event->phase == TRACE_END && copied->open_count == 0)
            copied->lost[copied->lost_count++] = (uint8_t)event->kind;
        else if (event->phase == TRACE_END && is_open(copied, event->kind))
            while (copied->open[--copied->open_count] != event->kind)
                ;
    }
    copied->open_count = 0;
}

static void document_event(struct document *document, uint32_t thread, struct copied *copied, const struct event *event)
{
    if (event->phase == TRACE_END) {
        if (!is_open(copied, event->kind))
            return;
        while (copied->open[copied->open_count - 1] != event->kind)
            document_close(document, thread, copied, event->stamp);
        document_close(document, thread, copied, event->stamp);
        return;
    }
    if (event->phase == TRACE_BEGIN)
        copied->open[copied->open_count++] = (uint8_t)event->kind;
    document_entry(document, thread, event->phase == TRACE_BEGIN ? "B" : "i", event->kind, event->stamp);
    output_print(document->output, "%s,\"args\":{\"argument\":\"0x%" PRIx64 "\"}}",
                 event->phase == TRACE_BEGIN ? "" : ",\"s\":\"t\"", event->argument);
}

static void document_thread(struct document *document, uint32_t thread, const struct trace_ring *ring)
{
    document_separate(document);
    output_print(document->output,
                 "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%" PRIu32 ",\"args\":{\"name\":", thread);
    output_string(document->output, ring->thread_name);
    output_print(document->output, "}}");
    document_separate(document);
    output_print(document->output,
                 "{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":1,\"tid\":%" PRIu32
                 ",\"args\":{\"sort_index\":%" PRIu32 "}}",
                 thread, ring->thread_index);
}

static int document_ring(struct document *document, uint32_t thread, const struct trace_ring *ring)
{
    struct copied copied;
    int status = copied_take(&copied, ring);
    if (status != 0)
        return status;
    document_thread(document, thread, ring);
    copied_find_lost(&copied);
    for (uint64_t index = copied.lost_count; index-- > 0;) {
        copied.open[copied.open_count++] = copied.lost[index];
        document_entry(document, thread, "B", (enum trace_kind)copied.lost[index], copied.events[0].stamp);
        output_print(document->output, ",\"args\":{\"lost\":true}}");
    }
    for (uint64_t index = 0; index < copied.count; index++)
        document_event(document, thread, &copied, &copied.events[index]);
    while (copied.open_count > 0)
        document_close(document, thread, &copied, copied.events[copied.count - 1].stamp);
    document->overwritten += copied.overwritten;
    copied_free(&copied);
    return 0;
}

/* When the first of the rings was created. */
static uint64_t first_stamp(struct trace_ring *const *rings, uint32_t count)
{
    uint64_t first = count > 0 ? rings[0]->created_stamp : 0;
    for (uint32_t index = 1; index < count; index++) {
        if (rings[index]->created_stamp < first)
            first = rings[index]->created_stamp;
    }
    return first;
}

int trace_write(struct trace_ring *const *rings, uint32_t count, int descriptor)
{
    struct output output = {.descriptor = descriptor};
    struct document document = {.output = &output, .first_stamp = first_stamp(rings, count)};
    output_print(&output, "{\"traceEvents\":[");
    for (uint32_t index = 0; index < count && output.status == 0; index++) {
        int status = document_ring(&document, index, rings[index]);
        if (status != 0)
            return status;
    }
    output_print(&output, "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{\"events_overwritten\":%" PRIu64 "}}\n",
                 document.overwritten);
    output_flush(&output);
    return output.status;
}
