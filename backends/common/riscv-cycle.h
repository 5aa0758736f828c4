/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the backends of RISC-V's cycle CSR share: what would make it readable. Linux since 6.6
   makes the setting perf_user_access where it finds a PMU, and 2 is "as it was before":
   Documentation/admin-guide/sysctl/kernel.rst. Elsewhere, nothing that Linux can be told helps. */

#ifndef CPUCYCLES_RISCV_CYCLE_H
#define CPUCYCLES_RISCV_CYCLE_H

#include "backends/backend.h"
#include "sys/kernel-file.h"

#include <signal.h>
#include <stddef.h>

/* Of the setting's text; NULL: it is not what stands in the way. */
static inline const char *rdcycle_remedy(const char *text, int length)
{
  int forbids = length == 2 && (text[0] == '0' || text[0] == '1') && text[1] == '\n';

  return forbids ? "sysctl kernel.perf_user_access=2" : NULL;
}

static inline void explain_cycle(int error, int signal, struct cpucycles_why *why)
{
  char text[8];
  int length = read_kernel_file("/proc/sys/kernel/perf_user_access", text, sizeof text);

  (void)error;
  if (signal == SIGILL)
    why->remedy = rdcycle_remedy(text, length);
}

#endif
