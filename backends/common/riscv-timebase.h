/* SPDX-License-Identifier: 0BSD OR MIT */
/* The code of riscv64-rdtime and riscv32-rdtime: the timer of the machine, from the time CSR.
   Readable in user mode if the kernel sets bit TM of scounteren, as Linux does. Otherwise the
   instructions raise SIGILL. On harts without the CSR, firmware emulates them, which takes long.
   Source: RISC-V Instruction Set Manual volume I, "Zicntr" extension for base counters and timers;
   volume II, section "Supervisor Counter-Enable (scounteren) Register".

   Rate: constant, a few MHz on most CPUs. No register contains it. Newer kernels report it through
   the system call riscv_hwprobe (Documentation/arch/riscv/hwprobe.rst,
   RISCV_HWPROBE_KEY_TIME_CSR_FREQ). Older kernels, unless booted with ACPI, report it in the device
   tree (Documentation/devicetree/bindings/riscv/cpus.yaml, timebase-frequency). */

#ifndef CPUCYCLES_RISCV_TIMEBASE_H
#define CPUCYCLES_RISCV_TIMEBASE_H

#include "backends/backend.h"
#include "sys/file.h"

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>

/* Headers that are older than the kernel may lack these definitions. Source: Linux,
   arch/riscv/include/uapi/asm/unistd.h and hwprobe.h; riscv32 has the same numbers as riscv64. */
#ifndef SYS_riscv_hwprobe
#define SYS_riscv_hwprobe 258
#endif

enum { CPUC_RISCV_HWPROBE_TIME_CSR_FREQ = 8 };

struct cpuc_riscv_hwprobe_pair {
  int64_t key; /* a kernel without the key sets it to -1 */
  uint64_t value;
};

static inline unsigned long long ask_hwprobe(void)
{
  struct cpuc_riscv_hwprobe_pair pair = { CPUC_RISCV_HWPROBE_TIME_CSR_FREQ, 0 };

  if (syscall(SYS_riscv_hwprobe, &pair, (size_t)1, (size_t)0, NULL, 0U) != 0)
    return 0;
  return pair.key == CPUC_RISCV_HWPROBE_TIME_CSR_FREQ ? pair.value : 0;
}
#else
static inline unsigned long long ask_hwprobe(void)
{
  return 0;
}
#endif

static inline long long read_device_tree(void)
{
  char cells[9];
  int length = cpuc_file_read_whole("/proc/device-tree/cpus/timebase-frequency", cells,
    sizeof cells);

  return cpuc_rate_from_dt_cells(cells, length);
}

static struct cpuc_rate time_base_rate(void)
{
  long long hz = cpuc_rate_if_plausible(ask_hwprobe());

  if (hz > 0)
    return (struct cpuc_rate) { hz, "riscv_hwprobe", 0 };
  hz = read_device_tree();
  return (struct cpuc_rate) { hz, hz > 0 ? "/proc/device-tree" : NULL, 0 };
}

static long long read_time(void)
{
  return (long long)cpucycles_inline_time();
}

#define CPUC_RISCV_TIMEBASE_MEMBERS \
  .kind = CPUC_KIND_SCALED, \
  .unit = "timer units", \
  .read = read_time, \
  .rate = time_base_rate, \
  .inline_method = CPUCYCLES_INLINE_TIME

#endif
