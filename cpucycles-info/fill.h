/* SPDX-License-Identifier: 0BSD OR MIT */
/* Functions that fill the report. Their order matters, because the library selects a counter only
   once per process: see fill_report(). */

#ifndef CPUCYCLES_FILL_H
#define CPUCYCLES_FILL_H

#include "cpucycles-info/report.h"

/* All counters, and the core frequency before all other measurements. */
struct counter_list {
  int count;
  char names[MAX_COUNTERS][32];
  char selected[32];
  int is_examined[MAX_COUNTERS]; /* at first, 1 for each counter that works */
  long long core_persecond; /* measured by list_and_measure_core_in_child() */
  int no_child; /* 1 if no child listed the counters, so only the selected counter is examined */
};

/* Fills count, names and is_examined. This process selects a counter. */
void list_counters(struct counter_list *list);

/* Fills the list in a child, so that this process does not select a counter yet. If the child does
   not start or fails without a signal, this process fills the list, and selects a counter. Returns
   0, or the signal that ended the child. */
int list_and_measure_core_in_child(struct counter_list *list);

/* Makes the library try this counter first, with an environment variable, which child processes
   inherit. Returns 0 on success. */
int request_counter(const char *name);

/* Examines counters. Unless list->no_child is 1, call this function before the process selects a
   counter. If a signal ends a child, prints a message on standard error and continues with the next
   counter. */
void examine_each(struct report *report, const struct counter_list *list, double seconds);

/* Fills the "observed persecond" lines. */
void measure_loops(struct report *report);

/* Copies results of public functions. */
void fill_library(struct library_info *library);

/* Fills system, cpu and settings without a call of the library. */
void fill_surroundings(struct report *report);

/* Fills the whole report except what judge_report() adds. */
void fill_report(struct report *report, const struct counter_list *list, double seconds);

/* machine.c: fills the sections on the system, the CPU and the settings. */
void fill_system(struct system_info *system);
void fill_cpu(struct cpu_info *cpu, const char *architecture);
void fill_settings(struct settings_info *settings);

/* measure.c */

/* Measures the counter results->name, and fills the other members. If this process has selected
   another counter, fills only results->failure. */
void measure_counter(struct counter_results *results, double seconds);

/* Stores the differences of adjacent reads, 100 at most. */
void read_differences(long long *differences, int count);

/* grain.c: measures the grain of cpucycles() in units of the counter, because scaled counts are
   rounded down to whole cycles. */
struct grain measure_grain(double scaling);

#endif
