/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the counters share that are perf events of core cycles: perf-open.c opens them, per thread
   and per kind of core, and keeps them right over forks and losses; perf-cycles.c reads them by
   read(2); here is the way past all that, by an instruction and the page that the kernel maps
   beside an event.
   Source: linux/perf_event.h, struct perf_event_mmap_page; perf_event_open(2), "MMAP layout". */

#ifndef CPUCYCLES_PERF_CYCLES_H
#define CPUCYCLES_PERF_CYCLES_H

#include "backends/backend.h"
#include "lib/tls.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* What to say later of why a counter was not opened. */
struct cpucycles_perf_refusal {
  int counts_kernel; /* the kernel's cycles could not be left out, or so it was tried last */
  int is_hidden;     /* the kernel has the event, and does not show its register */
};

/* How one counter is read. */
struct cpucycles_perf_method {
  /* Reads hardware counter number index - 1, index being what the page says and not 0. 0: none,
     read(2) is the only way. */
  uint64_t (*instruction)(uint32_t index);
  /* perf_event_attr's, for a PMU that must be told that programs read the counter */
  uint64_t config1;
  struct cpucycles_perf_refusal *refusal;
  /* Says why the kernel has the event, and does not show its register. */
  void (*hidden_why)(struct cpucycles_why *why);
};

/* What reads of a thread go by. It lies in memory that the kernel zeroes in a forked child
   (MADV_WIPEONFORK), which must not touch the page: that is not mapped there. */
struct cpucycles_perf_mark {
  /* Where the page of the thread's only event is, counted in bytes from here; 0: nowhere. Then
     this is taken for a page, of which the index says "not by instruction". */
  intptr_t page;
  unsigned char zero[16 - sizeof(intptr_t)]; /* where a page has its lock and its index */
  long long base;                            /* what to add to the event's count */
  int alive;                                 /* this is the process that opened the events */
};

_Static_assert(offsetof(struct perf_event_mmap_page, lock) >= sizeof(intptr_t)
    && offsetof(struct perf_event_mmap_page, index) + sizeof(uint32_t)
      <= offsetof(struct cpucycles_perf_mark, base),
  "a mark can be taken for a page");

extern CPUCYCLES_TLS struct cpucycles_perf_mark *cpucycles_perf_mark;

/* Code whose instruction the kernel may refuse from one moment to the next, and whose page may
   vanish. It stands in a section of its own, so that a fault is known by its place. */
#define CPUCYCLES_PERF_INSTRUCTION __attribute__((section("cpucycles_perf_reads")))
#define CPUCYCLES_PERF_GUARDED CPUCYCLES_PERF_INSTRUCTION __attribute__((noinline))

int cpucycles_perf_is_guarded(uintptr_t place);

/* The count of the calling thread, whatever it takes. */
long long cpucycles_perf_slow(const struct cpucycles_perf_method *method);

/* The same, by the instruction where that is possible: the body of a guarded function, in which the
   instruction is known at compile time. */
static inline __attribute__((always_inline)) long long
cpucycles_perf_read(const struct cpucycles_perf_method *method, uint64_t (*instruction)(uint32_t))
{
  const struct cpucycles_perf_mark *mark = cpucycles_perf_mark;
  const volatile struct perf_event_mmap_page *page
    = (const void *)((uintptr_t)mark + (uintptr_t)mark->page);
  uint32_t lock, index;
  int64_t offset;
  uint64_t count;
  int spare;

  do {
    lock = page->lock;
    index = page->index;
    if (__builtin_expect(index == 0, 0))
      return cpucycles_perf_slow(method);
    offset = page->offset;
    spare = 64 - page->pmc_width;
    count = instruction(index);
  } while (__builtin_expect(page->lock != lock, 0));
  count = (uint64_t)((int64_t)(count << spare) >> spare);
  return (long long)((unsigned long long)mark->base + (uint64_t)offset + count);
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

/* For struct cpucycles_backend's rescue, which knows the instruction: after a fault at it, or
   where the fault itself tells (info) that a page has vanished, leads the calling thread's reads
   to read(2). Returns 0 if that fault was none of ours. */
int cpucycles_perf_rescue_instruction(void);
int cpucycles_perf_rescue_page(const void *info);

/* The same for SIGSYS, which a seccomp filter of the program's may raise at perf_event_open(2):
   does not return where that was ours, and the thread goes on with the next best. */
int cpucycles_perf_rescue_filtered(int signal, const void *info, void *context);

/* What it rescues from: all that an instruction, a page and a filter raise; or the filter alone. */
extern const int cpucycles_perf_rescued[], cpucycles_perf_rescued_filtered[];

#pragma GCC visibility pop

#endif
