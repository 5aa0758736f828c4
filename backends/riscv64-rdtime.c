/* SPDX-License-Identifier: 0BSD OR MIT */
/* riscv64-rdtime: the timer of the machine. Register: the time CSR, read with RDTIME. Width: 64
   bits. Access, rate and source: backends/common/riscv-timebase.h. */

#include "config.h"
#if HAVE_BACKEND_riscv64_rdtime

#include "backends/common/riscv-timebase.h"

const struct cpuc_backend cpuc_backend_riscv64_rdtime = { CPUC_RISCV_TIMEBASE_MEMBERS };
#endif
