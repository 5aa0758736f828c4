/* SPDX-License-Identifier: 0BSD OR MIT */
/* riscv32-rdtime: the timer of the machine. Registers: the time and timeh CSRs, read with RDTIME
   and RDTIMEH. Width: 64 bits, read in halves: the high half is read before and after the low half,
   until the two reads of the high half agree. Access, rate and source:
   backends/common/riscv-timebase.h. */

#include "config.h"
#if HAVE_BACKEND_riscv32_rdtime

#include "backends/common/riscv-timebase.h"

const struct cpuc_backend cpuc_backend_riscv32_rdtime = { CPUC_RISCV_TIMEBASE_MEMBERS };
#endif
