/* SPDX-License-Identifier: 0BSD OR MIT */
/* arm64-perfpmc: user-mode core cycles of the calling thread, from the PMU register of a perf
   event. Register: PMCCNTR_EL0 if the index in the mmap page of the event is 32, or PMEVCNTR<n>_EL0
   if the index is n + 1. Both are read with MRS. Readable (Linux, since 5.17) in a thread that has
   its own event with bit 1 of config1, which requests user-space access, while sysctl
   kernel.perf_user_access is 1. Otherwise MRS raises SIGILL. cap_user_rdpmc of the page is 1 even
   if the register is not readable. Only a nonzero index means that the register is readable. Width:
   64 bits with bit 0 of config1, otherwise pmc_width of the page, sign-extended. Rate: the current
   core frequency.
   Source: Arm Architecture Reference Manual for A-profile (DDI 0487), part D, "The Performance
   Monitors Extension"; Linux, Documentation/arch/arm64/perf.rst, "Perf Userspace PMU Hardware
   Counter Access". */

#include "config.h"

#include "backends/backend.h"
#include "backends/perf/counter.h"
#include "backends/perf/hot.h"
#include "backends/perf/remedy.h"

enum { CYCLE_COUNTER = 32 };

/* Bits of config1. */
enum { LONG = 1, USER_ACCESS = 2 };

static inline uint64_t read_cycle_counter(uint32_t index)
{
  uint64_t count;

  (void)index;
  __asm__ volatile("mrs %0, pmccntr_el0" : "=r"(count));
  return count;
}

static inline uint64_t read_register(uint32_t index)
{
  uint64_t count = 0;

#define EVENT_COUNTER(n) \
  case n + 1: \
    __asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(count)); \
    break;

  switch (index) {
  case CYCLE_COUNTER:
    return read_cycle_counter(index);
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

static void diagnose_access(struct cpuc_diagnosis *diagnosis)
{
  static const struct cpuc_remedy_user_access needed = CPUC_REMEDY_ARM64_USER_ACCESS;

  cpuc_remedy_for_user_access(&needed, diagnosis);
}

static const struct cpuc_perf_counter counter = {
  .instruction = read_register,
  .fixed_index = CYCLE_COUNTER,
  .width = 64,
  .config1 = LONG | USER_ACCESS,
  .findings = &findings,
  .diagnose_access = diagnose_access,
};

static long long read_cycles(void)
{
  return cpuc_perf_read(&counter, read_cycle_counter, CYCLE_COUNTER, 0);
}

const struct cpuc_backend cpuc_backend_arm64_perfpmc = {
  .kind = CPUC_KIND_CORE,
  CPUC_PERF_MEMBERS,
  .read = read_cycles,
};
