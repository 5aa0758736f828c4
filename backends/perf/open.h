/* SPDX-License-Identifier: 0BSD OR MIT */
/* Opens and closes the events of the calling thread, and changes its state. */

#ifndef CPUCYCLES_PERF_OPEN_H
#define CPUCYCLES_PERF_OPEN_H

#include "backends/perf/read.h"

#pragma GCC visibility push(hidden)

/* The services for the counter that was opened last. */
extern const struct cpuc_services *cpuc_perf_services;

/* Changes the state of the thread, as read.h shows, unless it is no longer `state`. UNOPENED: opens
   the events of a thread or of a forked child at its first read. VIA_MMAP: reads the same events
   with read(2), and opens them once more if read(2) does not return their count. VIA_READ:
   continues with the fallback counter. */
void cpuc_perf_change_from(enum cpuc_perf_state state);

/* Functions for struct cpuc_backend. open() fails if the counter has an instruction and the kernel
   does not allow this instruction. */
int cpuc_perf_open(const struct cpuc_perf_counter *opened, const struct cpuc_services *services,
  struct cpuc_diagnosis *diagnosis);
void cpuc_perf_close(void);
void cpuc_perf_explain(const struct cpuc_perf_counter *dropped, int error, int signal,
  struct cpuc_diagnosis *diagnosis);
void cpuc_perf_forked(void);

#pragma GCC visibility pop

#endif
