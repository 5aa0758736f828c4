/* SPDX-License-Identifier: 0BSD OR MIT */
/* riscv32-rdtime: the machine's timer.
   Registers: the time and timeh CSRs, by RDTIME and RDTIMEH. Readable in user mode where scounteren
   has bit TM set; Linux sets it. Else RDTIME and RDTIMEH raise SIGILL. Firmware emulates both on
   harts without the CSRs, where a read takes long.
   Width: 64 bits, in halves: the high half is read before and after the low one, until both reads
   of it agree.
   Rate: constant, as the kernel reports it (backends/common/riscv-timebase.h), some MHz on most.
   Source: RISC-V Instruction Set Manual volume I, "Zicntr" extension for base counters and timers;
   volume II, section "Supervisor Counter-Enable (scounteren) Register". */

#include "config.h"

#include "backends/backend.h"
#include "backends/common/riscv-timebase.h"

static long long read_time(void)
{
  return (long long)cpucycles_inline_time();
}

const struct cpuc_backend cpuc_backend_riscv32_rdtime = {
  .kind = CPUC_KIND_SCALED,
  .scope = CPUC_SCOPE_SYSTEM,
  .width = 64,
  .register_name = "time CSR",
  .unit = "timer ticks",
  .read = read_time,
  .rate = riscv_timebase,
  .inline_method = CPUCYCLES_INLINE_TIME,
};
