/* SPDX-License-Identifier: MIT
 *
 * Wake tokens that are wiped out, or that hand nothing over: a thread is told in its state word that it need not
 * sleep.
 *
 * zio-610-a. A running task that finds itself cancelled puts its state back to "ready" with a plain store, to leave
 *     it clean. That wipes out the token of a waker that came in between. The cleanup then waits for the wake's
 *     payload, which it need not see yet, and sleeps for ever. lalinsky/zio#610, first commit. Mended: the state is
 *     left alone; a token too many costs one spurious round.
 * zio-610-b. A second waker that finds the token set leaves without writing. The sleeper, which takes the token, is
 *     then ordered after the first waker only, need not see the second one's payload, and sleeps with both wakes
 *     spent. Same place. Mended: every waker writes the token, even over itself.
 * tokio-621. A worker on its way to sleep stores "asleep" over a "notified" that arrived after its last look. The
 *     worker pool before Tokio 0.2: tokio-rs/tokio#525, mended in #621; uxlfoundation/oneTBB#86 is of the same kind.
 *     Mended by a CAS from "running" only.
 */
#include "historic.h"

enum state { RUNNING, TOKEN, ASLEEP }; /* TOKEN: running, and need not sleep */

struct sleeper {
    bool mended;
    struct shared_u32 state;   /* by the sleeper and its wakers */
    struct shared_u32 payload; /* what the wakers announce: added to before each wake */
};

/* Says that payload has changed. */
static void wake(struct sleeper *sleeper, bool skip_if_set)
{
    uint32_t state = shared_u32_load_acquire(&sleeper->state); /* re-checked by CAS */
    for (;;) {
        if (state == TOKEN && skip_if_set)
            return; /* the fault: the payload is not published through the token */
        uint32_t next = state == ASLEEP ? RUNNING : TOKEN;
        if (shared_u32_cas_acq_rel(&sleeper->state, &state, next)) /* publishes the payload */
            break;
    }
    if (state == ASLEEP)
        platform_wake(&sleeper->state, 1);
}

/* Sleeps, or takes a token. */
static void sleep_once(struct sleeper *sleeper)
{
    uint32_t state = RUNNING;
    if (!shared_u32_cas_acq_rel(&sleeper->state, &state, ASLEEP)) {
        state = TOKEN;
        shared_u32_cas_acq_rel(&sleeper->state, &state, RUNNING); /* relies on the payload of whoever set it */
        return;
    }
    while (shared_u32_load_acquire(&sleeper->state) == ASLEEP) /* relies on the payload of the waker */
        platform_park(&sleeper->state, ASLEEP, PLATFORM_FOREVER);
}

static void sleep_until(struct sleeper *sleeper, uint32_t payload)
{
    while (shared_u32_load_relaxed(&sleeper->payload) < payload) /* ordered by the state word */
        sleep_once(sleeper);
}

static struct sleeper *sleeper_create(bool mended)
{
    struct sleeper *sleeper = historic_alloc(sizeof(*sleeper));
    sleeper->mended = mended;
    return sleeper;
}

/* ---- zio-610-a ---- */

static void cancelled_main(void *argument)
{
    struct sleeper *sleeper = argument;
    if (!sleeper->mended)
        shared_u32_store_release(&sleeper->state, RUNNING); /* the fault: a token may be there */
    sleep_until(sleeper, 1);
}

static void zio_610_a(bool mended)
{
    struct sleeper *sleeper = sleeper_create(mended);
    struct platform_thread *thread = historic_start("task", cancelled_main, sleeper);
    shared_u32_add_relaxed(&sleeper->payload, 1); /* published by the token */
    wake(sleeper, false);
    platform_thread_join(thread);
    platform_free(sleeper);
}

/* ---- zio-610-b ---- */

static void waited_main(void *argument)
{
    sleep_until(argument, 2);
}

static void second_waker_main(void *argument)
{
    struct sleeper *sleeper = argument;
    shared_u32_add_relaxed(&sleeper->payload, 1); /* published by the token */
    wake(sleeper, !sleeper->mended);
}

static void zio_610_b(bool mended)
{
    struct sleeper *sleeper = sleeper_create(mended);
    struct platform_thread *task = historic_start("task", waited_main, sleeper);
    struct platform_thread *waker = historic_start("waker", second_waker_main, sleeper);
    second_waker_main(sleeper);
    platform_thread_join(waker);
    platform_thread_join(task);
    platform_free(sleeper);
}

/* ---- tokio-621 ---- */

static void worker_main(void *argument)
{
    struct sleeper *sleeper = argument;
    while (shared_u32_load_acquire(&sleeper->payload) == 0) {
        if (sleeper->mended) {
            sleep_once(sleeper);
            continue;
        }
        shared_u32_store_seq_cst(&sleeper->state, ASLEEP); /* the fault: a token may be there */
        while (shared_u32_load_acquire(&sleeper->state) == ASLEEP)
            platform_park(&sleeper->state, ASLEEP, PLATFORM_FOREVER);
    }
}

static void tokio_621(bool mended)
{
    struct sleeper *sleeper = sleeper_create(mended);
    struct platform_thread *thread = historic_start("worker", worker_main, sleeper);
    shared_u32_add_acq_rel(&sleeper->payload, 1);
    wake(sleeper, false);
    platform_thread_join(thread);
    platform_free(sleeper);
}

HISTORIC_SCENARIO(zio_610_a, "cancel-and-wake", "a token stays until it is used", true);
HISTORIC_SCENARIO(zio_610_b, "two-wakes", "a token hands over the payload of every waker", true);
HISTORIC_SCENARIO(tokio_621, "notify-and-sleep", "a token stays until it is used", true);
