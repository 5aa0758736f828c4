/* SPDX-License-Identifier: 0BSD OR MIT */
/* The system calls of perf events. A test defines these functions itself, so that the linker leaves
   kernel.c out. */

#ifndef CPUCYCLES_PERF_KERNEL_H
#define CPUCYCLES_PERF_KERNEL_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* Opens an event of the calling thread, on any CPU. leader: the descriptor of the group's leader;
   -1: the event leads a new group. Returns a descriptor, or -1 with errno. */
int cpuc_perf_kernel_open(struct perf_event_attr *wanted, int leader);

/* PERF_EVENT_IOC_ID stores the ID of the event, which is unique among all events. Other requests
   need no `id`. Returns 0, or -1 with errno, also if the descriptor is not that of an event. */
int cpuc_perf_kernel_control(int descriptor, unsigned long request, uint64_t *id);

/* Reads an event or a group. Returns the number of bytes, which is 0 if a pinned event has lost its
   hardware; or -1 if the descriptor is closed. Can also read from another file, so the caller must
   compare the ID. Is not a cancellation point. */
ssize_t cpuc_perf_kernel_read(int descriptor, void *reading, size_t size);

/* Maps the mmap page of the event. Returns NULL on failure, also if a filter raises SIGSYS and the
   caller is under the fault guard. */
struct perf_event_mmap_page *cpuc_perf_kernel_map(int descriptor);

void cpuc_perf_kernel_unmap(const volatile struct perf_event_mmap_page *page);

#pragma GCC visibility pop

#endif
