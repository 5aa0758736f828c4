/* SPDX-License-Identifier: 0BSD OR MIT */
/* riscv64-rdcycle: core cycles of this hart. Register: the cycle CSR, read with RDCYCLE. Width: 64
   bits. Access, rate and source: backends/common/riscv-cycle.h. */

#include "config.h"
#if HAVE_BACKEND_riscv64_rdcycle

#include "backends/common/riscv-cycle.h"

const struct cpuc_backend cpuc_backend_riscv64_rdcycle = { CPUC_RISCV_CYCLE_MEMBERS };
#endif
