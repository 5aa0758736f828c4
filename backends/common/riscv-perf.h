/* SPDX-License-Identifier: 0BSD OR MIT */
/* The code of riscv64-perfrdcycle and riscv32-perfrdcycle, which read a counter CSR
   (sys/perf/register.h). Readable (Linux, since 6.6) while the thread has its own event mapped and
   sysctl kernel.perf_user_access is not 0. CSRR raises SIGILL if this setting is 0, and also if the
   setting is 1 and the thread has no event. Firmware decides which counter an event gets.
   Width: pmc_width of the page, sign-extended. Rate: the current frequency of the hart.
   Source: RISC-V Instruction Set Manual volume I, "Zicntr" and "Zihpm" extensions; Linux,
   drivers/perf/riscv_pmu.c, and Documentation/admin-guide/sysctl/kernel.rst, perf_user_access. */

#ifndef CPUCYCLES_RISCV_PERF_H
#define CPUCYCLES_RISCV_PERF_H

#include "backends/perf/counter.h"
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
