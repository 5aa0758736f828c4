/* SPDX-License-Identifier: 0BSD OR MIT */
/* Random gaps, stalls, rates and clock steps for the extension of 32 bits, against a machine that
   counts in 64: each answer is a count that the counter had while it was read, and in a thread none
   is below the one before, as long as the bounds hold that extend32.c derives. For libFuzzer: make
   check-fuzz. */

#include "config.h"

#include "lib/extend32.c"

#include "tests/fuzz/fuzz.h"

#define DAY (86400LL * 1000000000)

enum { LOOKS = 64 };

/* Each access takes time, and what comes before one of a call may take long. */
static struct {
  uint64_t count;
  double part;        /* of a count */
  double rate;        /* counts a nanosecond */
  long long time;     /* ns, as it is */
  long long offset;   /* of the clock, where that can be set */
  long long step;     /* of the clock */
  long long lag;      /* of the coarse one, at most */
  long long cost;     /* of an access */
  double stall;       /* counts */
  int stall_at;
  uint64_t looks[LOOKS];
  int looked;
} machine;

static void pass(double nanoseconds)
{
  double counted = nanoseconds * machine.rate + machine.part;

  machine.time += (long long)nanoseconds;
  machine.count += (uint64_t)counted;
  machine.part = counted - (double)(uint64_t)counted;
}

static void pass_counts(double counts)
{
  pass(counts / machine.rate);
}

static void access_machine(void)
{
  if (machine.stall_at-- == 0)
    pass_counts(machine.stall);
  pass((double)machine.cost);
}

static long long read_counter(void)
{
  access_machine();
  if (machine.looked < LOOKS)
    machine.looks[machine.looked++] = machine.count;
  /* the other half is somebody else's */
  return (long long)((machine.count & 0xffffffff) | machine.count << 37 | 1ULL << 63);
}

static long long read_clock(void)
{
  access_machine();
  return machine.time / machine.step * machine.step + machine.offset;
}

static long long read_coarse(void)
{
  return read_clock() - (machine.lag ? machine.time / 3 % machine.lag : 0);
}

static struct cpucycles_extension extension;

static uint64_t last;

static void call(void)
{
  uint64_t answer;
  int i;

  machine.looked = 0;
  answer = (uint64_t)cpucycles_extend32(&extension);
  machine.stall_at = -1;
  FUZZ_EXPECT(machine.looked > 0 && machine.looked < LOOKS);
  for (i = 0; i < machine.looked && machine.looks[i] != answer; i++)
    ;
  FUZZ_EXPECT(i < machine.looked);
  FUZZ_EXPECT(answer >= last);
  last = answer;
}

/* The rates are within so much of the estimate. */
#define SPREAD 0.2

/* So many counts may be between two anchors. In extend32.c's terms, e * D + w < 2^31, with w from a
   step of the clock and what accesses take, twice. A thread's anchor may be older than its last
   read by the time of 2^26 counts. Against a clock that can be set, less than 7/8 of a wrap. */
static double most_counts(double estimate, int settable)
{
  double wrong = 2 * estimate * (double)(machine.step + 8 * machine.cost);

  if (settable)
    return 0x1p32 * 7 / 8 - 1000 * estimate * (double)machine.cost;
  return (0x1p31 - wrong) / 0.25 - 0x1p27;
}

static void begin(struct fuzz_food *food, double estimate, int settable)
{
  static const long long steps[] = { 1, 41, 1000, 1000000, 4000000 };
  struct cpucycles_clock clock = { read_clock, read_coarse, settable };

  memset(&machine, 0, sizeof machine);
  last = 0;
  machine.rate = estimate;
  machine.count = fuzz_eat(food, 4) % (0xffffffff - 65536); /* does not wrap within the start */
  machine.time = 10000000 + (long long)fuzz_eat(food, 6); /* a refused clock says 0 */
  machine.step = steps[fuzz_eat(food, 1) % 5];
  machine.lag = settable ? 0 : (long long)(fuzz_eat(food, 1) % 10) * 1000000;
  machine.cost = 1 + (long long)(fuzz_eat(food, 1) % 64);
  machine.stall_at = -1;
  cpucycles_extend32_begin(&extension, read_counter, clock, (long long)(estimate * 1e9), 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct fuzz_food food = { data, size };
  double estimate = (double)(fuzz_eat(&food, 2) % 4990 + 10) / 1000; /* 10 MHz to 5 GHz */
  int settable = fuzz_eat(&food, 1) % 4 == 0;
  double most;

  begin(&food, estimate, settable);
  most = most_counts(estimate, settable);
  while (food.size > 0) {
    unsigned int order = (unsigned int)fuzz_eat(&food, 1);
    double part = (double)fuzz_eat(&food, 2) / 65536, amount;

    if (order & 0x80)
      part /= 4096;
    /* what held up the last call may have come after its anchor */
    amount = (most - machine.stall) * part;
    machine.stall = 0;
    switch (order % 4) {
    case 0:
      pass_counts(amount);
      break;
    case 1:
      machine.stall = amount;
      machine.stall_at = (int)(order / 4 % 8);
      break;
    case 2:
      machine.rate = estimate * (1 + SPREAD * (2 * part - 1));
      break;
    default:
      if (settable) /* within a day in all */
        machine.offset = (long long)(part * (double)DAY) - DAY / 2;
    }
    call();
  }
  return 0;
}
