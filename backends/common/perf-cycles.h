/* SPDX-License-Identifier: 0BSD OR MIT */
/* Counters that read perf events of core cycles. perf-open.c opens the events, per thread and per
   kind of core, and handles forks and losses. The inline function here is the hot path: it reads
   one event by an instruction and the event's mmap page. perf-cycles.c is the slow path: it reads
   by read(2), or by the pages where the hot path cannot.
   Source: linux/perf_event.h, struct perf_event_mmap_page; perf_event_open(2), "MMAP layout". */

#ifndef CPUCYCLES_PERF_CYCLES_H
#define CPUCYCLES_PERF_CYCLES_H

#include "backends/backend.h"
#include "sys/thread-local.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* Why a counter was not opened, for its explain(). */
struct cpucycles_perf_refusal {
  int counts_kernel; /* the last attempt did not exclude the kernel, as the PMU cannot */
  int is_hidden;     /* the event opened, but programs may not read its register */
};

/* Properties of one counter. */
struct cpucycles_perf_method {
  /* Reads hardware counter number index - 1. index is the page's, and not 0. NULL: the counter is
     read by read(2). */
  uint64_t (*instruction)(uint32_t index);
  /* The width that the backend's read() assumes; 0: any. cpucycles_perf_slow() reads counters of
     another width. */
  int width;
  /* perf_event_attr's type and config. 0 and 0, the usual ones, are PERF_TYPE_HARDWARE and
     PERF_COUNT_HW_CPU_CYCLES. */
  uint32_t type;
  uint64_t config;
  /* perf_event_attr's config1, for a PMU that must be told that programs read the counter. */
  uint64_t config1;
  struct cpucycles_perf_refusal *refusal;
  /* Explains why programs may not read the register of an event that opened. */
  void (*explain_hidden)(struct cpucycles_why *why);
};

enum { CPUCYCLES_PERF_KINDS = 4 /* of core, at most */ };

struct cpucycles_perf_event {
  int descriptor; /* -1: closed; the mapping keeps the event open */
  uint64_t id;    /* unique among all events */
  struct perf_event_mmap_page *page; /* NULL: not mapped */
};

/* The way in which a thread reads. */
enum cpucycles_perf_state {
  CPUCYCLES_PERF_UNOPENED,
  CPUCYCLES_PERF_BY_PAGES,
  CPUCYCLES_PERF_BY_DESCRIPTORS,
  CPUCYCLES_PERF_BY_NEXT_BEST
};

/* A thread's storage. A forked child has a copy of it. The hot path uses the first members. */
struct cpucycles_perf_thread {
  /* the page of the thread's only event; else a page whose index is 0 */
  const volatile struct perf_event_mmap_page *only_page;
  long long base; /* added to the count of the events, or of the next best counter */
  long long last; /* result of the thread's last read, from which it continues after a loss */
  uint32_t index; /* hardware counter that `shift` applies to; never 0 */
  int shift;      /* 64 less the width of that counter */
  int only_descriptor; /* of the thread's only event, if that is read by read(2); else -1 */
  pid_t process;       /* process in which the state was set */
  enum cpucycles_perf_state state;
  int event_count;
  struct cpucycles_perf_event events[CPUCYCLES_PERF_KINDS];
  const struct cpucycles_perf_method *method;
  int is_exiting;    /* the thread may open no more events, as nothing would close them */
  int counts_kernel; /* as in struct cpucycles_perf_refusal, of this thread's last attempt */
};

extern CPUCYCLES_TLS struct cpucycles_perf_thread cpucycles_perf_self;

/* Code that may fault: the kernel can withdraw the instruction at any time, and the page can be
   unmapped. It has a section of its own, by which the signal handler recognizes the address of a
   fault. */
#define CPUCYCLES_PERF_SECTION __attribute__((section("cpucycles_perf_reads")))
#define CPUCYCLES_PERF_INSTRUCTION CPUCYCLES_PERF_SECTION __attribute__((always_inline))
#define CPUCYCLES_PERF_GUARDED CPUCYCLES_PERF_SECTION __attribute__((noinline))

/* Is the address in that section? */
int cpucycles_perf_is_guarded(uintptr_t address);

/* Slow path: returns the count of the calling thread in every state, and opens or replaces its
   events as needed. */
long long cpucycles_perf_slow(const struct cpucycles_perf_method *method);

/* Hot path: returns the count by the instruction, if the page has hardware counter `index`, of
   64 - shift bits; else by the slow path. index and shift: the thread's, or constants that match
   method->width. This is the body of a CPUCYCLES_PERF_GUARDED function, whose instruction is known
   at compile time. */
static inline __attribute__((always_inline)) long long
cpucycles_perf_read(const struct cpucycles_perf_method *method, uint64_t (*instruction)(uint32_t),
  uint32_t index, int shift)
{
  const volatile struct perf_event_mmap_page *page = cpucycles_perf_self.only_page;
  uint64_t count, offset;
  uint32_t lock;

  do {
    lock = page->lock;
    if (__builtin_expect(page->index != index, 0))
      return cpucycles_perf_slow(method);
    offset = (uint64_t)page->offset;
    count = instruction(index);
  } while (__builtin_expect(page->lock != lock, 0));
  count = (uint64_t)((int64_t)(count << shift) >> shift);
  count += (uint64_t)cpucycles_perf_self.base + offset;
  return cpucycles_perf_self.last = (long long)count;
}

/* Functions of struct cpucycles_backend. open() fails if method has an instruction that the kernel
   does not allow. */
int cpucycles_perf_open(const struct cpucycles_perf_method *method, struct cpucycles_why *why);
void cpucycles_perf_close(void);
void cpucycles_perf_prepare(void);
void cpucycles_perf_explain(const struct cpucycles_perf_method *method, int error, int signal,
  struct cpucycles_why *why);

/* The members that all these counters have in common. perf-backend.h has open_counter and
   explain_refusal. */
#define CPUCYCLES_PERF_MEMBERS \
  .scope = CPUCYCLES_SCOPE_THREAD, \
  .width = 64, \
  .source = "perf cycles", \
  .unit = "core cycles in user mode", \
  .open = open_counter, \
  .close = cpucycles_perf_close, \
  .prepare = cpucycles_perf_prepare, \
  .explain = explain_refusal

/* For struct cpucycles_backend's rescue(): after a fault at the instruction, or at a page (address
   in info), these make the calling thread read by read(2). Return 0 if the fault was not ours. */
int cpucycles_perf_rescue_instruction(void);
int cpucycles_perf_rescue_page(const void *info);

/* The same for SIGSYS, which a seccomp filter may raise at perf_event_open(2). Does not return if
   the call was ours: the thread continues with the next best counter. */
int cpucycles_perf_rescue_filtered(int signal, const void *info, void *context);

/* The signals for `rescued`: those of an instruction, a page and a filter; or the filter's only. */
extern const int cpucycles_perf_rescued[], cpucycles_perf_rescued_filtered[];

#pragma GCC visibility pop

#endif
