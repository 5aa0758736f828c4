/* SPDX-License-Identifier: 0BSD OR MIT */
/* The code of riscv64-perfrdcycle and riscv32-perfrdcycle. The counter CSRs are C00H (cycle) to
   C1FH, and on 32-bit RISC-V their upper halves C80H to C9FH. The number of the CSR is a constant
   in the instruction CSRR, so each counter needs its own instruction.
   Source: RISC-V Instruction Set Manual volume I, "Zicntr" and "Zihpm" extensions;
   Linux, drivers/perf/riscv_pmu.c. */

#ifndef CPUCYCLES_RISCV_PERF_H
#define CPUCYCLES_RISCV_PERF_H

#include "backends/perf/counter.h"
#include "backends/perf/hot.h"
#include "backends/perf/remedy.h"

/* Reads the counter CSR that belongs to the index in the mmap page, or its upper half. */
static inline __attribute__((always_inline)) unsigned long read_csr(uint32_t index,
  int is_upper_half)
{
  unsigned long csr = 0;

#define READ(number) __asm__ volatile("csrr %0, " #number : "=r"(csr))
#define COUNTER(n, low, high) \
  case n: \
    if (is_upper_half) \
      READ(high); \
    else \
      READ(low); \
    break;

  switch (index - 1) {
    COUNTER(0, 0xc00, 0xc80) COUNTER(1, 0xc01, 0xc81) COUNTER(2, 0xc02, 0xc82)
    COUNTER(3, 0xc03, 0xc83) COUNTER(4, 0xc04, 0xc84) COUNTER(5, 0xc05, 0xc85)
    COUNTER(6, 0xc06, 0xc86) COUNTER(7, 0xc07, 0xc87) COUNTER(8, 0xc08, 0xc88)
    COUNTER(9, 0xc09, 0xc89) COUNTER(10, 0xc0a, 0xc8a) COUNTER(11, 0xc0b, 0xc8b)
    COUNTER(12, 0xc0c, 0xc8c) COUNTER(13, 0xc0d, 0xc8d) COUNTER(14, 0xc0e, 0xc8e)
    COUNTER(15, 0xc0f, 0xc8f) COUNTER(16, 0xc10, 0xc90) COUNTER(17, 0xc11, 0xc91)
    COUNTER(18, 0xc12, 0xc92) COUNTER(19, 0xc13, 0xc93) COUNTER(20, 0xc14, 0xc94)
    COUNTER(21, 0xc15, 0xc95) COUNTER(22, 0xc16, 0xc96) COUNTER(23, 0xc17, 0xc97)
    COUNTER(24, 0xc18, 0xc98) COUNTER(25, 0xc19, 0xc99) COUNTER(26, 0xc1a, 0xc9a)
    COUNTER(27, 0xc1b, 0xc9b) COUNTER(28, 0xc1c, 0xc9c) COUNTER(29, 0xc1d, 0xc9d)
    COUNTER(30, 0xc1e, 0xc9e) COUNTER(31, 0xc1f, 0xc9f)
  }
  return csr;
#undef COUNTER
#undef READ
}

#if __riscv_xlen == 64
static inline __attribute__((always_inline)) uint64_t read_register(uint32_t index)
{
  return read_csr(index, 0);
}
#else
static inline __attribute__((always_inline)) uint64_t read_register(uint32_t index)
{
  uint32_t before, low, high;

  do {
    before = read_csr(index, 1);
    low = read_csr(index, 0);
    high = read_csr(index, 1);
  } while (before != high);
  return (uint64_t)high << 32 | low;
}
#endif

static void diagnose_access(struct cpuc_diagnosis *diagnosis)
{
  static const struct cpuc_remedy_user_access needed = CPUC_REMEDY_RISCV_USER_ACCESS;

  cpuc_remedy_for_user_access(&needed, diagnosis);
}

static const struct cpuc_perf_counter counter = {
  .instruction = read_register,
  .fixed_index = 1, /* cycle */
  .width = 64,
  .findings = &findings,
  .diagnose_access = diagnose_access,
};

static long long read_cycles(void)
{
  return cpuc_perf_read(&counter, read_register, cpuc_perf_self.index, 0);
}

#define CPUC_RISCV_PERF_MEMBERS \
  .kind = CPUC_KIND_CORE, \
  CPUC_PERF_MEMBERS, \
  .read = read_cycles

#endif
