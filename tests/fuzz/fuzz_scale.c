/* SPDX-License-Identifier: 0BSD OR MIT */
/* Random rates, frequencies and counts for scale.c, against plain arithmetic of more bits: a factor
   is the nearest there is; what is applied is exact and never runs backward; a multiple is found
   exactly where there is one; a measurement of a counter by a clock leads to no wrong factor, and
   to the right one where clock and counter are good. The first byte selects. For libFuzzer: make
   check-fuzz. */

#include "config.h"

#include "lib/frequency.h"
#include "lib/scale.h"

#include "tests/fuzz/fuzz.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;

#define THZ 1000000000000ULL

/* The factor, and what it makes of counts. */
static void try_between(struct fuzz_food *food)
{
  unsigned long long rate = fuzz_eat_magnitude(food, 1ULL << 62);
  unsigned long long persecond = fuzz_eat_magnitude(food, 1ULL << 62);
  long long count = (long long)fuzz_eat(food, 8), next, cycles;
  struct cpucycles_scale scale;
  wide exact, product;

  if (persecond / rate >= 1ULL << 61)
    return;
  scale = cpucycles_scale_between((long long)rate, (long long)persecond);
  FUZZ_EXPECT(scale.shift >= 1 && scale.shift <= 63 && scale.multiplier < 1ULL << 63);
  exact = (wide)persecond << scale.shift;
  product = (wide)scale.multiplier * rate;
  FUZZ_EXPECT((exact > product ? exact - product : product - exact) <= rate / 2);

  cycles = cpucycles_scale_apply(scale, count);
  product = (wide)(count < 0 ? -(unsigned long long)count : (unsigned long long)count);
  product = product * scale.multiplier >> scale.shift;
  FUZZ_EXPECT((unsigned long long)cycles
    == (count < 0 ? -(unsigned long long)product : (unsigned long long)product));
  if (count == INT64_MAX || product > INT64_MAX / 2)
    return; /* beyond what counts can be: modulo 2^64 */
  next = cpucycles_scale_apply(scale, count + 1);
  FUZZ_EXPECT(next >= cycles && next - cycles <= (long long)(scale.multiplier >> scale.shift) + 1);
}

/* Is the rate, to within so many parts of a million, this many sixteenths of a cycle a unit? */
static int is_near(long double rate, long double persecond, long double sixteenths,
  long double parts)
{
  long double off = persecond - rate * sixteenths / 16;

  return (off < 0 ? -off : off) <= persecond * parts / 1000000;
}

/* The nearest multiple of 1/line, in sixteenths. */
static long double nearest(long double rate, long double persecond, int line)
{
  return (long double)(long long)(persecond * line / rate + 0.5L) * (16 / line);
}

/* Within so many parts of a million, is there one that means something? */
static int has_multiple(long double rate, long double persecond, long double parts)
{
  int line;

  for (line = 1; line <= 16; line *= 2) {
    long double sixteenths = nearest(rate, persecond, line);
    long double off = persecond * line - rate * sixteenths * line / 16;

    /* among large multiples, every rate has a near one; what a rate is off is off as often as the
       multiple says */
    if (sixteenths > 0 && is_near(rate, persecond, sixteenths, parts)
      && (off < 0 ? -off : off) + persecond * line * (500 - parts) / 1000000 <= rate / 16)
      return 1;
  }
  return 0;
}

static void try_multiple(struct fuzz_food *food)
{
  long long rate = (long long)fuzz_eat_magnitude(food, THZ);
  long long persecond = (long long)fuzz_eat_magnitude(food, THZ), sixteenths;

  if (fuzz_eat(food, 1) % 2) { /* one that is near a multiple, which is rare at random */
    sixteenths = (long long)fuzz_eat_magnitude(food, 4096);
    rate = (long long)((long double)persecond * 16 / (long double)sixteenths
      * (1 + ((long double)fuzz_eat(food, 2) - 32768) / 32768 / 1000));
    if (rate < 1 || rate > (long long)THZ)
      return;
  }
  sixteenths = cpucycles_scale_multiple(rate, persecond);
  FUZZ_EXPECT(sixteenths >= 0);
  if (sixteenths > 0)
    FUZZ_EXPECT(is_near((long double)rate, (long double)persecond, (long double)sixteenths,
      500.01L));
  /* integers are rounded, by less than 1 */
  else if (rate > 1000000 && persecond > 1000000)
    FUZZ_EXPECT(!has_multiple((long double)rate, (long double)persecond, 499));
}

static void try_agreement(struct fuzz_food *food)
{
  long long stated = (long long)fuzz_eat_magnitude(food, THZ);
  long long measured = (long long)fuzz_eat_magnitude(food, THZ);
  long double off = (long double)measured - (long double)stated;

  if (fuzz_eat(food, 1) % 2)
    measured = stated / 64 * (long long)(63 + fuzz_eat(food, 1) % 3) + (long long)fuzz_eat(food, 1);
  off = (long double)measured - (long double)stated;
  off = (off < 0 ? -off : off) * 100;
  if (cpucycles_rates_agree(stated, measured))
    FUZZ_EXPECT(off <= (long double)stated);
  else
    FUZZ_EXPECT(off > (long double)stated - 100);
}

/* A counter and a clock that are read in turn, each of which takes its time. */
static struct {
  long double time, count; /* ns, units */
  long double rate;        /* units a nanosecond */
  int step, width, costs;  /* of the clock, in ns; of the counter, in bits; of a read, in ns */
  int interrupted;         /* at the so many'th read; then never again */
  long double interruption;
  int strange; /* the clock or the counter jump, or stop */
  struct fuzz_food *food;
} machine;

static void pass(void)
{
  long double passed = machine.costs;

  if (machine.interrupted >= 0 && machine.interrupted-- == 0)
    passed += machine.interruption;
  machine.time += passed;
  machine.count += passed * machine.rate;
}

static long long read_counter(void)
{
  uint64_t count;

  pass();
  count = (uint64_t)machine.count;
  if (machine.strange & 1)
    count = fuzz_eat(machine.food, 1) * (1ULL << (fuzz_eat(machine.food, 1) % 60));
  if (machine.width == 32)
    count = (count & 0xffffffff) | 0x5a5a00000000;
  return (long long)count;
}

static long long read_clock(void)
{
  long long now;

  pass();
  now = (long long)(machine.time / machine.step) * machine.step;
  if (machine.strange & 2)
    now += (long long)fuzz_eat(machine.food, 1) * (1LL << (fuzz_eat(machine.food, 1) % 50));
  return now;
}

static int is_known(const char *reason)
{
  static const char *const reasons[] = { "clock-step", "clock-stopped", "not-increasing",
    "decreasing", "rate-mismatch", "no-time", "no-multiple" };
  size_t i;

  for (i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
    if (strcmp(reason, reasons[i]) == 0)
      return 1;
  return 0;
}

static void begin_machine(struct fuzz_food *food, struct cpucycles_calibration *calibration)
{
  static const int steps[] = { 1, 10, 41, 100, 1000 };

  machine.food = food;
  machine.rate = (long double)fuzz_eat_magnitude(food, 10000000000) / 1e9L;
  machine.time = (long double)fuzz_eat(food, 6);
  machine.count = (long double)fuzz_eat(food, 6);
  machine.step = steps[fuzz_eat(food, 1) % 5];
  machine.costs = 1000 - (int)fuzz_eat(food, 2) % 990;
  machine.width = fuzz_eat(food, 1) % 2 ? 32 : 64;
  machine.interrupted = (int)fuzz_eat(food, 2);
  machine.interruption = (long double)fuzz_eat(food, 3);
  machine.strange = (int)fuzz_eat(food, 1) % 8;
  machine.strange = machine.strange < 4 ? machine.strange : 0;
  calibration->read = read_counter;
  calibration->now = read_clock;
  calibration->width = machine.width;
  calibration->left = CPUCYCLES_CALIBRATION_TIME;
}

/* So much is a rate wrong, in parts of a million, that is measured in such a window with this
   clock: at both ends by a step of it, by a unit, and where the clock seldom moves, by what a read
   takes. */
static long double inaccuracy(int window)
{
  long double end = machine.step + 1 / machine.rate;

  if (machine.step > 2 * machine.costs)
    end += machine.costs;
  return end * 2 / window * 1000000;
}

/* Nobody states the rate: a factor that is found is near the real one, and it is found if there is
   one. */
static void try_find(struct fuzz_food *food)
{
  long long persecond = (long long)fuzz_eat_magnitude(food, 10000000000ULL) + 1000, sixteenths = -1;
  struct cpucycles_calibration calibration;
  long double rate, wrong;
  const char *reason;

  begin_machine(food, &calibration);
  if (fuzz_eat(food, 1) % 2)
    machine.rate = (long double)persecond * 16 / (long double)fuzz_eat_magnitude(food, 4096) / 1e9L;
  rate = machine.rate * 1e9L;
  reason = cpucycles_scale_find(&calibration, 0, persecond, &sixteenths);
  FUZZ_EXPECT(reason ? is_known(reason) : sixteenths > 0);
  FUZZ_EXPECT(sixteenths >= 0 && calibration.left >= 0
    && calibration.left < CPUCYCLES_CALIBRATION_TIME);
  if (machine.strange)
    return;
  wrong = inaccuracy(400000);
  if (!reason)
    FUZZ_EXPECT(is_near(rate, (long double)persecond, (long double)sixteenths, 501 + 1.1L * wrong));
  else if (wrong < 100 && rate > 1e6L && persecond > 1000000)
    FUZZ_EXPECT(machine.interruption > 0
      || !has_multiple(rate, (long double)persecond, 499 - 4 * wrong));
}

/* Somebody states it: believed if it is right within 1 %, and not if it is wrong by more. */
static void try_statement(struct fuzz_food *food)
{
  long long stated = (long long)fuzz_eat_magnitude(food, THZ * 2), sixteenths = -1;
  struct cpucycles_calibration calibration;
  long double off, wrong;
  const char *reason;

  begin_machine(food, &calibration);
  if (fuzz_eat(food, 1) % 2)
    stated = (long long)(machine.rate * 1e6L * (950 + (long double)(fuzz_eat(food, 1) % 100))) + 1;
  reason = cpucycles_scale_find(&calibration, stated, 1000000000, &sixteenths);
  FUZZ_EXPECT(sixteenths == 0 && (!reason || is_known(reason)));
  if (machine.strange)
    return;
  wrong = inaccuracy(200000) / 1000000;
  off = (machine.rate * 1e9L - (long double)stated) / (long double)stated;
  off = off < 0 ? -off : off;
  if (!reason)
    FUZZ_EXPECT(off <= 0.01L + 1.1L * wrong * (1 + off));
  else if (machine.interruption == 0 && wrong < 0.005L && (long double)stated > 1e7L)
    FUZZ_EXPECT(off > 0.01L - 2 * wrong);
}

/* Of any counter, a rate is found within 1 %, or none. */
static void try_rate(struct fuzz_food *food)
{
  struct cpucycles_calibration calibration;
  long double off;
  long long rate;

  begin_machine(food, &calibration);
  rate = cpucycles_calibration_rate(&calibration);
  FUZZ_EXPECT(rate >= 0 && rate <= CPUCYCLES_FREQUENCY_HIGHEST);
  if (machine.strange || rate == 0)
    return;
  off = ((long double)rate - machine.rate * 1e9L) / (machine.rate * 1e9L);
  FUZZ_EXPECT((off < 0 ? -off : off) <= 0.01L + 1.1L * inaccuracy(400000) / 1000000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static void (*const tries[])(struct fuzz_food *) = { try_between, try_multiple, try_agreement,
    try_find, try_statement, try_rate };
  struct fuzz_food food = { data, size };

  tries[fuzz_eat(&food, 1) % (sizeof tries / sizeof tries[0])](&food);
  return 0;
}
