/* SPDX-License-Identifier: 0BSD OR MIT */
/* mips64-cc: this core's cycles, by MIPS's hardware registers.
   Registers: CC (number 2), the coprocessor's Count, times CCRes (number 3), the cycles between two
   steps of it, 2 on most, by RDHWR. Readable in user mode where HWREna has their bits set; else
   Linux emulates the instruction. They raise SIGILL where neither is so. It can be readable and
   stand still, under emulators.
   Width: 32 bits. Rate: the core's pipeline clock.
   Source: MIPS Architecture for Programmers volume II, RDHWR; volume III, "Count Register" and
   "HWREna Register". */

#include "config.h"

#include "backends/backend.h"
#include "backends/mips-cc.h"

const struct cpucycles_backend cpucycles_backend_mips64_cc = {
  .kind = CPUCYCLES_KIND_CORE,
  .scope = CPUCYCLES_SCOPE_CORE,
  .width = 32,
  .source = "CC",
  .unit = "core cycles",
  .open = open_cc,
  .read = read_cc,
};
