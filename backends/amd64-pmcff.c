/* SPDX-License-Identifier: 0BSD OR MIT */
/* amd64-pmcff: core cycles while not halted, from a fixed counter.
   Register: IA32_FIXED_CTR1 (CPU_CLK_UNHALTED.CORE), read with RDPMC and ECX = 4000_0001H. Readable
   in user mode in every process if the file rdpmc of Linux contains 2, and in a process that has a
   perf event mapped if the file contains 1, the default. Otherwise RDPMC raises SIGSEGV. Runs only
   while a perf event uses it. Dropped while the NMI watchdog is on, which sets it back:
   doc/decisions.md.
   Width: 64 bits as read. CPUID 0AH EDX[12:5] contains the number of bits that count, 48 on most
   CPUs. The other bits are 0. Rate: the current core frequency.
   Source: Intel SDM volume 3, "Fixed-function Performance Counters" and "Architectural Performance
   Monitoring"; volume 2, CPUID 0AH and RDPMC; Linux, arch/x86/events/core.c, set_attr_rdpmc and
   x86_perf_event_set_period; kernel/watchdog_perf.c (watchdog_hld.c before 6.5);
   arch/x86/kernel/apic/hw_nmi.c, hw_nmi_get_sample_period. */

#include "config.h"
#if HAVE_BACKEND_amd64_pmcff

#include "backends/backend.h"
#include "sys/perf/pmu.h"
#include "sys/perf/remedy.h"
#include "sys/cpuid.h"

#include <errno.h>

static long long read_fixed_counter(void)
{
  return (long long)cpucycles_inline_fixed_counter_1();
}

/* CPUID 0AH: EAX[7:0] is the version, EDX[4:0] the number of fixed counters from version 2 on,
   EDX[12:5] their width. All three fields are 0 in virtual machines without a PMU, and on CPUs of
   AMD. */
static int has_fixed_counter(void)
{
  struct cpuc_cpuid_leaf pmu;
  unsigned int width;

  if (cpuc_cpuid_read(0).a < 0xa)
    return 0;
  pmu = cpuc_cpuid_read(0xa);
  width = (pmu.d >> 5) & 0xff;
  return (pmu.a & 0xff) >= 2 && (pmu.d & 0x1f) >= 2 && width > 32 && width <= 64;
}

static int open_fixed_counter(const struct cpuc_services *services,
  struct cpuc_diagnosis *diagnosis)
{
  long long level;

  (void)services;
  if (cpuc_machine_lacks_pmu(diagnosis->machine))
    return ENODEV;
  /* Read the file before CPUID, which takes longer because it exits to the hypervisor. */
  level = cpuc_perf_pmu_read_rdpmc();
  if (level < 0 || !has_fixed_counter())
    return ENODEV;
  if (level < 2)
    return EACCES;
  if (!cpuc_perf_pmu_watchdog_is_on())
    return 0;
  diagnosis->reason = CPUC_REASON_DECREASING;
  return EBUSY;
}

static void explain(int error, int signal, struct cpuc_diagnosis *diagnosis)
{
  if (error == EBUSY || (error == 0 && signal == 0))
    cpuc_remedy_for_fixed_counter(diagnosis);
  else if (error == EACCES)
    cpuc_remedy_for_rdpmc(2, diagnosis);
  /* CPUs of AMD do not have the counter, not even in a virtual machine with a PMU. */
  else if (error == ENODEV && cpuc_perf_pmu_read_rdpmc() < 0
    && cpuc_cpuid_vendor_is("GenuineIntel"))
    cpuc_remedy_for_no_pmu(diagnosis);
}

const struct cpuc_backend cpuc_backend_amd64_pmcff = {
  .kind = CPUC_KIND_CORE,
  .unit = "core cycles while not halted",
  .open = open_fixed_counter,
  .read = read_fixed_counter,
  .explain = explain,
  .inline_method = CPUCYCLES_INLINE_FIXED_COUNTER_1,
};
#endif
