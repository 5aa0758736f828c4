/* SPDX-License-Identifier: 0BSD OR MIT */
/* Fills the sections on the system, the CPU and the settings. */

#ifndef CPUCYCLES_INFO_MACHINE_H
#define CPUCYCLES_INFO_MACHINE_H

#include "cpucycles-info/report.h"

void fill_system(struct system_info *system);
void fill_cpu(struct cpu_info *cpu, const char *architecture);
void fill_settings(struct settings_info *settings);

#endif
