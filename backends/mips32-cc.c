/* SPDX-License-Identifier: 0BSD OR MIT */
/* mips32-cc: core cycles on 32-bit MIPS, from hardware registers. Access and failures:
   backends/common/mips-cc.h. Width: 32 bits. Rate: that of the pipeline clock. Source: MIPS
   Architecture for Programmers volume II, RDHWR. */

#include "config.h"
#if HAVE_BACKEND_mips32_cc

#include "backends/common/mips-cc.h"

const struct cpuc_backend cpuc_backend_mips32_cc = { CPUC_MIPS_CC_MEMBERS };
#endif
