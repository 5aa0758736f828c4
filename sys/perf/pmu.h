/* SPDX-License-Identifier: 0BSD OR MIT */
/* The directories in which the kernel describes its PMUs. A test can define these functions itself,
   so that the linker leaves pmu.c out.
   Source: Linux, Documentation/ABI/testing/sysfs-bus-event_source-devices*. */

#ifndef CPUCYCLES_PERF_PMU_H
#define CPUCYCLES_PERF_PMU_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Calls visit(name, argument) for each PMU. Allocates memory, and is a cancellation point. */
void cpuc_perf_pmu_visit(void (*visit)(const char *name, void *argument), void *argument);

/* Reads a file in the directory of the PMU as a string. Returns 0 if the file is missing or empty.
   Is a cancellation point. */
int cpuc_perf_pmu_read(const char *pmu, const char *file, char *text, size_t size);

#pragma GCC visibility pop

#endif
