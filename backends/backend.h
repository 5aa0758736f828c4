/* SPDX-License-Identifier: 0BSD OR MIT */
/* The contract between a counter and the library: what a backend is, and each field's meaning. A
   backend knows one counter: how to get at it, read it and let it go, and what the hardware or
   the kernel say of it. Whether it is any good here, and whether it is used, the library finds
   out. */

#ifndef CPUCYCLES_BACKEND_H
#define CPUCYCLES_BACKEND_H

#include "include/cpucycles/inline.h"

#pragma GCC visibility push(hidden)

enum cpucycles_kind {
  CPUCYCLES_KIND_CORE,      /* this core's cycles */
  CPUCYCLES_KIND_PERF_READ, /* core cycles through a system call */
  CPUCYCLES_KIND_REFERENCE, /* constant rate, near the core's: never scaled */
  CPUCYCLES_KIND_SCALED,    /* off-core, some rate: multiplied up to cycles */
  CPUCYCLES_KIND_CLOCK,     /* an OS clock, fixed rate: multiplied up to cycles */
  CPUCYCLES_KIND_NONE       /* counts nothing */
};

enum cpucycles_scope {
  CPUCYCLES_SCOPE_THREAD, /* each thread has its own count */
  CPUCYCLES_SCOPE_CORE, /* each core has its own count: a migration can make it jump */
  CPUCYCLES_SCOPE_SYSTEM  /* one count for all */
};

/* What a backend may add to the errno that its open() fails with. All zero when open() is
   called. The remedy also counts if open() succeeds and a signal drops the counter later: so it
   may be left there beforehand, where what helps against that signal is known. */
struct cpucycles_why {
  const char *reason;      /* a code of cpucycles(3), where the errno alone would mislead; else 0 */
  const char *explanation; /* a sentence; 0: the one that belongs to the code */
  /* the exact thing to do, if it is known to help on this machine; else 0 */
  const char *remedy;
  /* of one that open() has opened: what a unit is here, where that depends; else 0 */
  const char *unit;
};

/* All strings are constant. All functions may be called in any thread; open() and close() are
   called only while the library selects, by the one thread that selects. */
struct cpucycles_backend {
  enum cpucycles_kind kind;
  enum cpucycles_scope scope;

  /* Bits that count: 64, or 32 where only the low half of what read() returns does. */
  int width;

  /* What is read, as its manual names it: "TSC". Backends with the same source are two ways to one
     register: between them the order of backends.def decides, never a difference in score. */
  const char *source;

  /* What one unit is, before scaling. */
  const char *unit;

  /* Makes read() possible in the calling thread. Returns 0, or the errno that says why not. May
     raise a signal where access is not allowed: the library catches it, then calls close(). 0:
     nothing to do. */
  int (*open)(struct cpucycles_why *why);

  /* The counter's value. In the thread that called open(), and for scopes other than
     CPUCYCLES_SCOPE_THREAD in any thread, as it is; a thread's own counter opens itself in each
     further thread at the first read there. The published pointer may lead here directly, so
     this is the whole cost of a call. */
  long long (*read)(void);

  /* Lets go all that open(), read() and rate() acquired in the calling thread, also after one of
     them failed or was cut short by a signal at any point. 0: nothing to do. */
  void (*close)(void);

  /* Units per second as the hardware or the kernel states it; 0 from it, or a null pointer: nobody
     does. Called after open() succeeded: in the selection, where it may raise a signal as open()
     may; and on demand for the selected counter, where it must execute nothing but file access and
     what raised no signal in the selection. */
  long long (*rate)(void);

  /* Tries what rate() and invariant() use, in the selection: of the selected counter, or before
     rate() is called there. May raise a signal, which is no reason to drop the counter; it is then
     called again. 0: nothing to try. */
  void (*prepare)(void);

  /* Who stated what rate() returned last, in some words. 0: there is one who can. */
  const char *(*rate_source)(void);

  /* 1 if what rate() returned last is rounded, such as the nominal frequency in a CPU's model name:
     a measurement that agrees is better. 0 from it, or a null pointer: it is exact. */
  int (*rate_is_rounded)(void);

  /* For somebody who asks why it was dropped: fills in what there is to say beyond what open()
     left, of the errno that open() failed with, or 0, and of the signal that open() or read()
     raised, or 0. Both are 0 for a counter that opened, and stands still: then it says what
     would start it, or nothing. Called on demand once the selection is made, in any thread: it
     may take its time, and must execute nothing that can raise a signal but open files. Not called
     where that raised one in the selection. 0: nothing. */
  void (*explain)(int error, int signal, struct cpucycles_why *why);

  /* For a counter that the system may take away while it is in use, so that read() faults:
     called in the signal handler, in the thread that the fault is of, with the handler's
     arguments (info and context are what SA_SIGINFO gives). Returns 1 if it was read()'s own,
     and has been put right so that the thread can go on; else 0, having changed nothing; or it
     does not return, but goes on in read() by siglongjmp(). With it, the library's handlers for
     the signals that rescued lists, up to a 0, stay while the counter is in use, and pass
     everything else on. 0: nothing to do. */
  int (*rescue)(int signal, const void *info, void *context);
  const int *rescued;
  /* For kinds that do not decide it: does it count at one rate, whatever frequency and state of
     idleness the core is in? 1: yes; 0: no; and *who is who says so. -1, or a null pointer:
     nobody does. Asked on demand of the counter that was selected, under the same conditions as
     rate(). */
  int (*invariant)(const char **who);

  /* The code in include/cpucycles/inline.h of the one instruction that read() is, which programs may
     then use themselves; 0: it is more than that, or has no code, or needs a rescue. */
  unsigned int inline_method;
};

/* Facilities that may be used, files apart, when somebody asks after the selection. 1: it has
   worked in the selection; -1: it was tried there, and did not return; 0: not tried. Linux can make
   CPUID raise SIGSEGV (arch_prctl(2), ARCH_SET_CPUID), and a filter perf_event_open(2) SIGSYS. */
extern struct cpucycles_tried {
  int cpuid, perf_event_open;
  int no_pmu; /* perf_event_open(2) answered that there is none */
} cpucycles_tried;

/* What the library offers to a thread's own counter that cannot be had in some thread, or no
   longer: cycles by the next best counter that all threads share, at least a clock. 0 while the
   library still selects, so that no counter passes its trial on the strength of another. */
long long cpucycles_next_best(void);

/* By which such a counter says what has become of it in some thread: a code of cpucycles(3),
   "by-read" or "by-next-best". Nothing while the library still selects. */
void cpucycles_note_fallback(const char *code);

#pragma GCC visibility pop

#endif
