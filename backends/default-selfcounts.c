/* SPDX-License-Identifier: 0BSD OR MIT */
/* default-selfcounts: core cycles of the calling thread, by macOS's thread_selfcounts().
   Anybody may ask, on Apple Silicon since macOS 12.4. The function has no public header, so that it
   is looked up when the library opens it; a system without it, and hardware without counters
   (ENOTSUP), are seen there. Where a later read fails, the thread goes on with the OS clock in
   cycles. The count goes with the thread from core to core, and covers the kernel's work for it
   too. It never runs backward in a thread: a forked child, whose thread is new to the system, goes
   on from its parent's count.
   Width: 64 bits, extended by the kernel. Rate: the core's, as it runs.
   Source: XNU, bsd/sys/resource_private.h (THSC_CPI) and bsd/kern/kern_recount.c. */

#include "config.h"

#include "backends/backend.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

enum { THSC_CPI = 1 };

/* What THSC_CPI fills in. */
struct counts {
  uint64_t instructions, cycles;
};

typedef int selfcounts_function(uint32_t kind, void *counts, size_t size);

/* Written by open() only, before the counter is published. */
static selfcounts_function *selfcounts;

/* What a thread owns. */
static _Thread_local struct {
  int clock;      /* does it go on with the clock? */
  long long base; /* to be added to what the system or the clock says */
  long long last; /* what was returned last */
} own;

/* Returns 0 or an errno. */
static int ask(struct counts *counts)
{
  return selfcounts(THSC_CPI, counts, sizeof *counts) == 0 ? 0 : errno;
}

static int open_selfcounts(struct cpucycles_why *why)
{
  struct counts counts;

  (void)why;
  selfcounts = (selfcounts_function *)dlsym(RTLD_DEFAULT, "thread_selfcounts");
  if (!selfcounts)
    return ENOSYS;
  return ask(&counts);
}

/* The next best, for this thread, from here on. */
static void go_on_with_clock(void)
{
  own.clock = 1;
  own.base = own.last - cpucycles_next_best();
}

static long long read_cycles(void)
{
  int saved_errno = errno;
  struct counts counts = { 0, 0 };
  long long count;

  if (!own.clock && ask(&counts) != 0)
    go_on_with_clock();
  count = own.base + (own.clock ? cpucycles_next_best() : (long long)counts.cycles);
  if (count < own.last) {
    own.base += own.last - count;
    count = own.last;
  }
  own.last = count;
  errno = saved_errno;
  return count;
}

static void close_selfcounts(void)
{
  own.clock = 0;
  own.base = own.last = 0;
}

const struct cpucycles_backend cpucycles_backend_default_selfcounts = {
  .kind = CPUCYCLES_KIND_PERF_READ,
  .scope = CPUCYCLES_SCOPE_THREAD,
  .width = 64,
  .source = "thread_selfcounts",
  .unit = "core cycles",
  .open = open_selfcounts,
  .read = read_cycles,
  .close = close_selfcounts,
};
