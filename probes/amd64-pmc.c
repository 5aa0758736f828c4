/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for x86-64 Linux and the kernel's headers have
   perf events. */

#if !defined __x86_64__ || !defined __linux__
#error the target is not x86-64 Linux
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
  ucontext_t at = { .uc_mcontext.gregs[REG_RIP] = 0 };
  unsigned int count, high;

  __asm__ volatile("rdpmc" : "=a"(count), "=d"(high) : "c"(0));
  return syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) < 0
    || count == page.lock + (unsigned long)at.uc_mcontext.gregs[REG_RIP];
}
