/* SPDX-License-Identifier: 0BSD OR MIT */
/* The hot path, other static functions, and common members for the backends that read perf events.
   The functions call the shared code with `counter`, which the file of the backend defines after it
   includes this header. Source: linux/perf_event.h, struct perf_event_mmap_page;
   perf_event_open(2), "MMAP layout". */

#ifndef CPUCYCLES_PERF_COUNTER_H
#define CPUCYCLES_PERF_COUNTER_H

#include "backends/perf/thread.h"

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

static const struct cpuc_perf_counter counter;

static int open_counter(const struct cpuc_services *services, struct cpuc_diagnosis *diagnosis)
{
  return cpuc_perf_open(&counter, services, diagnosis);
}

static void explain_refusal(int error, int signal, struct cpuc_diagnosis *diagnosis)
{
  cpuc_perf_explain(&counter, error, signal, diagnosis);
}

#define CPUC_PERF_MEMBERS \
  .is_of_thread = 1, \
  .register_name = "perf cycles", \
  .unit = "core cycles in user mode", \
  .open = open_counter, \
  .close = cpuc_perf_close, \
  .forked = cpuc_perf_forked, \
  .explain = explain_refusal

#endif
