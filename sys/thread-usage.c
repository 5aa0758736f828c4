/* SPDX-License-Identifier: 0BSD OR MIT */
/* Asks the kernel about the calling thread. Linux and FreeBSD have RUSAGE_THREAD; other systems
   report context switches of the whole process only. */

#include "config.h"

#include "sys/os-clock.h"
#include "sys/thread-usage.h"

#ifdef CPUCYCLES_POSIX
#include <errno.h>
#include <sys/resource.h>
#include <time.h>
#endif

struct cpuc_thread_switches cpuc_thread_usage_switches(void)
{
  struct cpuc_thread_switches switches = { 0, 0 };
#ifdef RUSAGE_THREAD
  struct rusage usage;
  int saved_errno = errno;

  if (getrusage(RUSAGE_THREAD, &usage) == 0) {
    switches.voluntary = usage.ru_nvcsw;
    switches.involuntary = usage.ru_nivcsw;
  }
  errno = saved_errno;
#endif
  return switches;
}

long long cpuc_thread_usage_nanoseconds(void)
{
  long long nanoseconds = 0;
#if defined(CPUCYCLES_POSIX) && defined(CLOCK_THREAD_CPUTIME_ID)
  int saved_errno = errno;

  nanoseconds = cpuc_os_clock_read(CLOCK_THREAD_CPUTIME_ID);
  errno = saved_errno;
#endif
  return nanoseconds;
}
