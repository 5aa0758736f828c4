/* SPDX-License-Identifier: 0BSD OR MIT */
/* Measures rates of counters by a clock, and confirms stated ones. */

#include "config.h"

#include "lib/rate.h"
#include "lib/scale.h"
#include "sys/clock-sample.h"
#include "sys/os-clock.h"

#include <limits.h>

enum {
  SAMPLES = 16,         /* at each end of the measurement */
  NANOSECONDS = 850000, /* between the ends; with the samples, less than a millisecond */
  LEAST_READS = 16,     /* of the clock between the ends: one change may be an interruption */
  STILL = 4096          /* after this many reads without a change, the clock stands still */
};

/* The clock between two reads of the counter. */
static struct clock_sample sample(long long (*read)(void), long long (*now)(void))
{
  return tightest_clock_sample(read, now, SAMPLES, 0);
}

/* Busy-waits, since a core's counter may stop when the core sleeps. Returns the smallest step of
   the clock; 0: it stands still, or was set back. */
static long long wait_for_end(long long (*now)(void), long long begin)
{
  long long before = begin, time = begin, step, finest = LLONG_MAX;
  int still = 0, reads = 0;

  while ((time - begin < NANOSECONDS || reads < LEAST_READS) && still < STILL) {
    time = now();
    reads++;
    step = time - before;
    if (step < 0)
      return 0;
    if (step > 0 && step < finest)
      finest = step;
    still = step == 0 ? still + 1 : 0;
    before = time;
  }
  return still < STILL ? finest : 0;
}

/* The count at the time of the clock: halfway between the two reads. */
static unsigned long long count_of(const struct clock_sample *sample)
{
  return (unsigned long long)sample->outer + (unsigned long long)sample->width / 2;
}

long long cpucycles_rate_by(long long (*read)(void), long long (*now)(void))
{
  struct clock_sample begin = sample(read, now), end;
  long long finest = wait_for_end(now, begin.inner), time;
  unsigned long long counts, widths;
  double rate;

  if (finest == 0)
    return 0;
  end = sample(read, now);
  time = end.inner - begin.inner;
  counts = count_of(&end) - count_of(&begin);
  widths = (unsigned long long)begin.width + (unsigned long long)end.width;
  if (time < NANOSECONDS || finest > time / 100 || widths / 2 > counts / 100)
    return 0;
  rate = (double)counts * 1e9 / (double)time;
  return rate < 1e15 ? (long long)(rate + 0.5) : 0;
}

long long cpucycles_measured_rate(long long (*read)(void))
{
  return cpucycles_rate_by(read, cpucycles_osclock_raw);
}

long long cpucycles_stated_rate(const struct cpucycles_backend *backend)
{
  long long stated = backend->rate ? backend->rate() : 0, measured;

  if (stated <= 0)
    return 0;
  measured = cpucycles_measured_rate(backend->read);
  if (measured == 0 || !cpucycles_rates_agree(measured, stated))
    return measured == 0 ? stated : 0;
  return cpucycles_rate_is_rounded(backend) ? measured : stated;
}
