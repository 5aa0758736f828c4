/* SPDX-License-Identifier: 0BSD OR MIT */
/* The instructions that read the hardware counter of a perf event, by the index in its mmap page.
   Only CPUs on which Linux gives programs access have them.
   amd64: RDPMC of index - 1. In ECX, bit 30 selects the fixed counters, of which 1 counts core
   cycles.
   arm64: PMCCNTR_EL0, the cycle counter, if the index is 32; PMEVCNTR<n>_EL0 if the index is n + 1.
   RISC-V: the CSR C00H + n if the index is n + 1: C00H (cycle) to C1FH, and on 32-bit RISC-V the
   upper halves C80H to C9FH. The number of the register is a part of the instructions MRS and CSRR,
   so each register needs its own instruction.
   Source: Intel SDM volume 2, RDPMC; AMD APM volume 3, RDPMC; Arm Architecture Reference Manual for
   A-profile (DDI 0487), part D, "The Performance Monitors Extension"; RISC-V Instruction Set Manual
   volume I, "Zicntr" and "Zihpm" extensions; linux/perf_event.h, struct perf_event_mmap_page;
   Linux, Documentation/arch/arm64/perf.rst, drivers/perf/riscv_pmu.c. */

#ifndef CPUCYCLES_PERF_REGISTER_H
#define CPUCYCLES_PERF_REGISTER_H

#include <stdint.h>

#if defined(__x86_64__) || defined(__aarch64__) || defined(__riscv)

/* CPUC_PERF_FIXED_INDEX: the index of the fixed counter of cycles, which cores of all types have.
   CPUC_PERF_USER_ACCESS, CPUC_PERF_LONG: the bits of config1 with which an event requests access,
   and 64 bits; 0: none. */
#if defined(__x86_64__)

enum { CPUC_PERF_FIXED_INDEX = (1 << 30) + 2, CPUC_PERF_USER_ACCESS = 0, CPUC_PERF_LONG = 0 };

static inline __attribute__((always_inline)) uint64_t cpuc_perf_register(uint32_t index)
{
  uint32_t low, high;

  __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index - 1));
  return (uint64_t)high << 32 | low;
}

#elif defined(__aarch64__)

enum { CPUC_PERF_FIXED_INDEX = 32, CPUC_PERF_USER_ACCESS = 2, CPUC_PERF_LONG = 1 };

static inline __attribute__((always_inline)) uint64_t cpuc_perf_cycle_register(uint32_t index)
{
  uint64_t count;

  (void)index;
  __asm__ volatile("mrs %0, pmccntr_el0" : "=r"(count));
  return count;
}

static inline __attribute__((always_inline)) uint64_t cpuc_perf_register(uint32_t index)
{
  uint64_t count = 0;

#define EVENT_COUNTER(n) \
  case n + 1: \
    __asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(count)); \
    break;

  switch (index) {
  case CPUC_PERF_FIXED_INDEX:
    return cpuc_perf_cycle_register(index);
    EVENT_COUNTER(0) EVENT_COUNTER(1) EVENT_COUNTER(2) EVENT_COUNTER(3) EVENT_COUNTER(4)
    EVENT_COUNTER(5) EVENT_COUNTER(6) EVENT_COUNTER(7) EVENT_COUNTER(8) EVENT_COUNTER(9)
    EVENT_COUNTER(10) EVENT_COUNTER(11) EVENT_COUNTER(12) EVENT_COUNTER(13) EVENT_COUNTER(14)
    EVENT_COUNTER(15) EVENT_COUNTER(16) EVENT_COUNTER(17) EVENT_COUNTER(18) EVENT_COUNTER(19)
    EVENT_COUNTER(20) EVENT_COUNTER(21) EVENT_COUNTER(22) EVENT_COUNTER(23) EVENT_COUNTER(24)
    EVENT_COUNTER(25) EVENT_COUNTER(26) EVENT_COUNTER(27) EVENT_COUNTER(28) EVENT_COUNTER(29)
    EVENT_COUNTER(30)
  }
  return count;
#undef EVENT_COUNTER
}

#else

enum { CPUC_PERF_FIXED_INDEX = 1, CPUC_PERF_USER_ACCESS = 0, CPUC_PERF_LONG = 0 };

/* Reads the counter CSR that belongs to the index in the mmap page, or its upper half. */
static inline __attribute__((always_inline)) unsigned long cpuc_perf_csr(uint32_t index,
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
static inline __attribute__((always_inline)) uint64_t cpuc_perf_register(uint32_t index)
{
  return cpuc_perf_csr(index, 0);
}
#else
static inline __attribute__((always_inline)) uint64_t cpuc_perf_register(uint32_t index)
{
  uint32_t before, low, high;

  do {
    before = cpuc_perf_csr(index, 1);
    low = cpuc_perf_csr(index, 0);
    high = cpuc_perf_csr(index, 1);
  } while (before != high);
  return (uint64_t)high << 32 | low;
}
#endif

#endif

#define CPUC_PERF_HAS_REGISTER 1
#endif

#endif
