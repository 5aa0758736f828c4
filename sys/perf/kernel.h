/* SPDX-License-Identifier: 0BSD OR MIT */
/* System calls of the perf event counters that a test can simulate: the test defines the functions
   below itself, and is linked without kernel.c. */

#ifndef CPUCYCLES_PERF_KERNEL_H
#define CPUCYCLES_PERF_KERNEL_H

#include <linux/perf_event.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The result of read(2), in the order of the bits in read_format. */
enum {
  CPUC_PERF_READ_FORMAT
    = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID
};
struct cpuc_perf_reading {
  uint64_t value, enabled, running, id;
};

/* Opens an event of the calling thread. Returns a descriptor, or -1 with errno. */
int cpuc_perf_kernel_open(struct perf_event_attr *wanted);

/* Stores the ID of the event, which is unique among all events. Returns 1, or 0 if the descriptor
   is not that of an event. */
int cpuc_perf_kernel_identify(int descriptor, uint64_t *id);

/* Returns 1, or 0 if read(2) does not return a whole reading, because the descriptor is closed or
   its pinned event has lost the hardware. 1 can also mean a reading of another file, so the caller
   must compare the ID. */
int cpuc_perf_kernel_read(int descriptor, struct cpuc_perf_reading *reading);

/* Maps the mmap page of the event. Returns NULL on failure. */
struct perf_event_mmap_page *cpuc_perf_kernel_map(int descriptor);

void cpuc_perf_kernel_unmap(struct perf_event_mmap_page *page);

#pragma GCC visibility pop

#endif
