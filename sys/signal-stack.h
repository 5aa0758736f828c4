/* SPDX-License-Identifier: 0BSD OR MIT */
/* Alternate signal stacks of Linux that disarm themselves (SS_AUTODISARM; sigaltstack(2)): the
   kernel disarms such a stack while a handler runs, and arms it again when the handler returns.
   A file that leaves a handler by siglongjmp() must undefine _FORTIFY_SOURCE before it includes
   any header: with it, longjmp() rejects a jump off such a stack and ends the process. */

#ifndef CPUCYCLES_SIGNAL_STACK_H
#define CPUCYCLES_SIGNAL_STACK_H

#include <signal.h>
#include <stddef.h>

/* Arms the calling thread's stack again, for a handler that does not return. stack: uc_stack of the
   handler's context. */
static inline void rearm_signal_stack(const stack_t *stack)
{
  const int autodisarm = (int)(1u << 31); /* of linux/signal.h, which conflicts with signal.h */

  if (stack->ss_flags & autodisarm)
    sigaltstack(stack, NULL);
}

#endif
