/* SPDX-License-Identifier: 0BSD OR MIT */
/* riscv64-perfrdcycle: user-mode core cycles of the calling thread, by the counter CSR that a
   perf event has.
   Register: CSR C00H + n, where the index of the event's mapped page is n + 1. Linux (since 6.6)
   opens it to user mode while a thread has an event of its own mapped, unless sysctl
   kernel.perf_user_access is 0; otherwise CSRR raises SIGILL. Which counter it is the firmware
   decides.
   Width: what pmc_width says, sign-extended. Rate: the hart's, as it runs.
   Source: RISC-V Instruction Set Manual volume I, "Zicntr" and "Zihpm" extensions; Linux,
   drivers/perf/riscv_pmu.c, and Documentation/admin-guide/sysctl/kernel.rst, perf_user_access. */

#include "config.h"

#include "backends/backend.h"
#include "backends/common/riscv-perf.h"

const struct cpucycles_backend cpucycles_backend_riscv64_perfrdcycle = {
  RISCV_PERF_FACTS,
};
