/* SPDX-License-Identifier: MIT
 *
 * Servers of tests, and target files that start them; see target_servers.h.
 */
#include "target_servers.h"

#include <arpa/inet.h>
#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform.h"

extern char **environ;

#define CLIENTS_MAX 64
/* What a failed test leaves behind ends by itself. */
#define SERVER_LIFE_S 120

/* Of a child whose server forgets it: more than the server itself uses in a window. */
#define BURNT_NS UINT64_C(1000000000)

#define ANSWER    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define LAST      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
#define NOT_FOUND "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"

/* ---- the servers ---- */

static int listen_on(in_addr_t address, uint16_t port)
{
    const int yes = 1;
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(address)};
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&name, sizeof name) != 0 || listen(listener, CLIENTS_MAX) != 0)
        exit(4);
    return listener;
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

enum burning { BURNS_NOTHING, BURNS_A_MILLISECOND, BURNS_MORE_AND_MORE };

/* Uses a millisecond of CPU for a request, or half as much again with each second since the first. */
static void burn(enum burning burning)
{
    static uint64_t first_ns;
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), wanted_ns = burning == BURNS_NOTHING ? 0 : 1000000;
    first_ns = first_ns == 0 ? now_ns : first_ns;
    if (burning == BURNS_MORE_AND_MORE) {
        for (uint64_t seconds = (now_ns - first_ns) / 1000000000; seconds > 0; seconds--)
            wanted_ns += wanted_ns / 2;
    }
    for (uint64_t begun_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID); wanted_ns > 0;) {
        if (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun_ns >= wanted_ns)
            return;
    }
}

/* How a server answers. */
struct manner {
    const char *answer;
    bool is_picky; /* only what asks for /any */
    bool closes;   /* each connection, behind its first answer */
    int late;      /* after so many requests, it listens to the whole world too */
    enum burning burning;
    pid_t child; /* if any: killed a second after so many requests, and nobody waits for it */
    int requests_before;
    bool holds_keeper; /* once, when the first client asks: longer than a window that begins in a second */
};

/* Called for each request. */
static void forget_child(struct manner *manner)
{
    static uint64_t due_ns;
    if (manner->child == 0)
        return;
    if (--manner->requests_before == 0)
        due_ns = clock_ns(CLOCK_MONOTONIC) + 1000000000;
    if (manner->requests_before > 0 || clock_ns(CLOCK_MONOTONIC) < due_ns)
        return;
    kill(manner->child, SIGKILL);
    manner->child = 0;
}

/* The keeper is who has started this server, and asks first, on a connection that is closed. */
static void hold_keeper(struct manner *manner, const char *request)
{
    const struct timespec while_held = {.tv_sec = 3};
    pid_t keeper = getppid();
    if (!manner->holds_keeper || strstr(request, "Connection: close") != NULL)
        return;
    manner->holds_keeper = false;
    if (fork() != 0)
        return;
    kill(keeper, SIGSTOP);
    nanosleep(&while_held, NULL);
    kill(keeper, SIGCONT);
    _exit(0);
}

/* A child that has used some CPU, and whose end the server will ignore. */
static pid_t start_burnt_child(void)
{
    int ends[2];
    char byte;
    signal(SIGCHLD, SIG_IGN);
    if (pipe(ends) != 0)
        exit(4);
    pid_t child = fork();
    if (child == 0) {
        alarm(SERVER_LIFE_S);
        while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < BURNT_NS)
            continue;
        close(ends[0]);
        close(ends[1]);
        for (;;)
            pause();
    }
    close(ends[1]);
    if (read(ends[0], &byte, 1) != 0)
        exit(4);
    return child;
}

static void serve(int listener, struct manner manner)
{
    struct pollfd polled[CLIENTS_MAX] = {{.fd = listener, .events = POLLIN}};
    nfds_t count = 1;
    while (poll(polled, count, -1) > 0) {
        for (nfds_t i = 1; i < count; i++) {
            char request[1024] = "";
            if (polled[i].revents == 0)
                continue;
            if (read(polled[i].fd, request, sizeof request - 1) > 0) {
                bool is_right = !manner.is_picky || strncmp(request, "GET /any ", 9) == 0;
                const char *text = is_right ? manner.answer : NOT_FOUND;
                burn(manner.burning);
                forget_child(&manner);
                hold_keeper(&manner, request);
                bool is_told = write(polled[i].fd, text, strlen(text)) > 0;
                if (is_told && --manner.late == 0)
                    listen_on(INADDR_ANY, 0);
                if (!manner.closes)
                    continue;
            }
            close(polled[i].fd);
            polled[i--] = polled[--count];
        }
        if (polled[0].revents != 0 && count < CLIENTS_MAX)
            polled[count++] = (struct pollfd){.fd = accept(listener, NULL, NULL), .events = POLLIN};
    }
}

/* Two more processes, one of them in a session of its own and without a parent; their ids go to a file. */
static void start_family(const char *path)
{
    FILE *file = fopen(path, "w");
    pid_t child = fork();
    if (child == 0) {
        pid_t grandchild = fork();
        alarm(SERVER_LIFE_S);
        if (grandchild == 0)
            setsid();
        else
            fprintf(file, "%ld\n", (long)grandchild);
        fflush(file);
        while (grandchild == 0)
            pause();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    child = fork();
    alarm(SERVER_LIFE_S);
    while (child == 0)
        pause();
    fprintf(file, "%ld\n%ld\nwhole\n", (long)child, (long)getpid());
    fclose(file);
}

static void write_report(const char *path, char **arguments)
{
    FILE *file = fopen(path, "w");
    for (; *arguments != NULL; arguments++)
        fprintf(file, "argument %s\n", *arguments);
    for (char **variable = environ; *variable != NULL; variable++)
        fprintf(file, "variable %s\n", *variable);
    struct rlimit core;
    if (getrlimit(RLIMIT_CORE, &core) == 0)
        fprintf(file, "core %llu\n", (unsigned long long)core.rlim_max);
    fclose(file);
}

/* server MODE PORT [FILE [WORD...]] */
int servers_main(char **arguments)
{
    const char *mode = arguments[0];
    alarm(SERVER_LIFE_S);
    uint16_t port = (uint16_t)strtoul(arguments[1], NULL, 10);
    if (strcmp(mode, "gone") == 0) {
        fprintf(stderr, "no such luck\nat all\n");
        return 3;
    }
    while (strcmp(mode, "silent") == 0)
        pause();
    if (strcmp(mode, "family") == 0)
        start_family(arguments[2]);
    if (strcmp(mode, "report") == 0)
        write_report(arguments[2], arguments + 3);
    int listener = listen_on(strcmp(mode, "open") == 0 ? INADDR_ANY : INADDR_LOOPBACK, port);
    struct manner manner = {
        .answer = strcmp(mode, "missing") == 0   ? NOT_FOUND
                  : strcmp(mode, "closing") == 0 ? LAST
                                                 : ANSWER,
        .is_picky = strcmp(mode, "picky") == 0,
        .closes = strcmp(mode, "closing") == 0,
        .late = strcmp(mode, "late") == 0 ? 20 : -1,
        .burning = strcmp(mode, "steady") == 0    ? BURNS_A_MILLISECOND
                   : strcmp(mode, "growing") == 0 ? BURNS_MORE_AND_MORE
                                                  : BURNS_NOTHING,
        .child = strcmp(mode, "forgetful") == 0 ? start_burnt_child() : 0,
        .requests_before = 20, /* those of clients, then */
        .holds_keeper = strcmp(mode, "holding") == 0,
    };
    serve(listener, manner);
    return 0;
}

bool servers_are_asked(int argc, char **argv)
{
    return argc >= 5 && strcmp(argv[1], "server") == 0;
}

/* ---- target files ---- */

char servers_folder[PATH_MAX], servers_ini[PATH_MAX + 16], servers_file[PATH_MAX + 16];

void servers_setup(void)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(servers_folder, sizeof servers_folder, "%s/targets-XXXXXX", temporary != NULL ? temporary : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(servers_folder));
    snprintf(servers_ini, sizeof servers_ini, "%s/mine.ini", servers_folder);
    snprintf(servers_file, sizeof servers_file, "%s/file", servers_folder);
}

void servers_teardown(void)
{
    unlink(servers_ini);
    unlink(servers_file);
    rmdir(servers_folder);
}

void write_target(const char *mode, const char *more)
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    ck_assert_int_gt(length, 0);
    program[length] = '\0';
    FILE *stream = fopen(servers_ini, "w");
    ck_assert_ptr_nonnull(stream);
    fprintf(stream, "[target]\nstart = '%s' server %s {port} '{folder}/file'%s\n", program, mode, more);
    ck_assert_int_eq(fclose(stream), 0);
}

void configure(struct configuration *configuration)
{
    ck_assert_int_eq(platform_init(), 0);
    configuration_init(configuration);
    configuration_set(configuration, "target", servers_ini);
    configuration_set(configuration, "duration", "0.3");
    configuration_set(configuration, "warmup", "0.1");
    configuration_set(configuration, "connections", "4");
}

double number(const struct result *result, const char *name)
{
    double value = 0;
    ck_assert_msg(result_get_number(result, name, &value), "%s is not known", name);
    return value;
}
