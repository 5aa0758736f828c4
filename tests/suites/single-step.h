/* SPDX-License-Identifier: 0BSD OR MIT */
/* Single-stepping: the CPU raises SIGTRAP after each instruction, so that a handler can run after
   any instruction. CAN_SINGLE_STEP is defined if single-stepping is possible. */

#ifndef CPUCYCLES_SINGLE_STEP_H
#define CPUCYCLES_SINGLE_STEP_H

#include "tests/suites/suite.h"

/* ThreadSanitizer delays signals, and the steps would include its code. */
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_THREAD__)
#define CAN_SINGLE_STEP
#include "tests/suites/this-machine.h"

#include <ucontext.h>

enum { TRAP_FLAG = 0x100 }; /* of EFLAGS */

/* Switches single-stepping on or off. Keeps the red zone below the stack pointer intact. */
static inline void set_single_step(int on)
{
  if (on)
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\t"
                     "lea 128(%%rsp), %%rsp" ::: "cc", "memory");
  else
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq $-257, (%%rsp)\n\tpopfq\n\t"
                     "lea 128(%%rsp), %%rsp" ::: "cc", "memory");
}

static volatile int trap_was_raised;

static void note_trap(int signal)
{
  (void)signal;
  set_single_step(0);
  trap_was_raised = 1;
}

/* An attempt for skip_unless(), whose result is 0 if the CPU raises SIGTRAP. */
static int step_once(void)
{
  signal(SIGTRAP, note_trap);
  set_single_step(1);
  set_single_step(0);
  return !trap_was_raised;
}

static inline void skip_without_single_steps(void)
{
  skip_unless(step_once, 0, "the CPU raises no SIGTRAP after an instruction");
  skip_unless_handlers_are_aligned();
}

#else

static inline void set_single_step(int on)
{
  (void)on;
}

#endif

#endif
