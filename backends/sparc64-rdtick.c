/* SPDX-License-Identifier: 0BSD OR MIT */
/* sparc64-rdtick: core cycles on SPARC V9.
   Register: %tick, read with RD. Readable in user mode if its bit 63 (NPT) is clear. Otherwise RD
   raises SIGILL, for example on machines on which Linux or the hypervisor allows users to read only
   %stick.
   Width: 63 bits; bit 63 reads 0 if reading is allowed. Rate: that of the core, reported by the
   kernel (backends/common/cpuinfo.h).
   Source: The SPARC Architecture Manual version 9, chapter 5, "Tick Register (TICK)", and appendix
   A, "Read State Register". */

#include "config.h"
#if HAVE_BACKEND_sparc64_rdtick

#include "backends/backend.h"
#include "backends/common/cpuinfo.h"

static long long read_tick(void)
{
  return (long long)cpucycles_inline_tick();
}

const struct cpuc_backend cpuc_backend_sparc64_rdtick = {
  .kind = CPUC_KIND_CORE,
  .read = read_tick,
  .rate = cpuc_cpuinfo_rate,
  .inline_method = CPUCYCLES_INLINE_TICK,
};
#endif
