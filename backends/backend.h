/* SPDX-License-Identifier: 0BSD OR MIT */
/* The contract between a counter and the library: the functions and properties of a backend. A
   backend opens, reads and closes one counter, and reports what the hardware or the kernel states
   about it. The library decides whether the counter works here, and whether to use it. */

#ifndef CPUCYCLES_BACKEND_H
#define CPUCYCLES_BACKEND_H

#include "include/cpucycles/inline.h"

#pragma GCC visibility push(hidden)

enum cpucycles_kind {
  CPUCYCLES_KIND_CORE,      /* this core's cycles */
  CPUCYCLES_KIND_PERF_READ, /* core cycles through a system call */
  CPUCYCLES_KIND_REFERENCE, /* constant rate near the core's: never scaled */
  CPUCYCLES_KIND_SCALED,    /* off-core, any rate: scaled to cycles */
  CPUCYCLES_KIND_CLOCK,     /* OS clock, fixed rate: scaled to cycles */
  CPUCYCLES_KIND_NONE       /* counts nothing */
};

enum cpucycles_scope {
  CPUCYCLES_SCOPE_THREAD, /* each thread has its own count */
  CPUCYCLES_SCOPE_CORE,   /* each core has its own count: a migration can make it jump */
  CPUCYCLES_SCOPE_SYSTEM  /* all cores share one count */
};

/* Details that a backend may add to the errno of its open(). All zero when open() is called. The
   remedy also applies if open() succeeds and a signal drops the counter later: open() may set it in
   advance, if it knows the remedy against that signal. */
struct cpucycles_why {
  const char *reason;      /* a code of cpucycles(3), where the errno alone would mislead; else 0 */
  const char *explanation; /* a sentence; 0: the sentence of the code */
  const char *remedy;      /* the exact command or step that helps on this machine; 0: none known */
  const char *unit;        /* overrides `unit` below if it is known only after open(); else 0 */
};

/* All strings are constant. All functions may be called in any thread, except open() and close():
   only the selecting thread calls them, during the selection. */
struct cpucycles_backend {
  enum cpucycles_kind kind;
  enum cpucycles_scope scope;

  /* Width in bits: 64, or 32 if only the low half of read()'s result counts. */
  int width;

  /* The register or function, as its manual names it: "TSC". Backends with the same source read one
     register in two ways, or one clock by two functions: the order of backends.def decides between
     them, not the score. */
  const char *source;

  /* The unit of the unscaled count: "core cycles". */
  const char *unit;

  /* Makes read() possible in the calling thread. Returns 0 or an errno. May raise a signal where
     access is not allowed: the library catches it, then calls close(). NULL: nothing to do. */
  int (*open)(struct cpucycles_why *why);

  /* Returns the counter's value. A counter of CPUCYCLES_SCOPE_THREAD opens itself in each further
     thread at the first read there; other counters need no more than the one open(). The published
     pointer may lead here directly, so this is the whole cost of a call. */
  long long (*read)(void);

  /* Releases everything that open(), read() and rate() acquired in the calling thread, also after
     one of them failed or a signal ended it at any point. NULL: nothing to do. */
  void (*close)(void);

  /* Returns the units per second that the hardware or the kernel states; 0, or a NULL pointer: they
     state none. Called after open() succeeded: during the selection, where it may raise a signal as
     open() may; and later on demand for the selected counter, where it may only access files and
     execute instructions that raised no signal during the selection. */
  long long (*rate)(void);

  /* Tries the instructions that rate() and invariant() use. Called during the selection, for every
     counter. May raise a signal, which does not drop the counter: prepare() is then called again,
     and must skip the step that raised the signal. NULL: nothing to try. */
  void (*prepare)(void);

  /* Names the source of rate()'s last result. NULL if rate() has only one source. */
  const char *(*rate_source)(void);

  /* Returns 1 if rate()'s last result is rounded, such as the nominal frequency in a CPU's model
     name: a measurement that agrees with it is more precise. 0, or a NULL pointer: it is exact. */
  int (*rate_is_rounded)(void);

  /* Explains why the counter was dropped: adds to open()'s details an explanation and a remedy.
     error: open()'s errno, or 0. signal: raised by open() or read(), or 0. Both are 0 for a
     counter that opened and stands still; the remedy is then a way to start it, if known.
     Called on demand after the selection, in any thread, so it may be slow. It must execute nothing
     that can raise a signal, except opening files; it is not called if opening files raised one
     during the selection. NULL: nothing to add. */
  void (*explain)(int error, int signal, struct cpucycles_why *why);

  /* For a counter that the system may withdraw while it is in use, so that read() faults. Called in
     the signal handler, in the faulting thread, with the handler's SA_SIGINFO arguments. Returns 1
     if the fault was read()'s own and is repaired, so that the thread can continue; 0, with nothing
     changed, if it was not; or does not return, but continues in read() by siglongjmp(). While the
     counter is in use, the library's handlers for the signals in `rescued`, a list that ends in 0,
     stay installed, and pass all other faults on. NULL: read() cannot fault later. */
  int (*rescue)(int signal, const void *info, void *context);
  const int *rescued;

  /* For kinds that do not imply it: is the rate constant, in all of the core's frequencies and idle
     states? Returns 1 or 0, and the source of that in *source; -1, or a NULL pointer: unknown.
     Called on demand for the selected counter, under the same conditions as rate(). */
  int (*invariant)(const char **source);

  /* The constant, in include/cpucycles/inline.h, for read()'s instruction, which programs may
     execute inline; 0: read() does more than inline.h can, or needs a rescue. */
  unsigned int inline_method;
};

/* Tells which facilities, other than opening files, raised no signal during the selection, and so
   may be used after it. 1: worked; -1: raised a signal; 0: not tried. Linux can make CPUID raise
   SIGSEGV (arch_prctl(2), ARCH_SET_CPUID), and a filter can make perf_event_open(2) and
   getdents64(2) raise SIGSYS. */
extern struct cpucycles_tried {
  int cpuid, perf_event_open, list_folder;
  int no_pmu; /* 1: perf_event_open(2) reported that there is no PMU */
} cpucycles_tried;

/* Fallback for a per-thread counter that cannot be opened in some thread, or is lost there: cycles
   by the next best counter that all threads share, at least a clock. Returns 0 during the
   selection, so that no counter passes its trial by reading another. */
long long cpucycles_next_best(void);

/* Reports that such a counter uses a fallback in some thread. code: as in cpucycles(3), "by-read"
   or "by-next-best". Does nothing during the selection. */
void cpucycles_note_fallback(const char *code);

#pragma GCC visibility pop

#endif
