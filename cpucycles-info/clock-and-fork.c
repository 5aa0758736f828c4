/* SPDX-License-Identifier: 0BSD OR MIT */
/* The system calls of the measurements: a clock, and the start of a child. */

#include "config.h"

#include "cpucycles-info/fill.h"

#include <stddef.h>
#include <sys/time.h>
#include <time.h>

#ifdef HAVE_FORK
#include <unistd.h>
#endif

#if defined(HAVE_CLOCK_GETTIME) && defined(CLOCK_MONOTONIC_RAW)
const char clock_name[] = "CLOCK_MONOTONIC_RAW";
#define CLOCK CLOCK_MONOTONIC_RAW
#elif defined(HAVE_CLOCK_GETTIME) && defined(CLOCK_MONOTONIC)
const char clock_name[] = "CLOCK_MONOTONIC";
#define CLOCK CLOCK_MONOTONIC
#else
const char clock_name[] = "gettimeofday";
#endif

long long clock_nanoseconds(void)
{
#ifdef CLOCK
  struct timespec now;

  if (clock_gettime(CLOCK, &now) != 0)
    return 0;
  return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
#else
  struct timeval now;

  gettimeofday(&now, NULL);
  return ((long long)now.tv_sec * 1000000 + now.tv_usec) * 1000;
#endif
}

#ifdef HAVE_FORK

pid_t start_child(void)
{
  return fork();
}

#endif
