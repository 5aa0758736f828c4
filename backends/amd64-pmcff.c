/* SPDX-License-Identifier: 0BSD OR MIT */
/* amd64-pmcff: this core's cycles while not halted, by RDPMC of a fixed counter.
   Register: IA32_FIXED_CTR1 (CPU_CLK_UNHALTED.CORE), by RDPMC with ECX = 4000_0001H. Readable in
   user mode where Linux's rdpmc file says 2. At 1, the default, RDPMC raises SIGSEGV except in a
   process that has a perf event mapped; at 0 it always does. The library does not start the
   counter: it stands still if nothing else has started it. The kernel's NMI watchdog starts it,
   and resets it every few seconds.
   Width: CPUID 0AH EDX[12:5], 48 bits on most, zero-extended. Rate: the core's current frequency.
   Source: Intel SDM volume 3, "Fixed-function Performance Counters" and "Architectural Performance
   Monitoring"; volume 2, CPUID 0AH and RDPMC; Linux, arch/x86/events/core.c, set_attr_rdpmc. */

#include "config.h"

#include "backends/backend.h"
#include "backends/common/perf-remedy.h"

#include <cpuid.h>
#include <errno.h>

static long long read_fixed_counter(void)
{
  return (long long)cpucycles_inline_fixed_counter_1();
}

/* CPUID 0AH: EAX[7:0] is the version, EDX[4:0] the number of fixed counters from version 2 on,
   EDX[12:5] their width. All are 0 in virtual machines without a PMU, and on AMD's CPUs. */
static int has_fixed_counter(void)
{
  unsigned int eax, ebx, ecx, edx, width;

  if (!__get_cpuid(0xa, &eax, &ebx, &ecx, &edx))
    return 0;
  width = (edx >> 5) & 0xff;
  return (eax & 0xff) >= 2 && (edx & 0x1f) >= 2 && width > 32 && width <= 64;
}

/* AMD's CPUs lack the counter, also in a virtual machine with a PMU. */
static int is_intel(void)
{
  unsigned int signature = 0;

  __get_cpuid_max(0, &signature);
  return signature == signature_INTEL_ebx;
}

static int open_fixed_counter(struct cpucycles_why *why)
{
  int level;

  (void)why;
  if (cpucycles_tried.no_pmu)
    return ENODEV;
  /* The file first: CPUID costs more, because it exits to the hypervisor. */
  level = cpucycles_rdpmc_level("");
  if (level >= 2 && has_fixed_counter())
    return 0;
  return level >= 0 && has_fixed_counter() ? EACCES : ENODEV;
}

static void explain(int error, int signal, struct cpucycles_why *why)
{
  if (error == 0 && signal == 0)
    cpucycles_fixed_counter_why("", why);
  else if (error == EACCES)
    cpucycles_rdpmc_why("", 2, why);
  else if (error == ENODEV && cpucycles_rdpmc_level("") < 0 && cpucycles_tried.cpuid > 0
    && is_intel())
    cpucycles_no_pmu_why("", why);
}

const struct cpucycles_backend cpucycles_backend_amd64_pmcff = {
  .kind = CPUCYCLES_KIND_CORE,
  .scope = CPUCYCLES_SCOPE_CORE,
  .width = 64,
  .source = "IA32_FIXED_CTR1",
  .unit = "core cycles while not halted",
  .open = open_fixed_counter,
  .read = read_fixed_counter,
  .explain = explain,
  .inline_method = CPUCYCLES_INLINE_FIXED_COUNTER_1,
};
