/* SPDX-License-Identifier: 0BSD OR MIT */
/* The code of riscv64-rdcycle and riscv32-rdcycle: core cycles of this hart, from the cycle CSR.
   Readable in user mode if bit CY of scounteren and mcounteren is set. Otherwise the instructions
   raise SIGILL. Linux since 6.6 sets the bit only if sysctl kernel.perf_user_access is 2, or is 1
   and a mapped event uses this counter. Rate: the current frequency of the hart.
   Source: RISC-V Instruction Set Manual volume I, "Zicntr" extension for base counters and timers;
   volume II, section "Supervisor Counter-Enable (scounteren) Register"; Linux,
   Documentation/admin-guide/sysctl/kernel.rst, perf_user_access. */

#ifndef CPUCYCLES_RISCV_CYCLE_H
#define CPUCYCLES_RISCV_CYCLE_H

#include "backends/backend.h"
#include "sys/perf/remedy.h"

static long long read_cycle(void)
{
  return (long long)cpucycles_inline_cycle();
}

#define CPUC_RISCV_CYCLE_MEMBERS \
  .kind = CPUC_KIND_CORE, \
  .read = read_cycle, \
  .explain = cpuc_remedy_for_rdcycle, \
  .inline_method = CPUCYCLES_INLINE_CYCLE

#endif
