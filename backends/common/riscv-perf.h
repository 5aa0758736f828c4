/* SPDX-License-Identifier: 0BSD OR MIT */
/* The code of riscv64-perfrdcycle and riscv32-perfrdcycle, which read a counter CSR
   (sys/perf/register.h). */

#ifndef CPUCYCLES_RISCV_PERF_H
#define CPUCYCLES_RISCV_PERF_H

#include "backends/perf/counter.h"
#include "backends/perf/hot.h"
#include "sys/perf/remedy.h"
#include "sys/perf/register.h"

static const struct cpuc_perf_counter counter = {
  .instruction = cpuc_perf_register,
  .fixed_index = CPUC_PERF_FIXED_INDEX,
  .width = 64,
  .diagnose_access = cpuc_remedy_for_riscv_user_access,
};

static long long read_cycles(void)
{
  return cpuc_perf_read(&counter, cpuc_perf_register, cpuc_perf_self.index, 0);
}

#define CPUC_RISCV_PERF_MEMBERS \
  .kind = CPUC_KIND_CORE, \
  CPUC_PERF_MEMBERS, \
  .read = read_cycles

#endif
