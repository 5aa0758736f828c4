/* SPDX-License-Identifier: 0BSD OR MIT */
/* Counters that read perf events of core cycles: the storage of each thread, and the hot path,
   which reads one event with an instruction and its mmap page. read.c has the slow path, open.c
   opens and closes the events, recover.c continues after a loss and in a forked child, and
   core-types.c finds the core types of a hybrid CPU.
   Source: linux/perf_event.h, struct perf_event_mmap_page; perf_event_open(2), "MMAP layout". */

#ifndef CPUCYCLES_PERF_READ_H
#define CPUCYCLES_PERF_READ_H

#include "backends/backend.h"
#include "backends/perf/core-types.h"
#include "sys/thread-local.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Results of open() for the unit of the counter and for explain(). */
struct cpuc_perf_findings {
  /* 1 if the last request for the event of all core types, granted or refused, or a granted event
     of one core type, did not exclude kernel mode, because the PMU cannot exclude it. */
  int requested_kernel;
  int access_denied; /* 1 if the event opened, but its page is missing or gives no access */
};

/* Properties of one counter. The functions for opening, reading and explaining get a pointer to
   them. */
struct cpuc_perf_counter {
  /* Reads hardware counter number index - 1. index is the index in the page, and not 0. NULL: the
     counter is read with read(2). */
  uint64_t (*instruction)(uint32_t index);
  /* The index of the fixed counter of cycles, which cores of all types have. On a hybrid CPU, the
     instruction reads only this counter: after a move of the thread, an index that the new core
     lacks would fault. */
  uint32_t fixed_index;
  /* The width that read() of the backend requires; 0: any. cpuc_perf_read_slowly() reads hardware
     counters of other widths. */
  int width;
  /* config1 of perf_event_attr, for a PMU on which an event must request user-space access. */
  uint64_t config1;
  struct cpuc_perf_findings *findings;
  /* Explains why programs may not read the register, although the event opened. */
  void (*diagnose_access)(struct cpuc_diagnosis *diagnosis);
};

struct cpuc_perf_own_event {
  int descriptor; /* -1: none; the event is then open only if its page is mapped */
  uint64_t id;    /* unique among all events; 0: not identified yet */
  struct perf_event_mmap_page *page; /* NULL: not mapped */
};

/* How a thread reads. */
enum cpuc_perf_state {
  CPUC_PERF_UNOPENED,
  CPUC_PERF_VIA_MMAP,
  CPUC_PERF_VIA_READ,
  CPUC_PERF_VIA_FALLBACK
};

/* The storage of a thread. The hot path uses the first members. A signal handler that reads may
   change all members, at any point of an interrupted read. */
struct cpuc_perf_thread {
  /* The page of the only event of the thread, if the hot path can use it; otherwise a page whose
     index is 0. */
  const volatile struct perf_event_mmap_page *only_page;
  long long base; /* added to the count of the events, or of the fallback counter */
  long long last; /* result of the last read; after a loss, the count continues from here */
  /* The index of a hardware counter that, as the slow path has found, has 64 - shift bits. The hot
     path uses `shift` only while page->index has this value. UINT32_MAX: no index yet. */
  uint32_t index;
  int shift;                /* 64 minus the width of the hardware counter at the opening */
  int reads_one_descriptor; /* 1 if the thread has one event, and read(2) reads it */
  enum cpuc_perf_state state;
  /* In a forked child that has not read yet, the events are those of the parent: the descriptors
     are copies, and each page is NULL. */
  int event_count;
  struct cpuc_perf_own_event events[CPUC_PERF_CORE_TYPES];
  int is_exiting; /* 1: the thread must not open events, because nothing would close them */
};

extern CPUC_THREAD_LOCAL struct cpuc_perf_thread cpuc_perf_self;

/* The slow path: returns the count of the calling thread in every state. Opens or replaces its
   events as needed. */
long long cpuc_perf_read_slowly(const struct cpuc_perf_counter *counter);

/* The hot path: reads the count with the instruction if the index in the page equals `index`, and
   otherwise takes the slow path. The hardware counter has 64 - shift bits. `index` and `shift` are
   those of the thread, or constants that match counter->width. The base is read between the two
   reads of the lock, because a signal handler whose read switches the thread away from its page
   changes the base and the lock. */
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

/* Functions for struct cpuc_backend. open() fails if the counter has an instruction and the kernel
   does not allow this instruction. */
int cpuc_perf_open(const struct cpuc_perf_counter *opened, const struct cpuc_services *services,
  struct cpuc_diagnosis *diagnosis);
void cpuc_perf_close(void);
void cpuc_perf_explain(const struct cpuc_perf_counter *dropped, int error, int signal,
  struct cpuc_diagnosis *diagnosis);
void cpuc_perf_forked(void);

#pragma GCC visibility pop

#endif
