/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads the mmap pages of the perf events of a thread, with the instruction for their hardware
   counters. Static inline, because the instruction is a constant of the caller.
   Source: linux/perf_event.h, struct perf_event_mmap_page; perf_event_open(2), "MMAP layout". */

#ifndef CPUCYCLES_PERF_PAGE_H
#define CPUCYCLES_PERF_PAGE_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

/* The pages whose event has a hardware counter now. */
struct cpuc_perf_page_found {
  int indexed;    /* their number */
  uint32_t index; /* the index in the last of them */
  int shift;      /* 64 minus the width of its hardware counter */
};

/* Returns 1 if the kernel permits programs to read the counter of this page. Even so, the page has
   an index only while the event has a hardware counter. */
static inline int cpuc_perf_page_gives_access(const volatile struct perf_event_mmap_page *page)
{
  return page->cap_user_rdpmc && page->pmc_width > 0 && page->pmc_width <= 64;
}

/* Returns 1 if the event counted all the time. */
static inline int cpuc_perf_page_has_all_time(const volatile struct perf_event_mmap_page *page)
{
  return page->time_enabled == page->time_running;
}

/* Stores the count of each of at least one page, with instruction(), which reads hardware counter
   number index - 1. If only_index is not 0, the instruction may read only this index. If `found` is
   NULL, every page must have an index; otherwise returns -1. Returns 1 if all counts belong to one
   moment, or 0 if the kernel has changed a page between the read of this page and the end. Each
   lock only grows, so their sum shows a change. Counts down, which takes the fewest
   instructions. */
static inline __attribute__((always_inline)) int
cpuc_perf_page_read_all(const volatile struct perf_event_mmap_page *const *pages, int count,
  uint64_t (*instruction)(uint32_t), uint32_t only_index, long long *counts,
  struct cpuc_perf_page_found *found)
{
  uint32_t changes = 0, index;
  uint64_t value;
  int shift;
  size_t i = (size_t)count;

  if (found)
    found->indexed = 0;
  do {
    const volatile struct perf_event_mmap_page *page = pages[--i];

    changes += page->lock;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    index = page->index;
    value = (uint64_t)page->offset;
    if (index != 0 && (only_index == 0 || index == only_index)) {
      shift = 64 - page->pmc_width;
      value += (uint64_t)((int64_t)(instruction(index) << shift) >> shift);
      if (found)
        *found = (struct cpuc_perf_page_found){ found->indexed + 1, index, shift };
    } else if (!found)
      return -1;
    counts[i] = (long long)value;
  } while (i > 0);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  i = (size_t)count;
  do
    changes -= pages[--i]->lock;
  while (i > 0);
  return changes == 0;
}

#endif
