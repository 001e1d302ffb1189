/* SPDX-License-Identifier: MIT
 *
 * Fibers: stacks of one thread of the operating system that hand the processor to one another.
 *
 * How it works. A switch saves the registers that a call preserves on the stack, stores the stack pointer and takes the
 * other one's: some ten instructions (x86-64, Arm 64), where swapcontext makes a system call. Elsewhere swapcontext is
 * used. A stack is allocated once, with a guard page below it, and used again by later fibers.
 */
#ifndef PILFER_POOL_EXPLORED_FIBER_H
#define PILFER_POOL_EXPLORED_FIBER_H

#include <stddef.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

struct fiber {
    void *stack_pointer; /* while it does not run */
    void *stack;         /* NULL for the thread's own */
    size_t stack_size;
    void (*body)(void *argument);
    void *argument;
    void *sanitizer_state; /* address sanitizer: its own record of the stack */
#if !defined(__x86_64__) && !defined(__aarch64__)
    ucontext_t context;
#endif
};

/* Allocates the stack of a zeroed fiber. 0 or -ENOMEM. */
int fiber_allocate(struct fiber *fiber, size_t stack_size);

/* Makes the fiber begin with body(argument) at the next switch to it, whatever it did before. body never returns: it
 * ends with a switch away. */
void fiber_prepare(struct fiber *fiber, void (*body)(void *argument), void *argument);

/* Goes on in `to`; returns when somebody switches to `from`. A zeroed fiber as `from` stands for the thread itself. */
void fiber_switch(struct fiber *from, struct fiber *to);

/* After a jump (siglongjmp) from a fiber to the thread's own stack. */
void fiber_jumped_out(void);

#endif
