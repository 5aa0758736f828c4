/* SPDX-License-Identifier: 0BSD OR MIT */
/* The remedy for counters that read the time-stamp counter. */

#include "config.h"

#if defined(__x86_64__) || defined(__i386__)

#include "backends/tsc/counter.h"

#include <signal.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

/* On Linux, SIGSEGV has one cause, which the program can undo. */
void cpuc_tsc_explain(int error, int signal, struct cpuc_diagnosis *diagnosis)
{
  (void)error;
#ifdef PR_TSC_ENABLE
  if (signal == SIGSEGV)
    diagnosis->remedy
      = "call prctl(PR_SET_TSC, PR_TSC_ENABLE) in the program before its first call of "
        "this library";
#else
  (void)signal, (void)diagnosis;
#endif
}

#endif
