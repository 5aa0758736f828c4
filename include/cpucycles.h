/* SPDX-License-Identifier: 0BSD OR MIT */
/* Public interface of libcpucycles: CPU cycle counts from the best counter that this CPU, kernel
   and permission set allow. Stands alone in C89 and C++98. Full text: cpucycles(3). */

#ifndef CPUCYCLES_H
#define CPUCYCLES_H

/* long long is younger than C89 and C++98, whose pedants complain. */
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wlong-long"
#pragma GCC visibility push(default)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The cycle count: call it as cpucycles(). A pointer, so that a call leads straight to the counter.
   Returns: the selected counter's value since some fixed moment of the past, in cycles (real
     ones, or time scaled to cycles where only a clock can be had; cpucycles_counter() tells
     which). Subtract two values; one alone means nothing. The values of a counter whose scope is
     "thread" compare within one thread only.
   Fails: never. The first call of the process selects the counter, which takes some 0.1 ms.
   Threads: safe, the first call too; no lock of the caller's is needed.
   Do not assign to it.
   Since: 1 (all versions). */
extern long long (*cpucycles)(void);

/* Returns: the name of the counter in use, such as "amd64-tsc"; selects one if none is yet. The
     string is the library's and lasts as long as the library is loaded.
   Fails: never.  Threads: safe.  Since: 1 (all versions). */
extern const char *cpucycles_implementation(void);

/* Returns: which names in the environment variable CPUCYCLES_IMPLEMENTATION, which limits the
     choice to the counters that it names, could not be used, and why, in words; 0 if there is
     none. Where none of them can be used, the choice is as if the variable were not set. The
     string is the library's, as above.
   Fails: only by returning 0; so it does in a signal handler that interrupts the selecting thread.
   Threads: safe.  Since: 20261121. */
extern const char *cpucycles_implementation_skipped(void);

/* Returns: the version of the library in use, as a date, such as "20261121".
   Fails: never.  Threads: safe.  Since: 1 (all versions). */
extern const char *cpucycles_version(void);

/* Returns: an estimate of the CPU's frequency, in cycles per second, between 1000 (1 kHz) and
     1000000000000 (1 THz); the unit that clocks are scaled to. From /etc/cpucyclespersecond,
     else from the operating system, the CPU or the hypervisor, else from the environment
     variable cpucyclespersecond, else from a measurement of 2 ms, else 2399987654.
   Fails: never.  Threads: safe.  Since: 1 (all versions). */
extern long long cpucycles_persecond(void);

/* Returns: the name of the source of cpucycles_persecond(), such as "/proc/cpuinfo";
     "measurement" or "default" where nobody stated it. The string is the library's, as above.
   Fails: never.  Threads: safe.  Since: 20261121. */
extern const char *cpucycles_frequency_source(void);

/* Returns: which setting of cpucycles_persecond() was not obeyed, and why, in words; 0 if there is
     none. The string is the library's, as above.
   Fails: only by returning 0; so it does in a signal handler that interrupts the selecting thread.
   Threads: safe.  Since: 20261121. */
extern const char *cpucycles_frequency_skipped(void);

/* The rate of the selected counter; found at the first call of this, which can take a millisecond.
   Returns: by how much cpucycles() goes up in a second: for clocks and other counters that are
     scaled, cpucycles_persecond(); for one of a constant rate, that, as hardware or system state
     it, else as measured; for a core's own cycles, as measured at that moment, from 1 to 10^15.
     0: not known.
   Fails: only by returning 0; so it does in a signal handler that interrupts the selecting thread.
   Threads: safe.  Since: 20261121. */
extern long long cpucycles_rate(void);

/* The core's own frequency now: measured anew by each call, on the core that the calling thread
   runs on, by a millisecond or two of adds that each wait for the one before. Over
   cpucycles_rate(), this is how many of the core's cycles one counted cycle is.
   Returns: cycles per second, from 1000 to 1000000000000. Under an emulator: of what it makes of
     those adds. 0: cannot be said. So it is if the thread is interrupted too often, on CPUs of
     which it is not known that such an add takes one cycle, under valgrind on x86, and if the
     library was compiled without optimization.
   Fails: only by returning 0; so it does in a signal handler that interrupts the selecting thread.
   Threads: safe; each call is busy for up to 2 ms, or that and what an interruption takes.
   Since: 20261121.  Source: cpucycles(3), THE CORE'S OWN RATE. */
extern long long cpucycles_core_persecond(void);

/* The beginning and the end of a timed section: reads like cpucycles(), between two fences, so
   that what is before begin() is over when it reads, what is in the section is over when end()
   reads, and nothing begins before the read that it stands after. By the fences that the CPU's
   manual names: cpucycles(3) says how far they go, and what the compiler may still move.
   Returns: the same count as cpucycles(). end - begin - cpucycles_overhead() is what the section
   took.
   Fails: never.  Threads: safe.  Since: 20261121. */
extern long long cpucycles_begin(void);
extern long long cpucycles_end(void);

/* What timing itself adds to a section; found at the first call of this, by a thousand empty
   sections.
   Returns: the smallest end - begin of an empty section, in the unit of cpucycles(), the same in
     the whole process from then on. On a counter that moves by more than 1 at a time, an empty
     section less this is mostly 0 or one such grain.
   Fails: only by returning 0, in a signal handler that interrupts the selecting thread.
   Threads: safe.  Since: 20261121. */
extern long long cpucycles_overhead(void);

/* Makes the library print one line per built counter ("cpucycles tracesetup ...") to standard
   output when it selects; at once, if it has selected already.
   Fails: never.  Threads: safe.  Since: 1 (all versions). */
extern void cpucycles_tracesetup(void);

/* Values of cpucycles_counter_info.state. */
#define CPUCYCLES_DROPPED 0  /* does not work here, or was not asked for: reason says why */
#define CPUCYCLES_USABLE 1   /* works here, but a better one was found */
/* what cpucycles() reads; with a reason: as the last resort, or see there */
#define CPUCYCLES_SELECTED 2

/* One counter that this library was built with. Later versions may append members, and never change
   one: use it through the pointer that cpucycles_counter() returns, do not copy it by sizeof. */
struct cpucycles_counter_info {
  const char *name;    /* as cpucycles_implementation() gives it */
  const char *summary; /* what it is, in some words */
  const char *kind;    /* "core", "perf read", "reference", "scaled", "clock" or "none" */
  const char *scope;   /* whose count it is: "thread", "core" or "system" */
  const char *unit;    /* what it counts before scaling, in some words */
  int width;           /* bits that the hardware or the system counts in: 64 or 32 */
  int state;           /* CPUCYCLES_DROPPED, CPUCYCLES_USABLE or CPUCYCLES_SELECTED */
  /* The score, smaller is better: smallest nonzero difference of adjacent reads, in cycles, plus
     0 for core counters, 100 for others, 200 for clocks; 0 if it failed its trial. */
  long long precision;
  double scaling;          /* cycles per unit: 1 where nothing is scaled; 0 if dropped */
  /* Why it was dropped, a code listed in cpucycles(3); for the selected one, what has become of
     it in some thread since ("by-read", "by-next-best"); else 0. */
  const char *reason;
  const char *explanation; /* the same as a sentence; 0 if there is no reason */
  int error_number;        /* the errno that was the reason, or 0 */
  int signal_number;       /* the signal that was the reason, or 0 */
  const char *remedy;      /* what would make it usable on this machine; 0 if nothing is known to */
};

/* Returns: counter number i, counted from 0 in the library's order of preference, as it was
     found when the library selected (which this call does if need be); 0 if i is negative or
     past the end.
   Fails: only by returning 0; so it does in a signal handler that interrupts the selecting thread.
   Threads: safe.  Since: 20261121. */
extern const struct cpucycles_counter_info *cpucycles_counter(int i);

/* What hardware and system say of the selected counter as a timer. Append-only, as the structure
   above. */
struct cpucycles_timer_info {
  /* of its units a second, before scaling, and true or not; 0: nobody states it */
  long long stated_rate;
  const char *stated_rate_source; /* who does, where more than one can; else 0 */
  /* 1: it counts at one rate, whatever the core does; 0: it does not; -1: not known */
  int invariant;
  const char *invariant_source; /* who says so; 0 if nobody does */
};

/* Returns: what is said of the selected counter, asked at the first call of this or of
     cpucycles_rate(). What it really does is measured, and cpucycles_rate() tells.
   Fails: only by returning 0, as cpucycles_rate().
   Threads: safe.  Since: 20261121. */
extern const struct cpucycles_timer_info *cpucycles_timer(void);

#ifdef __cplusplus
}
#endif

#ifdef __GNUC__
#pragma GCC visibility pop
#pragma GCC diagnostic pop
#endif

#endif
