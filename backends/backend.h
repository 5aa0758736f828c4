/* SPDX-License-Identifier: 0BSD OR MIT */
/* The contract between a backend and the library: functions and properties. A backend opens, reads
   and closes one counter, and returns what the hardware or the kernel reports about the counter.
   The library decides whether the counter works here, and whether to use it. */

#ifndef CPUCYCLES_BACKEND_H
#define CPUCYCLES_BACKEND_H

#include "backends/common/rate.h"
#include "include/cpucycles/inline.h"
#include "sys/diagnosis.h"
#include "sys/kind.h"

#pragma GCC visibility push(hidden)

/* Functions of the library that a backend may call, in any thread, from the beginning of open() on.
   All are async-signal-safe. */
struct cpuc_services {
  /* Reads the fallback counter, for a per-thread counter that a thread cannot open or has lost.
     Returns cycles of the best tried counter that all threads share and that is not a clock; if
     there is no such counter, cycles of the OS clock. Returns 0 during the selection, so that no
     counter passes its trial with the count of another counter. */
  long long (*fallback)(void);

  /* Records that at least one thread does not read the selected counter directly. The reason is
     CPUC_REASON_BY_READ or CPUC_REASON_BY_FALLBACK. Does nothing during the selection. */
  void (*note_indirect_read)(enum cpuc_reason reason);

  /* Lets the calling thread call leave() when it exits, or unloads the library. All calls have the
     same argument. Returns 0 or an errno. For counters of perf events only. */
  int (*on_thread_exit)(void (*leave)(void));
};

/* A backend. All strings are constant. A member that is 0 or NULL needs no line in the file of the
   backend. The functions are called
   - in the selection: by the thread that selects, with signals blocked except those of faults, and
     under the fault guard (sys/guard.h), so that a fault ends the call. If the call is part of the
     trial, or opens the counter again, the fault also drops the counter; or
   - on demand: after the selection, by any thread, but one at a time, because the caller holds the
     lock of lib/process.c. Signals are blocked except those of faults, and the guard is not active.
   The comment on a member lists which of these two cases apply, and adds any other cases. */
struct cpuc_backend {
  enum cpuc_kind kind;

  /* 1: each thread has its own count. 0: each core has its own count, which can jump on a
     migration, if the kind counts core cycles; otherwise all cores share one count. */
  int is_of_thread;

  /* 1 if only the low half of the result of read() is used. */
  int is_32_bit;

  /* What read() reads, if several backends read it: "TSC"; "perf cycles" for several ways to read
     one count; "OS clock" for the clocks of POSIX. Of several backends with one register_name, only
     the first in backends.def that works can be selected, whatever the scores. So the wall clock,
     which can be set, never wins over the monotonic clock. NULL: no other backend reads this. */
  const char *register_name;

  /* The unit of the count before scaling. NULL: count_unit of the kind, such as "core cycles". */
  const char *unit;

  /* Prepares read() in the calling thread. Returns 0 or an errno. Called in the selection, by
     lib/candidate.c: at the beginning of the trial, and again if the counter is selected or becomes
     the fallback. The services remain valid after the call. NULL: nothing to do. */
  int (*open)(const struct cpuc_services *services, struct cpuc_diagnosis *diagnosis);

  /* Returns the count. Called in the selection: in the trial, and after the counter is opened
     again; and, for the reference counter only, by the frequency estimate, which does not call
     open(). Called later by every thread of the program, also in its signal handlers, in forked
     children, and while another read is interrupted. A counter of the thread opens itself in each
     further thread at the first read there. For other counters, the open() of the selection
     suffices in all threads. If `cpucycles` points to this function, the time of this function is
     the whole read cost. */
  long long (*read)(void);

  /* Releases everything that open() and read() acquired in the calling thread, except a file or
     directory of the kernel that stays open because a fault ended the call that was reading it.
     Called in the selection by lib/candidate.c, at the end of each trial, and if the counter cannot
     be opened again. NULL: nothing to do. */
  void (*close)(void);

  /* Prepares a forked child, which has copies of what open() and read() acquired in the thread that
     forked. Must neither wait nor allocate. Called by the fork handler of lib/process.c, in the
     only thread of the child, if the counter is selected. NULL: nothing to do. */
  void (*forked)(void);

  /* Returns the rate that the hardware or the kernel reports. Called in the selection, by
     lib/candidate.c after open(), if the counter must be scaled, and by lib/frequency-reference.c,
     for a counter that needs no open(); and on demand, by lib/timer.c, for the selected counter.
     NULL: the rate is constant_rate, or none is reported if this is 0. */
  struct cpuc_rate (*rate)(void);
  unsigned long long constant_rate;

  /* Explains why the counter was dropped: stores an explanation and a remedy, and may replace the
     reason. error is the errno of open(), or 0. signal is that of a fault in open(), rate()
     or read(), or 0. Both are 0 for a counter that is stopped. The remedy for such a counter, if
     one is known, starts the counter. Called by lib/reasons.c: on demand, and in the selection if
     CPUCYCLES_IMPLEMENTATION names the counter. May be slow, because a selection without
     CPUCYCLES_IMPLEMENTATION does not call it. NULL: nothing to add. */
  void (*explain)(int error, int signal, struct cpuc_diagnosis *diagnosis);

  /* The remedy for a counter of core cycles whose count advances once in 64 cycles. NULL: none. */
  const char *remedy_for_64th;

  /* Returns 1 if the rate is constant at all core frequencies and in all idle states, 0 if the rate
     is not constant, or -1 if this is unknown. For 1 and 0, stores the name of the source of this
     result in *source. Called in the selection, by lib/frequency-reference.c; and on demand, by
     lib/timer.c, for the selected counter. NULL: the result follows from the kind, or is
     unknown. */
  int (*is_invariant)(const char **source);

  /* The constant in include/cpucycles/inline.h for the instruction of read(), which programs may
     execute inline. 0: inline.h has no constant for the instruction, or an inline read would be
     wrong, because read() does more than the instruction, or the counter has 32 bits. */
  unsigned int inline_method;
};

/* Returns the counter whose rate is near the nominal frequency and thus a source of the CPU
   frequency, whichever counters are built; NULL if the architecture has no such counter. Defined in
   backends/tsc/reference.c. */
const struct cpuc_backend *cpuc_reference_counter(void);

/* Returns the reported rate of the counter. hz is 0 if no rate is reported. Call where rate() may
   be called. */
static inline struct cpuc_rate cpuc_reported_rate(const struct cpuc_backend *backend)
{
  return backend->rate ? backend->rate() : cpuc_rate_exact(backend->constant_rate);
}

#pragma GCC visibility pop

#endif
