/* SPDX-License-Identifier: MIT
 *
 * The real back end of transport.h: TCP over 127.0.0.1 and edge-triggered epoll.
 *
 * How it works. Every descriptor is non-blocking and closed on exec. Connections are added to epoll once, for both
 * directions; an event of a connection that was broken or ended reports both, so that the next receive and the next
 * send find out. A poller owns an eventfd for interruptions. Deadlines use epoll_pwait2 (Linux 5.11), whose time has
 * ns.
 *
 * Without descriptors. accept4 failing with EMFILE leaves the connection waiting, and edge-triggered epoll does not
 * tell again. Each listener therefore keeps one descriptor in reserve: it is given up, the waiting connection is
 * accepted and closed at once, so that its client learns of it, and the reserve is taken back.
 *
 * Labels
 *   @P real.added  the object behind a context -> the poller that is handed the context
 *
 * Worst case. Two threads of one process that exhaust descriptors at the same moment may leave a listener without its
 * reserve; it is taken again at the next accept.
 */
#include "transport/transport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define REAL_EVENTS_MAX    1024 /* per wait */
#define REAL_BACKLOG       4096
#define NS_PER_SECOND      1000000000u
#define REAL_FINE_SLACK_NS 1

struct transport {
    /* Written by accepting and connecting threads, read by anyone; counters only. */
    struct shared_u64 connections_accepted, connections_opened, descriptors_exhausted, connections_sacrificed;
};

struct transport_listener {
    struct transport *transport;
    int descriptor;
    int reserve; /* -1 while it could not be had; the accepting thread's */
    uint16_t port;
};

struct transport_connection {
    int descriptor;
};

struct transport_poller {
    int epoll, interrupt;
    enum transport_precision precision;
    bool prepared;           /* the polling thread has set its timer slack */
    struct shared_u32 added; /* how many were added; written by whoever adds, read by the poller; @P real.added */
    struct epoll_event events[REAL_EVENTS_MAX];
};

int transport_open(struct transport **out)
{
    struct transport *transport = platform_alloc(sizeof(*transport));
    if (!transport)
        return -ENOMEM;
    *out = transport;
    return 0;
}

void transport_close(struct transport *transport)
{
    platform_free(transport);
}

void transport_read(const struct transport *transport, struct transport_counters *out)
{
    out->connections_accepted = counter_read(&transport->connections_accepted);
    out->connections_opened = counter_read(&transport->connections_opened);
    out->descriptors_exhausted = counter_read(&transport->descriptors_exhausted);
    out->connections_sacrificed = counter_read(&transport->connections_sacrificed);
}

/* ---- end points ---- */

static struct sockaddr_in real_address(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int real_reserve(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Binds and listens; the descriptor or -errno. */
static int real_bind(uint16_t port)
{
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        return -errno;
    const int on = 1;
    const struct sockaddr_in address = real_address(port);
    if (setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        bind(descriptor, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(descriptor, REAL_BACKLOG) != 0) {
        const int error = errno;
        close(descriptor);
        return -error;
    }
    return descriptor;
}

int transport_listen(struct transport *transport, uint16_t port, struct transport_listener **out)
{
    struct transport_listener *listener = platform_alloc(sizeof(*listener));
    if (!listener)
        return -ENOMEM;
    listener->transport = transport;
    listener->reserve = -1;
    listener->descriptor = real_bind(port);
    if (listener->descriptor < 0) {
        const int error = listener->descriptor;
        platform_free(listener);
        return error;
    }
    struct sockaddr_in bound;
    socklen_t size = sizeof(bound);
    listener->reserve = real_reserve();
    if (listener->reserve < 0 || getsockname(listener->descriptor, (struct sockaddr *)&bound, &size) != 0) {
        const int error = -errno;
        transport_listener_close(listener);
        return error;
    }
    listener->port = ntohs(bound.sin_port);
    *out = listener;
    return 0;
}

uint16_t transport_listener_port(const struct transport_listener *listener)
{
    return listener->port;
}

void transport_listener_close(struct transport_listener *listener)
{
    close(listener->descriptor);
    if (listener->reserve >= 0)
        close(listener->reserve);
    platform_free(listener);
}

/* Wraps a connected or connecting descriptor; closes it on failure. */
static int real_wrap(int descriptor, struct transport_connection **out)
{
    struct transport_connection *connection = platform_alloc(sizeof(*connection));
    if (!connection) {
        close(descriptor);
        return -ENOMEM;
    }
    const int on = 1;
    /* Without it the only loss is time: small segments may wait for an acknowledgement. */
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    connection->descriptor = descriptor;
    *out = connection;
    return 0;
}

/* No descriptor was left for a waiting connection: turns it away with the reserve. */
static void real_sacrifice(struct transport_listener *listener)
{
    shared_u64_add_relaxed(&listener->transport->descriptors_exhausted, 1); /* counter only */
    if (listener->reserve >= 0)
        close(listener->reserve);
    const int descriptor = accept4(listener->descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor >= 0) {
        close(descriptor);
        shared_u64_add_relaxed(&listener->transport->connections_sacrificed, 1); /* counter only */
    }
    listener->reserve = real_reserve();
}

int transport_accept(struct transport_listener *listener, struct transport_connection **out)
{
    const int descriptor = accept4(listener->descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) {
        const int error = errno;
        if (error == EMFILE || error == ENFILE) {
            real_sacrifice(listener);
            return -EMFILE;
        }
        return error == EWOULDBLOCK ? -EAGAIN : -error;
    }
    if (listener->reserve < 0)
        listener->reserve = real_reserve();
    const int status = real_wrap(descriptor, out);
    if (status == 0)
        shared_u64_add_relaxed(&listener->transport->connections_accepted, 1); /* counter only */
    return status;
}

int transport_connect(struct transport *transport, uint16_t port, struct transport_connection **out)
{
    const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        return errno == ENFILE ? -EMFILE : -errno;
    const struct sockaddr_in address = real_address(port);
    if (connect(descriptor, (const struct sockaddr *)&address, sizeof(address)) != 0 && errno != EINPROGRESS) {
        const int error = errno;
        close(descriptor);
        return -error;
    }
    const int status = real_wrap(descriptor, out);
    if (status == 0)
        shared_u64_add_relaxed(&transport->connections_opened, 1); /* counter only */
    return status;
}

/* ---- streams ---- */

ptrdiff_t transport_receive(struct transport_connection *connection, void *buffer, size_t size)
{
    ssize_t count;
    do {
        count = recv(connection->descriptor, buffer, size, 0);
    } while (count < 0 && errno == EINTR);
    if (count >= 0)
        return count;
    return errno == EWOULDBLOCK ? -EAGAIN : -errno;
}

ptrdiff_t transport_send(struct transport_connection *connection, const void *buffer, size_t size)
{
    ssize_t count;
    do {
        count = send(connection->descriptor, buffer, size, MSG_NOSIGNAL);
    } while (count < 0 && errno == EINTR);
    if (count >= 0)
        return count;
    return errno == EWOULDBLOCK ? -EAGAIN : -errno;
}

void transport_end_sending(struct transport_connection *connection)
{
    /* Fails only on a connection that is broken or does not stand yet: then there is nothing to end. */
    (void)shutdown(connection->descriptor, SHUT_WR);
}

void transport_end(struct transport_connection *connection)
{
    (void)shutdown(connection->descriptor, SHUT_RDWR);
}

void transport_connection_close(struct transport_connection *connection)
{
    close(connection->descriptor);
    platform_free(connection);
}

/* ---- waiting ---- */

static int real_add(struct transport_poller *poller, int descriptor, uint32_t events, void *context)
{
    struct epoll_event event = {.events = events, .data.ptr = context};
    /* @P real.added: publishes what context points to. The kernel orders it as well, but the language does not know. */
    shared_u32_add_release(&poller->added, 1);
    return epoll_ctl(poller->epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 ? 0 : -errno;
}

int transport_poller_open(struct transport *transport, enum transport_precision precision,
                          struct transport_poller **out)
{
    struct transport_poller *poller = platform_alloc(sizeof(*poller));
    if (!poller)
        return -ENOMEM;
    poller->precision = precision;
    poller->interrupt = -1;
    poller->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (poller->epoll >= 0)
        poller->interrupt = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    const int status = poller->interrupt < 0 ? -errno : real_add(poller, poller->interrupt, EPOLLIN, poller);
    if (status != 0) {
        transport_poller_close(poller);
        return status;
    }
    *out = poller;
    return 0;
}

void transport_poller_close(struct transport_poller *poller)
{
    if (poller->epoll >= 0)
        close(poller->epoll);
    if (poller->interrupt >= 0)
        close(poller->interrupt);
    platform_free(poller);
}

int transport_poller_add_listener(struct transport_poller *poller, struct transport_listener *listener, void *context)
{
    return real_add(poller, listener->descriptor, EPOLLIN | EPOLLET, context);
}

int transport_poller_add(struct transport_poller *poller, struct transport_connection *connection, void *context)
{
    return real_add(poller, connection->descriptor, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, context);
}

/* The kernel's wait, with what is left until the deadline; count or -errno. */
static int real_wait(struct transport_poller *poller, uint32_t capacity, uint64_t deadline_ns)
{
    struct timespec left, *timeout = NULL;
    if (deadline_ns != PLATFORM_FOREVER) {
        const uint64_t now_ns = platform_now_ns();
        const uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
        left =
            (struct timespec){.tv_sec = (time_t)(left_ns / NS_PER_SECOND), .tv_nsec = (long)(left_ns % NS_PER_SECOND)};
        timeout = &left;
    }
    if (capacity > REAL_EVENTS_MAX)
        capacity = REAL_EVENTS_MAX;
    const int count = epoll_pwait2(poller->epoll, poller->events, (int)capacity, timeout, NULL);
    if (count < 0)
        return errno == EINTR ? 0 : -errno;
    return count;
}

int transport_poll(struct transport_poller *poller, struct transport_event *events, uint32_t capacity,
                   uint64_t deadline_ns)
{
    if (poller->precision == TRANSPORT_PRECISE && !poller->prepared) {
        (void)prctl(PR_SET_TIMERSLACK, REAL_FINE_SLACK_NS); /* refused: deadlines are coarser, nothing else */
        poller->prepared = true;
    }
    const int count = real_wait(poller, capacity, deadline_ns);
    uint32_t kept = 0;
    (void)shared_u32_load_acquire(&poller->added); /* @P real.added: relies on what the contexts point to */
    for (int index = 0; index < count; index++) {
        const struct epoll_event *event = &poller->events[index];
        if (event->data.ptr == poller) {
            uint64_t interruptions;
            (void)!read(poller->interrupt, &interruptions, sizeof(interruptions)); /* only resets it */
            continue;
        }
        uint32_t ready = 0;
        if (event->events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
            ready |= TRANSPORT_READABLE;
        if (event->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
            ready |= TRANSPORT_ENDED;
        if (event->events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
            ready |= TRANSPORT_WRITABLE;
        events[kept++] = (struct transport_event){.context = event->data.ptr, .ready = ready};
    }
    return count < 0 ? count : (int)kept;
}

void transport_interrupt(struct transport_poller *poller)
{
    const uint64_t one = 1;
    (void)!write(poller->interrupt, &one, sizeof(one)); /* fails only when it is set already */
}
