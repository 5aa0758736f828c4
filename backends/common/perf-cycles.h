/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the counters share that are perf events of core cycles: perf-open.c opens them, per thread
   and per kind of core, and keeps them right over forks and losses; perf-cycles.c reads them by
   read(2); here is the way past all that, by an instruction and the page that the kernel maps
   beside an event.
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

/* What to say later of why a counter was not opened. */
struct cpucycles_perf_refusal {
  int counts_kernel; /* the kernel's cycles could not be left out, or so it was tried last */
  int is_hidden;     /* the kernel has the event, and does not show its register */
};

/* How one counter is read. */
struct cpucycles_perf_method {
  /* Reads hardware counter number index - 1; index is what the page says, and not 0. NULL: the
     counter is read by read(2). */
  uint64_t (*instruction)(uint32_t index);
  /* The width that the backend's read() takes for granted; 0: any. Counters of another width are
     read in cpucycles_perf_slow(). */
  int width;
  /* perf_event_attr's type and config. 0 and 0, the usual ones, are PERF_TYPE_HARDWARE and
     PERF_COUNT_HW_CPU_CYCLES. */
  uint32_t type;
  uint64_t config;
  /* perf_event_attr's config1, for a PMU that must be told that programs read the counter. */
  uint64_t config1;
  struct cpucycles_perf_refusal *refusal;
  /* Says why the kernel has the event, and does not show its register. */
  void (*hidden_why)(struct cpucycles_why *why);
};

enum { CPUCYCLES_PERF_KINDS = 4 /* of core, that are told apart */ };

struct cpucycles_perf_event {
  int descriptor; /* -1: closed, as the page keeps the event */
  uint64_t id;    /* which no other event has */
  struct perf_event_mmap_page *page; /* NULL: not mapped */
};

/* The way of a thread's reads. */
enum cpucycles_perf_state {
  CPUCYCLES_PERF_UNOPENED,
  CPUCYCLES_PERF_BY_PAGES,
  CPUCYCLES_PERF_BY_DESCRIPTORS,
  CPUCYCLES_PERF_BY_NEXT_BEST
};

/* A thread's storage, of which a forked child has a copy. Reads by instruction use the beginning.
   */
struct cpucycles_perf_thread {
  /* of the thread's only event; else a page of which the index is 0 */
  const volatile struct perf_event_mmap_page *only_page;
  long long base; /* to be added to the count of the events, or of the next best counter */
  long long last; /* the result of this thread's last read, from which it goes on after a loss */
  uint32_t index; /* of the hardware counter that `shift` is right for; never 0 */
  int shift;      /* 64 less the width of that counter */
  int only_descriptor; /* of the thread's only event, where that is read by read(2); else -1 */
  pid_t process;       /* in which the state was decided */
  enum cpucycles_perf_state state;
  int event_count;
  struct cpucycles_perf_event events[CPUCYCLES_PERF_KINDS];
  const struct cpucycles_perf_method *method;
  int is_exiting;    /* nothing may be opened that nobody would close */
  int counts_kernel; /* the kernel's cycles could not be left out, or so it was tried last */
};

extern CPUCYCLES_TLS struct cpucycles_perf_thread cpucycles_perf_self;

/* Code whose instruction the kernel may refuse from one moment to the next, and whose page may
   vanish. It stands in a section of its own, so that a fault is known by its place. */
#define CPUCYCLES_PERF_SECTION __attribute__((section("cpucycles_perf_reads")))
#define CPUCYCLES_PERF_INSTRUCTION CPUCYCLES_PERF_SECTION __attribute__((always_inline))
#define CPUCYCLES_PERF_GUARDED CPUCYCLES_PERF_SECTION __attribute__((noinline))

int cpucycles_perf_is_guarded(uintptr_t place);

/* The count of the calling thread, whatever it takes. */
long long cpucycles_perf_slow(const struct cpucycles_perf_method *method);

/* The same, by the instruction where the page shows hardware counter `index`, which has 64 - shift
   bits: the thread's index and shift, or constants that method->width stands for. The body of a
   guarded function, in which the instruction is known at compile time. */
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

/* What struct cpucycles_backend asks for. open fails where there is an instruction and the
   kernel does not let it be used. */
int cpucycles_perf_open(const struct cpucycles_perf_method *method, struct cpucycles_why *why);
void cpucycles_perf_close(void);
void cpucycles_perf_explain(const struct cpucycles_perf_method *method, int error, int signal,
  struct cpucycles_why *why);

/* The rest of it is the same for all. perf-backend.h has open_counter and explain_refusal. */
#define CPUCYCLES_PERF_FACTS \
  .scope = CPUCYCLES_SCOPE_THREAD, \
  .width = 64, \
  .source = "perf cycles", \
  .unit = "core cycles in user mode", \
  .open = open_counter, \
  .close = cpucycles_perf_close, \
  .explain = explain_refusal

/* For struct cpucycles_backend's rescue, which knows the instruction: after a fault at it, or where
   info says that the fault was at a page, leads the calling thread's reads to read(2). Returns 0 if
   the fault was not ours. */
int cpucycles_perf_rescue_instruction(void);
int cpucycles_perf_rescue_page(const void *info);

/* The same for SIGSYS, which a seccomp filter of the program's may raise at perf_event_open(2):
   does not return where that was ours, and the thread goes on with the next best. */
int cpucycles_perf_rescue_filtered(int signal, const void *info, void *context);

/* What it rescues from: all that an instruction, a page and a filter raise; or the filter alone. */
extern const int cpucycles_perf_rescued[], cpucycles_perf_rescued_filtered[];

#pragma GCC visibility pop

#endif
