/* SPDX-License-Identifier: 0BSD OR MIT */
/* Facts about this machine and process, from which it follows why a counter or an event was
   refused, and what helps. */

#ifndef CPUCYCLES_MACHINE_H
#define CPUCYCLES_MACHINE_H

#include "sys/container.h"
#include "sys/perf/cycles.h"

#include <errno.h>

#pragma GCC visibility push(hidden)

enum {
  /* In place of kernel.perf_event_paranoid: it cannot be read; the kernel lacks it. */
  CPUC_MACHINE_LEVEL_UNKNOWN = -3,
  CPUC_MACHINE_LEVEL_MISSING = -2,
  /* Numbers of capabilities(7). */
  CPUC_MACHINE_SYS_ADMIN = 21,
  CPUC_MACHINE_PERFMON = 38
};

/* The caller keeps the facts, and passes them to each function that opens or explains, so that a
   fact is found once, and in no order. All zero: nothing is known. */
struct cpuc_machine {
  struct cpuc_perf_cycles cycles; /* what open() finds */
  int is_found;                   /* 1: cpuc_machine_find() has found the members below */
  enum {
    CPUC_MACHINE_PMU_ABSENT,   /* the kernel drives no PMU of the cores */
    CPUC_MACHINE_PMU_PRESENT,  /* it drives one */
    CPUC_MACHINE_PMU_HIDDEN,   /* not known, because /sys cannot be read */
    CPUC_MACHINE_PMU_UNLISTED, /* not known, because the kernel lists no PMUs at all */
  } pmu;
  int level;                       /* kernel.perf_event_paranoid; below 0 as -1 */
  int user_access;                 /* kernel.perf_user_access; -1: no such setting */
  int release;                     /* 5017 for Linux 5.17; INT_MAX: not known */
  unsigned long long capabilities; /* of this thread: a bit for each number */
  int is_in_user_namespace;        /* 1: not in the initial one */
  int is_filtered;                 /* 1: this thread has a seccomp filter */
  int is_android;
  const struct cpuc_container *container; /* or NULL */
  const char *hypervisor, *of_hypervisor; /* its name and its remedy for no PMU, or NULL */
  const char *emulator;                   /* or NULL */
};

/* Returns 1 if the kernel has answered that it has no PMU; 0 if it has one, or was not asked. */
static inline int cpuc_machine_lacks_pmu(const struct cpuc_machine *machine)
{
  return machine->cycles.is_known && machine->cycles.error == ENOENT;
}

/* Returns 1 if this thread has the capability of this number. */
static inline int cpuc_machine_has(const struct cpuc_machine *machine, int capability)
{
  return (machine->capabilities >> capability & 1) != 0;
}

/* Finds what is not known. Do not call it in the first call, because it reads many files, and
   executes CPUID, which takes long in a virtual machine. */
void cpuc_machine_find(struct cpuc_machine *machine);

#pragma GCC visibility pop

#endif
