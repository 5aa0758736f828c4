/* SPDX-License-Identifier: 0BSD OR MIT */
/* The kernel of check_perfevent: perf-kernel.c replaces backends/perf/kernel.c. A software event
   replaces the cycles of the PMU. It counts the CPU time of the thread in nanoseconds, which every
   Linux counts. A test fills the mmap pages itself, and may change what the kernel returns. The
   real kernel does all the rest. */

#ifndef CPUCYCLES_PERF_KERNEL_TEST_H
#define CPUCYCLES_PERF_KERNEL_TEST_H

#include "backends/perf/kernel.h"

#include <linux/perf_event.h>

enum { PERF_KERNEL_PAGES = 2, PERF_KERNEL_REQUESTS = 16 };

/* A file in the directory of a PMU. */
struct perf_kernel_file {
  const char *pmu, *name, *text;
};

extern struct perf_kernel {
  int has_no_events;         /* as in an emulator */
  int cannot_exclude_kernel; /* like some PMUs */
  uint32_t excluding_pmu;    /* type of a PMU that can exclude the kernel nevertheless */
  int lost_hardware;         /* 1: read(2) fails for events with config1 */
  uint32_t lacking_pmu;      /* type of a PMU that lacks the generic event; 0: none */
  /* The pages for the next events that are mapped, the number of these pages that events have got,
     and whether every event gets a copy of the first page instead. An event without a page here
     gets the page of the kernel. */
  struct perf_event_mmap_page *pages[PERF_KERNEL_PAGES];
  int mapped;
  int copies_page;
  /* If its enabled time is not 0, `reading` is the result of read(2), except for the ID of the
     event. */
  struct cpuc_perf_reading reading;
  long long ahead; /* added to each count of read(2) */
  void (*during_read)(void); /* called after read(2), like a signal handler */
  /* The files of all PMUs. A row of zeros ends the list. */
  const struct perf_kernel_file *files;
} perf_kernel;

/* The events that this thread has requested from the kernel. */
extern _Thread_local struct perf_event_attr perf_kernel_requests[PERF_KERNEL_REQUESTS];
extern _Thread_local int perf_kernel_request_count;

/* The number of system calls of this thread that asked for the ID of an event. */
extern _Thread_local int perf_kernel_identify_count;

/* Returns a page with the contents that the kernel would store. Forked children do not have it. */
struct perf_event_mmap_page *perf_kernel_page(uint32_t index, int width, long long offset);

/* Returns the CPU time of this thread in nanoseconds. */
long long perf_kernel_time(void);

#endif
