/* SPDX-License-Identifier: MIT
 *
 * Helpers of the network tests; see network.h.
 */
#include "network.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define RAW_TIMEOUT_S 20

void stand_start(struct stand *stand, const struct pilfer_options *pool, const struct router_options *options)
{
    char message[PILFER_MESSAGE_SIZE];
    memset(stand, 0, sizeof(*stand));
    ck_assert_int_eq(platform_init(), 0);
    ck_assert_msg(pilfer_open(pool, &stand->executor, message) == 0, "%s", message);
    ck_assert_msg(router_start(options, stand->executor, &stand->router, message) == 0, "%s", message);
    stand->port = router_port(stand->router);
    stand->control_port = router_control_port(stand->router);
}

static void stand_serve(void *argument)
{
    struct stand *stand = argument;
    stand->extension_status = extension_serve(stand->extension, NULL, &stand->extension_totals);
    extension_close(stand->extension);
}

void stand_add_extension(struct stand *stand, const struct extension_options *options)
{
    char message[PILFER_MESSAGE_SIZE];
    struct extension_options complete = *options;
    complete.control_port = stand->control_port;
    ck_assert_msg(extension_open(&complete, &stand->extension, message) == 0, "%s", message);
    ck_assert_int_eq(platform_thread_start(&stand->extension_thread, "extension", stand_serve, stand), 0);
}

void stand_wait_idle(struct stand *stand, uint32_t channels)
{
    struct router_totals totals;
    do {
        platform_yield();
        router_totals(stand->router, &totals);
    } while (totals.channels_idle != channels);
}

void stand_stop(struct stand *stand, struct router_totals *totals)
{
    router_stop(stand->router);
    pilfer_close(stand->executor, PILFER_CLOSE_RUN, NULL);
    router_totals(stand->router, totals);
    router_free(stand->router);
    if (stand->extension_thread) {
        platform_thread_join(stand->extension_thread);
        ck_assert_int_eq(stand->extension_status, 0);
    }
}

void stand_load(const struct stand *stand, uint32_t connections, uint64_t requests, struct load_totals *totals)
{
    char message[PILFER_MESSAGE_SIZE];
    struct load *load;
    const struct load_options options = {
        .port = stand->port, .connections = connections, .mode = LOAD_CLOSED, .seed = 1};
    ck_assert_msg(load_open(&options, &load, message) == 0, "%s", message);
    ck_assert_uint_eq(load_achieved(load), connections);
    const uint64_t now_ns = platform_now_ns();
    const struct load_window window = {.start_ns = now_ns,
                                       .window_start_ns = now_ns,
                                       .window_end_ns = now_ns + 60000000000u,
                                       .settle_ns = 10000000000u,
                                       .request_limit = requests};
    ck_assert_int_eq(load_run(load, &window, NULL, totals), 0);
    load_close(load);
}

/* ---- plain clients ---- */

int raw_connect(uint16_t port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval timeout = {.tv_sec = RAW_TIMEOUT_S};
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_msg(client >= 0, "socket: %s", strerror(errno));
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
    ck_assert_msg(connect(client, (const struct sockaddr *)&address, sizeof(address)) == 0, "connect: %s",
                  strerror(errno));
    return client;
}

void raw_send(int client, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        const ssize_t count = send(client, at, size, MSG_NOSIGNAL);
        if (count < 0)
            return; /* the peer has closed: what it answered is to be read */
        at += count;
        size -= (size_t)count;
    }
}

void raw_send_text(int client, const char *text)
{
    raw_send(client, text, strlen(text));
}

/* The next byte, or -1 at the end. */
static int raw_byte(int client)
{
    char byte;
    const ssize_t count = recv(client, &byte, 1, 0);
    ck_assert_msg(count >= 0 || errno == ECONNRESET, "nothing came in %d seconds: %s", RAW_TIMEOUT_S, strerror(errno));
    return count == 1 ? (unsigned char)byte : -1;
}

int raw_answer(int client, bool to_head, char *body, size_t size)
{
    char head[4096];
    size_t length = 0;
    do {
        const int byte = raw_byte(client);
        if (byte < 0)
            return -1;
        ck_assert_uint_lt(length, sizeof(head) - 1);
        head[length++] = (char)byte;
        head[length] = '\0';
    } while (length < 4 || strcmp(head + length - 4, "\r\n\r\n") != 0);
    ck_assert_msg(strncmp(head, "HTTP/1.1 ", 9) == 0, "%s", head);
    const char *field = strcasestr(head, "\r\nContent-Length: ");
    ck_assert_msg(field != NULL, "%s", head);
    const size_t announced = strtoul(field + strlen("\r\nContent-Length: "), NULL, 10);
    for (size_t index = 0; !to_head && index < announced; index++) {
        const int byte = raw_byte(client);
        ck_assert_int_ge(byte, 0);
        if (index + 1 < size) {
            body[index] = (char)byte;
            body[index + 1] = '\0';
        }
    }
    return (int)strtol(head + 9, NULL, 10);
}

ptrdiff_t raw_read_end(int client, char *bytes, size_t size)
{
    size_t length = 0;
    for (;;) {
        char spare[65536];
        const ssize_t count =
            recv(client, length < size ? bytes + length : spare, length < size ? size - length : sizeof(spare), 0);
        if (count == 0)
            return (ptrdiff_t)length;
        if (count < 0) {
            ck_assert_msg(errno == ECONNRESET, "no end in %d seconds: %s", RAW_TIMEOUT_S, strerror(errno));
            return -1;
        }
        length += (size_t)count;
    }
}

int raw_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    ck_assert_ptr_nonnull(folder);
    int count = 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 3; /* ".", ".." and the folder's own */
}
