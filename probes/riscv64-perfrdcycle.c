/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for 64-bit RISC-V Linux and the kernel's headers have
   perf events. */

#if !defined __riscv || __riscv_xlen != 64 || !defined __linux__
#error the target is not 64-bit RISC-V Linux
#endif

#include <linux/perf_event.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

int main(void)
{
  unsigned long count;
  struct perf_event_attr event = { .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES };
  struct perf_event_mmap_page page = { .cap_user_rdpmc = 1 };
  ucontext_t at = { .uc_mcontext.__gregs[REG_PC] = 0 };

  __asm__ volatile("csrr %0, 0xc00" : "=r"(count));
  return syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) < 0
    || count == page.lock + at.uc_mcontext.__gregs[REG_PC];
}
