/* SPDX-License-Identifier: 0BSD OR MIT */
/* The report: data alone. fill.c fills it before anything is printed, and the printers of print.h
   read nothing else, so that the plain lines and the JSON document agree. */

#ifndef CPUCYCLES_REPORT_H
#define CPUCYCLES_REPORT_H

#include "cpucycles-info/grain.h"

#include <cpucycles.h>
#include <stddef.h>

enum {
  DIFFERENCES = 64, /* of adjacent reads, in the line iqm */
  OBSERVED = 11,    /* lines, each of twice the loops */
  BATCHES = 100,    /* of adjacent reads, spread over an observation */
  BATCH = 100,
  SAMPLES = BATCHES * BATCH,
  TIMERS = 128, /* more counters than any system has */
  TYPES = 8,
  WARNINGS = 12
};

/* What a counter does, as seen from a process that counts by it. */
struct timer {
  char name[32];
  char failure[80]; /* why it could not be examined; or empty */
  int scaled;
  double scaling;          /* cycles per unit */
  long long stated;        /* units a second; 0: nobody states it */
  char stated_source[48];  /* who does, where several can */
  double measured;         /* the same, against the OS clock; 0: cannot be said */
  double uncertainty;      /* of that, in parts per million */
  double seconds;          /* for so long */
  int invariant;           /* 1, 0, or -1: not known */
  char invariant_source[64];
  int cpus, hops;          /* that were hopped over; 0: that could not be tried */
  long long worst_hop;     /* largest step back in cycles, or 0 */
  long long step;          /* smallest difference seen that is not 0, in cycles */
  double step_units;
  struct grain grain;      /* in its own units */
  /* what a call costs; 0 nanoseconds: the clock cannot tell */
  double read_cycles, read_nanoseconds;
  long long overhead;      /* of a section between cpucycles_begin() and cpucycles_end() */
  int samples, backward;   /* differences, and how many of them are below 0 */
  long long low, quartile1, median, quartile3, high;
  long long differences[SAMPLES]; /* sorted */
};

struct observed {
  double low, high; /* counts a second */
  long long loops, microseconds;
};

/* The core's frequency, before all else was measured and after, and what the counter in use counts
   a second. 0: not known. */
struct core_info {
  long long before, after, counted;
  int is_counted; /* what is counted is the core's own cycles */
};

/* Empty texts and 0 are not known, or do not apply. */
struct system_info {
  char kernel[32], release[80], architecture[32], libc[48], hypervisor[32], container[32],
    emulator[48];
  int word_bits, little_endian;
};

struct cpu_info {
  char model[128];
  int foreign; /* the system shows the file of another architecture: so do emulators of programs */
  int cpus, allowed, cores;
  int types;
  struct {
    char name[48];
    int count;
  } type[TYPES];
};

/* What can change while something is measured. */
struct state_info {
  char clock_source[32], clock_sources[96], governor[32];
  int governed, governors; /* CPUs with the governor above; how many different ones there are */
  int turbo;               /* 1: on; 0: off; -1: not known */
};

/* The library's answers. The pointers lead into the library and stay valid. */
struct library_info {
  const char *version, *implementation, *frequency_source;
  const char *implementation_skipped, *frequency_skipped; /* NULL: no setting was ignored */
  long long persecond;
  int counters;
  const struct cpucycles_counter_info *counter[TIMERS];
  const struct cpucycles_counter_info *selected; /* NULL: none */
};

struct report {
  struct library_info library;
  long long differences[DIFFERENCES], mean;
  struct observed observed[OBSERVED];
  struct core_info core;
  struct system_info system;
  struct cpu_info cpu;
  struct state_info state;
  const char *clock; /* name of the OS clock that rates are measured against */
  int timers;
  struct timer *timer; /* of each counter that works */
  int killed;          /* examinations that a signal ended */
  int warnings;
  char warning[WARNINGS][320];
};

const char *signal_name(int signal); /* "signal" for a signal that is not listed */

/* Each returns NULL if the report has no entry of that name. */
const struct timer *timer_of(const struct report *report, const char *counter);
const struct cpucycles_counter_info *counter_of(const struct report *report, const char *name);

/* Returns 1 if the counter counts the core's own cycles. */
int counts_core(const struct cpucycles_counter_info *counter);

/* Core cycles per counted cycle if the core runs at persecond; 0: not known. */
double core_cycles(const struct core_info *core, long long persecond);

/* Measured rate relative to the stated rate, in parts per million; 0: one of the two is missing. */
double disagreement(const struct timer *timer);

#endif
