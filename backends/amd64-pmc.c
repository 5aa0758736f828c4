/* SPDX-License-Identifier: 0BSD OR MIT */
/* amd64-pmc: user-mode core cycles of the calling thread, from the hardware counter of a perf
   event.
   Register: the counter that ECX selects, read with RDPMC. ECX is the index in the mmap page of the
   event, minus 1. Readable in a process that has an event mapped if the file rdpmc of the PMU
   contains 1 (the default), and in every process if the file contains 2. In both cases the page has
   an index. Otherwise RDPMC raises SIGSEGV.
   Width: pmc_width of the page, 48 bits on most CPUs, sign-extended. The offset in the page extends
   the count to 64 bits. Rate: the current core frequency.
   Source: Intel SDM volume 2, RDPMC; AMD APM volume 3, RDPMC; linux/perf_event.h, struct
   perf_event_mmap_page; Linux, arch/x86/events/core.c, x86_pmu_event_idx and set_attr_rdpmc. */

#include "config.h"
#if HAVE_BACKEND_amd64_pmc

#include "backends/perf/counter.h"
#include "sys/perf/remedy.h"
#include "sys/perf/register.h"

static void diagnose_access(struct cpuc_diagnosis *diagnosis)
{
  cpuc_remedy_for_rdpmc(1, diagnosis);
}

static const struct cpuc_perf_counter counter = {
  .instruction = cpuc_perf_register,
  .fixed_index = CPUC_PERF_FIXED_INDEX,
  .diagnose_access = diagnose_access,
};

static long long read_cycles(void)
{
  return cpuc_perf_read(&counter, cpuc_perf_register, cpuc_perf_self.index, cpuc_perf_self.shift);
}

const struct cpuc_backend cpuc_backend_amd64_pmc = {
  .kind = CPUC_KIND_CORE,
  CPUC_PERF_MEMBERS,
  .read = read_cycles,
};
#endif
