/* SPDX-License-Identifier: 0BSD OR MIT */
/* riscv32-rdcycle: core cycles of this hart. Registers: the cycle and cycleh CSRs, read with
   RDCYCLE and RDCYCLEH. Width: 64 bits, read in halves: the high half is read before and after the
   low half, until the two reads of the high half agree. Access, rate and source:
   backends/common/riscv-cycle.h. */

#include "config.h"
#if HAVE_BACKEND_riscv32_rdcycle

#include "backends/common/riscv-cycle.h"

const struct cpuc_backend cpuc_backend_riscv32_rdcycle = { CPUC_RISCV_CYCLE_MEMBERS };
#endif
