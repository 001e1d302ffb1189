/* SPDX-License-Identifier: MIT
 *
 * Promise: the router loses no request and no answer, on any scheduler, with idle streams and without, whatever the
 * executor refuses and whenever the extension goes; and its work items are those of the published graph.
 *
 * Method. Router, extension and load generator run as threads of one process; the load generator sends a fixed number
 * of requests in a closed loop, and then the counts of all three must agree exactly. Refusals are made by wrapping
 * pilfer_submit() at link time. The extension's end is made by closing it while requests wait for it.
 */
#include "network.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/flow.h"

#define REQUESTS    10000
#define CONNECTIONS 10

/* ---- refusals ---- */

/* 0: the executor decides; n: one submit in n is refused. */
static struct shared_u32 refuse_one_in;
static struct shared_u64 submits;

int __real_pilfer_submit(struct pilfer_executor *executor, struct pilfer_task *task, enum pilfer_placement placement);
int __wrap_pilfer_submit(struct pilfer_executor *executor, struct pilfer_task *task, enum pilfer_placement placement);

int __wrap_pilfer_submit(struct pilfer_executor *executor, struct pilfer_task *task, enum pilfer_placement placement)
{
    /* A multiplicative hash of the number of submits, so that no kind of item is always or never refused. */
    const uint64_t number = shared_u64_add_relaxed(&submits, 1);
    const uint32_t one_in = shared_u32_load_relaxed(&refuse_one_in);
    if (one_in && (number * 0x9e3779b97f4a7c15u >> 33) % one_in == 0)
        return -EAGAIN;
    return __real_pilfer_submit(executor, task, placement);
}

/* ---- disturbance of the rings ---- */

static struct shared_u32 disturb; /* 1: yield around one ring operation in eight */

bool __real_ring_push(struct ring *ring, void *value);
bool __wrap_ring_push(struct ring *ring, void *value);
void *__real_ring_pop(struct ring *ring);
void *__wrap_ring_pop(struct ring *ring);

static void maybe_yield(void)
{
    static struct shared_u64 calls;
    if (shared_u32_load_relaxed(&disturb) && (shared_u64_add_relaxed(&calls, 1) * 0x9e3779b97f4a7c15u >> 61) == 0)
        platform_yield();
}

bool __wrap_ring_push(struct ring *ring, void *value)
{
    maybe_yield();
    return __real_ring_push(ring, value);
}

void *__wrap_ring_pop(struct ring *ring)
{
    void *value = __real_ring_pop(ring);
    maybe_yield();
    return value;
}

/* ---- lack of memory and threads ---- */

static struct shared_i64 allocations_left, threads_left; /* the one that makes it zero fails; below zero: none fails */

void *__real_platform_alloc(size_t size);
void *__wrap_platform_alloc(size_t size);
int __real_platform_thread_start(struct platform_thread **out, const char *name, void (*body)(void *argument),
                                 void *argument);
int __wrap_platform_thread_start(struct platform_thread **out, const char *name, void (*body)(void *argument),
                                 void *argument);

void *__wrap_platform_alloc(size_t size)
{
    return shared_i64_add_relaxed(&allocations_left, -1) == 1 ? NULL : __real_platform_alloc(size);
}

int __wrap_platform_thread_start(struct platform_thread **out, const char *name, void (*body)(void *argument),
                                 void *argument)
{
    if (shared_i64_add_relaxed(&threads_left, -1) == 1)
        return -EAGAIN;
    return __real_platform_thread_start(out, name, body, argument);
}

/* ---- counts ---- */

static const struct setting {
    const char *scheduler;
    uint32_t workers, spin_limit, channels, segments, pollers;
    bool published;
} settings[] = {
    {"chase-lev", 2, 0, 2 * CONNECTIONS, 1, 1, true},
    {"chase-lev", 4, PILFER_SPIN_LIMIT_DEFAULT, CONNECTIONS, 1, 1, true},
    {"chase-lev", 4, 5, 3, 2, 2, true}, /* most requests wait for a stream */
    {"global-queue", 2, 0, CONNECTIONS, 2, 1, false},
    {"global-queue", 1, 5, 1, 1, 2, true}, /* one worker, one stream */
    {"inline", 1, 0, CONNECTIONS, 1, 1, true},
    {"inline", 1, 0, 2, 2, 3, false},
};

static void start(struct stand *stand, const struct setting *setting)
{
    const struct pilfer_options pool = {
        .scheduler = setting->scheduler, .max_workers = setting->workers, .spin_limit = setting->spin_limit};
    struct router_options options;
    router_options_init(&options, 0);
    options.poller_threads = setting->pollers;
    options.placement_published = setting->published;
    stand_start(stand, &pool, &options);
}

static void add_extension(struct stand *stand, const struct setting *setting)
{
    const struct extension_options options = {
        .channels = setting->channels, .mode = EXTENSION_BURN, .reply_segments = setting->segments};
    stand_add_extension(stand, &options);
}

/* A client's view, the router's and the extension's of the same requests. */
START_TEST(counts_agree)
{
    const struct setting *setting = &settings[_i];
    struct stand stand;
    struct router_totals router;
    struct load_totals load;
    start(&stand, setting);
    add_extension(&stand, setting);
    stand_load(&stand, CONNECTIONS, REQUESTS, &load);
    stand_wait_idle(&stand, setting->channels);
    stand_stop(&stand, &router);

    ck_assert_uint_eq(load.sent, REQUESTS);
    ck_assert_uint_eq(load.answered, REQUESTS);
    ck_assert_uint_eq(load.in_flight, 0);
    ck_assert_uint_eq(load.requests, REQUESTS);
    ck_assert_uint_eq(load.latency.count, REQUESTS);
    ck_assert_uint_eq(load.connections_reopened, 0);
    ck_assert_uint_eq(router.requests_received, REQUESTS);
    ck_assert_uint_eq(router.requests_answered, REQUESTS);
    ck_assert_uint_eq(router.requests_relayed, REQUESTS);
    ck_assert_uint_eq(router.markers, REQUESTS);
    ck_assert_uint_eq(router.requests_refused + router.requests_lost + router.requests_invalid, 0);
    ck_assert_uint_eq(router.connections_accepted, CONNECTIONS);
    ck_assert_uint_eq(stand.extension_totals.requests_received, REQUESTS);
    ck_assert_uint_eq(stand.extension_totals.requests_answered, REQUESTS);

    /* One per request, or as many as there are segments; each new stream follows an answer. */
    ck_assert_uint_eq(router.items[ROUTER_ITEM_probe], REQUESTS);
    ck_assert_uint_eq(router.items[ROUTER_ITEM_open], REQUESTS + setting->channels);
    ck_assert_uint_ge(router.items[ROUTER_ITEM_relay], REQUESTS);
    ck_assert_uint_le(router.items[ROUTER_ITEM_relay], (uint64_t)REQUESTS * setting->segments);
    uint64_t items = 0;
    for (int item = 0; item < ROUTER_ITEM_COUNT; item++) {
        ck_assert_msg(router.items[item] > 0, "no item of kind %s", router_item_name((enum router_item)item));
        items += router.items[item];
    }
    ck_assert_uint_ge(items, 3 * (uint64_t)REQUESTS); /* relay, new stream and probe cannot merge */
    ck_assert_uint_le(items, 25 * (uint64_t)REQUESTS);
    /* Fewer streams than clients in a closed loop: somebody always waits. */
    if (setting->channels < CONNECTIONS)
        ck_assert_uint_gt(router.requests_waited, 0);
}
END_TEST

/* One client and one stream, whose next life begins while the client's next request arrives: if the two missed each
 * other once, nothing else would bring them together, and the test would run out of time. */
START_TEST(request_meets_stream)
{
    const struct setting setting = {"chase-lev", 4, 5, 1, 1, 1, true};
    struct stand stand;
    struct router_totals router;
    struct load_totals load;
    shared_u32_store_relaxed(&disturb, 1);
    start(&stand, &setting);
    add_extension(&stand, &setting);
    stand_load(&stand, 1, 2 * REQUESTS, &load);
    stand_stop(&stand, &router);
    ck_assert_uint_eq(load.answered, 2 * REQUESTS);
}
END_TEST

/* The executor refuses one submit in seven: the client is told so (503) or the item runs at once, and nothing is lost.
 */
START_TEST(refusals_are_answered)
{
    const struct setting *setting = &settings[_i];
    struct stand stand;
    struct router_totals router;
    struct load_totals load;
    start(&stand, setting);
    add_extension(&stand, setting);
    shared_u32_store_relaxed(&refuse_one_in, 7);
    stand_load(&stand, CONNECTIONS, REQUESTS, &load);
    stand_wait_idle(&stand, setting->channels);
    stand_stop(&stand, &router);
    ck_assert_uint_eq(load.sent, REQUESTS);
    ck_assert_uint_eq(load.answered + load.failed[LOAD_FAILURE_refused], REQUESTS);
    ck_assert_uint_gt(load.failed[LOAD_FAILURE_refused], 0);
    ck_assert_uint_eq(router.requests_received, REQUESTS);
    ck_assert_uint_eq(router.requests_answered, REQUESTS);
    ck_assert_uint_eq(router.requests_refused, load.failed[LOAD_FAILURE_refused]);
    ck_assert_uint_eq(router.requests_relayed, load.answered);
    ck_assert_uint_eq(router.requests_lost, 0);
    ck_assert_uint_gt(router.items_inline, router.requests_refused);
}
END_TEST

/* Paced: every arrival of the window is answered and counted once, whenever its answer comes. */
START_TEST(paced_arrivals_complete)
{
    char message[PILFER_MESSAGE_SIZE];
    struct stand stand;
    struct router_totals router;
    struct load_totals totals;
    struct load *load;
    start(&stand, &settings[0]);
    add_extension(&stand, &settings[0]);
    const struct load_options options = {.port = stand.port,
                                         .connections = CONNECTIONS,
                                         .mode = _i == 0 ? LOAD_POISSON : LOAD_CONSTANT,
                                         .rate_rps = 500,
                                         .seed = 7};
    ck_assert_msg(load_open(&options, &load, message) == 0, "%s", message);
    const uint64_t now_ns = platform_now_ns();
    const struct load_window window = {.start_ns = now_ns,
                                       .window_start_ns = now_ns + 100000000,
                                       .window_end_ns = now_ns + 1100000000,
                                       .settle_ns = 20000000000u};
    ck_assert_int_eq(load_run(load, &window, NULL, &totals), 0);
    load_close(load);
    stand_stop(&stand, &router);
    ck_assert_uint_eq(totals.requests, totals.arrivals);
    ck_assert_uint_eq(totals.latency.count, totals.arrivals);
    ck_assert_uint_eq(totals.sent, totals.answered);
    ck_assert_uint_gt(totals.sent, totals.arrivals); /* the warm-up's do not count */
    ck_assert_uint_eq(totals.unsent + totals.in_flight, 0);
    ck_assert_uint_eq(router.requests_answered, totals.sent);
    if (options.mode == LOAD_CONSTANT) /* one every 2 ms for one second */
        ck_assert_uint_eq(totals.arrivals, 500);
}
END_TEST

/* ---- the extension comes and goes ---- */

/* Requests that wait for the extension, on a stream or for a stream, get an answer when it goes; a new one is taken. */
START_TEST(extension_goes)
{
    char message[PILFER_MESSAGE_SIZE], body[64];
    struct setting setting = settings[_i];
    struct stand stand;
    struct router_totals router;
    struct extension *extension;
    int clients[CONNECTIONS], status[CONNECTIONS], lost = 0, absent = 0;
    setting.channels = 4;
    start(&stand, &setting);
    const struct extension_options options = {
        .control_port = stand.control_port, .channels = setting.channels, .reply_segments = 1};

    clients[0] = raw_connect(stand.port);
    raw_send_text(clients[0], NETWORK_REQUEST);
    ck_assert_int_eq(raw_answer(clients[0], false, body, sizeof(body)), 503); /* there is none yet */
    close(clients[0]);

    ck_assert_msg(extension_open(&options, &extension, message) == 0, "%s", message);
    for (int index = 0; index < CONNECTIONS; index++) {
        clients[index] = raw_connect(stand.port);
        raw_send_text(clients[index], NETWORK_REQUEST);
    }
    do { /* it accepts streams but does not serve: all of them get stuck */
        platform_yield();
        router_totals(stand.router, &router);
    } while (router.requests_received < 1 + CONNECTIONS || router.channels_idle > 0 ||
             router.requests_waited < CONNECTIONS - 4);
    extension_close(extension);
    for (int index = 0; index < CONNECTIONS; index++) {
        status[index] = raw_answer(clients[index], false, body, sizeof(body));
        lost += status[index] == 502;
        absent += status[index] == 503;
    }
    ck_assert_int_eq(lost, 4);
    ck_assert_int_eq(absent, CONNECTIONS - 4);

    add_extension(&stand, &setting);
    for (int index = 0; index < CONNECTIONS; index++) { /* the connections have been kept */
        raw_send_text(clients[index], NETWORK_REQUEST);
        ck_assert_int_eq(raw_answer(clients[index], false, body, sizeof(body)), 200);
        ck_assert_str_eq(body, "pong\n");
        close(clients[index]);
    }
    stand_wait_idle(&stand, setting.channels); /* a reply of several frames ends after its last byte */
    stand_stop(&stand, &router);
    ck_assert_uint_eq(router.requests_received, 1 + 2 * CONNECTIONS);
    ck_assert_uint_eq(router.requests_answered, 1 + 2 * CONNECTIONS);
    ck_assert_uint_eq(router.requests_lost, 1 + CONNECTIONS);
    ck_assert_uint_eq(router.requests_relayed, CONNECTIONS);
    ck_assert_uint_eq(router.extensions_accepted, 2);
}
END_TEST

/* What is not the protocol ends that connection only: HELLO twice, a channel that does not exist, a reply to nothing,
 * an endless frame, plain nonsense. The next extension is served. A second one beside it is turned away. */
START_TEST(control_port_is_strict)
{
    static const struct {
        const char *bytes;
        size_t size;
    } inputs[] = {
        {"\0\0\0\0\2\0\1\0\0\0\0\0\2\0\1\0", 16},         {"\0\0\0\0\0\0\1\0", 8},
        {"\0\0\0\0\2\0\1\0\0\0\0\0\2\0\2\0", 16},         {"\0\0\0\0\2\0\1\0\0\0\0\0\0\0\5\1", 16},
        {"\0\0\0\0\2\0\1\0\377\377\377\377\0\0\5\0", 16}, {"\0\0\0\0\2\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\2\0", 24},
        {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27},        {"\0\0\0\0\0\0\2\0", 8},
    };
    char body[64], end[64];
    struct stand stand;
    struct router_totals router;
    start(&stand, &settings[1]);
    for (size_t index = 0; index < sizeof(inputs) / sizeof(inputs[0]); index++) {
        const int client = raw_connect(stand.control_port);
        raw_send(client, inputs[index].bytes, inputs[index].size);
        ck_assert_int_le(raw_read_end(client, end, sizeof(end)), 8); /* at most one stream was accepted before */
        close(client);
    }
    add_extension(&stand, &settings[1]);
    const int second = raw_connect(stand.control_port);
    ck_assert_int_le(raw_read_end(second, end, sizeof(end)), 0);
    close(second);
    const int client = raw_connect(stand.port);
    raw_send_text(client, NETWORK_REQUEST);
    ck_assert_int_eq(raw_answer(client, false, body, sizeof(body)), 200);
    close(client);
    stand_stop(&stand, &router);
    ck_assert_uint_eq(router.requests_relayed, 1);
    ck_assert_uint_eq(router.connections_rejected, 1);
}
END_TEST

/* Mode delay never answers faster than one request per service, but for the two services that it may be behind. */
START_TEST(delay_is_kept)
{
    enum { COUNT = 60 };
    const uint64_t service_ns = 1000000;
    struct stand stand;
    struct router_totals router;
    struct load_totals load;
    start(&stand, &settings[1]);
    const struct extension_options options = {
        .channels = CONNECTIONS, .mode = EXTENSION_DELAY, .service_ns = service_ns, .reply_segments = 1};
    stand_add_extension(&stand, &options);
    const uint64_t began_ns = platform_now_ns();
    stand_load(&stand, CONNECTIONS, COUNT, &load);
    const uint64_t took_ns = platform_now_ns() - began_ns;
    stand_stop(&stand, &router);
    ck_assert_uint_eq(load.answered, COUNT);
    ck_assert_uint_ge(took_ns, (COUNT - 3) * service_ns);
}
END_TEST

/* A second server on a port in use is refused with a sentence that names it, and leaves nothing behind. */
START_TEST(port_in_use)
{
    char message[PILFER_MESSAGE_SIZE], port[16];
    struct stand stand;
    struct router *second;
    struct router_totals router;
    struct router_options options;
    start(&stand, &settings[0]);
    router_options_init(&options, 0);
    options.port = stand.port;
    const int before = raw_descriptors();
    ck_assert_int_eq(router_start(&options, stand.executor, &second, message), -EADDRINUSE);
    snprintf(port, sizeof(port), "port %u", stand.port);
    ck_assert_ptr_nonnull(strstr(message, port));
    options.port = 0;
    options.control_port = stand.control_port;
    ck_assert_int_eq(router_start(&options, stand.executor, &second, message), -EADDRINUSE);
    options.poller_threads = 0;
    ck_assert_int_eq(router_start(&options, stand.executor, &second, message), -EINVAL);
    ck_assert_int_eq(raw_descriptors(), before);
    stand_stop(&stand, &router);
}
END_TEST

/* Whichever allocation or thread fails: the start fails with a sentence and leaves nothing open, or succeeds and works.
 */
START_TEST(start_without_resources)
{
    char message[PILFER_MESSAGE_SIZE];
    struct stand stand;
    struct router *second;
    struct router_totals router;
    struct router_options options;
    int failures = 0, successes = 0;
    start(&stand, &settings[0]);
    router_options_init(&options, 0);
    options.poller_threads = 3;
    const int before = raw_descriptors();
    for (int64_t fail = 1; successes < 3; fail++) {
        struct shared_i64 *left = _i == 0 ? &allocations_left : &threads_left;
        shared_i64_store_relaxed(left, fail);
        message[0] = '\0';
        const int status = router_start(&options, stand.executor, &second, message);
        shared_i64_store_relaxed(left, 0);
        if (status == 0) {
            successes++; /* a poller may do without what failed */
            router_stop(second);
            router_free(second);
        } else {
            failures++;
            ck_assert(status == -ENOMEM || status == -EAGAIN);
            ck_assert_msg(message[0] != '\0', "no message for %d", status);
        }
        ck_assert_int_eq(raw_descriptors(), before);
    }
    ck_assert_int_ge(failures, 3);
    stand_stop(&stand, &router);
}
END_TEST

/* Clients arrive while memory is short: they are turned away, and the router lives on. */
START_TEST(client_without_memory)
{
    static const struct setting setting = {"inline", 1, 0, 1, 1, 1, true}; /* no worker that allocates meanwhile */
    char body[64], end[64];
    struct stand stand;
    struct router_totals router;
    start(&stand, &setting);
    const int first = raw_connect(stand.port);
    raw_send_text(first, NETWORK_REQUEST);
    ck_assert_int_eq(raw_answer(first, false, body, sizeof(body)), 503); /* there is no extension; the poller is up */
    for (int64_t fail = 1; fail <= 3; fail++) {                          /* the client, its input, its output */
        shared_i64_store_relaxed(&allocations_left, fail + 1);           /* the first is the transport's */
        const int client = raw_connect(stand.port);
        ck_assert_int_le(raw_read_end(client, end, sizeof(end)), 0);
        close(client);
    }
    shared_i64_store_relaxed(&allocations_left, 0);
    const int last = raw_connect(stand.port);
    raw_send_text(last, NETWORK_REQUEST);
    ck_assert_int_eq(raw_answer(last, false, body, sizeof(body)), 503);
    close(first);
    close(last);
    stand_stop(&stand, &router);
    ck_assert_uint_eq(router.connections_rejected, 3);
}
END_TEST

int main(void)
{
    const int count = (int)(sizeof(settings) / sizeof(settings[0]));
    Suite *suite = suite_create("router");
    TCase *tests = tcase_create("router");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, counts_agree, 0, count);
    tcase_add_test(tests, request_meets_stream);
    tcase_add_loop_test(tests, refusals_are_answered, 0, count);
    tcase_add_loop_test(tests, paced_arrivals_complete, 0, 2);
    tcase_add_loop_test(tests, extension_goes, 0, count);
    tcase_add_test(tests, control_port_is_strict);
    tcase_add_test(tests, delay_is_kept);
    tcase_add_test(tests, port_in_use);
    tcase_add_loop_test(tests, start_without_resources, 0, 2);
    tcase_add_test(tests, client_without_memory);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
