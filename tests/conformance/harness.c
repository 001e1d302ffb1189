/* SPDX-License-Identifier: MIT
 *
 * Children under watch (see harness.h).
 *
 * Worst case. A child that goes on making progress without end is stopped after HARNESS_LIMIT_S seconds.
 */
#include "harness.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform.h"

#define HARNESS_LIMIT_S 1800
#define POLL_MS         50

/* The page that parent and child share. */
struct watch {
    struct shared_u64 progress; /* written by the child's threads, read by the parent; counter only */
    struct shared_u32 decided;  /* 1 once a thread of the child has claimed the verdict; @P harness.1 */
    struct verdict verdict;     /* written by that thread before the child ends */
    char trying[HARNESS_TEXT_SIZE / 2];
};

static struct watch *watch; /* in a child: the page; in the parent: the one of the child under test */

void check_progress(void)
{
    shared_u64_add_relaxed(&watch->progress, 1); /* counter only */
}

void check_trying(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(watch->trying, sizeof(watch->trying), format, arguments);
    va_end(arguments);
    check_progress();
}

void check_left_out(uint32_t promises)
{
    watch->verdict.left_out += promises;
}

/* Ends the child with a verdict; only the first thread that comes here writes one. */
static _Noreturn void decide(enum outcome outcome, const char *format, va_list arguments)
{
    /* @P harness.1: the claim comes before the text, so that one thread alone writes it. */
    if (shared_u32_exchange_acq_rel(&watch->decided, 1) == 0) {
        vsnprintf(watch->verdict.text, sizeof(watch->verdict.text), format, arguments);
        watch->verdict.outcome = outcome;
        _exit(outcome == OUTCOME_HELD ? 0 : outcome == OUTCOME_BROKEN ? 1 : 77);
    }
    for (;;)
        pause();
}

_Noreturn void check_broken(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    decide(OUTCOME_BROKEN, format, arguments);
}

_Noreturn void check_held(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    decide(OUTCOME_HELD, format, arguments);
}

_Noreturn void check_skip(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    decide(OUTCOME_SKIPPED, format, arguments);
}

void check_until(bool (*condition)(void *context), void *context)
{
    for (uint32_t round = 0; !condition(context); round++) {
        if (round < 1000)
            platform_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = 1000000},
                      NULL); /* between two looks; nothing relies on its length */
    }
    check_progress();
}

uint64_t check_random(uint64_t *state)
{
    uint64_t value = (*state += 0x9e3779b97f4a7c15);
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

/* Passes on what the child wrote to standard error; the line that says why it ended (a sanitizer's summary, else the
 * last: an assertion) goes into out. */
static void last_words(FILE *errors, char *out, size_t size)
{
    char line[HARNESS_TEXT_SIZE / 4];
    out[0] = '\0';
    rewind(errors);
    while (fgets(line, sizeof(line), errors) != NULL) {
        fputs(line, stderr);
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '\0' && strncmp(out, "SUMMARY:", 8) != 0)
            memcpy(out, line, size < sizeof(line) ? size : sizeof(line));
    }
}

static void describe_end(int status, FILE *errors, struct verdict *out)
{
    char words[HARNESS_TEXT_SIZE / 4];
    last_words(errors, words, sizeof(words));
    *out = (struct verdict){.outcome = OUTCOME_HELD};
    if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || watch->verdict.outcome != OUTCOME_HELD)) {
        *out = watch->verdict;
        return;
    }
    out->outcome = OUTCOME_BROKEN;
    if (WIFSIGNALED(status))
        snprintf(out->text, sizeof(out->text), "ended by signal %d (%s) while trying: %s%s%s", WTERMSIG(status),
                 strsignal(WTERMSIG(status)), watch->trying, words[0] != '\0' ? ": " : "", words);
    else
        snprintf(out->text, sizeof(out->text), "ended with exit status %d while trying: %s%s%s", WEXITSTATUS(status),
                 watch->trying, words[0] != '\0' ? ": " : "", words);
}

/* Waits for the child; true if it had to be ended because it stood still. */
static bool stand_watch(pid_t child, int descriptor, uint32_t patience_s)
{
    const uint64_t start_ns = platform_now_ns();
    uint64_t last_ns = start_ns, last_progress = 0;
    for (;;) {
        struct pollfd poll_set = {.fd = descriptor, .events = POLLIN};
        if (poll(&poll_set, 1, POLL_MS) > 0)
            return false;
        const uint64_t now_ns = platform_now_ns(), progress = shared_u64_load_relaxed(&watch->progress);
        if (progress != last_progress) {
            last_progress = progress;
            last_ns = now_ns;
        }
        if (now_ns - last_ns > patience_s * 1000000000ull || now_ns - start_ns > HARNESS_LIMIT_S * 1000000000ull) {
            kill(child, SIGKILL);
            return true;
        }
    }
}

static _Noreturn void be_child(void (*test)(const struct subject *subject), const struct subject *subject, FILE *errors,
                               pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    dup2(fileno(errors), STDERR_FILENO);
    test(subject);
    exit(0);
}

void *harness_shared(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

int harness_run(void (*test)(const struct subject *subject), const struct subject *subject, uint32_t patience_s,
                struct verdict *out)
{
    FILE *errors = tmpfile();
    if (errors == NULL)
        return -errno;
    watch = harness_shared(sizeof(*watch));
    if (watch == NULL) {
        fclose(errors);
        return -ENOMEM;
    }
    fflush(NULL);
    const pid_t parent = getpid(), child = fork();
    if (child == 0)
        be_child(test, subject, errors, parent);
    int result = child < 0 ? -errno : 0;
    if (child > 0) {
        const int descriptor = pidfd_open(child, 0);
        const bool stalled = stand_watch(child, descriptor, patience_s);
        int status = 0;
        waitpid(child, &status, 0);
        describe_end(status, errors, out);
        if (stalled) {
            out->outcome = OUTCOME_BROKEN;
            snprintf(out->text, sizeof(out->text), "no progress for %u s while trying: %s", patience_s, watch->trying);
        }
        close(descriptor);
    }
    munmap(watch, sizeof(*watch));
    watch = NULL;
    fclose(errors);
    return result;
}
