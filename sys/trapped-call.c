/* SPDX-License-Identifier: 0BSD OR MIT */
/* The kernel does not execute a system call that a filter answers with SIGSYS. After the handler,
   the program continues after the call, with the result that the handler has stored.
   Source: seccomp(2), SECCOMP_RET_TRAP; syscall(2), "Architecture calling conventions". */

#include "config.h"

#include "sys/trapped-call.h"

#ifdef __linux__
#include <ucontext.h>

#if defined(__x86_64__)
#define RESULT uc_mcontext.gregs[REG_RAX]
#elif defined(__i386__)
#define RESULT uc_mcontext.gregs[REG_EAX]
#elif defined(__aarch64__)
#define RESULT uc_mcontext.regs[0]
#elif defined(__arm__)
#define RESULT uc_mcontext.arm_r0
#elif defined(__riscv)
#define RESULT uc_mcontext.__gregs[REG_A0]
#elif defined(__s390x__)
#define RESULT uc_mcontext.gregs[2]
#endif
#endif

#ifdef RESULT

#include "sys/guard.h"
#include "sys/lock.h"
#include "sys/os-thread.h"
#ifdef HAVE_PERF_EVENTS
#include "sys/perf/kernel.h"
#endif

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Calls that the tool makes, directly or in the C library. Not all architectures have each call. */
static const struct call {
  int number;
  const char *name;
} calls[] = {
#define CALL(name) { SYS_##name, #name },
  CALL(perf_event_open) CALL(openat) CALL(read) CALL(write) CALL(close) CALL(getdents64)
  CALL(munmap) CALL(mprotect) CALL(brk) CALL(ioctl) CALL(clone) CALL(pipe2) CALL(faccessat)
  CALL(sched_getaffinity) CALL(sched_setaffinity) CALL(uname) CALL(sysinfo) CALL(prlimit64)
  CALL(prctl) CALL(rt_sigprocmask) CALL(rt_sigaction) CALL(getpid) CALL(gettid) CALL(getrandom)
  CALL(waitid)
#ifdef SYS_open
  CALL(open) CALL(access) CALL(poll) CALL(pipe) CALL(fork)
#endif
#ifdef SYS_faccessat2 /* Linux 5.8 */
  CALL(faccessat2) CALL(statx) CALL(clone3)
#endif
#ifdef SYS_newfstatat
  CALL(newfstatat) CALL(fstat)
#endif
#ifdef SYS_fstatat64
  CALL(fstatat64) CALL(fstat64)
#endif
#ifdef SYS_mmap
  CALL(mmap)
#endif
#ifdef SYS_mmap2
  CALL(mmap2)
#endif
#ifdef SYS_gettimeofday /* not on 32-bit RISC-V */
  CALL(gettimeofday) CALL(fcntl) CALL(ppoll) CALL(wait4) CALL(clock_gettime) CALL(clock_nanosleep)
#endif
#ifdef SYS_arch_prctl
  CALL(arch_prctl)
#endif
#undef CALL
};

/* The numbers of trapped calls. Children that examine counters share them with the tool. */
struct trapped {
  int count, numbers[16];
};

static struct trapped unshared, *trapped = &unshared;

static void note_call(int number)
{
  int i;

  for (i = 0; i < trapped->count; i++)
    if (trapped->numbers[i] == number)
      return;
  if (i < (int)(sizeof trapped->numbers / sizeof trapped->numbers[0])) {
    trapped->numbers[i] = number;
    trapped->count = i + 1;
  }
}

/* The disposition that on_sigsys() replaces; whose calls fail: those of the thread that holds the
   lock, or of all threads. */
static struct sigaction program;
static struct cpuc_lock thread;
static int is_for_all;

static void on_sigsys(int signal, siginfo_t *info, void *context)
{
  ucontext_t *interrupted = context;

  (void)signal;
  if (info->si_code > 0 /* from the kernel */
    && (is_for_all
      || __atomic_load_n(&thread.owner, __ATOMIC_RELAXED) == cpuc_os_thread_id())) {
    note_call(info->si_syscall);
    interrupted->RESULT = (__typeof__(interrupted->RESULT))-ENOSYS;
  } else
    cpuc_guard_pass_on(&program, info, context);
}

/* The library's guard has the flags of the handler that it replaces. With SA_NODEFER, SIGSYS is not
   blocked after a jump out of its handler, so a trapped sigprocmask(2) fails there, too. */
static void install(void)
{
  struct sigaction action, found;

  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_sigsys;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
  if (sigaction(SIGSYS, &action, &found) == 0 && found.sa_sigaction != on_sigsys)
    program = found;
}

void cpuc_trapped_call_begin(void)
{
  while (cpuc_lock_try(&thread, cpuc_os_thread_id()) == CPUC_LOCK_BUSY)
    cpuc_os_thread_sleep_briefly();
  install();
}

/* Leaves a handler in place that another thread has installed since. */
void cpuc_trapped_call_end(void)
{
  struct sigaction found;

  if (sigaction(SIGSYS, &program, &found) == 0 && found.sa_sigaction != on_sigsys)
    sigaction(SIGSYS, &found, NULL);
  cpuc_lock_release(&thread);
}

void cpuc_trapped_call_forked(void)
{
  if (cpuc_lock_release_in_child(&thread, cpuc_os_thread_id()))
    cpuc_trapped_call_end();
}

void cpuc_trapped_call_fail(void)
{
  void *shared;

  is_for_all = 1;
  install();
  shared = mmap(NULL, sizeof *trapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared != MAP_FAILED)
    trapped = shared;
}

static const char *name_of(int number)
{
  size_t i;

  for (i = 0; i < sizeof calls / sizeof calls[0]; i++)
    if (calls[i].number == number)
      return calls[i].name;
  return NULL;
}

/* In the selection, the library's own guard takes the signal, so perf_event_open(2) is tried here,
   with arguments with which it opens nothing. */
void cpuc_trapped_call_list(char *text, size_t size)
{
#ifdef HAVE_PERF_EVENTS
  struct perf_event_attr nothing = { .size = 1 }; /* too small to open an event */
#endif
  size_t used = 0;
  int i;

  *text = 0;
#ifdef HAVE_PERF_EVENTS
  (void)cpuc_perf_kernel_open(&nothing, -1);
#endif
  for (i = 0; i < trapped->count && used < size; i++) {
    const char *name = name_of(trapped->numbers[i]), *separator = i ? ", " : "";

    used += (size_t)(name
      ? snprintf(text + used, size - used, "%s%s", separator, name)
      : snprintf(text + used, size - used, "%ssystem call %d", separator, trapped->numbers[i]));
  }
}

#else

void cpuc_trapped_call_fail(void)
{
}

void cpuc_trapped_call_begin(void)
{
}

void cpuc_trapped_call_end(void)
{
}

void cpuc_trapped_call_forked(void)
{
}

void cpuc_trapped_call_list(char *text, size_t size)
{
  (void)size;
  *text = 0;
}

#endif
