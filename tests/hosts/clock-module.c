/* SPDX-License-Identifier: 0BSD OR MIT */
/* The clock hosts preload this module, which replaces the C library's clocks. If CLOCK_STEP is set,
   it is the step of the clocks in nanoseconds, and the clocks are read as usual. If it is not set,
   the clocks are read with a system call. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static int read_with_system_call(clockid_t clock, struct timespec *now)
{
  return (int)syscall(SYS_clock_gettime, clock, now);
}

static int (*read_clock)(clockid_t, struct timespec *) = read_with_system_call;
static long step = 1;

__attribute__((constructor)) static void set_step(void)
{
  const char *text = getenv("CLOCK_STEP");

  if (!text)
    return;
  step = atol(text);
  *(void **)&read_clock = dlsym(RTLD_NEXT, "clock_gettime");
}

EXPORTED int clock_gettime(clockid_t clock, struct timespec *now)
{
  int result = read_clock(clock, now);

  if (result == 0)
    now->tv_nsec -= now->tv_nsec % step;
  return result;
}

EXPORTED int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
  struct timespec time;
  int result = clock_gettime(CLOCK_REALTIME, &time);

  (void)zone;
  now->tv_sec = time.tv_sec;
  now->tv_usec = (suseconds_t)(time.tv_nsec / 1000);
  return result;
}
