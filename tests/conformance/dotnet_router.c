/* SPDX-License-Identifier: MIT
 *
 * D26: the work items of one request of the router workload on scheduler dotnet.
 *
 * Method. Router, extension and clients are threads of this process; each client sends one request after the other, and
 * when all are answered the router's counts of its items and the pool's counts of its queues are compared with the
 * number of requests. Nothing is charged, so that the items alone count; the extension takes 400 us for each request
 * and no CPU, so that, as published, about one request is inside the router. One client is held against the published
 * number; with ten, more items merge the busier the machine is with other things, so their number is only reported.
 *
 * The shares of the cores (an extension that is busy for 90 %, 1.25 cores at max 1) need a core each for router,
 * extension and clients: sweeps measure them.
 *
 * Source. The published items of one request; experiments/workloads/router.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "account.h"
#include "dotnet_items.h"
#include "inside.h"
#include "pilfer.h"
#include "workloads/extension.h"
#include "workloads/router.h"

enum { CLIENTS_MAX = 10, CHANNELS = 2 * CLIENTS_MAX, REQUESTS_EACH = 150, CORES_MIN = 4 };
enum { SHARES = 2 }; /* the promises of the item that are not tried here */
enum { ITEMS = 15, ITEMS_ROOM = 5, SERVICE_NS = 400000 };

struct stand {
    struct pilfer_executor *executor;
    struct router *router;
    struct extension *extension;
    struct platform_thread *extension_thread;
    struct client {
        struct platform_thread *thread;
        uint16_t port;
    } clients[CLIENTS_MAX];
};

static void serve(void *argument)
{
    struct stand *stand = argument;
    struct extension_totals totals;
    extension_serve(stand->extension, NULL, &totals);
    extension_close(stand->extension);
}

static void stand_open(struct stand *stand, const struct subject *subject)
{
    char message[PILFER_MESSAGE_SIZE];
    struct router_options options;
    router_options_init(&options, 0);
    stand->executor = dotnet_open(subject, &(struct dotnet_pool){.min_workers = 4, .max_workers = 4, .spin_limit = 5});
    if (router_start(&options, stand->executor, &stand->router, message) != 0)
        check_skip("the router cannot be started here: %s", message);
    const struct extension_options extension = {.control_port = router_control_port(stand->router),
                                                .channels = CHANNELS,
                                                .mode = EXTENSION_DELAY,
                                                .service_ns = SERVICE_NS,
                                                .reply_segments = 1};
    if (extension_open(&extension, &stand->extension, message) != 0)
        check_broken("the extension: %s", message);
    check_setup(platform_thread_start(&stand->extension_thread, "extension", serve, stand) == 0);
}

/* Reads one answer: a header, whose length of the body is known to have one digit. */
static void read_answer(int connection)
{
    static const char length[] = "Content-Length: ", end[] = "\r\n\r\n";
    char text[4096];
    size_t size = 0;
    for (;;) {
        const ssize_t got = recv(connection, text + size, sizeof(text) - 1 - size, 0);
        if (got <= 0)
            check_broken("a client's connection ended: %s", got < 0 ? strerror(errno) : "closed");
        size += (size_t)got;
        text[size] = '\0';
        const char *body = strstr(text, end), *announced = strcasestr(text, length);
        if (body == NULL)
            continue;
        check_setup(announced != NULL && strncmp(text, "HTTP/1.1 200", 12) == 0);
        if (text + size >= body + strlen(end) + (announced[strlen(length)] - '0'))
            return;
    }
}

static void be_client(void *argument)
{
    static const char request[] = "GET /ping HTTP/1.1\r\nHost: a\r\n\r\n";
    const struct client *client = argument;
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(client->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check_setup(connection >= 0 && connect(connection, (const struct sockaddr *)&address, sizeof(address)) == 0);
    for (uint32_t i = 0; i < REQUESTS_EACH; i++) {
        check_setup(send(connection, request, strlen(request), MSG_NOSIGNAL) == (ssize_t)strlen(request));
        read_answer(connection);
        check_progress();
    }
    close(connection);
}

/* Every stream is open again, and no worker has an item. */
static bool is_quiet(void *context)
{
    const struct stand *stand = context;
    struct router_totals totals;
    router_totals(stand->router, &totals);
    return totals.channels_idle == CHANNELS && inside_engaged(stand->executor) == 0;
}

static void stand_load(struct stand *stand, uint32_t clients)
{
    for (uint32_t i = 0; i < clients; i++) {
        stand->clients[i].port = router_port(stand->router);
        check_setup(platform_thread_start(&stand->clients[i].thread, "client", be_client, &stand->clients[i]) == 0);
    }
    for (uint32_t i = 0; i < clients; i++)
        platform_thread_join(stand->clients[i].thread);
    check_until(is_quiet, stand);
}

/* One run from start to end. Returns the items of a request, the first streams' own items taken off. */
static double count_items(const struct subject *subject, uint32_t clients)
{
    const uint32_t requests = clients * REQUESTS_EACH;
    struct stand stand = {.executor = NULL};
    struct router_totals router;
    struct account_totals pool;
    check_trying("%u requests of %u clients", requests, clients);
    stand_open(&stand, subject);
    stand_load(&stand, clients);
    pilfer_totals(stand.executor, &pool);
    router_stop(stand.router);
    pilfer_close(stand.executor, PILFER_CLOSE_RUN, NULL);
    router_totals(stand.router, &router);
    router_free(stand.router);
    platform_thread_join(stand.extension_thread);
    uint64_t items = 0;
    for (uint32_t i = 0; i < ROUTER_ITEM_COUNT; i++)
        items += router.items[i];
    if (router.requests_answered != requests)
        check_broken("%llu of %u requests were answered", (unsigned long long)router.requests_answered, requests);
    if (pool.counters[COUNTER_placements_local] != requests)
        check_broken("%llu local items of %u requests, expected one each",
                     (unsigned long long)pool.counters[COUNTER_placements_local], requests);
    return (double)(items - CHANNELS) / requests;
}

void dotnet_router_items(const struct subject *subject)
{
    const double items = count_items(subject, 1), items_together = count_items(subject, CLIENTS_MAX);
    if (items < ITEMS - ITEMS_ROOM || items > ITEMS + ITEMS_ROOM)
        check_broken("%.2f items a request, published are %d +- %d", items, ITEMS, ITEMS_ROOM);
    check_left_out(SHARES);
    check_held("%.1f items a request, %.1f with %d clients, 1 of them local; not tried: %d shares of cores, %s", items,
               items_together, CLIENTS_MAX, SHARES,
               platform_usable_cpus() < CORES_MIN ? "with fewer than 4 CPUs" : "which sweeps measure");
}
