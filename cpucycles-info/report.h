/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the report says, and who finds it out and prints it. It is made whole before anything is
   printed, so that the plain lines and the JSON document say the same. */

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

struct report {
  long long differences[DIFFERENCES], mean;
  struct observed observed[OBSERVED];
  struct core_info core;
  struct system_info system;
  struct cpu_info cpu;
  struct state_info state;
  int timers;
  struct timer *timer; /* of each counter that works */
  int killed;          /* examinations that a signal ended */
  int warnings;
  char warning[WARNINGS][320];
};

/* The counter that this process's calls read. */
static inline const struct cpucycles_counter_info *selected_counter(void)
{
  const struct cpucycles_counter_info *counter;
  int i;

  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++)
    if (counter->state == CPUCYCLES_SELECTED)
      break;
  return counter;
}

/* measure.c: what the calling process's counter does. */

/* The OS clock that counters are measured against: its name, and nanoseconds. */
extern const char clock_name[];
long long clock_nanoseconds(void);

/* Fills in all but the name. With progress, says on standard error how far it is. */
void examine(struct timer *timer, double seconds, int progress);

void sort_counts(long long *values, int count);

/* observe.c: the counter in use, as the report's first lines tell of it. */
void observe_differences(struct report *report);
void observe_rates(struct report *report);

/* The same, after all other measurements; before, the roll has it. */
void observe_core(struct report *report, long long before);

/* counters.c: each counter in a process of its own. */

/* How many counters there are, their names, and which of them work. */
struct roll {
  int count;
  char names[TIMERS][32];
  int works[TIMERS];
  long long core_persecond; /* as call_roll() measured it */
  /* no other process can be started: this one has made its choice, and can examine that alone */
  int alone;
};

void fill_roll(struct roll *roll);

/* The same, as another process finds it: before this one's first call of the library, which
   decides for good. Where no other can be started, as this one does. Returns 0, or the signal
   that ended the other. */
int call_roll(struct roll *roll);

/* Examines each that works, or the only one that is named: also before that first call. Where a
   signal ends the process that does, says so on standard error, and goes on. */
void examine_each(struct report *report, const struct roll *roll, const char *only, double seconds);

/* system.c, machine.c: files below root, "" or a test's. */
void look_at_system(struct system_info *system, const char *root);
void look_at_cpu(struct cpu_info *cpu, const char *root, const char *architecture);
void look_at_state(struct state_info *state, const char *root);

/* warn.c: what endangers a measurement. */
void find_warnings(struct report *report);

/* words.c: what the printers share. */
const char *signal_name(int signal); /* one without a name here is "signal" */
const struct timer *timer_of(const struct report *report, const char *counter);
int counts_core(const struct cpucycles_counter_info *counter); /* its own cycles? */

/* How many of the core's cycles a counted cycle is, at this frequency of the core; 0: not known. */
double core_cycles(const struct core_info *core, long long persecond);

/* By how much the measured rate differs from the stated one, in parts per million. */
double disagreement(const struct timer *timer);

/* text.c, json.c, plot.c: print to standard output. */
void print_text(const struct report *report);
void print_text_of_machine(const struct report *report); /* what needs no call of the library */
void print_json(const struct report *report);
void print_plot(const struct report *report);

#endif
