/* SPDX-License-Identifier: 0BSD OR MIT */
/* Public interface of libcpucycles: CPU cycle counts from the best counter that this CPU, kernel
   and permission set allow. For C89 and C++98; includes nothing. Full text: cpucycles(3).

   This holds for all functions, unless their comment has an exception:
   - The first call of any function except cpucycles_version() and cpucycles_tracesetup() selects
     the counter, once per process, usually in a fraction of a millisecond. During the selection,
     the library's handlers for faults replace those of the program, and the library reads files of
     the system and tries a perf event.
   - The functions do not fail. In a signal handler that interrupts the selecting thread, some of
     them return 0: see cpucycles-internals(7), SIGNALS.
   - The functions are thread-safe, including the first call; callers need no lock.
   - Returned strings and structures belong to the library and are valid as long as it is loaded. */

#ifndef LIBCPUCYCLES_H
#define LIBCPUCYCLES_H

/* The version of this header, a date as a number. The public-domain library does not define it.
   cpucycles_version() returns the version of the library in use, which may be another one. */
#define CPUCYCLES_VERSION 20261121

/* With -pedantic, compilers for C89 and C++98 warn about long long. */
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wlong-long"
#pragma GCC visibility push(default)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the cycle count. This is a pointer to a function, so that a call reads the counter
   directly. Call it as cpucycles(), and do not assign to it.
   Returns: the value of the selected counter since some fixed point in the past, in core cycles, in
     reference cycles, or as time converted to cycles. `count_unit` of cpucycles_selected() tells
     which. Subtract two values, because one alone means nothing. Do not compare values from
     different threads if the scope of the counter is "thread", or from different cores if the scope
     is "core".
   Since: all versions. */
#if defined(_MSC_VER) && !defined(CPUCYCLES_STATIC)
__declspec(dllimport) /* data of a DLL; define CPUCYCLES_STATIC for the static library */
#endif
extern long long (*cpucycles)(void);

/* Returns: the name of the counter in use, such as "amd64-tsc".
   Since: all versions. */
extern const char *cpucycles_implementation(void);

/* The environment variable CPUCYCLES_IMPLEMENTATION limits the selection to the counters that it
   names. If none of them can be used, it is ignored.
   Returns: a sentence on the names that were ignored, because they could not be used, and the
     reasons; 0 if no name was ignored. The names that could be used still limit the selection.
   Since: 20261121. */
extern const char *cpucycles_implementation_ignored(void);

/* Returns: the version of the library in use, as a date, such as "20261121".
   Since: all versions. */
extern const char *cpucycles_version(void);

/* Returns: an estimate of the CPU's frequency in cycles per second, from 1000 (1 kHz) to
     1000000000000 (1 THz). Time-based counters (kinds "scaled" and "clock") are scaled to it. The
     sources are /etc/cpucyclespersecond; else the operating system, the CPU or the hypervisor; else
     a measurement of the time-stamp counter, if the CPU reports that its rate is constant; else the
     current frequency in /proc/cpuinfo on x86; else the environment variable cpucyclespersecond;
     else a measurement of 2 ms; else the estimate is 2399987654.
   Since: all versions. */
extern long long cpucycles_persecond(void);

/* Returns: the name of the source of cpucycles_persecond(), such as "/proc/cpuinfo". If no source
     reports the frequency, "reference counter" or "measurement" if it is measured, otherwise
     "default".
   Since: 20261121. */
extern const char *cpucycles_frequency_source(void);

/* Returns: a sentence on the settings of cpucycles_persecond() that were ignored and the reasons; 0
     if no setting was ignored.
   Since: 20261121. */
extern const char *cpucycles_frequency_ignored(void);

/* The rate of the selected counter. The first call of this function measures it, unless the counter
   is time-based. The measurement takes 1 to 4 ms, in rare cases up to 12 ms, plus interruptions,
   and longer if the OS clock is coarse.
   Returns: the increase of cpucycles() per second, from 1 to 10^12; 0 if it is not known. For
     time-based counters, the result is cpucycles_persecond(). For other counters, it is the
     reported rate if no measurement is possible, or if a measurement agrees within 1 % and the
     reported rate is not rounded; otherwise it is the measured rate. Most counters of core cycles
     have no reported rate.
   Since: 20261121. */
extern long long cpucycles_rate(void);

/* Converts a difference of two counts to time, with cpucycles_rate().
   Returns: nanoseconds, rounded as the program rounds; 0 if the rate is not known. If the counter
     counts core cycles, this is the time at the core frequency of that measurement.
   Since: 20261121. */
extern double cpucycles_nanoseconds(long long count);

/* The current frequency of the core on which the calling thread runs. Each call measures the
   frequency again, in up to 2 ms of dependent adds, plus the two longest interruptions. Signals to
   the thread wait. The frequency divided by cpucycles_rate() is the number of core cycles per
   counted cycle.
   Returns: cycles per second, from 1000 to 1000000000000; under an emulator or valgrind, the rate
     at which it executes these adds. Returns 0 if the thread is interrupted too often, if the OS
     clock is too coarse, takes too long to read, steps back or is stopped, if the CPU is not known
     to execute a dependent add in one cycle, or if the library was compiled without optimization.
   Since: 20261121.  Source: cpucycles(3), Core frequency. */
extern long long cpucycles_core_persecond(void);

/* Core cycles per count of cpucycles() at this moment, on the core on which the calling thread
   runs. Each call times three chains of dependent adds, in about 10 us, or up to 1 ms if the
   counter is coarse. Signals to the thread wait. The first call of this function also measures the
   counter.
   Returns: the ratio; 1 if the counter counts core cycles; 0 if the chains are interrupted or the
     frequency changes, so call the function again, or if no ratio can be measured: see
     cpucycles_core_persecond().
   Since: 20261121.  Source: cpucycles(3), Core frequency. */
extern double cpucycles_core_ratio(void);

/* The beginning and the end of a timed section. Both functions read the count between two fences,
   so that the code before the call is complete when the counter is read, and no code after the call
   begins before the read is complete. The fences are the instructions that the CPU's manual names.
   Returns: the count of cpucycles(), in cycles. The section takes
     end - begin - cpucycles_section_overhead() cycles.
   Since: 20261121.
   Source: cpucycles(3), Timed sections, which explains the limits of the fences, and which code the
     compiler may still move. */
extern long long cpucycles_section_begin(void);
extern long long cpucycles_section_end(void);

/* The overhead of timing a section with these two functions. Do not subtract it from counts of
   cpucycles(), whose overhead is smaller. A program that reads both ends with one function calls
   cpucycles_section_begin() at both. The first call of this function measures the overhead, with
   1000 empty sections.
   Returns: the smallest end - begin of an empty section, in cycles of cpucycles(). The value is
     constant in the process. If the counter has a grain of more than 1 cycle, an empty section
     minus the overhead is in most cases 0 or one grain.
   Since: 20261121. */
extern long long cpucycles_section_overhead(void);

/* The overhead of a pair of reads without fences. The first call of this function measures it, with
   1000 pairs.
   Returns: the smallest difference of two adjacent calls of cpucycles(), in its cycles, which is
     constant in the process.
   Since: 20261121. */
extern long long cpucycles_read_overhead(void);

/* Prints one line ("cpucycles tracesetup ...") per built counter to standard output, when the
   library selects a counter, or at once if it has selected one already.
   Since: all versions. */
extern void cpucycles_tracesetup(void);

/* Values of cpucycles_counter_info.state. */
#define CPUCYCLES_DROPPED 0  /* does not work here, or is not asked for: see reason */
#define CPUCYCLES_USABLE 1   /* works here, but another one is better */
#define CPUCYCLES_SELECTED 2 /* in use; `reason` may be set: see there */

/* A counter that this library was built with. Later versions may append members, but never change
   one. Use the structure through the pointer that a function returns; do not copy sizeof bytes. */
struct cpucycles_counter_info {
  const char *name;    /* the name that cpucycles_implementation() returns */
  const char *summary; /* short description */
  const char *kind;    /* "core", "system call", "reference", "scaled", "clock" or "none" */
  const char *scope;   /* owner of a count: each "thread", each "core", or the "system" */
  const char *unit;    /* unit of the count before scaling, described in words */
  /* Unit of what cpucycles() returns if it reads this counter, for a table: "core cycles",
     "reference cycles", "scaled cycles" (time converted to cycles), or "counts" if the counter is
     none that is known to count cycles. */
  const char *count_unit;
  int width;           /* bits of the counter as it is read: 64 or 32 */
  int state;           /* CPUCYCLES_DROPPED, CPUCYCLES_USABLE or CPUCYCLES_SELECTED */
  /* The score; smaller is better. It is the smallest positive difference of adjacent reads, in
     cycles, plus 0 for "core", 200 for "clock", and 100 for other kinds. 0 if the counter was
     dropped, or is a last resort. */
  long long score;
  double scaling;          /* cycles per unit: 1 if not scaled; 0 if dropped */
  /* A code of cpucycles-internals(7), REASONS, or 0. For a dropped counter, the reason. For the
     selected counter: "by-read" or "by-fallback" if at least one thread does not read it directly;
     or, if the counter is a last resort, the reason why it failed its trial. */
  const char *reason;
  const char *explanation; /* the reason as a sentence; 0 if there is no reason */
  int error_number;        /* the errno that was the reason, or 0 */
  int signal_number;       /* the signal that was the reason, or 0 */
  const char *remedy;      /* makes the counter usable on this machine; 0 if none is known */
  /* The smallest positive difference of adjacent reads, in cycles: the score without the penalty. 0
     if the score is 0. */
  long long smallest_step;
};

/* Describes counter i and the result of its trial. The first call of this function also searches
   for remedies, and may open files.
   Returns: counter number i, counted from 0, in the order of COUNTERS in cpucycles-internals(7).
     0 if i is negative or past the end.
   Since: 20261121. */
extern const struct cpucycles_counter_info *cpucycles_counter(int i);

/* Describes the counter in use. The first call of this function also searches for remedies, and may
   open files.
   Returns: the description of the selected counter; 0 in a signal handler that interrupts the
     selecting thread.
   Since: 20261121. */
extern const struct cpucycles_counter_info *cpucycles_selected(void);

/* What the hardware and the operating system report about the selected counter as a timer. Later
   versions may append members, but never change one. */
struct cpucycles_timer_info {
  long long reported_rate; /* reported rate in unscaled units per second; 0: none. The selection
                              has verified it only if the kind is "scaled" */
  const char *reported_rate_source; /* where it is reported, if there are several places; else 0 */
  int invariant; /* 1 if the rate is constant, whatever the core does; 0 if not; -1: not known */
  const char *invariant_source; /* source of `invariant`; 0 if it is not known */
};

/* Describes the selected counter as a timer. The first call of this function or of cpucycles_rate()
   asks the hardware and the operating system, and may open files. cpucycles_rate() returns the
   rate to calculate with.
   Returns: the counter's properties; 0 in a signal handler that interrupts the selecting thread.
   Since: 20261121. */
extern const struct cpucycles_timer_info *cpucycles_timer(void);

#ifdef __cplusplus
}
#endif

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC visibility pop
#pragma GCC diagnostic pop
#endif

#endif
