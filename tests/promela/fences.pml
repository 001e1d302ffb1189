/* SPDX-License-Identifier: MIT
 *
 * The fences of the sleep protocol and of the gate: each pair "write, then read what the other writes" over memory with
 * store buffers. sleep.pml has the whole protocol, but over a memory in which no fence is needed.
 *
 * How it works. What a process stores waits in a slot of its own, one for each variable, until the memory takes it, at
 * any later moment and in any order; the process itself sees it at once, the others do not. A fence waits until all
 * slots of the process are empty. A read-modify-write is no fence: what it writes waits too, and only other writes to
 * the same variable wait for it. So a later load may overtake it, as on processors where an exclusive store is its own
 * instruction. A load of sequentially consistent order waits for the process's own read-modify-writes, which are all of
 * that order; a release store waits for all slots, which is a little more than it must.
 *
 * Workers and submitters of one task each; or, for the gate, one submitter and the closing thread. Names are those of
 * the C files.
 *
 * Left out. Loads do not overtake loads, and nothing is read before it was stored somewhere: that is the explorer's.
 *
 * Parameters (-D)
 *   POLICY      EAGER, LIFO, SINGLE; GUEST, STRANGER: the gate, for a thread that is attached and one that is not
 *   WORKERS     which may all be engaged
 *   SUBMITTERS  2 or 3
 *   HOLD        1: task 0 runs until all others are taken; with two workers
 *
 * Faults (-D), each of which spin must find: see promela.sh.
 */
#define EAGER    1
#define LIFO     2
#define SINGLE   3
#define GUEST    4
#define STRANGER 5
#define IS_GATE  (POLICY >= GUEST)

#ifndef WORKERS
#define WORKERS 1
#endif
#ifndef SUBMITTERS
#define SUBMITTERS 2
#endif
#ifndef HOLD
#define HOLD 0
#endif

/* Variables: the published tasks, the counts word or the state, the word of the policy or the mark. */
#define TASK(number) (number)
#define COUNTS    3
#define STATE     3
#define WORD      4
#define MARK      4
#define VARIABLES 5

#define PROCESSES (WORKERS + SUBMITTERS)
#define EMPTY     7
#define NOBODY    7
#define NONE      7

byte memory[VARIABLES];
byte holder[VARIABLES] = NOBODY; /* whose read-modify-write of it waits in a slot */
byte slots[PROCESSES * VARIABLES] = EMPTY;
byte signals;
bool taken[3]; /* the tasks */

#define SLOT(variable) slots[me * VARIABLES + (variable)]
#define LOAD(variable) (SLOT(variable) == EMPTY -> memory[variable] : SLOT(variable))

inline store(variable, value)
{
    atomic { SLOT(variable) == EMPTY -> SLOT(variable) = value }
}

inline fence()
{
    (SLOT(0) == EMPTY && SLOT(1) == EMPTY && SLOT(2) == EMPTY && SLOT(3) == EMPTY && SLOT(4) == EMPTY)
}

/* What a load of sequentially consistent order comes after. */
inline after_own_exchanges()
{
    (holder[0] != me && holder[1] != me && holder[2] != me && holder[3] != me && holder[4] != me)
}

inline store_release(variable, value)
{
#ifndef FAULT_LEAVE_RELAXED
    fence();
#endif
    store(variable, value)
}

/* A CAS that adds, unless it finds the limit; won: the caller's local. */
inline add_below(variable, limit)
{
    atomic {
        holder[variable] == NOBODY && SLOT(variable) == EMPTY ->
        won = (memory[variable] < limit);
        if
        :: won -> SLOT(variable) = memory[variable] + 1; holder[variable] = me
        :: else
        fi
    }
}

inline subtract(variable)
{
    atomic {
        holder[variable] == NOBODY && SLOT(variable) == EMPTY ->
        SLOT(variable) = memory[variable] - 1;
        holder[variable] = me
    }
}

/* The memory takes what this process has written to one variable, unless another one's exchange of it comes first. */
#define TAKES(variable)                                                     \
    atomic {                                                                \
        SLOT(variable) != EMPTY && (holder[variable] == NOBODY || holder[variable] == me) -> \
        memory[variable] = SLOT(variable);                                  \
        SLOT(variable) = EMPTY;                                             \
        holder[variable] = NOBODY                                           \
    }

proctype slots_of(byte me)
{
end_empty:
    do
    :: TAKES(0)
    :: TAKES(1)
    :: TAKES(2)
    :: TAKES(3)
    :: TAKES(4)
    od
}

/* ---- the policies ---- */

inline engage()
{
#ifndef FAULT_ENGAGE_RELAXED
    after_own_exchanges();
#endif
    if
    :: LOAD(COUNTS) == WORKERS -> won = false /* the goal is reached */
    :: else -> add_below(COUNTS, WORKERS)
    fi
}

/* A release: what was written before is to be seen by whoever takes the signal. */
inline release()
{
    fence();
    signals++
}

#define IS_THERE(number) (LOAD(TASK(number)) == 1 && !taken[number])

inline look_at_queues()
{
    if
    :: IS_THERE(0) -> found = true
    :: else ->
       if
       :: IS_THERE(1) -> found = true
       :: else -> found = IS_THERE(2)
       fi
    fi
}

inline ask()
{
#if POLICY == EAGER
    engage();
    if
    :: won -> won = false; release()
    :: else
    fi
#else
    do
    :: won = (LOAD(WORD) == 0);
       if
       :: won -> add_below(WORD, 1)
       :: else
       fi;
       if
       :: !won -> break
       :: else
       fi;
       engage();
       if
       :: won -> won = false; release(); break
       :: else
       fi;
#if POLICY == LIFO
       break
#else
       store(WORD, 0);
#ifndef FAULT_NO_FENCE_GIVE_BACK
       fence();
#endif
       look_at_queues();
       if
       :: !found -> break
       :: else -> found = false
       fi;
       if
       :: LOAD(COUNTS) < WORKERS
       :: else -> break
       fi
#endif
    od
#endif
}

/* One of the looks of next; a worker that saw a task gets it, or goes on where another one did. */
inline take(number)
{
    atomic {
        if
        :: task == NONE && IS_THERE(number) -> task = number; taken[number] = true
        :: else
        fi
    }
}

inline clear_word()
{
    store(WORD, 0);
#ifndef FAULT_NO_FENCE_CLEAR
    fence()
#endif
}

inline dispatch()
{
    first = true;
#if POLICY == LIFO
    clear_word();
#endif
    do
    :: task = NONE;
       take(0);
       take(1);
       take(2);
       if
       :: task == NONE -> break
       :: else
       fi;
       if
       :: first ->
          first = false;
#if POLICY == LIFO
          ask()
#elif POLICY == SINGLE
          if
          :: searches ->
             searches = false;
             clear_word();
             look_at_queues();
             if
             :: found -> found = false; ask()
             :: else
             fi
          :: else
          fi
#endif
       :: else
       fi;
#if HOLD
       if
       :: task == 0 -> taken[1] && (SUBMITTERS == 2 || taken[2])
       :: else
       fi;
#endif
    od;
    task = 0;
    first = false
}

inline announce_idle()
{
    subtract(COUNTS);
#if POLICY != LIFO && !defined(FAULT_NO_FENCE_LEAVE)
    fence();
#endif
#if POLICY == LIFO
#ifndef FAULT_FLAG_RELAXED
    after_own_exchanges();
#endif
    found = (LOAD(WORD) == 1);
#else
    look_at_queues();
#endif
    if
    :: found -> found = false; add_below(COUNTS, WORKERS); again = won; won = false
    :: else
    fi
}

inline become_searcher()
{
    if
    :: LOAD(WORD) == 0 -> add_below(WORD, 1); searches = won; won = false
    :: else
    fi
}

inline found_nothing()
{
#if POLICY == EAGER
    announce_idle()
#elif POLICY == LIFO
    if
    :: LOAD(WORD) == 1 -> again = true
    :: else -> announce_idle()
    fi
#else
    if
    :: searches
    :: else -> become_searcher()
    fi;
    if
    :: searches ->
       searches = false;
       clear_word();
       look_at_queues();
       again = found;
       found = false
    :: else
    fi;
    if
    :: again
    :: else -> announce_idle()
    fi;
    if
    :: again && !searches -> become_searcher()
    :: else
    fi
#endif
}

proctype worker(byte me)
{
    byte task;
    bool won, found, first, again, searches;

end_asleep:
    do
    :: atomic { signals > 0 -> signals-- }
       searches = (POLICY == SINGLE);
       do
       :: again = false;
          dispatch();
          found_nothing();
          if
          :: again
          :: else -> break
          fi
       od
    od
}

proctype submitter(byte me)
{
    bool won, found;

    store_release(TASK(me - WORKERS), 1);
#ifndef FAULT_NO_FENCE_PUBLISH
    fence();
#endif
    ask()
}

/* ---- the gate ---- */

proctype enters(byte me)
{
    bool won;

#if POLICY == GUEST
    store(MARK, 1);
#else
    add_below(MARK, 1);
#endif
#ifndef FAULT_NO_FENCE_MARK
    fence();
#endif
    if
    :: LOAD(STATE) == 0 -> store_release(TASK(0), 1)
    :: else
    fi;
    store_release(MARK, 0)
}

proctype closes(byte me)
{
    store(STATE, 1);
#ifndef FAULT_NO_FENCE_STATE
    fence();
#endif
    LOAD(MARK) == 0;
    taken[0] = LOAD(TASK(0))
}

init
{
    byte me;

    atomic {
#if IS_GATE
        run closes(0);
        run enters(1);
#else
        for (me : 0 .. WORKERS - 1) {
            run worker(me)
        }
        for (me : WORKERS .. PROCESSES - 1) {
            run submitter(me)
        }
#endif
        for (me : 0 .. PROCESSES - 1) {
            run slots_of(me)
        }
        me = 0
    }
    timeout;
#if IS_GATE
    assert(taken[0] == memory[TASK(0)])
#else
    assert(taken[0] && taken[1] && (SUBMITTERS == 2 || taken[2]));
    assert(memory[COUNTS] == 0 && memory[WORD] == 0 && signals == 0)
#endif
}
