/* SPDX-License-Identifier: MIT
 *
 * The conversation of a cell's process with the runner, and the entry point of `pilfer role NAME`; see role.h.
 */
#include "role.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <fcntl.h>
#include <unistd.h>

#include "cell.h"
#include "cli/output.h"
#include "child.h"
#include "platform.h"
#include "settings.h"
#include "window.h"

void role_say_text(const char *name, const char *text)
{
    report_write_text(CHILD_REPORT, name, text);
}

void role_say_number(const char *name, double number)
{
    report_write_number(CHILD_REPORT, name, number);
}

void role_say_integer(const char *name, uint64_t number)
{
    report_write_integer(CHILD_REPORT, name, number);
}

void role_say_word(const char *word)
{
    report_write_word(CHILD_REPORT, word);
}

static void (*before_leaving)(void);

void role_on_leave(void (*leave)(void))
{
    before_leaving = leave;
}

static _Noreturn void exit_now(int status)
{
    if (before_leaving != NULL)
        before_leaving();
    _exit(status); /* threads may still be at work: nothing is taken down under them */
}

static _Noreturn void leave(const char *kind, const char *what, const char *why, int status)
{
    char text[512];
    snprintf(text, sizeof text, "%s: %s", what, why);
    role_say_text(kind, text);
    exit_now(status);
}

_Noreturn void role_refuse(const char *what, const char *why)
{
    leave("surroundings", what, why, ROLE_SURROUNDINGS);
}

_Noreturn void role_fail(const char *what, const char *why)
{
    leave("failure", what, why, ROLE_FAILED);
}

void role_say_histogram(const char *name, const struct histogram *histogram)
{
    size_t size = histogram_encoded_size(histogram);
    uint8_t *bytes = malloc(size);
    if (bytes == NULL)
        role_fail("sending the latencies", "out of memory");
    size = histogram_encode(histogram, bytes, size);
    report_write_bytes(CHILD_REPORT, name, bytes, size);
    free(bytes);
}

/* A line from the runner. A word ends the reading, so that each is seen. */
static bool take_line(void *context, char *name, char *text)
{
    struct role *role = context;
    if (text == NULL) {
        snprintf(role->word, sizeof role->word, "%s", name);
        return false;
    }
    if (parameter_find(name) >= 0)
        configuration_set(&role->configuration, name, text);
    else
        report_set(&role->facts, name, text);
    return true;
}

/* Whether somebody who still waits for the window has been told that it is over: this process was held up. */
static bool has_missed_window(const struct role *role)
{
    uint64_t end_ns;
    return strcmp(role->word, "stop") == 0 && report_integer(&role->facts, "window-end-ns", &end_ns) &&
           window_now_ns() >= end_ns;
}

bool role_wait(struct role *role, const char *word, uint64_t deadline_ns)
{
    for (;;) {
        line_reader_read(&role->commands, take_line, role);
        if (strcmp(role->word, word) == 0) {
            role->word[0] = '\0';
            return true;
        }
        if (has_missed_window(role))
            return false;
        if (role->word[0] != '\0')
            role_fail("an unexpected command", role->word);
        if (role->commands.ended)
            exit_now(ROLE_SURROUNDINGS); /* nobody is left to tell */
        uint64_t now_ns = window_now_ns();
        if (now_ns >= deadline_ns)
            return false;
        uint64_t left_ns = deadline_ns - now_ns;
        struct timespec left = {.tv_sec = (time_t)(left_ns / 1000000000), .tv_nsec = (long)(left_ns % 1000000000)};
        struct pollfd polled = {.fd = CHILD_COMMANDS, .events = POLLIN};
        ppoll(&polled, 1, deadline_ns == UINT64_MAX ? NULL : &left, NULL);
    }
}

uint64_t role_fact(struct role *role, const char *name)
{
    uint64_t number;
    if (!report_integer(&role->facts, name, &number))
        role_fail("a fact of the cell was not given", name);
    return number;
}

void role_pin(struct role *role, const char *key)
{
    const char *list = configuration_text(&role->configuration, key);
    cpu_set_t wanted, got;
    char what[PARAMETER_TEXT_SIZE + 32];
    if (*list == '\0')
        return;
    snprintf(what, sizeof what, "%s %s", key, list);
    if (!settings_cpu_list(list, &wanted))
        role_refuse(what, "this is no list of CPUs such as 0-3,5");
    bool moved = sched_setaffinity(0, sizeof wanted, &wanted) == 0;
    if (!moved && errno != EINVAL)
        role_refuse(what, strerror(errno));
    if (!moved || sched_getaffinity(0, sizeof got, &got) != 0 || !CPU_EQUAL(&wanted, &got))
        role_refuse(what, "this machine does not have all of these CPUs, or does not lend them to this program");
}

static const struct {
    const char *name, *cpus;
    int (*run)(struct role *role);
} roles[] = {
    {"router", "router-cpus", role_router},          /* or echo */
    {"target", "router-cpus", role_target},          /* a foreign server in place of it */
    {"inprocess", "router-cpus", role_in_process},   /* without clients */
    {"load", "load-cpus", role_load},                /* the clients */
    {"extension", "extension-cpus", role_extension}, /* behind a router */
};

int role_main(const char *name)
{
    static struct role role;
    if (fcntl(CHILD_COMMANDS, F_GETFD) < 0 || fcntl(CHILD_REPORT, F_GETFD) < 0) {
        fprintf(stderr, "pilfer: role %s: this is a process of a cell, started by the runner; try `pilfer run`\n",
                escaped(name));
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    fcntl(CHILD_COMMANDS, F_SETFL, O_NONBLOCK);
    configuration_init(&role.configuration);
    report_init(&role.facts);
    line_reader_init(&role.commands, CHILD_COMMANDS);
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        if (strcmp(roles[i].name, name) != 0)
            continue;
        role_wait(&role, "begin", UINT64_MAX);
        role_pin(&role, roles[i].cpus);
        int error = platform_init();
        if (error != 0)
            role_refuse("preparing clocks and waiting", strerror(-error));
        int status = roles[i].run(&role);
        if (status == ROLE_DONE)
            role_say_word("done");
        return status;
    }
    role_fail("there is no such role", name);
}
