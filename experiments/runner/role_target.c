/* SPDX-License-Identifier: MIT
 *
 * The keeper of a target: starts a foreign server, watches it over the window, and ends it and all that it started.
 *
 * How it works. The server leads a process group of its own, is killed by the kernel when this process dies, and writes
 * to a pipe whose end is kept for messages. This process is the one to which orphans below it are given, so that
 * whatever the server starts stays in its tree. It leaves on one of two ways: told to, or because the runner's end of
 * the commands has closed; on both it kills the tree first. For that reason it must not be killed by the runner's death
 * itself, as other roles are. When the runner kills it, the runner has killed the tree before (child.c).
 *
 * Ready is: a GET of the target's path is answered 200 (a router, which cannot answer before its extension is there:
 * both ports are listened on), and all listening sockets of the tree are on loopback. The second is looked at again at
 * the end.
 */
#include "role.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "cli/memory.h"
#include "listeners.h"
#include "process_tree.h"
#include "runner/foreign.h"
#include "runner/target_start.h"
#include "settings.h"
#include "window.h"

/* How often the server and the runner are looked after. */
#define LOOK_EVERY_NS UINT64_C(20000000)
/* How long the server may take to end by itself, after SIGTERM. */
#define END_PATIENCE_NS  UINT64_C(500000000)
#define PROBE_TIMEOUT_US 500000
#define OUTPUT_PIPE_SIZE (1 << 20)
#define WORDS_SIZE       240 /* of what the server wrote last */

struct keeper {
    struct role *role;
    pid_t server;
    bool ended;
    int wait_status;
    int output; /* what the server writes */
    char words[WORDS_SIZE + 1];
    size_t word_count;
    uint16_t port, control_port;
    bool is_router;
    const char *path;
    char probed[96]; /* how the last probe went */
};

/* ---- the end ---- */

static void kill_tree(void)
{
    if (!process_tree_kill(getpid()))
        role_say_text("warning", "target: not all of its processes could be killed");
}

static void reap(struct keeper *keeper)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != keeper->server)
            continue;
        keeper->ended = true;
        keeper->wait_status = status;
    }
}

/* Keeps the last bytes of what the server writes. */
static void drain(struct keeper *keeper)
{
    char bytes[4096];
    ssize_t got;
    while ((got = read(keeper->output, bytes, sizeof bytes)) > 0) {
        size_t count = (size_t)got < WORDS_SIZE ? (size_t)got : WORDS_SIZE;
        size_t kept = keeper->word_count + count > WORDS_SIZE ? WORDS_SIZE - count : keeper->word_count;
        memmove(keeper->words, keeper->words + keeper->word_count - kept, kept);
        memcpy(keeper->words + kept, bytes + got - count, count);
        keeper->word_count = kept + count;
    }
}

/* "; it wrote: ...", as one line. */
static const char *last_words(struct keeper *keeper)
{
    static char text[WORDS_SIZE + 32];
    drain(keeper);
    while (keeper->word_count > 0 && keeper->words[keeper->word_count - 1] <= ' ')
        keeper->word_count--;
    for (size_t i = 0; i < keeper->word_count; i++)
        keeper->words[i] = keeper->words[i] < ' ' || keeper->words[i] > '~' ? ' ' : keeper->words[i];
    keeper->words[keeper->word_count] = '\0';
    snprintf(text, sizeof text, "%s%s", keeper->word_count > 0 ? "; it wrote: " : "; it wrote nothing", keeper->words);
    return text;
}

/* How the server ended, in words. */
static const char *fate(const struct keeper *keeper)
{
    static char text[96];
    if (WIFSIGNALED(keeper->wait_status))
        snprintf(text, sizeof text, "it was killed by signal %d (%s)", WTERMSIG(keeper->wait_status),
                 strsignal(WTERMSIG(keeper->wait_status)));
    else
        snprintf(text, sizeof text, "it left with status %d", WEXITSTATUS(keeper->wait_status));
    return text;
}

/* SIGTERM first; what is left after a while is killed. */
static void end_server(struct keeper *keeper)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    uint64_t deadline_ns = window_now_ns() + END_PATIENCE_NS;
    kill(-keeper->server, SIGTERM);
    while (!keeper->ended && window_now_ns() < deadline_ns) {
        nanosleep(&pause, NULL);
        drain(keeper);
        reap(keeper);
    }
    kill_tree();
    reap(keeper);
}

/* ---- looking after both ---- */

/* Leaves when the runner is gone. */
static void look_at_runner(void)
{
    struct pollfd polled = {.fd = CHILD_COMMANDS, .events = POLLRDHUP};
    if (poll(&polled, 1, 0) > 0 && (polled.revents & (POLLRDHUP | POLLHUP)) != 0)
        role_fail("keeping the target", "the runner is gone");
}

/* Sleeps until then, with an eye on all. Words of the runner are left for later. */
static void sleep_until(struct keeper *keeper, uint64_t until_ns)
{
    for (uint64_t now_ns; (now_ns = window_now_ns()) < until_ns;) {
        uint64_t next_ns = until_ns - now_ns > LOOK_EVERY_NS ? now_ns + LOOK_EVERY_NS : until_ns;
        struct timespec next = {.tv_sec = (time_t)(next_ns / 1000000000), .tv_nsec = (long)(next_ns % 1000000000)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        look_at_runner();
        drain(keeper);
        reap(keeper);
        if (keeper->ended)
            return;
    }
}

static void fail_if_ended(struct keeper *keeper)
{
    char text[WORDS_SIZE + 160];
    if (!keeper->ended)
        return;
    snprintf(text, sizeof text, "%s%s", fate(keeper), last_words(keeper));
    role_fail("the server ended before its work was done", text);
}

/* With an eye on all; false if the time has come before the word. */
static bool wait_for_word(struct keeper *keeper, const char *word, uint64_t deadline_ns)
{
    for (uint64_t now_ns; (now_ns = window_now_ns()) < deadline_ns;) {
        uint64_t next_ns = deadline_ns - now_ns > LOOK_EVERY_NS ? now_ns + LOOK_EVERY_NS : deadline_ns;
        if (role_wait(keeper->role, word, next_ns))
            return true;
        drain(keeper);
        reap(keeper);
        fail_if_ended(keeper);
    }
    return false;
}

/* ---- the start ---- */

/* The texts of numbered facts, NULL behind the last. */
static char **numbered(struct role *role, const char *prefix)
{
    char **texts = memory_allocate(1, sizeof *texts);
    for (size_t count = 0;; count++) {
        char name[48];
        snprintf(name, sizeof name, "%s%zu", prefix, count);
        const char *text = report_text(&role->facts, name);
        if (text == NULL)
            return texts;
        texts = memory_resize(texts, count + 2, sizeof *texts);
        texts[count] = memory_copy_text(text);
        texts[count + 1] = NULL;
    }
}

static void start_server(struct keeper *keeper)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        role_refuse("starting the target", strerror(errno));
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(ends[0], F_SETPIPE_SZ, OUTPUT_PIPE_SIZE); /* a chatty server shall not wait for us */
    char **words = numbered(keeper->role, TARGET_FACT_ARGUMENT);
    char **environment = numbered(keeper->role, TARGET_FACT_VARIABLE);
    const struct foreign_options options = {.output = ends[1], .parent = getpid()};
    keeper->server = fork();
    if (keeper->server == 0)
        foreign_become(words, environment, &options);
    if (keeper->server < 0)
        role_refuse("starting the target", strerror(errno));
    setpgid(keeper->server, keeper->server); /* both sides do it, so that neither can be too late */
    close(ends[1]);
    keeper->output = ends[0];
    command_words_free(words);
    command_words_free(environment);
    role_say_integer("server-pid", (uint64_t)keeper->server);
}

/* True if the tree listens on the port, and nowhere beyond loopback. */
static bool listens(struct keeper *keeper, uint16_t port)
{
    char message[256];
    enum listeners found = listeners_look(getpid(), port, message, sizeof message);
    if (found == LISTENERS_OPEN)
        role_refuse("the target is not used", message);
    snprintf(keeper->probed, sizeof keeper->probed, "%.90s", message);
    return found == LISTENERS_LOCAL;
}

/* One GET on a connection of its own; true when it is answered 200. */
static bool get(struct keeper *keeper)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(keeper->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval timeout = {.tv_usec = PROBE_TIMEOUT_US};
    char text[1280];
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client < 0) {
        snprintf(keeper->probed, sizeof keeper->probed, "no socket: %s", strerror(errno));
        return false;
    }
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    if (connect(client, (struct sockaddr *)&address, sizeof address) != 0) {
        snprintf(keeper->probed, sizeof keeper->probed, "%s", strerror(errno));
        close(client);
        return false;
    }
    int length = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n\r\n",
                          keeper->path, keeper->port);
    ssize_t got = send(client, text, (size_t)length, MSG_NOSIGNAL) == length ? recv(client, text, 12, MSG_WAITALL) : -1;
    close(client);
    text[got > 0 ? got : 0] = '\0';
    int status = 0;
    if (sscanf(text, "HTTP/1.%*1[01] %3d", &status) != 1)
        snprintf(keeper->probed, sizeof keeper->probed, "no answer of HTTP/1.1");
    else
        snprintf(keeper->probed, sizeof keeper->probed, "status %d", status);
    return status == 200;
}

static bool is_ready(struct keeper *keeper)
{
    if (keeper->is_router)
        return listens(keeper, keeper->port) && listens(keeper, keeper->control_port);
    return get(keeper) && listens(keeper, keeper->port);
}

static void wait_until_ready(struct keeper *keeper)
{
    uint64_t patience_ns = role_fact(keeper->role, "ready-ns");
    uint64_t deadline_ns = window_now_ns() + patience_ns;
    char text[WORDS_SIZE + 256];
    while (!is_ready(keeper)) {
        sleep_until(keeper, window_now_ns() + LOOK_EVERY_NS);
        if (keeper->ended) {
            snprintf(text, sizeof text, "%s%s", fate(keeper), last_words(keeper));
            role_refuse("the target did not start", text);
        }
        if (window_now_ns() < deadline_ns)
            continue;
        snprintf(text, sizeof text, "%s %.80s on port %u failed for %g s: %s%s",
                 keeper->is_router ? "listening for" : "GET", keeper->path, keeper->port, (double)patience_ns / 1e9,
                 keeper->probed, last_words(keeper));
        role_refuse("the target did not become ready", text);
    }
}

/* ---- the window ---- */

static void say_window(const struct tree_sample *first, const struct tree_sample *last)
{
    struct tree_difference window;
    tree_difference(first, last, &window);
    if (window.cpu_went_back)
        role_say_integer("window.cpu_went_back", 1);
    else
        role_say_integer("window.process_cpu_ns", window.cpu_ns);
    role_say_integer("window.thread_cpu_ns", window.run_ns);
    role_say_integer("window.run_delay_ns", window.delay_ns);
    role_say_integer("window.voluntary_switches", window.voluntary);
    role_say_integer("window.involuntary_switches", window.involuntary);
    role_say_integer("extra.threads", last->thread_count);
    role_say_integer("extra.threads_started", window.threads_started);
    role_say_integer("extra.threads_ended", window.threads_ended);
    role_say_integer("extra.processes", last->process_count);
    role_say_number("extra.router_memory_mib", last->memory_mib);
    role_say_number("memory_peak_mib", last->memory_peak_mib);
}

static void take_sample(struct keeper *keeper, const char *name, uint64_t at_ns, struct tree_sample *out)
{
    char line[32];
    sleep_until(keeper, at_ns);
    fail_if_ended(keeper);
    struct window_edge edge = window_edge_now();
    process_tree_sample(getpid(), out);
    snprintf(line, sizeof line, "%s.monotonic_ns", name);
    role_say_integer(line, edge.monotonic_ns);
    snprintf(line, sizeof line, "%s.boot_ns", name);
    role_say_integer(line, edge.boot_ns);
}

static void measure(struct keeper *keeper)
{
    struct tree_sample first, last;
    wait_for_word(keeper, "window", UINT64_MAX);
    if (settings_awaits_cpu(&keeper->role->configuration)) /* then the window may be moved ahead */
        wait_for_word(keeper, "window", role_fact(keeper->role, "window-start-ns"));
    take_sample(keeper, "first", role_fact(keeper->role, "window-start-ns"), &first);
    take_sample(keeper, "last", role_fact(keeper->role, "window-end-ns"), &last);
    say_window(&first, &last);
    tree_sample_fini(&first);
    tree_sample_fini(&last);
    wait_for_word(keeper, "stop", UINT64_MAX);
}

int role_target(struct role *role)
{
    static struct keeper keeper;
    keeper = (struct keeper){
        .role = role,
        .port = (uint16_t)role_fact(role, "port"),
        .control_port = (uint16_t)role_fact(role, "control-port"),
        .is_router = report_text(&role->facts, "router") != NULL,
        .path = report_text(&role->facts, "path"),
    };
    if (!process_tree_is_known())
        role_refuse("keeping a target", "this kernel does not tell the children of processes (CONFIG_PROC_CHILDREN)");
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || prctl(PR_SET_PDEATHSIG, 0) != 0)
        role_refuse("keeping a target", strerror(errno));
    look_at_runner(); /* it may have died before that */
    role_on_leave(kill_tree);
    start_server(&keeper);
    wait_until_ready(&keeper);
    role_say_integer("port", keeper.port);
    role_say_integer("control-port", keeper.control_port);
    role_say_word("ready");
    measure(&keeper);
    listens(&keeper, keeper.port);
    end_server(&keeper);
    return ROLE_DONE;
}
