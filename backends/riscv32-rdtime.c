/* SPDX-License-Identifier: 0BSD OR MIT */
/* riscv32-rdtime: the timer of the machine.
   Registers: the time and timeh CSRs, read with RDTIME and RDTIMEH. Readable in user mode if the
   kernel sets bit TM of scounteren, as Linux does. Otherwise RDTIME and RDTIMEH raise SIGILL. On
   harts without the CSRs, firmware emulates both instructions, which takes long.
   Width: 64 bits, read in halves: the high half is read before and after the low half, until the
   two reads of the high half agree.
   Rate: constant, a few MHz on most CPUs, reported by the kernel
   (backends/common/riscv-timebase.h).
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
  .unit = "timer units",
  .read = read_time,
  .rate = cpuc_riscv_timebase,
  .inline_method = CPUCYCLES_INLINE_TIME,
};
