/* SPDX-License-Identifier: 0BSD OR MIT */
/* The contract between a counter and the library: the functions and properties of a backend. A
   backend opens, reads and closes one counter, and passes on what the hardware or the kernel
   reports about it. The library decides whether the counter works here, and whether to use it. */

#ifndef CPUCYCLES_BACKEND_H
#define CPUCYCLES_BACKEND_H

#include "include/cpucycles/inline.h"

#pragma GCC visibility push(hidden)

enum cpuc_kind {
  CPUC_KIND_CORE,      /* this core's cycles */
  CPUC_KIND_PERF_READ, /* core cycles through a system call */
  CPUC_KIND_REFERENCE, /* constant rate near the core's: never scaled */
  CPUC_KIND_SCALED,    /* off-core, any rate: scaled to cycles */
  CPUC_KIND_CLOCK,     /* OS clock, fixed rate: scaled to cycles */
  CPUC_KIND_NONE       /* counts nothing */
};

/* As reports name the kind. */
static inline const char *cpuc_kind_name(enum cpuc_kind kind)
{
  static const char *const names[] = {
    [CPUC_KIND_CORE] = "core",
    [CPUC_KIND_PERF_READ] = "perf read",
    [CPUC_KIND_REFERENCE] = "reference",
    [CPUC_KIND_SCALED] = "scaled",
    [CPUC_KIND_CLOCK] = "clock",
    [CPUC_KIND_NONE] = "none",
  };

  return names[kind];
}

enum cpuc_scope {
  CPUC_SCOPE_THREAD, /* each thread has its own count */
  CPUC_SCOPE_CORE,   /* each core has its own count: a migration can make it jump */
  CPUC_SCOPE_SYSTEM  /* all cores share one count */
};

/* As reports name the scope. */
static inline const char *cpuc_scope_name(enum cpuc_scope scope)
{
  static const char *const names[] = {
    [CPUC_SCOPE_THREAD] = "thread",
    [CPUC_SCOPE_CORE] = "core",
    [CPUC_SCOPE_SYSTEM] = "system",
  };

  return names[scope];
}

/* Details that a backend may add to the errno of its open(), and explain() to that or the signal.
   All zero when open() is called. The remedy also applies if open() succeeds and a signal drops the
   counter later: open() may set it in advance, if it knows the remedy against that signal. */
struct cpuc_diagnosis {
  const char *reason;      /* a code of cpucycles(3), where the errno alone would mislead; else 0 */
  const char *explanation; /* a sentence; 0: the sentence of the code */
  const char *remedy;      /* the exact command or step that helps on this machine; 0: none known */
  const char *unit;        /* overrides `unit` below if it is known only after open(); else 0 */
};

/* The rate of a counter as the hardware or the kernel reports it. */
struct cpuc_rate {
  long long hz;       /* units per second; 0: unknown */
  const char *source; /* its source, if the counter has more than one; else 0 */
  /* 1 if it is rounded, such as the nominal frequency in a CPU's model name: a measurement that
     agrees with it is more precise. */
  int is_rounded;
};

/* A rate that is not rounded, from the only source; hz 0: unknown. */
static inline struct cpuc_rate cpuc_exact_rate(long long hz)
{
  return (struct cpuc_rate) { hz, 0, 0 };
}

/* What a counter may ask of the library, in any thread and at any time after open(). Both functions
   are safe in signal handlers. */
struct cpuc_services {
  /* Fallback for a per-thread counter that cannot be opened in some thread, or is lost there:
     cycles by the next best counter that all threads share, at least a clock. Returns 0 during the
     selection, so that no counter passes its trial by reading another. */
  long long (*fallback)(void);

  /* Reports that such a counter uses a fallback in some thread. code: as in cpucycles(3), "by-read"
     or "by-next-best". Does nothing during the selection. */
  void (*note_fallback)(const char *code);
};

/* A counter. All strings are constant. The functions are called
   - in the selection: by the thread that selects, with signals blocked, and under the fault guard
     (sys/guard.h): a fault ends the call and drops the counter; or
   - on demand: after the selection, by any thread, but one at a time, because the caller holds the
     lock of lib/process.c. Signals are blocked except those of faults, and nothing catches a fault;
   and where a member says more than that. */
struct cpuc_backend {
  enum cpuc_kind kind;
  enum cpuc_scope scope;

  /* Width in bits: 64, or 32 if only the low half of read()'s result counts. */
  int width;

  /* The register or function, as its manual names it: "TSC". Backends with the same name here read
     one register in two ways, or one clock with two functions: the order of backends.def decides
     between them, not the score. */
  const char *register_name;

  /* The unit of the unscaled count: "core cycles". */
  const char *unit;

  /* Makes read() possible in the calling thread. Returns 0 or an errno. Called in the selection, by
     lib/candidate.c: at the beginning of the trial, and again if the counter is selected, or is the
     fallback of the selected one. The services remain valid. NULL: nothing to do. */
  int (*open)(const struct cpuc_services *services, struct cpuc_diagnosis *why);

  /* Returns the counter's value. Called in the selection, by the trial; then by every thread of the
     program, also in its signal handlers, in forked children, and while another read is
     interrupted. A counter of CPUC_SCOPE_THREAD opens itself in each further thread at the
     first read there; other counters need no more than the one open(). The published pointer may
     lead here directly, so this is the whole cost of a call. */
  long long (*read)(void);

  /* Releases everything that open(), read() and rate() acquired in the calling thread. Called in
     the selection, by lib/candidate.c: after the trial, and after one of the three failed or a
     signal ended it at any point; and by lib/frequency-reference.c after rate(). Only a file or
     folder of the kernel stays open if the signal ended a call that was reading it. NULL: nothing
     to do. */
  void (*close)(void);

  /* Called by the fork handler of lib/process.c, in a child of fork(2), by its only thread, if the
     counter is selected: the child has copies of what open() and read() acquired in the thread that
     forked. Must neither wait nor allocate. NULL: nothing to do. */
  void (*forked)(void);

  /* Returns the rate that the hardware or the kernel reports. Called in the selection, by
     lib/candidate.c after open(), if the counter must be scaled, and by lib/frequency-reference.c,
     for a counter that needs no open(); and on demand, by lib/timer.c, for the selected counter.
     NULL: they report none. */
  struct cpuc_rate (*rate)(void);

  /* Explains why the counter was dropped: adds to open()'s details an explanation and a remedy.
     error: open()'s errno, or 0. signal: raised by open() or read(), or 0. Both are 0 for a counter
     that opened and is stopped; the remedy is then a way to start it, if known. May replace the
     reason. Called by lib/reasons.c on demand, so it may be slow; and in the selection, if
     CPUCYCLES_IMPLEMENTATION names the counter. NULL: nothing to add. */
  void (*explain)(int error, int signal, struct cpuc_diagnosis *why);

  /* For a counter that the system may withdraw while it is in use, so that read() faults. Called by
     the handler of sys/guard.c, in the faulting thread, at any time after the selection, with the
     ucontext_t that the handler has. Returns 1 if the fault was read()'s own and is repaired, so
     that the thread can continue; 0, with nothing changed, if it was not. While the counter is in
     use, the library's handler for the signal `fix_up_signal` stays installed, and passes all other
     faults on. NULL: read() cannot fault later. */
  int (*fix_up)(void *context);
  int fix_up_signal;

  /* For kinds that do not imply it: is the rate constant, in all of the core's frequencies and idle
     states? Returns 1 or 0, and the source of that in *source; -1, or a NULL pointer: unknown.
     Called in the selection, by lib/frequency-reference.c; and on demand, by lib/timer.c, for the
     selected counter. */
  int (*invariant)(const char **source);

  /* The constant, in include/cpucycles/inline.h, for read()'s instruction, which programs may
     execute inline; 0: read() does more than inline.h can, or needs a fix-up. */
  unsigned int inline_method;
};

/* The rate that is reported for the counter; hz 0: none. Call where rate() may be called. */
static inline struct cpuc_rate cpuc_reported_rate(const struct cpuc_backend *backend)
{
  return backend->rate ? backend->rate() : cpuc_exact_rate(0);
}

#pragma GCC visibility pop

#endif
