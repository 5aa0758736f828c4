/* SPDX-License-Identifier: 0BSD OR MIT */
/* Fuzzes calibrate.c with random counters, clocks and interruptions. A measurement leads to no
   wrong factor or rate. If clock and counter are good, it finds a factor that exists, and accepts a
   reported rate that is right. check_scale tests the arithmetic of factors. The first byte selects
   the test. For libFuzzer: make check-fuzz. */

#include "config.h"

#include "backends/common/rate.h"
#include "lib/calibrate.h"
#include "lib/scale.h"
#include "sys/os-clock.h"

#include "tests/fuzz/fuzz.h"

#define THZ 1000000000000ULL

/* Does a unit take this many sixteenths of a cycle, within so many parts per million? */
static int is_near(long double rate, long double persecond, long double sixteenths,
  long double parts)
{
  long double error = persecond - rate * sixteenths / 16;

  return (error < 0 ? -error : error) <= persecond * parts / 1000000;
}

/* The nearest multiple of 1/denominator, in sixteenths. */
static long double nearest(long double rate, long double persecond, int denominator)
{
  return (long double)(long long)(persecond * denominator / rate + 0.5L) * (16 / denominator);
}

/* Is there a significant multiple within so many parts per million? */
static int has_multiple(long double rate, long double persecond, long double parts)
{
  int denominator;

  for (denominator = 1; denominator <= 16; denominator *= 2) {
    long double sixteenths = nearest(rate, persecond, denominator);
    long double error = persecond * denominator - rate * sixteenths * denominator / 16;

    /* Every rate is within so many parts of some large multiple, so the error must also be small
       against the rate: at most rate / 16. */
    if (sixteenths > 0 && is_near(rate, persecond, sixteenths, parts)
      && (error < 0 ? -error : error) + persecond * denominator * (500 - parts) / 1000000
        <= rate / 16)
      return 1;
  }
  return 0;
}

/* A counter and a clock that are read alternately; each read takes time. */
static struct {
  long double time, count;   /* ns, units */
  long double rate;          /* units per nanosecond */
  int step, width, cost;     /* of the clock in ns; of the counter in bits; of a read in ns */
  int reads_to_interruption; /* number of reads before the only interruption */
  long double interruption;
  int defects; /* bit 0: the counter returns random counts; bit 1: the clock jumps */
  struct fuzz_input *input;
} machine;

static void spend_read(void)
{
  long double elapsed = machine.cost;

  if (machine.reads_to_interruption >= 0 && machine.reads_to_interruption-- == 0)
    elapsed += machine.interruption;
  machine.time += elapsed;
  machine.count += elapsed * machine.rate;
}

static long long read_counter(void)
{
  uint64_t count;

  spend_read();
  count = (uint64_t)machine.count;
  if (machine.defects & 1)
    count = fuzz_consume(machine.input, 1) * (1ULL << (fuzz_consume(machine.input, 1) % 60));
  if (machine.width == 32)
    count = (count & 0xffffffff) | 0x5a5a00000000;
  return (long long)count;
}

/* In place of sys/os-clock.c. */
long long cpuc_os_clock_raw(void)
{
  long long now;

  spend_read();
  now = (long long)(machine.time / machine.step) * machine.step;
  if (machine.defects & 2)
    now += (long long)fuzz_consume(machine.input, 1)
      * (1LL << (fuzz_consume(machine.input, 1) % 50));
  return now;
}

static void begin_machine(struct fuzz_input *input, struct cpuc_calibrate_setup *calibration)
{
  static const int steps[] = { 1, 10, 41, 100, 1000 };

  machine.input = input;
  machine.rate = (long double)fuzz_consume_magnitude(input, 10000000000) / 1e9L;
  machine.time = (long double)fuzz_consume(input, 6);
  machine.count = (long double)fuzz_consume(input, 6);
  machine.step = steps[fuzz_consume(input, 1) % 5];
  machine.cost = 1000 - (int)fuzz_consume(input, 2) % 990;
  machine.width = fuzz_consume(input, 1) % 2 ? 32 : 64;
  machine.reads_to_interruption = (int)fuzz_consume(input, 2);
  machine.interruption = (long double)fuzz_consume(input, 3);
  machine.defects = (int)fuzz_consume(input, 1) % 8;
  machine.defects = machine.defects < 4 ? machine.defects : 0;
  calibration->read = read_counter;
  calibration->now = cpuc_os_clock_raw;
  calibration->bits = machine.width;
}

/* Error, in parts per million, of a rate measured in this window with this clock: at both ends a
   step of the clock, a unit, and, if the clock advances rarely, the time of a read. */
static long double error_of_window(int window)
{
  long double end = machine.step + 1 / machine.rate;

  if (machine.step > 2 * machine.cost)
    end += machine.cost;
  return end * 2 / window * 1000000;
}

/* Without a reported rate: a factor that is found is near the true factor, and a factor is found if
   a significant multiple exists. */
static void try_find(struct fuzz_input *input)
{
  long long persecond = (long long)fuzz_consume_magnitude(input, 10000000000ULL) + 1000,
    sixteenths = -1;
  struct cpuc_calibrate_setup calibration;
  long double rate, window_error;
  enum cpuc_calibrate_result failure;

  begin_machine(input, &calibration);
  if (fuzz_consume(input, 1) % 2)
    machine.rate
      = (long double)persecond * 16 / (long double)fuzz_consume_magnitude(input, 4096) / 1e9L;
  rate = machine.rate * 1e9L;
  failure = cpuc_calibrate_scaling(&calibration, 0, persecond, &sixteenths);
  FUZZ_EXPECT(failure || sixteenths > 0);
  FUZZ_EXPECT(sixteenths >= 0);
  if (machine.defects)
    return;
  window_error = error_of_window(400000);
  if (!failure)
    FUZZ_EXPECT(is_near(rate, (long double)persecond, (long double)sixteenths,
      501 + 1.1L * window_error));
  else if (window_error < 100 && rate > 1e6L && persecond > 1000000)
    FUZZ_EXPECT(machine.interruption > 0
      || !has_multiple(rate, (long double)persecond, 499 - 4 * window_error));
}

/* A reported rate is accepted if it is right within 1 %, and is rejected if it is not. */
static void try_reported(struct fuzz_input *input)
{
  long long reported = (long long)fuzz_consume_magnitude(input, THZ * 2), sixteenths = -1;
  struct cpuc_calibrate_setup calibration;
  long double error, window_error;
  enum cpuc_calibrate_result failure;

  begin_machine(input, &calibration);
  if (fuzz_consume(input, 1) % 2)
    reported = (long long)(machine.rate * 1e6L
      * (950 + (long double)(fuzz_consume(input, 1) % 100))) + 1;
  failure = cpuc_calibrate_scaling(&calibration, reported, 1000000000, &sixteenths);
  FUZZ_EXPECT(sixteenths == 0 && failure <= CPUC_CALIBRATE_RATE_MISMATCH);
  if (machine.defects)
    return;
  window_error = error_of_window(200000) / 1000000;
  error = (machine.rate * 1e9L - (long double)reported) / (long double)reported;
  error = error < 0 ? -error : error;
  if (!failure)
    FUZZ_EXPECT(error <= 0.01L + 1.1L * window_error * (1 + error));
  else if (machine.interruption == 0 && window_error < 0.005L && (long double)reported > 1e7L)
    FUZZ_EXPECT(error > 0.01L - 2 * window_error);
}

/* The rate of any counter is found within 1 %, or not at all. */
static void try_rate(struct fuzz_input *input)
{
  struct cpuc_calibrate_setup calibration;
  long double error;
  long long rate;

  begin_machine(input, &calibration);
  rate = cpuc_calibrate_rate(read_counter, machine.width);
  FUZZ_EXPECT(rate >= 0 && rate <= CPUC_RATE_HIGHEST);
  if (machine.defects || rate == 0)
    return;
  error = ((long double)rate - machine.rate * 1e9L) / (machine.rate * 1e9L);
  FUZZ_EXPECT((error < 0 ? -error : error) <= 0.01L + 1.1L * error_of_window(850000) / 1000000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static void (*const tries[])(struct fuzz_input *) = { try_find, try_reported, try_rate };
  struct fuzz_input input = { data, size };

  tries[fuzz_consume(&input, 1) % (sizeof tries / sizeof tries[0])](&input);
  return 0;
}
