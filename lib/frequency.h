/* SPDX-License-Identifier: 0BSD OR MIT */
/* The estimate of the CPU frequency: functions that other modules or tests call, grouped by the
   file that contains them; then the query and its sources, for frequency*.c only. */

#ifndef CPUCYCLES_FREQUENCY_H
#define CPUCYCLES_FREQUENCY_H

#include "backends/backend.h"
#include "backends/common/rate.h"
#include "sys/clock-sample.h"
#include "sys/file.h"

#pragma GCC visibility push(hidden)

#define CPUC_FREQUENCY_DEFAULT 2399987654LL /* the value of the public-domain libcpucycles */
#define CPUC_FREQUENCY_DEFAULT_SOURCE "default"

/* frequency.c: asks the sources in order. */

struct cpuc_frequency {
  long long persecond;
  const char *source; /* name of the source that has a result, or CPUC_FREQUENCY_DEFAULT_SOURCE */
  char ignored[224];  /* sentence on ignored settings and the reasons, or empty */
  int is_setting;     /* 1 if the source is a setting of the administrator or user */
};

/* Call between cpuc_guard_enter() and cpuc_guard_leave(). A source that causes a fault has no
   result. Sources with a result below `least` are skipped, except settings. */
struct cpuc_frequency cpuc_frequency_estimate(long long least);

/* frequency-cpuinfo.c: /proc/cpuinfo of Linux. */

/* What the lines of /proc/cpuinfo contain. At first, all members are 0. */
struct cpuc_frequency_cpuinfo {
  long long constant_hz;      /* highest constant frequency so far, or 0 */
  long long maybe_current_hz; /* highest "cpu MHz" of x86 so far, or 0 */
  int is_guest;               /* x86: 1 if the flags contain "hypervisor" */
  int has_tsc;                /* x86: 1 if "bogomips" was found */
  int is_mhz_constant;        /* x86: 1 if "cpu MHz" of a guest is the rate of the TSC; the rest of
                                 the file then need not be read */
  int is_powernv, is_powermac; /* POWER: 1 if this is the platform */
};

/* Parses the next line. Ignores a frequency in a line that is cut, because the number may be
   incomplete. */
void cpuc_frequency_cpuinfo_add(struct cpuc_frequency_cpuinfo *cpuinfo,
  const struct cpuc_file_line *line);

/* frequency-reference.c: the TSC. */

/* Reads the time and, at this time, the reference counter. Returns zeros if there is no such
   counter, or if its read causes a fault. */
struct cpuc_clock_sample cpuc_frequency_sample_reference(void);

/* Returns the lowest plausible estimate, or 0 if `persecond` is not suspect. With a reference
   counter of constant rate, an estimate far below this rate is suspect. Without one, each estimate
   is on which counts depend, for which `is_needed` is 1. `begin` was sampled when the selection
   began. */
long long cpuc_frequency_find_least(long long persecond, int is_needed,
  const struct cpuc_clock_sample *begin);

/* frequency-system.c: calls with which operating systems report a frequency. frequency-sysctl.c is
   for the BSDs and Darwin, frequency-aix.c and frequency-solaris.c for AIX and Solaris. */

/* Return the frequency and the name of its source. The first function calls the others. */
struct cpuc_rate cpuc_frequency_from_system(void);
struct cpuc_rate cpuc_frequency_from_sysctlbyname(void);
struct cpuc_rate cpuc_frequency_from_sysctl(void);
struct cpuc_rate cpuc_frequency_from_perfstat(void);
struct cpuc_rate cpuc_frequency_from_processor_info(void);

/* frequency-measure.c: measures the core frequency with a chain of dependent adds. */

/* Times dependent adds of this core against the OS clock for at most 2 ms, plus interruptions.
   Returns Hz, or 0 if the clock is too coarse, steps back or is stopped, if interruptions prevent a
   result, or in code without optimization. */
long long cpuc_frequency_measure_core(void);

/* Returns the lowest estimate that is not wrong for certain: 0.4 of the frequency that a rough
   measurement finds, because a core never runs much faster than its highest frequency; 0 where a
   chain of adds shows no frequency. Takes at most 100 us, plus interruptions, if the core runs at
   1 GHz or more and the clock is fine-grained. Interruptions make the result lower. */
long long cpuc_frequency_least_plausible(void);

/* Finds the lowest estimate like cpuc_frequency_least_plausible(), but with chains of 512 and
   1024 adds, against a counter of this rate in Hz. */
long long cpuc_frequency_least_plausible_by(long long (*read)(void), long long rate);

/* A query for the CPU frequency. frequency.c passes it to one source after the other. Sources that
   read more than one value are in files of their own. */
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
  struct cpuc_frequency found;                      /* the estimate so far */
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
