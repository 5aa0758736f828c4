/* SPDX-License-Identifier: 0BSD OR MIT */
/* Functions that fill the report. Their order matters, because the first call of the library
   selects a counter once: see fill_report(). */

#ifndef CPUCYCLES_FILL_H
#define CPUCYCLES_FILL_H

#include "cpucycles-info/report.h"

#ifdef HAVE_FORK
#include <sys/types.h>
#endif

enum { MAX_CPUS = 8192 }; /* CPUs with higher numbers are ignored */

/* examine.c: each counter in a process of its own. */

/* Names of all counters, and which of them work. */
struct counter_list {
  int count;
  char names[MAX_COUNTERS][32];
  int works[MAX_COUNTERS];
  long long core_persecond; /* measured by list_counters_in_child() */
  int no_child; /* 1: there is no fork() or it fails; only the selected counter is examined */
};

/* Fills count, names and works, and makes this process select. */
void list_counters(struct counter_list *list);

/* Fills the list in a child, so that this process need not select yet. If no child can be started,
   this process selects. Returns 0, or the signal that ended the child. */
int list_counters_in_child(struct counter_list *list);

/* Examines each counter that works; if `only` is not NULL, only the counter of that name. Call it
   before this process selects. If a signal ends a child, says so on standard error and continues
   with the next counter. */
void examine_each(struct report *report, const struct counter_list *list, const char *only,
  double seconds);

/* Ends this process if it is a child that examines a counter, and its parent has ended. A long
   examination calls this every second. */
void end_without_parent(void);

/* measure.c: measurements of the calling process's counter. */

/* Needs timer->name, and fills the other members. If this process has not selected the counter of
   that name, fills only timer->failure. With progress, writes the elapsed time to standard
   error. */
void examine(struct counter_results *timer, double seconds, int progress);

/* observe.c: the report's first lines, about the counter in use. */
void observe_differences(struct report *report);
void observe_rates(struct report *report);

/* kernel.c: system calls. A test defines all of these itself: the linker then leaves kernel.c
   out. */

/* The OS clock that counters are measured against. */
extern const char clock_name[];
long long clock_nanoseconds(void);

#ifdef HAVE_FORK
/* fork(2). */
pid_t start_child(void);

/* Asks the kernel to send this process the signal when its parent ends. Only Linux does. */
void request_signal_at_end_of_parent(int signal);
#endif

/* library.c: the library's answers. */
const struct cpucycles_counter_info *selected_counter(void); /* NULL: none */
void fill_library(struct library_info *library);

/* Needs fill_library(). Measures the core's frequency once more; `before` is its frequency before
   all other measurements. */
void fill_core(struct report *report, long long before);

/* system.c, machine.c: mostly from files below root: "", or a test's folder. */
void fill_system(struct system_info *system, const char *root);
void fill_cpu(struct cpu_info *cpu, const char *root, const char *architecture);
void fill_settings(struct settings_info *settings, const char *root);

/* warn.c: conditions that can spoil a measurement. Needs the rest of the report. */
void find_warnings(struct report *report);

/* fill.c */

/* Fills the whole report. The parameters are those of examine_each(). */
void fill_report(struct report *report, const struct counter_list *list, const char *only,
  double seconds);

/* Fills system, cpu and state without a call of the library. */
void fill_machine(struct report *report);

#endif
