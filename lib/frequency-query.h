/* SPDX-License-Identifier: 0BSD OR MIT */
/* A query for the CPU frequency, and the sources that it asks. frequency.c passes the query to one
   source after the other. Sources that read more than one value are in files of their own. */

#ifndef CPUCYCLES_FREQUENCY_QUERY_H
#define CPUCYCLES_FREQUENCY_QUERY_H

#include "lib/frequency.h"

#pragma GCC visibility push(hidden)

struct cpuc_frequency_query;

struct cpuc_frequency_query_source {
  const char *name; /* a path if the source is a file; in sysfs relative to a CPU's directory */
  long long (*run)(struct cpuc_frequency_query *query); /* Hz, or 0 */
  long long unit; /* Hz per unit, for sources that are one number */
  int is_setting; /* 1: of the administrator or user, who is told if it is ignored */
  int is_doubtful; /* 1: a rough measurement must not contradict the result */
};

/* The highest number of CPUs whose files are read, one per frequency policy, those with the lowest
   numbers. */
enum { CPUC_FREQUENCY_QUERY_CPUS = 32 };

struct cpuc_frequency_query {
  struct cpuc_frequency *found;
  const struct cpuc_frequency_query_source *source; /* the source that is running */
  long long result;                 /* of this source in Hz, or 0 */
  const char *name;                 /* the name to report for the source of the result */
  /* frequency-sysfs.c: number of CPUs whose files are read (0: not listed yet), and these CPUs. */
  int cpu_count;
  int cpus[CPUC_FREQUENCY_QUERY_CPUS];
  int has_policies; /* 1 if the CPUs have frequency policies, or may have */
  int has_cpuinfo; /* 1 once /proc/cpuinfo was read */
  struct cpuc_frequency_cpuinfo cpuinfo;
};

/* Returns what /proc/cpuinfo contains, which is read once. */
const struct cpuc_frequency_cpuinfo *cpuc_frequency_read_cpuinfo(
  struct cpuc_frequency_query *query);

/* The sources. Under an emulator the files can be those of the host. The files of sysfs are right
   even under an emulator, because the CPU of the host does the work. Of /proc/cpuinfo, only lines
   of the program's architecture are used. */
long long cpuc_frequency_from_sysfs(struct cpuc_frequency_query *query);
long long cpuc_frequency_from_cpuinfo(struct cpuc_frequency_query *query);
long long cpuc_frequency_from_current_mhz(struct cpuc_frequency_query *query);
long long cpuc_frequency_from_device_tree(struct cpuc_frequency_query *query);
long long cpuc_frequency_from_reference(struct cpuc_frequency_query *query);

#pragma GCC visibility pop

#endif
