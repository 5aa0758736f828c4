/* SPDX-License-Identifier: 0BSD OR MIT */
/* Private to this directory: what read.c, open.c and recover.c call in each other. All functions
   apply to the calling thread. */

#ifndef CPUCYCLES_PERF_THREAD_H
#define CPUCYCLES_PERF_THREAD_H

#include "backends/perf/read.h"

#pragma GCC visibility push(hidden)

/* The page of a thread without events, or with several. */
extern const struct perf_event_mmap_page cpuc_perf_no_page;

/* read.c. */

/* Reads this thread's count with read(2). Returns -1 if the events did not count all of the
   time. */
int cpuc_perf_read_descriptors(long long *count);

/* Does every event have a page that lets programs read a register, and does one of them have an
   index? Events for other core types have none. */
int cpuc_perf_pages_have_count(void);

/* open.c. */

/* What the library does for the counter that was opened last. */
extern const struct cpuc_services *cpuc_perf_services;

/* Is the descriptor still the event's? The program may have closed or reused it. */
int cpuc_perf_has_descriptor(const struct cpuc_perf_event *event);

/* To be called with signals blocked. */

/* First read of a thread, or of a forked child: opens its events, or falls back to the next best
   counter. */
void cpuc_perf_open_thread(void);

/* Opens this thread's events, and leaves its pages in place. Returns 0 or an errno. */
int cpuc_perf_open_descriptors(void);

void cpuc_perf_close_descriptors(void);

/* Makes this thread read with read(2), and continues its count. Returns 0 or an errno. */
int cpuc_perf_use_descriptors(void);

/* recover.c. To be called with signals blocked. Nothing changes if a signal handler was faster: the
   thread is then in another state. */

/* If the pages do not show the count: opens the events again, for read(2). */
void cpuc_perf_switch_to_read(void);

/* If the descriptors do not show the count: continues with the next best counter. */
void cpuc_perf_switch_to_fallback(void);

/* Continues with the next best counter, in any state. */
void cpuc_perf_use_fallback(void);

#pragma GCC visibility pop

#endif
