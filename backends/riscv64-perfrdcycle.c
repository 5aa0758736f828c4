/* SPDX-License-Identifier: 0BSD OR MIT */
/* riscv64-perfrdcycle: user-mode core cycles of the calling thread, by the counter CSR of a perf
   event.
   Register: CSR C00H + n, where the index in the event's mmap page is n + 1. Readable (Linux, since
   6.6) while the thread has an event of its own mapped, unless sysctl kernel.perf_user_access is 0;
   else CSRR raises SIGILL. Firmware decides which counter an event gets.
   Width: the page's pmc_width, sign-extended. Rate: the hart's current frequency.
   Source: RISC-V Instruction Set Manual volume I, "Zicntr" and "Zihpm" extensions; Linux,
   drivers/perf/riscv_pmu.c, and Documentation/admin-guide/sysctl/kernel.rst, perf_user_access. */

#include "config.h"

#include "backends/backend.h"
#include "backends/common/riscv-perf.h"

const struct cpuc_backend cpuc_backend_riscv64_perfrdcycle = {
  RISCV_PERF_MEMBERS,
};
