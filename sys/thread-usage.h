/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the system has recorded about the calling thread: context switches and CPU time. */

#ifndef CPUCYCLES_THREAD_USAGE_H
#define CPUCYCLES_THREAD_USAGE_H

#pragma GCC visibility push(hidden)

struct cpuc_thread_switches {
  long voluntary;   /* the thread slept or waited */
  long involuntary; /* another thread took the CPU */
};

/* Returns the context switches of the calling thread; zeros if they are not known, because the
   system does not record them per thread or a filter refuses the call. */
struct cpuc_thread_switches cpuc_thread_usage_switches(void);

/* Returns nanoseconds of CPU time of the calling thread; 0 if they are not known. */
long long cpuc_thread_usage_nanoseconds(void);

#pragma GCC visibility pop

#endif
