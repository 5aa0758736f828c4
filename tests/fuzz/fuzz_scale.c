/* SPDX-License-Identifier: 0BSD OR MIT */
/* Fuzzes scale.c and calibrate.c with random rates, frequencies and counts, and compares the
   results with plain arithmetic of more bits. A factor is the nearest possible one; its application
   is exact and monotonic; a multiple is found exactly if there is one; a measurement of a counter
   against a clock leads to no wrong factor, and to the right one if clock and counter are good. The
   first byte selects the test. For libFuzzer: make check-fuzz. */

#include "config.h"

#include "backends/common/rate.h"
#include "lib/calibrate.h"
#include "lib/scale.h"
#include "sys/os-clock.h"

#include "tests/fuzz/fuzz.h"

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 signed_wide;

#define THZ 1000000000000ULL

/* The factor, and scaled counts. */
static void try_between(struct fuzz_input *input)
{
  unsigned long long rate = fuzz_consume_magnitude(input, 1ULL << 62);
  unsigned long long persecond = fuzz_consume_magnitude(input, 1ULL << 62);
  long long count = (long long)fuzz_consume(input, 8), next, cycles;
  struct cpuc_scale scale;
  wide exact, product;
  signed_wide scaled;

  if (persecond / rate >= 1ULL << 61)
    return;
  scale = cpuc_scale_between((long long)rate, (long long)persecond);
  FUZZ_EXPECT(scale.shift >= 1 && scale.shift <= 63 && scale.multiplier < 1ULL << 63);
  exact = (wide)persecond << scale.shift;
  product = (wide)scale.multiplier * rate;
  FUZZ_EXPECT((exact > product ? exact - product : product - exact) <= rate / 2);

  cycles = cpuc_scale_apply(scale, count);
  scaled = (signed_wide)count * scale.multiplier >> scale.shift;
  FUZZ_EXPECT((unsigned long long)cycles == (unsigned long long)scaled);
  if (count == INT64_MAX || scaled > INT64_MAX / 2 || scaled < INT64_MIN / 2)
    return; /* more than a count can hold: modulo 2^64 */
  next = cpuc_scale_apply(scale, count + 1);
  FUZZ_EXPECT(next >= cycles && next - cycles <= (long long)(scale.multiplier >> scale.shift) + 1);
}

/* Does a unit take this many sixteenths of a cycle, within so many parts per million? */
static int is_near(long double rate, long double persecond, long double sixteenths,
  long double parts)
{
  long double error = persecond - rate * sixteenths / 16;

  return (error < 0 ? -error : error) <= persecond * parts / 1000000;
}

/* The nearest multiple of 1/line, in sixteenths. */
static long double nearest(long double rate, long double persecond, int line)
{
  return (long double)(long long)(persecond * line / rate + 0.5L) * (16 / line);
}

/* Is there a significant multiple within so many parts per million? */
static int has_multiple(long double rate, long double persecond, long double parts)
{
  int line;

  for (line = 1; line <= 16; line *= 2) {
    long double sixteenths = nearest(rate, persecond, line);
    long double error = persecond * line - rate * sixteenths * line / 16;

    /* Every rate is within so many parts of some large multiple, so the error must also be small
       against the rate: at most rate / 16. */
    if (sixteenths > 0 && is_near(rate, persecond, sixteenths, parts)
      && (error < 0 ? -error : error) + persecond * line * (500 - parts) / 1000000 <= rate / 16)
      return 1;
  }
  return 0;
}

static void try_multiple(struct fuzz_input *input)
{
  long long rate = (long long)fuzz_consume_magnitude(input, THZ);
  long long persecond = (long long)fuzz_consume_magnitude(input, THZ), sixteenths;

  if (fuzz_consume(input, 1) % 2) { /* a rate near a multiple, which is rare at random */
    sixteenths = (long long)fuzz_consume_magnitude(input, 4096);
    rate = (long long)((long double)persecond * 16 / (long double)sixteenths
      * (1 + ((long double)fuzz_consume(input, 2) - 32768) / 32768 / 1000));
    if (rate < 1 || rate > (long long)THZ)
      return;
  }
  sixteenths = cpuc_scale_multiple(rate, persecond);
  FUZZ_EXPECT(sixteenths >= 0);
  if (sixteenths > 0)
    FUZZ_EXPECT(is_near((long double)rate, (long double)persecond, (long double)sixteenths,
      500.01L));
  /* integers are rounded, by less than 1 */
  else if (rate > 1000000 && persecond > 1000000)
    FUZZ_EXPECT(!has_multiple((long double)rate, (long double)persecond, 499));
}

static void try_agreement(struct fuzz_input *input)
{
  long long reported = (long long)fuzz_consume_magnitude(input, THZ);
  long long measured = (long long)fuzz_consume_magnitude(input, THZ);
  long double error = (long double)measured - (long double)reported;

  if (fuzz_consume(input, 1) % 2)
    measured = reported / 64 * (long long)(63 + fuzz_consume(input, 1) % 3)
      + (long long)fuzz_consume(input, 1);
  error = (long double)measured - (long double)reported;
  error = (error < 0 ? -error : error) * 100;
  if (cpuc_scale_rates_agree(reported, measured))
    FUZZ_EXPECT(error <= (long double)reported);
  else
    FUZZ_EXPECT(error > (long double)reported - 100);
}

/* A counter and a clock that are read alternately; each read takes time. */
static struct {
  long double time, count; /* ns, units */
  long double rate;        /* units per nanosecond */
  int step, width, cost;  /* clock, ns; counter, bits; read, ns */
  int reads_to_interruption;         /* number of reads before the only interruption */
  long double interruption;
  int is_faulty; /* the clock or the counter jumps or stops */
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
  if (machine.is_faulty & 1)
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
  if (machine.is_faulty & 2)
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
  machine.is_faulty = (int)fuzz_consume(input, 1) % 8;
  machine.is_faulty = machine.is_faulty < 4 ? machine.is_faulty : 0;
  calibration->read = read_counter;
  calibration->now = cpuc_os_clock_raw;
  calibration->width = machine.width;
  calibration->left = CPUC_CALIBRATE_TIME;
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

/* No reported rate: a factor that is found is near the true one, and one is found if it exists. */
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
  failure = cpuc_calibrate(&calibration, 0, persecond, &sixteenths);
  FUZZ_EXPECT(failure ? failure <= CPUC_CALIBRATE_NO_TIME : sixteenths > 0);
  FUZZ_EXPECT(sixteenths >= 0 && calibration.left >= 0
    && calibration.left < CPUC_CALIBRATE_TIME);
  if (machine.is_faulty)
    return;
  window_error = error_of_window(400000);
  if (!failure)
    FUZZ_EXPECT(is_near(rate, (long double)persecond, (long double)sixteenths,
      501 + 1.1L * window_error));
  else if (window_error < 100 && rate > 1e6L && persecond > 1000000)
    FUZZ_EXPECT(machine.interruption > 0
      || !has_multiple(rate, (long double)persecond, 499 - 4 * window_error));
}

/* Reported rate: accepted if it is right within 1 %, rejected if not. */
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
  failure = cpuc_calibrate(&calibration, reported, 1000000000, &sixteenths);
  FUZZ_EXPECT(sixteenths == 0 && failure <= CPUC_CALIBRATE_RATE_MISMATCH);
  if (machine.is_faulty)
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
  rate = machine.width == 64 && fuzz_consume(input, 1) % 2 ? cpuc_calibrate_rate(read_counter)
                                                           : cpuc_calibrate_mean(&calibration);
  FUZZ_EXPECT(rate >= 0 && rate <= CPUC_RATE_HIGHEST);
  if (machine.is_faulty || rate == 0)
    return;
  error = ((long double)rate - machine.rate * 1e9L) / (machine.rate * 1e9L);
  FUZZ_EXPECT((error < 0 ? -error : error) <= 0.01L + 1.1L * error_of_window(400000) / 1000000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static void (*const tries[])(struct fuzz_input *) = { try_between, try_multiple, try_agreement,
    try_find, try_reported, try_rate };
  struct fuzz_input input = { data, size };

  tries[fuzz_consume(&input, 1) % (sizeof tries / sizeof tries[0])](&input);
  return 0;
}
