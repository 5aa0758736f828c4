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

#define READ(number) __asm__ volatile("csrr %0, %1" : "=r"(csr) : "i"(number))
#define COUNTER(n) \
  case n: \
    if (is_upper_half) \
      READ(0xc80 + (n)); \
    else \
      READ(0xc00 + (n)); \
    break;

  switch (index - 1) {
    COUNTER(0) COUNTER(1) COUNTER(2) COUNTER(3) COUNTER(4) COUNTER(5)
    COUNTER(6) COUNTER(7) COUNTER(8) COUNTER(9) COUNTER(10) COUNTER(11)
    COUNTER(12) COUNTER(13) COUNTER(14) COUNTER(15) COUNTER(16) COUNTER(17)
    COUNTER(18) COUNTER(19) COUNTER(20) COUNTER(21) COUNTER(22) COUNTER(23)
    COUNTER(24) COUNTER(25) COUNTER(26) COUNTER(27) COUNTER(28) COUNTER(29)
    COUNTER(30) COUNTER(31)
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
