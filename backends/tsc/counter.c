/* SPDX-License-Identifier: 0BSD OR MIT */
/* The time-stamp counter as a source of the CPU frequency, and the remedy for its counters. */

#include "config.h"

#include "backends/tsc/counter.h"

#include <signal.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

/* On Linux, SIGSEGV has one cause, which the program can undo. */
void cpuc_tsc_explain(int error, int signal, struct cpuc_diagnosis *why)
{
  (void)error;
#ifdef PR_TSC_ENABLE
  if (signal == SIGSEGV)
    why->remedy = "call prctl(PR_SET_TSC, PR_TSC_ENABLE) in the program before its first call of "
                  "this library";
#else
  (void)signal, (void)why;
#endif
}

/* Read with assembly, because not all compilers have the intrinsic. */
const struct cpuc_backend cpuc_tsc = {
  X86_TSC_MEMBERS, .read = read_tsc_with_assembly
};
