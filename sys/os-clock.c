/* SPDX-License-Identifier: 0BSD OR MIT */
/* OS clocks of POSIX, read through the C library or, if that faults, with system calls. */

#include "config.h"
#ifdef CPUCYCLES_POSIX

#include "sys/os-clock.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__ /* on other systems, only the C library makes system calls */
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

/* How the clocks are read, decided in the selection. 0: through the C library; 1: with system calls
   on Linux, not at all on other systems; 2: not at all. */
static int clock_access;

static int current_access(void)
{
  return __atomic_load_n(&clock_access, __ATOMIC_RELAXED);
}

void cpuc_os_clock_fall_back(void)
{
  __atomic_store_n(&clock_access, current_access() + 1, __ATOMIC_RELAXED);
}

void cpuc_os_clock_fall_back_if_forbidden(void)
{
#ifdef PR_GET_TSC
  int mode = PR_TSC_ENABLE, through_libc = 0, saved_errno = errno;

  if (!current_access() && prctl(PR_GET_TSC, &mode) == 0 && mode == PR_TSC_SIGSEGV)
    (void)__atomic_compare_exchange_n(&clock_access, &through_libc, 1, 0, __ATOMIC_RELAXED,
      __ATOMIC_RELAXED); /* another thread may do the same */
  errno = saved_errno;
#endif
}

#ifdef __linux__

static long long in_units(long long seconds, long long nanoseconds, long long units_per_second)
{
  return seconds * units_per_second + nanoseconds / (1000000000 / units_per_second);
}

/* Uses the structures of the kernel, which can differ from struct timespec of the C library. */
static long long read_with_syscall(clockid_t clock, long long units_per_second)
{
#if defined(__x86_64__) && defined(__ILP32__) /* x32: the kernel uses 64 bits */
  typedef long long kernel_long;
#else
  typedef long kernel_long;
#endif
  union {
    struct {
      int64_t seconds, nanoseconds;
    } wide;
    struct {
      kernel_long seconds, nanoseconds;
    } narrow;
  } now;
  int saved_errno = errno; /* Linux before 5.1 refuses clock_gettime64 */

  if (current_access() > 1)
    return 0;
#ifdef SYS_clock_gettime64
  if (syscall(SYS_clock_gettime64, clock, &now.wide) == 0)
    return in_units(now.wide.seconds, now.wide.nanoseconds, units_per_second);
#endif
#ifdef SYS_clock_gettime
  if (syscall(SYS_clock_gettime, clock, &now.narrow) == 0) {
    errno = saved_errno;
    return in_units(now.narrow.seconds, now.narrow.nanoseconds, units_per_second);
  }
#endif
  (void)saved_errno; /* 32-bit musl has only the first call */
  return 0;
}

#else

#define read_with_syscall(clock, units_per_second) 0LL

#endif

long long cpuc_os_clock_wall_microseconds(void)
{
  struct timeval now;

  if (current_access())
    return read_with_syscall(CLOCK_REALTIME, 1000000);
  if (gettimeofday(&now, NULL) != 0)
    return 0;
  return (long long)now.tv_sec * 1000000 + now.tv_usec;
}

long long cpuc_os_clock_read(int clock)
{
  struct timespec now;

  if (current_access())
    return read_with_syscall((clockid_t)clock, 1000000000);
  if (clock_gettime((clockid_t)clock, &now) != 0)
    return 0;
  return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

long long cpuc_os_clock_monotonic(void)
{
  return cpuc_os_clock_read(CLOCK_MONOTONIC);
}

#ifdef CLOCK_MONOTONIC_RAW
#define RAW CLOCK_MONOTONIC_RAW
const char cpuc_os_clock_raw_name[] = "CLOCK_MONOTONIC_RAW";
#else
#define RAW CLOCK_MONOTONIC
const char cpuc_os_clock_raw_name[] = "CLOCK_MONOTONIC";
#endif

long long cpuc_os_clock_raw(void)
{
  return cpuc_os_clock_read(RAW);
}

long long cpuc_os_clock_coarse(void)
{
#ifdef CLOCK_MONOTONIC_COARSE
  long long now = current_access() ? 0 : cpuc_os_clock_read(CLOCK_MONOTONIC_COARSE);

  if (now != 0)
    return now;
#endif
  return cpuc_os_clock_monotonic();
}

void cpuc_os_clock_try(void *unused)
{
  (void)unused;
  (void)cpuc_os_clock_monotonic();
  (void)cpuc_os_clock_raw();
  /* With a time_t of 32 bits, the C library fails from 2038 on, but the system calls do not. */
  if (cpuc_os_clock_wall_microseconds() == 0 && current_access() == 0)
    cpuc_os_clock_fall_back();
}
#endif
