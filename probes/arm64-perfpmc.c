/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for 64-bit Arm Linux and the kernel's headers have
   perf events. */

#if !defined __aarch64__ || !defined __linux__
#error the target is not 64-bit Arm Linux
#endif

#include <linux/perf_event.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

int main(void)
{
  struct perf_event_attr event = { .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES };
  struct perf_event_mmap_page page = { .cap_user_rdpmc = 1 };
  ucontext_t at = { .uc_mcontext.pc = 0 };
  unsigned long count;

  __asm__ volatile("mrs %0, pmccntr_el0" : "=r"(count));
  return syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) < 0
    || count == page.lock + (unsigned long)at.uc_mcontext.pc;
}
