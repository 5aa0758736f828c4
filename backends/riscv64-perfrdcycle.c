/* SPDX-License-Identifier: 0BSD OR MIT */
/* riscv64-perfrdcycle: user-mode core cycles of the calling thread, by the counter CSR that a perf event has.
   Register: CSR C00H + n, where the index of the event's mapped page is n + 1. Linux
   (since 6.6) opens it to user mode while a thread has an event of its own mapped, unless sysctl
   kernel.perf_user_access is 0; otherwise CSRR raises SIGILL. Which counter it is the firmware decides.
   Width: what pmc_width says, sign-extended. Rate: the hart's, as it runs.
   Source: RISC-V Instruction Set Manual volume I, "Zicntr" and "Zihpm" extensions; Linux,
   drivers/perf/riscv_pmu.c, and Documentation/admin-guide/sysctl/kernel.rst, perf_user_access. */

#include "config.h"

#include "backends/backend.h"
#include "backends/riscv-perf.h"

static inline CPUCYCLES_PERF_INSTRUCTION uint64_t read_register(uint32_t index)
{
  return read_csr(index, 0);
}

static const struct cpucycles_perf_method method = { .instruction = read_register, .refusal = &refused };

static void explain_csr(int error, int signal, struct cpucycles_why *why)
{
  if (error != 0 && refused.is_hidden)
    riscv_user_access_why("", why);
  else
    cpucycles_perf_explain(&method, error, signal, why);
}

static int open_counter(struct cpucycles_why *why)
{
  return cpucycles_perf_open(&method, why);
}

static CPUCYCLES_PERF_GUARDED long long read_cycles(void)
{
  return cpucycles_perf_read(&method, read_register);
}

const struct cpucycles_backend cpucycles_backend_riscv64_perfrdcycle = {
  .kind = CPUCYCLES_KIND_CORE,
  .scope = CPUCYCLES_SCOPE_THREAD,
  .width = 64,
  .source = "perf cycles",
  .unit = "core cycles in user mode",
  .open = open_counter,
  .read = read_cycles,
  .close = cpucycles_perf_close,
  .explain = explain_csr,
  .rescue = rescue_riscv,
  .rescued = cpucycles_perf_rescued,
};
