/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the container in which this process runs, and what its user can change. */

#ifndef CPUCYCLES_CONTAINER_H
#define CPUCYCLES_CONTAINER_H

#pragma GCC visibility push(hidden)

struct cpuc_container {
  const char *name;
  /* Steps in the container and on its host. leave: the only step, for a sandbox without perf
     events, or NULL. If a filter refuses perf_event_open(2): allow, allow_or_perfmon if the
     capability PERFMON is missing, too, and allow_and_level if the host must also lower
     perf_event_paranoid. level_or_admin: if only perf_event_paranoid refuses it, unless
     CAP_SYS_ADMIN is given. */
  const char *leave, *allow, *allow_or_perfmon, *allow_and_level, *level_or_admin;
};

/* Returns the container, or NULL if none is found. Reads files and environment variables, and does
   not return unknown names, because a person may have chosen them. */
const struct cpuc_container *cpuc_container_find(void);

#pragma GCC visibility pop

#endif
