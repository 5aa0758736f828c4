/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the container in which this process runs, and what its user can change. */

#ifndef CPUCYCLES_CONTAINER_H
#define CPUCYCLES_CONTAINER_H

#pragma GCC visibility push(hidden)

/* The command that sets a setting of the kernel, which a container has but cannot change. */
#define CPUC_CONTAINER_SET(setting) "sysctl kernel." setting
#define CPUC_CONTAINER_ON_HOST " on the host"

/* Steps in the container and on its host. LEAVE: the only step, for a sandbox without perf events,
   or NULL. If a filter refuses perf_event_open(2): ALLOW, OR_PERFMON if the capability PERFMON is
   missing, too, and AND_LEVEL if the host must also lower perf_event_paranoid. LEVEL: if only
   perf_event_paranoid refuses it, unless CAP_SYS_ADMIN is given. */
enum {
  CPUC_CONTAINER_LEAVE,
  CPUC_CONTAINER_ALLOW,
  CPUC_CONTAINER_OR_PERFMON,
  CPUC_CONTAINER_AND_LEVEL,
  CPUC_CONTAINER_LEVEL,
  CPUC_CONTAINER_STEPS
};

struct cpuc_container {
  const char *name, *steps[CPUC_CONTAINER_STEPS];
};

/* Returns the container, or NULL if none is found. Reads files and environment variables, and does
   not return unknown names, because a person may have chosen them. */
const struct cpuc_container *cpuc_container_find(void);

#pragma GCC visibility pop

#endif
