/* SPDX-License-Identifier: 0BSD OR MIT */
/* The data of the report. Data flows one way: the files of fill.h collect, judge.c adds the
   warnings, and the printers take all data from the report. */

#ifndef CPUCYCLES_REPORT_H
#define CPUCYCLES_REPORT_H

#include "cpucycles-info/write.h"
#include "sys/kind.h"

#include <cpucycles.h>
#include <stddef.h>
#include <string.h>

enum {
  IQM_DIFFERENCES = 64, /* of adjacent reads, in the line iqm */
  LOOP_RATES = 11, /* "observed persecond" lines, each with twice the loops of the previous line */
  BATCHES = 100,   /* number of batches in an observation */
  BATCH = 100,     /* differences of adjacent reads in a batch */
  DIFFERENCES = BATCHES * BATCH,
  MAX_COUNTERS = 128, /* more counters than any system has */
  MAX_CPUS = 8192, /* CPUs with this number or a higher one are ignored */
  TYPES = 8,
  WARNINGS = 64, /* enough: x86-64 Linux has 9 counters with at most 4 warnings each, and 7 other
                    warnings are possible */
};

/* The amount by which a count advances each time it advances. */
struct grain {
  long long units; /* 1: no larger grain was found */
  double share;    /* share of the positive differences that are multiples of the grain */
};

/* Measurements of one counter, from a process that has selected it. */
struct counter_results {
  char name[32];
  char failure[80];         /* why the counter was not examined; empty if it was examined */
  int scaled;               /* 1 if scaling is not 1 */
  double scaling;           /* cycles per unit */
  long long reported;       /* reported rate, units per second; 0: none */
  char reported_source[48]; /* source of the reported rate if several exist; else empty */
  double measured;          /* measured rate, units per second; 0: not measured */
  double uncertainty;       /* of the measured rate, in parts per million */
  double seconds;           /* duration of the observation; 0: the OS clock failed */
  int invariant;            /* 1, 0, or -1: not known */
  char invariant_source[64];
  int cpu_count, hop_count;    /* CPUs, and moves to them; 0: not tried */
  long long largest_step_back; /* from one CPU to the next, in cycles; 0: none */
  long long step;              /* smallest positive difference of adjacent reads, in cycles */
  double step_units;
  struct grain grain;      /* in units */
  double read_cycles;      /* per call of cpucycles() */
  double read_nanoseconds; /* per call of cpucycles(); 0: the OS clock is too coarse */
  long long overhead;      /* cpucycles_section_overhead() */
  int has_core_ratio;      /* 1 if counts_per_core_cycle was measured */
  double counts_per_core_cycle; /* of a counter of core cycles */
  int difference_count, below_zero; /* number of differences, and of negative differences */
  long long lowest, lower_quartile, median, upper_quartile, highest;
  long long differences[DIFFERENCES]; /* sorted if the counter was examined */
};

/* The rate of the counter in use, measured against the OS clock. */
struct loop_rate {
  double low, high; /* bounds of the rate, in cycles per second */
  long long loops, microseconds;
};

/* The core frequency before and after all other measurements, and the rate of the selected counter;
   what judge.c concludes. Each is 0 if it is not known. */
struct core_info {
  long long persecond_before, persecond_after, counted_persecond;
  long long persecond;     /* persecond_after or, if it is not known, persecond_before */
  int counts_core_cycles;  /* 1 if the counter in use was measured to count core cycles, 0 if it
                              does not, or -1 if it is of such a kind and was not measured */
  double cycles_per_count; /* core cycles per count of the counter in use */
};

/* Empty strings mean "not known" or "not applicable". */
struct system_info {
  char kernel[32], release[80], architecture[32], libc[48], hypervisor[32], container[32],
    emulator[48], trapped_calls[200]; /* trapped_calls: names of calls that raised SIGSYS */
  int pointer_bits;
  int little_endian; /* 1, or 0: big-endian */
};

struct cpu_info {
  char model[128];
  int foreign; /* 1 if /proc/cpuinfo is of another architecture: user-mode emulation */
  int cpu_count, allowed_count, core_count;
  int type_count;
  struct {
    char name[48];
    int count;
  } types[TYPES];
};

/* Settings of the system that affect measurements. */
struct settings_info {
  char clock_source[32], clock_sources[96], governor[32];
  int governor_cpu_count; /* number of CPUs with `governor` */
  int other_governors;    /* 1 if some CPUs have another governor */
  int turbo;              /* 1: on; 0: off; -1: not known */
  int nmi_watchdog;       /* 1 if the NMI watchdog of Linux is on; 0 if off or not known */
};

/* Results of public functions. The pointers point into the library and stay valid. */
struct library_info {
  const char *version, *implementation, *frequency_source;
  const char *implementation_ignored, *frequency_ignored; /* NULL: no setting was ignored */
  long long persecond;
  int counter_count;
  const struct cpucycles_counter_info *counters[MAX_COUNTERS];
  const struct cpucycles_counter_info *selected; /* NULL: none */
};

/* How to get a better count than that of the counter in use: sentences. */
struct better_info {
  char found[400], remedy[400]; /* remedy is empty if none is known */
};

struct report {
  struct library_info library;
  struct better_info better;
  int is_limited; /* 1: CPUCYCLES_IMPLEMENTATION is set, and a child without it has filled better */
  long long iqm_differences[IQM_DIFFERENCES]; /* of adjacent reads of the counter in use */
  long long mean;                     /* interquartile mean of the differences */
  struct loop_rate loop_rates[LOOP_RATES];
  struct core_info core;
  struct system_info system;
  struct cpu_info cpu;
  struct settings_info settings;
  const char *clock; /* name of the OS clock that rates were measured against */
  int result_count;
  struct counter_results *results; /* one per counter that was to be examined */
  int killed_count;                /* number of examinations that a signal ended */
  int warning_count;
  struct {
    char text[320];
    char advice[256]; /* what to do; empty if the warning is about a counter that is not in use */
  } warnings[WARNINGS];
};

/* judge.c */

/* Returns NULL if the report has no results of this counter. */
const struct counter_results *results_of(const struct report *report, const char *counter);

/* Returns 1 if the counter is of a kind that counts core cycles, according to the library. */
static inline int is_of_core_cycles(const struct cpucycles_counter_info *counter)
{
  return cpuc_kind_facts[cpuc_kind_named(counter->kind)].counts_core_cycles;
}

/* Returns the deviation of the measured rate from the reported rate, in parts per million; 0 if one
   of the two is missing. */
double rate_off_ppm(const struct counter_results *results);

/* Returns 1 if the measured rate contradicts the reported rate, which then is not the rate of the
   counter: they differ by more than 1 %, and by more than the error of the measurement. */
int is_contradicted(const struct counter_results *results);

/* Finds how to get a better count than that of the counter with the name in_use, according to a
   library that may have selected another counter. */
void judge_better(struct better_info *better, const struct library_info *library,
  const char *in_use);

/* Fills the rest of core, the warnings and, unless the selection is limited, `better`. */
void judge_report(struct report *report);

/* print.c: prints to standard output the lines of the public-domain tool, what was found, and the
   summary. A text with `all` has every line of every counter, and the warnings in full. */
void print_report(const struct report *report, enum write_form form, int all);

/* Prints what fill_surroundings() fills, as text. */
void print_surroundings(const struct report *report);

/* summary.c: writes the summary, as a part of print_report(). */
void write_summary(const struct report *report);

/* plot.c: draws charts. */
void print_plot(const struct report *report);

#endif
