/* SPDX-License-Identifier: 0BSD OR MIT */
/* riscv64-rdtime: the timer of the machine.
   Register: the time CSR, read with RDTIME. Readable in user mode if the kernel sets bit TM of
   scounteren, as Linux does. Otherwise RDTIME raises SIGILL. On harts without the CSR, firmware
   emulates RDTIME, which takes long.
   Width: 64 bits. Rate: constant, a few MHz on most CPUs, reported by the kernel
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

const struct cpuc_backend cpuc_backend_riscv64_rdtime = {
  .kind = CPUC_KIND_SCALED,
  .scope = CPUC_SCOPE_SYSTEM,
  .width = 64,
  .register_name = "time CSR",
  .unit = "timer units",
  .read = read_time,
  .rate = cpuc_riscv_timebase,
  .inline_method = CPUCYCLES_INLINE_TIME,
};
