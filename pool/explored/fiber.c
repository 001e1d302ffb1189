/* SPDX-License-Identifier: MIT
 *
 * The fibers of fiber.h.
 */
#include "fiber.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ADDRESS_SANITIZER 1
#elif defined(__clang__)
#if __has_feature(address_sanitizer)
#define FIBER_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef FIBER_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
static const void *thread_stack;
static size_t thread_stack_size;
#endif

static void fiber_main(struct fiber *fiber);

#if defined(__x86_64__)

/* Saves six registers and the stack pointer, takes the other ones. */
void fiber_switch_stack(void **save, void *load);
__asm__(".text\n"
        ".globl fiber_switch_stack\n"
        ".hidden fiber_switch_stack\n"
        ".type fiber_switch_stack, @function\n"
        "fiber_switch_stack:\n"
        "    push %rbp\n    push %rbx\n    push %r12\n    push %r13\n    push %r14\n    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    pop %r15\n    pop %r14\n    pop %r13\n    pop %r12\n    pop %rbx\n    pop %rbp\n"
        "    ret\n"
        ".size fiber_switch_stack, .-fiber_switch_stack\n"
        ".globl fiber_begin\n"
        ".hidden fiber_begin\n"
        ".type fiber_begin, @function\n"
        "fiber_begin:\n"
        "    mov %r12, %rdi\n"
        "    call *%r13\n"
        "    ud2\n"
        ".size fiber_begin, .-fiber_begin\n");
void fiber_begin(void);

static void *first_frame(struct fiber *fiber)
{
    uint64_t *top = (uint64_t *)((char *)fiber->stack + fiber->stack_size);
    *--top = 0; /* keeps the stack aligned at the call */
    *--top = 0;
    *--top = (uint64_t)(uintptr_t)fiber_begin;
    *--top = 0;                               /* rbp */
    *--top = 0;                               /* rbx */
    *--top = (uint64_t)(uintptr_t)fiber;      /* r12 */
    *--top = (uint64_t)(uintptr_t)fiber_main; /* r13 */
    *--top = 0;                               /* r14 */
    *--top = 0;                               /* r15 */
    return top;
}

#elif defined(__aarch64__)

/* Saves x19 to x30 and d8 to d15. */
void fiber_switch_stack(void **save, void *load);
__asm__(".text\n"
        ".globl fiber_switch_stack\n"
        ".hidden fiber_switch_stack\n"
        ".type fiber_switch_stack, %function\n"
        "fiber_switch_stack:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n    stp x21, x22, [sp, #16]\n    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n   stp x27, x28, [sp, #64]\n    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n     stp d10, d11, [sp, #112]\n   stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n    str x9, [x0]\n    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n    ldp x21, x22, [sp, #16]\n    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n   ldp x27, x28, [sp, #64]\n    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n     ldp d10, d11, [sp, #112]\n   ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size fiber_switch_stack, .-fiber_switch_stack\n"
        ".globl fiber_begin\n"
        ".hidden fiber_begin\n"
        ".type fiber_begin, %function\n"
        "fiber_begin:\n"
        "    mov x0, x19\n"
        "    blr x20\n"
        "    brk #0\n"
        ".size fiber_begin, .-fiber_begin\n");
void fiber_begin(void);

static void *first_frame(struct fiber *fiber)
{
    uint64_t *top = (uint64_t *)((char *)fiber->stack + fiber->stack_size) - 20;
    memset(top, 0, 20 * sizeof *top);
    top[0] = (uint64_t)(uintptr_t)fiber;        /* x19 */
    top[1] = (uint64_t)(uintptr_t)fiber_main;   /* x20 */
    top[11] = (uint64_t)(uintptr_t)fiber_begin; /* x30 */
    return top;
}

#endif

int fiber_allocate(struct fiber *fiber, size_t stack_size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK;
    char *memory = mmap(NULL, stack_size + page, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED)
        return -ENOMEM;
    mprotect(memory, page, PROT_NONE); /* without it an overflow is only less clear */
    fiber->stack = memory + page;
    fiber->stack_size = stack_size;
    return 0;
}

/* What the last body left on the stack, it may have been left in mid-air, says nothing about the next one. */
static void forget_frames(struct fiber *fiber)
{
#ifdef FIBER_ADDRESS_SANITIZER
    __asan_unpoison_memory_region(fiber->stack, fiber->stack_size);
#else
    (void)fiber;
#endif
}

void fiber_jumped_out(void)
{
#ifdef FIBER_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(NULL, thread_stack, thread_stack_size);
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
}

static void fiber_main(struct fiber *fiber)
{
#ifdef FIBER_ADDRESS_SANITIZER
    const void *bottom;
    size_t size;
    __sanitizer_finish_switch_fiber(NULL, &bottom, &size);
    if (thread_stack == NULL) {
        thread_stack = bottom; /* the first switch of all comes from the thread */
        thread_stack_size = size;
    }
#endif
    fiber->body(fiber->argument);
    abort();
}

#if defined(__x86_64__) || defined(__aarch64__)

void fiber_prepare(struct fiber *fiber, void (*body)(void *argument), void *argument)
{
    fiber->body = body;
    fiber->argument = argument;
    forget_frames(fiber);
    fiber->stack_pointer = first_frame(fiber);
}

void fiber_switch(struct fiber *from, struct fiber *to)
{
#ifdef FIBER_ADDRESS_SANITIZER
    const void *bottom = to->stack != NULL ? to->stack : thread_stack;
    size_t size = to->stack != NULL ? to->stack_size : thread_stack_size;
    __sanitizer_start_switch_fiber(&from->sanitizer_state, bottom, size);
#endif
    fiber_switch_stack(&from->stack_pointer, to->stack_pointer);
#ifdef FIBER_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(from->sanitizer_state, NULL, NULL);
#endif
}

#else

static void fiber_enter(unsigned high, unsigned low)
{
    fiber_main((struct fiber *)(uintptr_t)((uint64_t)high << 32 | low));
}

void fiber_prepare(struct fiber *fiber, void (*body)(void *argument), void *argument)
{
    uint64_t address = (uint64_t)(uintptr_t)fiber;
    fiber->body = body;
    fiber->argument = argument;
    forget_frames(fiber);
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = fiber->stack_size;
    fiber->context.uc_link = NULL;
    makecontext(&fiber->context, (void (*)(void))fiber_enter, 2, (unsigned)(address >> 32), (unsigned)address);
}

void fiber_switch(struct fiber *from, struct fiber *to)
{
    swapcontext(&from->context, &to->context);
}

#endif
