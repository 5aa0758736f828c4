/* SPDX-License-Identifier: 0BSD OR MIT */
/* The estimate of the CPU's frequency, and the parts that it is made of. */

#ifndef CPUCYCLES_FREQUENCY_H
#define CPUCYCLES_FREQUENCY_H

#include "backends/common/rate.h"
#include "sys/kernel-file.h"

#pragma GCC visibility push(hidden)

#define CPUCYCLES_FREQUENCY_DEFAULT 2399987654LL    /* documented by the existing library */

/* What somebody says, and who. */
struct cpucycles_statement {
  long long hz; /* 0: nothing */
  const char *source;
};

struct cpucycles_backend;

/* What the library asks of the machine around it; tests give another. Below the second member, what
   is 0 is not asked. */
struct cpucycles_host {
  const char *root;                            /* put before the paths of files: "" here */
  const char *(*environment)(const char *);    /* the value of an environment variable, or 0 */
  void (*machine)(char *name, int size);       /* its architecture, as uname(2) names it */
  struct cpucycles_statement (*system)(void);  /* what the system's calls state */
  const struct cpucycles_backend *reference;   /* constant rate, near the core's frequency: the TSC */
  long long (*measure)(void);                  /* Hz, or 0 */
};

extern const struct cpucycles_host cpucycles_host;

/* frequency.c: asks a table of sources, in order. */

struct cpucycles_frequency {
  long long persecond;
  const char *source; /* the name of the source that answered */
  char skipped[224];  /* which setting was not obeyed and why, in words; or empty */
  int no_files;       /* opening a file raises a signal here */
};

struct cpucycles_frequency cpucycles_frequency(const struct cpucycles_host *host);

/* parse.c: what texts and bytes state. Knows no files. */

/* The whole text as one decimal number times unit, a power of ten, in Hz; 0 if it is not that. */
long long cpucycles_parse_number(const char *text, long long unit);

/* Why cpucycles_parse_number() says 0 of this text, as the end of a sentence. */
const char *cpucycles_parse_complaint(const char *text);

/* The first of a list of CPUs, such as "6-7,10": 6. -1 if it is none. */
int cpucycles_parse_first_cpu(const char *text);

/* The next range of a kernel's list of CPUs, such as "0-3,6\n" or "0 1 2 3\n". Returns the rest of
   the list, or 0 if there is no range. */
const char *cpucycles_parse_cpus(const char *text, int *first, int *last);

/* An int of 4 or 8 bytes in this machine's order, as sysctl returns it, times unit, in Hz; 0 if
   it is not that. */
long long cpucycles_parse_integer(const void *bytes, int length, long long unit);

/* /proc/cpuinfo, in pieces as it is read. */
struct cpucycles_cpuinfo {
  unsigned int families; /* of architectures whose lines are believed */
  long long highest;     /* frequency that any line has stated, in Hz; or 0 */
  long long momentary;   /* the same, of lines that show the frequency of this moment */
  int has_flags, has_aperfmperf; /* seen on x86; matched: so many characters of the latter */
  int matched;
  struct cpucycles_kernel_line line;
};

/* machine: the architecture that runs this, as uname(2) names it: lines of others, which emulators
   show, are not believed. Empty: unknown, so that all are. */
void cpucycles_cpuinfo_begin(struct cpucycles_cpuinfo *cpuinfo, const char *machine);
void cpucycles_cpuinfo_feed(struct cpucycles_cpuinfo *cpuinfo, const char *text, int length);

/* Is "cpu MHz" one value for all CPUs, and known? Then no more need be read: in a virtual machine
   the kernel takes ten microseconds for each CPU. */
int cpucycles_cpuinfo_is_decided(const struct cpucycles_cpuinfo *cpuinfo);

/* What is stated for good, in Hz, or 0: on x86, also "cpu MHz" where that does not change. */
long long cpucycles_cpuinfo_constant(const struct cpucycles_cpuinfo *cpuinfo);

/* system.c: what calls of the operating system state. */

struct cpucycles_statement cpucycles_system_frequency(void);

/* measure.c: the core's frequency, by adds in a row. */

/* What is timed, and by what. */
struct cpucycles_stopwatch {
  long long (*now)(void);   /* nanoseconds */
  void (*run)(long passes); /* each of 512 cycles */
};

/* Takes 2 ms at most, or that and what an interruption takes. Returns Hz, or 0: cannot be said. */
long long cpucycles_measure(const struct cpucycles_stopwatch *stopwatch);

/* The same, of this CPU by the OS clock. */
long long cpucycles_measured_frequency(void);

#pragma GCC visibility pop

#endif
