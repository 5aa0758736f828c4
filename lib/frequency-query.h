/* SPDX-License-Identifier: 0BSD OR MIT */
/* A query for the CPU frequency, and its sources. frequency.c sends the query to one source after
   the other; each source that reads more than one value has a file of its own. */

#ifndef CPUCYCLES_FREQUENCY_QUERY_H
#define CPUCYCLES_FREQUENCY_QUERY_H

#include "lib/frequency.h"

#include <dirent.h>

#pragma GCC visibility push(hidden)

#define CPUC_CPUINFO "/proc/cpuinfo"

struct cpuc_query;

struct cpuc_source {
  const char *name; /* of a file: its path */
  long long (*run)(struct cpuc_query *query, const struct cpuc_source *source); /* Hz, or 0 */
  long long unit; /* of a result that is one number, in Hz */
};

enum { CPUC_QUERY_CPUS = 32 }; /* whose files are read; there are fewer core types */

struct cpuc_query {
  const struct cpuc_platform *platform;
  struct cpuc_frequency *found;
  const struct cpuc_source *source; /* running now */
  long long result;                 /* of this source, in Hz; 0: none */
  const char *name;                 /* of the source of the result, as it is reported */
  /* In use, or -1 and NULL. Closed by frequency.c if a signal ends the source. */
  int file;
  DIR *directory;
  const struct cpuc_backend *reference;
  /* frequency-sysfs.c: the CPUs whose files are read; -1: not listed yet. */
  int cpus;
  int cpu[CPUC_QUERY_CPUS];
  int has_policy[CPUC_QUERY_CPUS]; /* the CPU has a directory cpufreq */
  long long current; /* frequency in /proc/cpuinfo, once that was read */
};

/* The sources. An emulator can show the files of its host: those of sysfs are right, because the
   CPU of the host does the work; /proc/cpuinfo is used only if it describes the emulated CPU. */
long long cpuc_frequency_from_sysfs(struct cpuc_query *query, const struct cpuc_source *source);
long long cpuc_frequency_from_cpuinfo(struct cpuc_query *query, const struct cpuc_source *source);
long long cpuc_frequency_from_current(struct cpuc_query *query, const struct cpuc_source *source);
long long cpuc_frequency_from_device_tree(struct cpuc_query *query,
  const struct cpuc_source *source);
long long cpuc_frequency_from_reference(struct cpuc_query *query, const struct cpuc_source *source);

/* Why a file has no result. */
enum cpuc_query_error {
  CPUC_FILE_ABSENT = -1,
  CPUC_FILE_REFUSED = -2,
  CPUC_FILE_NOT_REGULAR = -3,
  CPUC_FILE_UNREADABLE = -4,
  CPUC_FILE_TOO_LONG = -5,
  CPUC_FILE_NOT_TEXT = -6
};

/* The error as the end of a sentence about the file. Not for CPUC_FILE_ABSENT. */
const char *cpuc_query_error_text(int error);

/* Opens a regular file below the root. Others, such as FIFOs, could make a read wait. Returns 0 or
   an error. */
int cpuc_query_open(struct cpuc_query *query, const char *path);
void cpuc_query_close(struct cpuc_query *query);

/* Reads a whole file of fewer than size bytes; read_text() adds a 0. Returns their number, or an
   error. */
int cpuc_query_read_bytes(struct cpuc_query *query, const char *path, char *bytes, int size);
int cpuc_query_read_text(struct cpuc_query *query, const char *path, char *text, int size);

/* Opens a directory below the root. Returns 0, or -1. */
int cpuc_query_open_directory(struct cpuc_query *query, const char *path);
void cpuc_query_close_directory(struct cpuc_query *query);

void cpuc_query_close_reference(struct cpuc_query *query);

#pragma GCC visibility pop

#endif
