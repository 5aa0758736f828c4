/* SPDX-License-Identifier: 0BSD OR MIT */
/* amd64-rdpru: core cycles on AMD Zen 2 and later.
   Register: APERF, read with RDPRU and ECX = 1. Readable in user mode unless CR4.TSD is set (Linux
   sets it per thread on prctl(PR_SET_TSC, PR_TSC_SIGSEGV)) or a hypervisor intercepts the
   instruction, as most hypervisors do. In both cases RDPRU raises SIGILL. A core counts only while
   it is not halted, so a migration can make the count step back.
   Width: 64 bits. Rate: the current core frequency.
   Source: AMD APM volume 3, RDPRU, and appendix E, CPUID Fn8000_0008: EBX[4] is 1 if the CPU has
   RDPRU, EDX[31:16] is the largest ECX that selects a register. */

#include "config.h"
#if HAVE_BACKEND_amd64_rdpru

#include "backends/backend.h"
#include "sys/cpuid.h"

#include <errno.h>

enum { APERF = 1 };

static int open_aperf(const struct cpuc_services *services, struct cpuc_diagnosis *diagnosis)
{
  struct cpuc_cpuid_leaf sizes;

  (void)services, (void)diagnosis;
  sizes = cpuc_cpuid_read(CPUC_CPUID_SIZES); /* every x86-64 CPU has this leaf */
  return (sizes.b >> 4 & 1) && sizes.d >> 16 >= APERF ? 0 : ENODEV;
}

static long long read_aperf(void)
{
  return (long long)cpucycles_inline_aperf();
}

const struct cpuc_backend cpuc_backend_amd64_rdpru = {
  .kind = CPUC_KIND_CORE,
  .unit = "core cycles while not halted",
  .open = open_aperf,
  .read = read_aperf,
  .inline_method = CPUCYCLES_INLINE_APERF,
};
#endif
