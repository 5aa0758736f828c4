/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the kernel's headers have perf events. */

#ifndef __linux__
#error the target is not Linux
#endif

#include <linux/perf_event.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
  struct perf_event_attr event = {
    .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES, .exclude_kernel = 1
  };

  return syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) < 0;
}
