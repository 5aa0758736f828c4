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

/* Calls the macro x for each hardware counter but the last of 32. */
#define CPUC_PERF_FOR_31(x) \
  x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(12) x(13) x(14) x(15) \
  x(16) x(17) x(18) x(19) x(20) x(21) x(22) x(23) x(24) x(25) x(26) x(27) x(28) x(29) x(30)

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
    CPUC_PERF_FOR_31(EVENT_COUNTER)
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

#define READ(number) __asm__ volatile("csrr %0, %1" : "=r"(csr) : "i"(number))
#define COUNTER(n) \
  case n: \
    if (is_upper_half) \
      READ(0xc80 + (n)); \
    else \
      READ(0xc00 + (n)); \
    break;

  switch (index - 1) {
    CPUC_PERF_FOR_31(COUNTER)
    COUNTER(31)
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
