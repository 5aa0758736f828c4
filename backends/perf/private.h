/* SPDX-License-Identifier: 0BSD OR MIT */
/* Functions that read.c, open.c and recover.c call in each other, private to this directory. All of
   them apply to the calling thread. */

#ifndef CPUCYCLES_PERF_PRIVATE_H
#define CPUCYCLES_PERF_PRIVATE_H

#include "backends/perf/read.h"

#pragma GCC visibility push(hidden)

/* The only_page of a thread that cannot take the hot path. The index in this page is 0. */
extern const struct perf_event_mmap_page cpuc_perf_no_page;

/* read.c. */

/* Reads the count of this thread with read(2). Returns 0, or -1 if read(2) fails, or if the only
   event of the thread did not count all of the time. The times of several events are not tested,
   because only one of these events counts at a time. */
int cpuc_perf_read_descriptors(long long *count);

/* Returns 1 if every event has a page with user-space access, and one of the pages has an index that
   the instruction may read. Events for core types other than that of the current core have no
   index. */
int cpuc_perf_pages_have_count(const struct cpuc_perf_counter *counter);

/* open.c. */

/* The services for the counter that was opened last. */
extern const struct cpuc_services *cpuc_perf_services;

/* Returns 1 if the descriptor still belongs to the event. The program may have closed the
   descriptor or reused its number. */
int cpuc_perf_owns_descriptor(const struct cpuc_perf_own_event *event);

/* Call the following functions with signals blocked. */

/* Opens the events of a thread or of a forked child at its first read, or falls back to the
   fallback counter. */
void cpuc_perf_open_thread(void);

/* Opens new events for this thread, and stores their descriptors and IDs. Maps no page; the pages
   of earlier events stay mapped. Returns 0 or an errno. */
int cpuc_perf_open_descriptors(void);

void cpuc_perf_close_descriptors(void);

/* Makes this thread read with read(2), and continues its count. Returns 0 or an errno. */
int cpuc_perf_use_descriptors(void);

/* recover.c. Call with signals blocked. The first two functions do nothing unless the thread is in
   the state that their comments name, because a signal handler may already have changed the
   state. */

/* Call if the pages do not contain the count, in the state CPUC_PERF_VIA_MMAP. Opens the events
   again, for read(2). */
void cpuc_perf_switch_to_read(void);

/* Call if the descriptors do not return the count, in the state CPUC_PERF_VIA_READ. Continues with
   the fallback counter. */
void cpuc_perf_switch_to_fallback(void);

/* Continues with the fallback counter, in any state. */
void cpuc_perf_use_fallback(void);

#pragma GCC visibility pop

#endif
