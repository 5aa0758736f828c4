/* SPDX-License-Identifier: 0BSD OR MIT */
/* All system calls of the perf event counters, except that remedy.c reads files. A test defines
   these functions itself: the linker then leaves kernel.c out. */

#ifndef CPUCYCLES_PERF_KERNEL_H
#define CPUCYCLES_PERF_KERNEL_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The result of read(2), in the order of the bits of read_format. */
enum {
  CPUC_PERF_READ_FORMAT
    = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID
};
struct cpuc_perf_reading {
  uint64_t value, enabled, running, id;
};

/* Opens an event of the calling thread. Returns a descriptor, or -1 with errno. */
int cpuc_perf_kernel_open(struct perf_event_attr *wanted);

/* Finds the event's id, which is unique among all events. Returns 0 if the descriptor is not that
   of an event. */
int cpuc_perf_kernel_identify(int descriptor, uint64_t *id);

/* Returns 0 if the descriptor does not give a whole reading: it is closed, or belongs to another
   file, or its pinned event has lost the hardware. */
int cpuc_perf_kernel_read(int descriptor, struct cpuc_perf_reading *reading);

void cpuc_perf_kernel_close(int descriptor);

/* Returns a copy of the descriptor, whose number is at least `lowest`; or -1 with errno. */
int cpuc_perf_kernel_copy(int descriptor, int lowest);

/* Returns the number of descriptors that the process may have: the soft limit. */
unsigned long cpuc_perf_kernel_descriptor_limit(void);

/* Maps the event's page. Returns NULL if that fails. */
struct perf_event_mmap_page *cpuc_perf_kernel_map(int descriptor);

void cpuc_perf_kernel_unmap(struct perf_event_mmap_page *page);

/* Replaces the event's page with an empty one, which is writable. Returns 0 if that fails. */
int cpuc_perf_kernel_replace(struct perf_event_mmap_page *page);

/* Calls visit(name, argument) for each PMU until that returns an errno, and returns this errno; or
   0. Only for the selection: it allocates memory, and is a cancellation point. */
int cpuc_perf_kernel_visit_pmus(int (*visit)(const char *name, void *argument), void *argument);

/* Reads a file in the PMU's directory into text, which is then terminated. Returns 0 if the file is
   missing or empty. */
int cpuc_perf_kernel_read_pmu(const char *pmu, const char *file, char *text, size_t size);

/* Calls change() with all signals of the thread blocked: handlers may read. */
void cpuc_perf_kernel_block_signals(void (*change)(void));

#pragma GCC visibility pop

#endif
