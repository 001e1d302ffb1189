/* SPDX-License-Identifier: MIT
 *
 * The sleep and stop protocol of the pool: the counts word, the three idle policies, the semaphore under them, a task
 * that waits inside the pool, the gate and close. A model: what pool/README.md argues in prose, spin looks through.
 *
 * How it works. One process per worker and submitter; the first process makes them, closes the pool and judges what
 * is left. Each step is one shared access of the code: a CAS loop is the CAS that succeeds, a critical section is one
 * step. Names are those of the C files: engage, announce_idle, lie_down and so on are to be read beside them.
 * Memory is sequentially consistent, so the fences are no steps here; fences.pml has store buffers.
 *
 * Left out. The futex (a parked worker is one whose word is set; who clears it wakes it), clocks, the depth of nesting,
 * the scheduler's queues (a set, of which next takes any; pending tells the truth), a goal that changes, and counters.
 *
 * Parameters (-D)
 *   POLICY      EAGER, LIFO or SINGLE
 *   STARTED     workers that exist at first; WORKERS: those that there can be; GOAL: how many may be engaged
 *   SUBMITTERS, EACH   threads that submit, and how many tasks each
 *   SPIN        1: a worker looks around before it parks
 *   CLOSE       0: the pool stays open; RUN: close runs what is queued; GIVE_BACK: close gives it back
 *   WAITS       0: no task waits; OTHER: task 0 waits for task 1; CHILD: task 0 submits one more and waits for it;
 *               HOLDS: task 0 runs, and tells nobody that it waits, until all others have been taken
 *   MISS        1: next may lose a race for a task and say so
 *   FAIL        1: a thread may not be to be had
 *
 * Faults (-D), each of which spin must find: see promela.sh.
 */
#define EAGER  1
#define LIFO   2
#define SINGLE 3

#define RUN       1
#define GIVE_BACK 2

#define OTHER 1
#define CHILD 2
#define HOLDS 3

#ifndef STARTED
#define STARTED WORKERS
#endif
#ifndef SUBMITTERS
#define SUBMITTERS 2
#endif
#ifndef SPIN
#define SPIN 0
#endif
#ifndef CLOSE
#define CLOSE 0
#endif
#ifndef WAITS
#define WAITS 0
#endif
#ifndef MISS
#define MISS 0
#endif
#ifndef FAIL
#define FAIL 0
#endif

#define PARENT 0
#define FROM_OUTSIDE   (SUBMITTERS * EACH)
#if WAITS == CHILD
#define TASKS   (FROM_OUTSIDE + 1)
#define AWAITED FROM_OUTSIDE
#else
#define TASKS   FROM_OUTSIDE
#define AWAITED 1
#endif
#define NONE TASKS

/* What becomes of a task. */
#define NEW      0
#define QUEUED   1
#define TAKEN    2
#define HAS_RUN  3
#define RETURNED 4 /* by close */
#define REFUSED  5
byte fate[TASKS];
byte queued; /* how many are QUEUED */
bool refused[TASKS];

/* The counts word but for the constant goal; pool->published; pool->thread_limit. */
byte engaged, existing = STARTED, blocked;
byte published = STARTED;
#if FAIL
byte limit = WORKERS;
#else
#define limit WORKERS
#endif

/* The semaphore: its word, then what the lock guards. */
byte signals, waiters, spinners, promised;
byte permits, depth, stack[WORKERS];
bool parked[WORKERS];

#if POLICY == LIFO
bool requested;
#elif POLICY == SINGLE
bool searching;
#endif

#if CLOSE
#define RUNNING 0
#define CLOSING 1
#define STOPPED 2
byte state;
byte submitting; /* the marks of the gate */
bool told;       /* the word quiet is not what the closer has seen */
bool stopped;    /* the semaphore's */
bool closed;
#else
#define stopped false
#endif
byte submitters_left = SUBMITTERS, workers_left;

/* ---- the counts word ---- */

/* Starts a thread for a worker that has been counted. The threads are numbered as they come. */
inline worker_add(answer)
{
#if FAIL
    if
    :: d_step { answer = true; published++ }
    :: answer = false
    fi
#else
    d_step { answer = true; published++ }
#endif
}

/* grow and started are the caller's locals. */
inline engage(answer)
{
    do
    :: d_step {
           grow = false;
           answer = false;
           if
           :: engaged < GOAL ->
              grow = (engaged + blocked >= existing);
              if
              :: grow && existing >= limit -> grow = false
              :: else ->
                 answer = true;
                 engaged++;
                 existing = existing + grow
              fi
           :: else
           fi
       }
       if
       :: !grow -> break
       :: else ->
          worker_add(answer);
          grow = false;
          if
          :: answer -> break
          :: else ->
#ifdef FAULT_FAILED_STAYS_COUNTED
             break
#else
             d_step {
                 engaged--;
                 existing--;
#if FAIL
                 limit = existing /* one step: a start that is tried in between only fails as well */
#endif
             }
#endif
          fi
       fi
    od
}

inline disengage()
{
    engaged--;
#if CLOSE
#ifndef FAULT_CLOSER_NOT_TOLD
    if
    :: state != RUNNING -> told = true
    :: else
    fi
#endif
#endif
}

/* ---- the semaphore ---- */

inline release()
{
    d_step {
        wake = (signals + 1 < waiters + spinners -> signals + 1 : waiters + spinners) > spinners + promised;
#ifdef FAULT_NO_SIGNAL_KEPT
        signals = signals + (waiters + spinners > 0);
#else
        signals++;
#endif
        promised = promised + wake
    }
    if
    :: wake ->
       d_step {
           wake = false;
           if
           :: depth > 0 ->
              depth--;
              parked[stack[depth]] = false;
              stack[depth] = 0
           :: else ->
#ifndef FAULT_NO_PERMIT
              permits++
#endif
           fi
       }
    :: else
    fi
}

inline take_or(spinners_taken, spinners_else, waiters_else)
{
    d_step {
        if
        :: signals > 0 ->
           took = true;
           signals--;
           spinners = spinners + (spinners_taken)
        :: else ->
           took = false;
           spinners = spinners + (spinners_else);
           waiters = waiters + (waiters_else)
        fi
    }
}

/* To spin is to see a signal at any one moment, or none. */
inline spin()
{
    do
    :: stopped -> break
    :: d_step { signals > 0 -> took = true; signals--; spinners-- }
       break
    :: break
    od
    if
    :: took
    :: else -> take_or(-1, -1, 1)
    fi
}

inline lie_down()
{
    d_step {
        if
        :: permits > 0 || stopped -> permits = permits - (permits > 0)
        :: else ->
           parked[me] = true;
           stack[depth] = me;
           depth++
        fi
    }
end_parked:
    !parked[me]
}

inline rise()
{
    d_step {
        took = signals > 0;
        signals = signals - took;
        waiters = waiters - took;
#ifndef FAULT_PROMISE_STAYS
        promised = promised - (promised > 0)
#endif
    }
}

/* The answer is whether the semaphore was stopped: engaged if not. */
inline semaphore_wait()
{
#if SPIN && POLICY != SINGLE
    take_or(0, 1, 0);
    if
    :: took
    :: else -> spin()
    fi;
#else
    take_or(0, 0, 1);
#endif
    do
    :: took || stopped -> break
    :: else ->
       lie_down();
       rise()
    od;
    took = false
}

#if CLOSE
inline semaphore_stop()
{
    stopped = true;
    d_step {
        do
        :: depth > 0 ->
           depth--;
           parked[stack[depth]] = false;
           stack[depth] = 0
        :: else -> break
        od
    }
}
#endif

/* ---- the idle policies ---- */

#if POLICY == LIFO
/* ensure_requested */
inline ask()
{
    d_step { asked = !requested; requested = true }
    if
    :: asked ->
       asked = false;
       engage(owes);
       if
       :: owes -> owes = false; release()
       :: else
       fi
    :: else
    fi
}
#endif

#if POLICY == SINGLE
/* wake_searcher */
inline ask()
{
    do
    :: d_step { asked = !searching; searching = true }
       if
       :: !asked -> break
       :: else ->
          asked = false;
          engage(owes);
          if
          :: owes ->
             owes = false;
             release();
             break
          :: else ->
             searching = false;
#ifdef FAULT_WORD_BACK_NO_LOOK
             break
#else
             if
             :: queued == 0 -> break
             :: else
             fi;
             if
             :: engaged < GOAL && (engaged + blocked < existing || existing < limit)
             :: else -> break
             fi
#endif
          fi
       fi
    od
}
#endif

#if POLICY == EAGER
inline ask()
{
    engage(owes);
    if
    :: owes -> owes = false; release()
    :: else
    fi
}
#endif

/* idle.release: the caller has engaged a worker for another reason than a submit. */
inline release_substitute()
{
#if POLICY == SINGLE
    searching = true;
#endif
    release()
}

inline announce_idle()
{
#ifdef FAULT_LOOK_BEFORE_LEAVING
    again = queued > 0;
    if
    :: again
    :: else -> disengage()
    fi
#else
    disengage();
#ifndef FAULT_NO_SECOND_LOOK
    if
#if POLICY == LIFO
    :: requested ->
#else
#ifdef FAULT_PENDING_ALWAYS
    :: true ->
#else
    :: queued > 0 ->
#endif
#endif
       d_step {
#ifdef FAULT_COUNTED_TWICE
           again = engaged < GOAL;
#else
           again = engaged < GOAL && engaged + blocked < existing;
#endif
           engaged = engaged + again
       }
    :: else
    fi
#endif
#endif
}

inline become_searcher()
{
    d_step { searches = !searching; searching = true }
}

inline stop_searching()
{
    searches = false;
    searching = false
}

/* again: look again, still engaged. */
inline found_nothing()
{
    if
    :: missed -> missed = false; again = true
    :: else ->
#if POLICY == EAGER
       announce_idle()
#elif POLICY == LIFO
       if
       :: requested -> again = true
       :: else -> announce_idle()
       fi
#else
       if
       :: searches
       :: else -> become_searcher()
       fi;
       if
       :: searches ->
#if SPIN
          do
          :: queued > 0 -> again = true; break
          :: break
          od;
#endif
          if
          :: again
          :: else ->
             stop_searching();
             again = queued > 0
          fi
       :: else
       fi;
       if
       :: again
       :: else -> announce_idle()
       fi;
#ifndef FAULT_SEARCH_NOT_RESUMED
       if
       :: again && !searches -> become_searcher()
       :: else
       fi
#endif
#endif
    fi
}

inline dispatch_begin()
{
#if POLICY == LIFO
#if !defined(FAULT_FLAG_CLEARED_LATE) && !defined(FAULT_FLAG_STAYS)
    requested = false
#else
    skip
#endif
#else
    skip
#endif
}

inline got_first()
{
#if POLICY == LIFO && !defined(FAULT_FIRST_DOES_NOT_ASK)
    ask()
#elif POLICY == SINGLE
    if
    :: searches ->
       stop_searching();
#ifndef FAULT_SEARCH_NOT_HANDED_ON
       if
       :: queued > 0 -> ask()
       :: else
       fi
#endif
    :: else
    fi
#else
    skip
#endif
}

/* ---- tasks ---- */

/* The scheduler's next: any task that is queued, or NONE. */
inline take(out)
{
    atomic {
        if
        :: queued == 0 -> out = NONE
        :: queued > 0 ->
           if
           :: fate[0] == QUEUED -> out = 0
#if FROM_OUTSIDE > 1
           :: fate[1] == QUEUED -> out = 1
#endif
#if FROM_OUTSIDE > 2
           :: fate[2] == QUEUED -> out = 2
#endif
#if FROM_OUTSIDE > 3
           :: fate[3] == QUEUED -> out = 3
#endif
#if WAITS == CHILD
           :: fate[AWAITED] == QUEUED -> out = AWAITED
#endif
           fi;
           fate[out] = TAKEN;
           queued--
        fi
    }
}

inline next(out)
{
#if MISS
    if
    :: queued == 0 -> out = NONE
    :: else ->
       take(out);
       missed = (out == NONE)
    fi
#else
    take(out)
#endif
}

inline publish(which)
{
    d_step {
        assert(fate[which] == NEW);
        fate[which] = QUEUED;
        queued++
    }
}

inline ran(which)
{
    d_step {
        assert(fate[which] == TAKEN && !refused[which]);
        fate[which] = HAS_RUN
    }
}

#if WAITS == OTHER || WAITS == CHILD
/* pilfer_wait inside the parent. What it helps with never waits itself. */
inline wait_inside()
{
    do
    :: fate[AWAITED] == HAS_RUN -> break
    :: else ->
       do
       :: next(helped);
          if
          :: helped != NONE || !missed -> break
          :: else -> missed = false
          fi
       od;
       if
       :: helped != NONE -> ran(helped)
       :: else ->
          d_step { engaged--; blocked++ }
#ifndef FAULT_NO_SUBSTITUTE
          engage(owes);
          if
          :: owes -> owes = false; release_substitute()
          :: else
          fi;
#endif
          if
          :: fate[AWAITED] == HAS_RUN
#if FAIL
          :: published >= limit && queued > 0 /* a while later it looks, and sees something to help with */
#endif
          fi;
          d_step { engaged++; blocked-- }
       fi;
       helped = 0
    od
}
#endif

#if WAITS
inline run_parent()
{
#if WAITS == HOLDS
    fate[1] >= TAKEN && (FROM_OUTSIDE < 3 || fate[FROM_OUTSIDE - 1] >= TAKEN)
#elif WAITS == CHILD
#if CLOSE
    if
    :: state <= CLOSING ->
       publish(AWAITED);
       ask();
       wait_inside()
    :: else ->
       assert(CLOSE != RUN); /* what is queued is run, and may submit */
       fate[AWAITED] = REFUSED
    fi
#else
    publish(AWAITED);
    ask();
    wait_inside()
#endif
#else
    wait_inside()
#endif
}
#endif

inline run_task(which)
{
#if WAITS
    if
    :: which == PARENT -> run_parent()
    :: else
    fi;
#endif
    ran(which)
}

/* ---- the processes ---- */

/* pool_is_stopping; leaving is set where it says yes. */
inline look_for_stop()
{
#if CLOSE
    if
    :: state < STOPPED
    :: else ->
       if
       :: blocked == 0 -> leaving = true
       :: else
       fi
    fi
#else
    skip
#endif
}

inline dispatch()
{
    first = true;
    dispatch_begin();
    do
    :: look_for_stop();
       if
       :: leaving -> break
       :: else
       fi;
       next(task);
       if
       :: task == NONE -> break
       :: else ->
          if
          :: first -> first = false; got_first()
          :: else
          fi;
          run_task(task);
          task = 0
       fi
    od;
    task = 0;
    first = false;
#ifdef FAULT_FLAG_CLEARED_LATE
    requested = false
#endif
}

proctype worker(byte me)
{
    byte task, helped;
    bool took, again, first, missed, leaving, searches, grow, owes, wake, asked;

end_unstarted:
    published > me;
    do
    :: semaphore_wait();
       if
       :: stopped -> break
       :: else
       fi;
       again = true;
#if POLICY == SINGLE
       searches = true;
#endif
       do
       :: again = false;
          dispatch();
#if CLOSE
          if
          :: leaving -> again = true
          :: else -> look_for_stop(); again = leaving
          fi;
          if
          :: leaving -> leaving = false; missed = false; break
          :: else
          fi;
#endif
          found_nothing();
          if
          :: again
          :: else -> break
          fi
       od;
       if
       :: again -> again = false; disengage()
       :: else
       fi
    od;
    workers_left++
}

inline refuse(which)
{
    d_step {
        refused[which] = true;
#ifndef FAULT_REFUSED_BUT_QUEUED
        fate[which] = REFUSED
#endif
    }
}

inline submit_accepted(which)
{
    publish(which);
    ask()
}

proctype submitter(byte me)
{
    byte task = me * EACH;
    bool grow, owes, wake, asked;

    do
    :: task == (me + 1) * EACH -> break
    :: else ->
#if CLOSE
#ifdef FAULT_GATE_LOOKS_FIRST
       if
       :: state == RUNNING -> submitting++; submit_accepted(task)
       :: else -> submitting++; refuse(task)
       fi;
#else
       submitting++;
#ifdef FAULT_REFUSED_BUT_QUEUED
       submit_accepted(task);
#endif
       if
       :: state == RUNNING ->
#ifdef FAULT_REFUSED_BUT_QUEUED
          skip
#else
          submit_accepted(task)
#endif
       :: else -> refuse(task)
       fi;
#endif
       submitting--;
#else
       submit_accepted(task);
#endif
       task++
    od;
    submitters_left--
}

#if CLOSE
#if CLOSE == RUN && !defined(FAULT_CLOSE_NO_LOOK)
#define TO_RUN (queued > 0)
#else
#define TO_RUN false
#endif

/* wait_for_quiet */
inline wait_for_quiet()
{
    do
    :: told = false;
#ifndef FAULT_CLOSE_COUNTS_FIRST
       found = TO_RUN;
#endif
       if
       :: engaged > 0 || blocked > 0 -> told
       :: else ->
#ifdef FAULT_CLOSE_COUNTS_FIRST
          found = TO_RUN;
#endif
          if
          :: !found -> break
          :: else ->
             found = false;
             engage(owes);
             if
             :: owes -> owes = false; release_substitute()
             :: else
             fi
          fi
       fi
    od
}

inline close()
{
    state = (CLOSE == RUN -> CLOSING : STOPPED);
#ifndef FAULT_CLOSE_NO_MARKS
    submitting == 0;
#endif
    wait_for_quiet();
    state = STOPPED;
#ifndef FAULT_SEMAPHORE_NOT_STOPPED
    semaphore_stop();
#endif
    workers_left == published;
    do
    :: queued == 0 -> break
    :: else ->
       take(task);
       assert(CLOSE == GIVE_BACK || WAITS == 0); /* a task that waits would wait in the closing thread */
       assert(!refused[task]);
       fate[task] = (CLOSE == RUN -> HAS_RUN : RETURNED);
       task = 0
    od;
    assert(engaged == 0 && blocked == 0);
    closed = true
}
#endif

init
{
    byte task;
    bool grow, owes, wake, found;

    atomic {
        for (task : 0 .. WORKERS - 1) {
            run worker(task)
        }
        for (task : 0 .. SUBMITTERS - 1) {
            run submitter(task)
        }
        task = 0
    }
#if CLOSE
    close();
#endif
    /* Nobody can do anything any more: all are asleep, or have ended. */
end_rest:
    timeout;
    assert(submitters_left == 0);
    assert(queued == 0);
    assert(engaged == 0 && blocked == 0);
#if !CLOSE
    /* Nobody is on the way, and nothing says so: the next submit will wake a worker. */
    assert(signals == 0 && permits == 0 && promised == 0 && spinners == 0);
    assert(waiters == published);
#if POLICY == LIFO
    assert(!requested);
#elif POLICY == SINGLE
    assert(!searching);
#endif
#endif
    for (task : 0 .. TASKS - 1) {
        assert(fate[task] == HAS_RUN || CLOSE && fate[task] == REFUSED ||
               CLOSE == GIVE_BACK && fate[task] == RETURNED || task >= FROM_OUTSIDE && fate[task] == NEW)
    }
}

/* Liveness, under weak fairness: a process that can always go on does. */
#if CLOSE
ltl close_ends { <> closed }
#else
#define IS_SERVED(task) [] (fate[task] == QUEUED -> <> (fate[task] == HAS_RUN))
#if TASKS > 1
ltl tasks_are_run { IS_SERVED(0) && IS_SERVED(1) }
#else
ltl tasks_are_run { IS_SERVED(0) }
#endif
ltl workers_sleep { <> [] (engaged == 0 && blocked == 0) }
#endif
