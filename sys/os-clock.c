/* SPDX-License-Identifier: 0BSD OR MIT */
/* OS clocks behind one call each: by the C library, or where that faults, by plain system call.
   Knows nothing of counters; who reads a clock for what is the caller's matter. */

#include "config.h"

#include "sys/os-clock.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__ /* elsewhere a system call is the C library's alone to make */
#include <sys/syscall.h>
#endif

/* How the clocks are read, decided in the selection: 0: by the C library, 1: by plain system calls,
   2: not at all. */
static int avoided;

static int avoiding(void)
{
  return __atomic_load_n(&avoided, __ATOMIC_RELAXED);
}

void cpucycles_osclock_fall_back(void)
{
  __atomic_store_n(&avoided, avoiding() + 1, __ATOMIC_RELAXED);
}

#if defined(__linux__) && (defined(SYS_clock_gettime) || defined(SYS_clock_gettime64))

/* The kernel's own forms of the result, which need not be the C library's struct timespec. */
#ifdef SYS_clock_gettime64
static int ask_kernel64(clockid_t clock, long long *seconds, long long *nanoseconds)
{
  struct {
    int64_t seconds, nanoseconds;
  } now;

  if (syscall(SYS_clock_gettime64, clock, &now) != 0)
    return -1;
  *seconds = now.seconds;
  *nanoseconds = now.nanoseconds;
  return 0;
}
#else
static int ask_kernel64(clockid_t clock, long long *seconds, long long *nanoseconds)
{
  (void)clock, (void)seconds, (void)nanoseconds;
  return -1;
}
#endif

#ifdef SYS_clock_gettime
static int ask_kernel(clockid_t clock, long long *seconds, long long *nanoseconds)
{
#ifdef __ILP32__ /* x32: a 64-bit kernel's longs */
  typedef long long kernel_long;
#else
  typedef long kernel_long;
#endif
  struct {
    kernel_long seconds, nanoseconds;
  } now;

  if (syscall(SYS_clock_gettime, clock, &now) != 0)
    return -1;
  *seconds = now.seconds;
  *nanoseconds = now.nanoseconds;
  return 0;
}
#else
static int ask_kernel(clockid_t clock, long long *seconds, long long *nanoseconds)
{
  (void)clock, (void)seconds, (void)nanoseconds;
  return -1;
}
#endif

static long long by_system_call(clockid_t clock, long long persecond)
{
  long long seconds, nanoseconds;

  if (avoiding() > 1)
    return 0;
  if (ask_kernel64(clock, &seconds, &nanoseconds) != 0
    && ask_kernel(clock, &seconds, &nanoseconds) != 0)
    return 0;
  return seconds * persecond + nanoseconds / (1000000000 / persecond);
}

#else

#define by_system_call(clock, persecond) 0LL

#endif

long long cpucycles_osclock_wall(void)
{
  struct timeval now;

  if (avoiding())
    return by_system_call(CLOCK_REALTIME, 1000000);
  if (gettimeofday(&now, NULL) != 0)
    return 0;
  return (long long)now.tv_sec * 1000000 + now.tv_usec;
}

#if defined(CLOCK_MONOTONIC) && defined(HAVE_CLOCK_GETTIME)

static long long nanoseconds_of(clockid_t clock)
{
  struct timespec now;

  if (avoiding())
    return by_system_call(clock, 1000000000);
  if (clock_gettime(clock, &now) != 0)
    return 0;
  return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

long long cpucycles_osclock_monotonic(void)
{
  return nanoseconds_of(CLOCK_MONOTONIC);
}

#else

long long cpucycles_osclock_monotonic(void)
{
  return cpucycles_osclock_wall() * 1000;
}

#endif

long long cpucycles_osclock_raw(void)
{
#if defined(CLOCK_MONOTONIC_RAW) && defined(HAVE_CLOCK_GETTIME)
  return nanoseconds_of(CLOCK_MONOTONIC_RAW);
#else
  return cpucycles_osclock_monotonic();
#endif
}

long long cpucycles_osclock_coarse(void)
{
#if defined(CLOCK_MONOTONIC_COARSE) && defined(HAVE_CLOCK_GETTIME)
  struct timespec now;

  if (!avoiding()
    && clock_gettime(CLOCK_MONOTONIC_COARSE, &now) == 0)
    return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
#endif
  return cpucycles_osclock_monotonic();
}

int cpucycles_osclock_is_settable(void)
{
#if defined(CLOCK_MONOTONIC) && defined(HAVE_CLOCK_GETTIME)
  return 0;
#else
  return 1;
#endif
}

void cpucycles_osclock_try(void *unused)
{
  (void)unused;
  (void)cpucycles_osclock_monotonic();
  (void)cpucycles_osclock_raw();
  (void)cpucycles_osclock_wall();
}
