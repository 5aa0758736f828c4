/* SPDX-License-Identifier: 0BSD OR MIT */
/* The estimate of the CPU's frequency, and its parts, each in a file of its own. */

#ifndef CPUCYCLES_FREQUENCY_H
#define CPUCYCLES_FREQUENCY_H

#include "backends/common/rate.h"
#include "sys/kernel-file.h"

#pragma GCC visibility push(hidden)

#define CPUC_FREQUENCY_DEFAULT 2399987654LL /* as the public-domain libcpucycles documents */

/* A stated frequency and the name of its source. */
struct cpuc_reported_frequency {
  long long hz; /* 0: not stated */
  const char *source;
};

struct cpuc_backend;

/* The machine that the sources are asked about; tests pass another. All members after the second
   may be NULL: no such source. */
struct cpuc_platform {
  const char *root; /* put before the paths of files: "" here */
  const char *(*environment)(const char *);       /* value of an environment variable, or NULL */
  void (*machine)(char *name, int size);          /* its architecture, as uname(2) names it */
  struct cpuc_reported_frequency (*system)(void); /* what the operating system reports */
  const struct cpuc_backend *reference;           /* of constant rate near the core's: the TSC */
  long long (*measure)(void);                     /* Hz, or 0 */
};

/* This machine. */
extern const struct cpuc_platform cpuc_frequency_platform;

/* frequency.c: asks a table of sources, in order. */

struct cpuc_frequency {
  long long persecond;
  const char *source; /* the name of the source that answered */
  char ignored[224];  /* ignored settings and the reasons, as text; or empty */
};

/* Call between cpuc_guard_enter() and cpuc_guard_leave(). A source that raises a signal does not
   answer. */
struct cpuc_frequency cpuc_frequency_estimate(const struct cpuc_platform *platform);

/* frequency-cpuinfo.c: /proc/cpuinfo of Linux. */

/* The state of a parser of /proc/cpuinfo, which is read in pieces. */
struct cpuc_cpuinfo {
  unsigned int families; /* of architectures whose lines are accepted */
  long long constant;    /* highest constant frequency so far, in Hz; or 0 */
  long long current;     /* highest current frequency so far, in Hz; or 0 */
  int has_flags, has_aperfmperf; /* x86: the line and the flag were found */
  int matched; /* number of characters of " aperfmperf" that the text ends in */
  struct cpuc_kernel_line line;
};

/* machine: the architecture that runs this, as uname(2) names it. Emulators may show the lines of
   another one, which are ignored. If machine is empty, all lines are accepted. */
void cpuc_cpuinfo_begin(struct cpuc_cpuinfo *cpuinfo, const char *machine);

/* Parses the next piece. A line that is too long, or lacks its newline, is ignored: a number in it
   may be incomplete. */
void cpuc_cpuinfo_feed(struct cpuc_cpuinfo *cpuinfo, const char *text, int length);

/* Returns 1 if "cpu MHz" is one value for all CPUs, and known. The rest of the file need not be
   read then: in a virtual machine the kernel takes ten microseconds for each CPU. */
int cpuc_cpuinfo_is_decided(const struct cpuc_cpuinfo *cpuinfo);

/* The constant frequency in Hz, or 0: on x86, also "cpu MHz" where that does not change. */
long long cpuc_cpuinfo_constant(const struct cpuc_cpuinfo *cpuinfo);

/* frequency-system.c: calls of the operating system that state a frequency. */

struct cpuc_reported_frequency cpuc_frequency_from_system(void);

/* An integer of 4 or 8 bytes in this machine's order, as sysctl returns it, times unit, in Hz; 0
   if it is anything else or out of the range of frequencies. */
long long cpuc_frequency_parse_integer(const void *bytes, int length, long long unit);

/* frequency-measure.c: the core's frequency, by a chain of dependent adds. */

/* The measured code and its clock. */
struct cpuc_timed_loop {
  long long (*now)(void);   /* nanoseconds */
  void (*run)(long passes); /* each of 512 cycles */
};

/* Takes 2 ms at most, plus the two longest interruptions. Returns Hz; 0: the clock is too coarse,
   or interruptions left no result. */
long long cpuc_frequency_measure_loop(const struct cpuc_timed_loop *loop);

/* Measures this CPU by the OS clock; 0 also in code without optimization. */
long long cpuc_frequency_measure_core(void);

#pragma GCC visibility pop

#endif
