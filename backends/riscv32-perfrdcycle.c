/* SPDX-License-Identifier: 0BSD OR MIT */
/* riscv32-perfrdcycle: user-mode core cycles of the calling thread, from the counter CSR of a perf
   event.
   Registers: CSR C00H + n, and C80H + n for the upper half, read with CSRR, if the index in the
   mmap page of the event is n + 1. Access, width, rate and source: backends/common/riscv-perf.h. */

#include "config.h"
#if HAVE_BACKEND_riscv32_perfrdcycle

#include "backends/common/riscv-perf.h"

const struct cpuc_backend cpuc_backend_riscv32_perfrdcycle = { CPUC_RISCV_PERF_MEMBERS };
#endif
