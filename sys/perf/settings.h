/* SPDX-License-Identifier: 0BSD OR MIT */
/* Facts about the performance monitoring unit (PMU) of this machine. They decide which counters are
   opened, and which remedies fit. */

#ifndef CPUCYCLES_PERF_SETTINGS_H
#define CPUCYCLES_PERF_SETTINGS_H

#pragma GCC visibility push(hidden)

/* 1 if perf_event_open(2) reported in the selection that there is no PMU. Later trials of other
   counters that need a PMU then need no system calls to find this out. 0 if perf_event_open(2) did
   not report this, or was not called. */
extern int cpuc_perf_settings_no_pmu;

/* The files with the RDPMC setting of Linux on x86. Hybrid CPUs have no PMU named cpu, so their
   setting is read from cpu_core. It applies to all PMUs. */
#define CPUC_PERF_SETTINGS_RDPMC "/sys/bus/event_source/devices/cpu/rdpmc"
#define CPUC_PERF_SETTINGS_HYBRID_RDPMC "/sys/bus/event_source/devices/cpu_core/rdpmc"

/* Returns the RDPMC setting. 0: no process may use RDPMC; 1: processes that have an event mapped;
   2: all processes; -1: no PMU has the setting. If is_hybrid is not NULL, stores in it whether the
   setting was looked for in the file of a hybrid CPU. */
long long cpuc_perf_settings_rdpmc_level(int *is_hybrid);

/* Returns 1 if the NMI watchdog of Linux is on. On CPUs of Intel the watchdog uses the fixed cycle
   counter. */
int cpuc_perf_settings_nmi_watchdog_is_on(void);

#pragma GCC visibility pop

#endif
