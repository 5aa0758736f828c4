/* SPDX-License-Identifier: 0BSD OR MIT */
/* default-selfcounts: core cycles of the calling thread, from thread_selfcounts() of macOS.
   Readable on Apple Silicon since macOS 12.4. No public header declares the function, so open()
   looks it up. open() fails on systems without the function (ENOSYS) and on hardware without
   counters (ENOTSUP). If a later read fails, the thread continues with the fallback counter. The
   count follows the thread from core to core, and includes the work of the kernel for the thread.
   The count never steps back in a thread. A forked child, whose thread is new to the system,
   continues from the count of its parent.
   Width: 64 bits, extended by the kernel. Rate: the current core frequency.
   Source: XNU, bsd/sys/resource_private.h (THSC_CPI) and bsd/kern/kern_recount.c. */

#include "config.h"
#if HAVE_BACKEND_default_selfcounts

#include "backends/backend.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

enum { THSC_CPI = 1 };

/* The result of THSC_CPI. */
struct counts {
  uint64_t instructions, cycles;
};

typedef int selfcounts_function(uint32_t kind, void *counts, size_t size);

/* Written by open() only, before the counter is published. */
static selfcounts_function *selfcounts;
static const struct cpuc_services *services;

/* State of the calling thread. Volatile, so that the compiler keeps the order of the accesses,
   because signal handlers that read the counter change this state. */
static _Thread_local volatile struct {
  int uses_fallback; /* 1 after a read has failed */
  long long base;    /* added to the count of the system, or of the fallback counter */
  long long last;    /* result of the last read */
  /* The system counts the thread of a forked child from 0, so its first read sets the base. */
  int fork_depth; /* number of forks that this thread has come through */
  int fork_depth_at_last_read;
} this_thread;

/* Returns 0 or an errno. */
static int read_counts(struct counts *counts)
{
  return selfcounts(THSC_CPI, counts, sizeof *counts) == 0 ? 0 : errno;
}

static int open_selfcounts(const struct cpuc_services *offered, struct cpuc_diagnosis *diagnosis)
{
  struct counts counts;

  (void)diagnosis;
  services = offered;
  selfcounts = (selfcounts_function *)dlsym(RTLD_DEFAULT, "thread_selfcounts");
  if (!selfcounts)
    return ENOSYS;
  return read_counts(&counts);
}

/* Makes this thread continue from its last count, with the fallback counter. */
static void use_fallback(void)
{
  this_thread.uses_fallback = 1;
  this_thread.base = this_thread.last - services->fallback();
  services->note_indirect_read(CPUC_REASON_BY_FALLBACK);
}

/* ThreadSanitizer does not support the fence in this function. */
#ifdef __has_attribute
#if __has_attribute(no_sanitize)
__attribute__((no_sanitize("thread")))
#endif
#endif
static long long
read_cycles(void)
{
  int saved_errno = errno, depth = this_thread.fork_depth, uses_fallback;
  struct counts counts = { 0, 0 };
  long long count;

  /* Orders the variables of open(): doc/decisions.md. Orders the read of the depth before that of
     the count, so that, if a signal handler forks from here on, the next read in the forked child
     sets the base. */
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (!this_thread.uses_fallback && read_counts(&counts) != 0)
    use_fallback();
  if (depth != this_thread.fork_depth_at_last_read && !this_thread.uses_fallback)
    this_thread.base = this_thread.last - (long long)counts.cycles;
  this_thread.fork_depth_at_last_read = depth;
  do { /* repeats if a failed read in a signal handler has changed both values in between */
    uses_fallback = this_thread.uses_fallback;
    count = this_thread.base;
  } while (uses_fallback != this_thread.uses_fallback);
  count += uses_fallback ? services->fallback() : (long long)counts.cycles;
  if (count > this_thread.last) /* false if a signal handler has read since read_counts() */
    this_thread.last = count;
  errno = saved_errno;
  return this_thread.last;
}

static void count_fork(void)
{
  this_thread.fork_depth++;
}

static void close_selfcounts(void)
{
  this_thread.uses_fallback = 0;
  this_thread.base = this_thread.last = 0;
}

const struct cpuc_backend cpuc_backend_default_selfcounts = {
  .kind = CPUC_KIND_CORE_SYSTEM_CALL,
  .is_of_thread = 1,
  .open = open_selfcounts,
  .read = read_cycles,
  .close = close_selfcounts,
  .forked = count_fork,
};
#endif
