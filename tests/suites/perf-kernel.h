/* SPDX-License-Identifier: 0BSD OR MIT */
/* The kernel of check_perfevent: perf-kernel.c replaces backends/perf/kernel.c. A software event
   stands in for the PMU's cycles: the thread's own CPU time in nanoseconds, which every Linux
   counts. A test fills the mmap pages itself, and may change what the kernel answers. Everything
   else is the real kernel. */

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
  int cannot_exclude_kernel; /* as with some PMUs */
  uint32_t missing_pmu;      /* type of a PMU without the generic event */
  /* The pages of the next events that are mapped; and whether all further events get a copy of the
     first. An event without a page has the kernel's. */
  struct perf_event_mmap_page *pages[PERF_KERNEL_PAGES];
  int mapped;
  int copies_page;
  /* read(2) returns this, with the event's id, if its enabled time is not 0. */
  struct cpuc_perf_reading reading;
  void (*during_read)(void); /* called after read(2), like a signal handler */
  /* The files of all PMUs; a row of zeros ends the list. */
  const struct perf_kernel_file *files;
} perf_kernel;

/* What was asked of the kernel. */
extern _Thread_local struct perf_event_attr perf_kernel_requests[PERF_KERNEL_REQUESTS];
extern _Thread_local int perf_kernel_request_count;

/* Returns a page as the kernel fills it, which forked children do not have. */
struct perf_event_mmap_page *perf_kernel_page(uint32_t index, int width, long long offset);

/* This thread's CPU time in nanoseconds. */
long long perf_kernel_time(void);

#endif
