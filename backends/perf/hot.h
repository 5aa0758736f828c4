/* SPDX-License-Identifier: 0BSD OR MIT */
/* Returns the count of the calling thread. The hot path reads one event with an instruction and its
   mmap page. Source: linux/perf_event.h, struct perf_event_mmap_page; perf_event_open(2), "MMAP
   layout". */

#ifndef CPUCYCLES_PERF_HOT_H
#define CPUCYCLES_PERF_HOT_H

#include "backends/perf/read.h"

#include <linux/perf_event.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The slow path: returns the count of the calling thread in every state. Opens its events,
   and changes the state, as needed. Not inlined by link-time optimization either, because the hot
   path would then save the registers that only this function needs. */
__attribute__((noinline)) long long cpuc_perf_read_slowly(const struct cpuc_perf_counter *counter);

/* The hot path: reads the count with the instruction if the index in the page equals `index`, and
   otherwise takes the slow path. The hardware counter has 64 - shift bits. `index` and `shift` are
   those of the thread, or constants that match counter->width. The base is read between the two
   reads of the lock: a read in a signal handler changes it only after the kernel has changed the
   page. Pages stay mapped until the thread exits, so an interrupted read finds its page. */
static inline __attribute__((always_inline)) long long
cpuc_perf_read(const struct cpuc_perf_counter *counter, uint64_t (*instruction)(uint32_t),
  uint32_t index, int shift)
{
  const volatile struct perf_event_mmap_page *page = cpuc_perf_self.only_page;
  uint64_t count, offset;
  uint32_t lock;

  do {
    lock = page->lock;
    if (__builtin_expect(page->index != index, 0))
      return cpuc_perf_read_slowly(counter);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    offset = (uint64_t)page->offset + (uint64_t)cpuc_perf_self.base;
    __asm__ volatile("" : "+r"(offset) : : "memory"); /* barrier, with the sum in one register */
    count = instruction(index);
  } while (__builtin_expect(page->lock != lock, 0));
  count = (uint64_t)((int64_t)(count << shift) >> shift);
  count += offset;
  return cpuc_perf_self.last = (long long)count;
}

#pragma GCC visibility pop

#endif
