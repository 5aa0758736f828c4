/* SPDX-License-Identifier: 0BSD OR MIT */
/* riscv64-perfrdcycle: user-mode core cycles of the calling thread, from the counter CSR of a perf
   event.
   Register: CSR C00H + n, read with CSRR, if the index in the mmap page of the event is n + 1.
   Readable (Linux, since 6.6) while the thread has its own event mapped and sysctl
   kernel.perf_user_access is not 0. CSRR raises SIGILL if this setting is 0, and also if it is 1
   and the thread has no event. Firmware decides which counter an event gets.
   Width: pmc_width of the page, sign-extended. Rate: the current frequency of the hart.
   Source: RISC-V Instruction Set Manual volume I, "Zicntr" and "Zihpm" extensions; Linux,
   drivers/perf/riscv_pmu.c, and Documentation/admin-guide/sysctl/kernel.rst, perf_user_access. */

#include "config.h"
#if HAVE_BACKEND_riscv64_perfrdcycle

#include "backends/backend.h"
#include "backends/common/riscv-perf.h"

const struct cpuc_backend cpuc_backend_riscv64_perfrdcycle = {
  CPUC_RISCV_PERF_MEMBERS,
};
#endif
