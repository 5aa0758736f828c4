/* SPDX-License-Identifier: 0BSD OR MIT */
/* The parts that fill the report, and the order in which a process may call them. */

#ifndef CPUCYCLES_FILL_H
#define CPUCYCLES_FILL_H

#include "cpucycles-info/report.h"

/* examine.c: each counter in a process of its own. */

/* Names of all counters, and which of them work. */
struct counter_list {
  int count;
  char names[TIMERS][32];
  int works[TIMERS];
  long long core_persecond; /* measured by list_counters_apart() */
  /* No child process can be started: this process has selected, and can examine only the counter
     that it uses. */
  int alone;
};

/* Fills all but core_persecond. */
void list_counters(struct counter_list *list);

/* Fills the list in a child process, so that this process has not selected yet: the selection is
   final. Without child processes this process fills it. Returns 0, or the signal that ended the
   child. */
int list_counters_apart(struct counter_list *list);

/* Examines each counter that works, or only the one named `only`, if that is not NULL. Call it
   before this process's first call of the library. If a signal ends a child, reports that on
   standard error and continues. */
void examine_each(struct report *report, const struct counter_list *list, const char *only,
  double seconds);

/* measure.c: measurements of the calling process's counter. */

/* The OS clock that counters are measured against: its name, and its time in nanoseconds. */
extern const char clock_name[];
long long clock_nanoseconds(void);

/* Fills all but the name. If progress is not 0, shows it on standard error. */
void examine(struct timer *timer, double seconds, int progress);

void sort_counts(long long *values, int count);

/* observe.c: the report's first lines, about the counter in use. */
void observe_differences(struct report *report);
void observe_rates(struct report *report);

/* library.c: the library's answers. */
const struct cpucycles_counter_info *selected_counter(void); /* NULL: none */
void fill_library(struct library_info *library);
/* Needs fill_library(). Measures the core's frequency again; `before` is the counter_list's. */
void fill_core(struct report *report, long long before);

/* system.c, machine.c: from files below root, which is "" except in tests. */
void look_at_system(struct system_info *system, const char *root);
void look_at_cpu(struct cpu_info *cpu, const char *root, const char *architecture);
void look_at_state(struct state_info *state, const char *root);

/* warn.c: conditions that endanger a measurement. Needs all else filled. */
void find_warnings(struct report *report);

/* fill.c: the whole report; and the system and the CPU alone, without a call of the library. */
void fill_report(struct report *report, const struct counter_list *list, const char *only,
  double seconds);
void fill_machine(struct report *report);

#endif
