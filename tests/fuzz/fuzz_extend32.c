/* SPDX-License-Identifier: 0BSD OR MIT */
/* Fuzzes the 32-bit extension with random gaps, stalls, rates and clock steps, against a machine
   that counts in 64 bits. Within the bounds that extend32.c derives, each answer is a count that
   the counter had during the call, and no answer in a thread is below the previous one. For
   libFuzzer: make check-fuzz. */

#include "config.h"

#include "lib/extend32.h"

#include "tests/fuzz/fuzz.h"

#include <string.h>

#define DAY (86400LL * 1000000000)

enum { READS = 64 };

/* The machine. Each access takes time, and a stall before one access of a call may take long. */
static struct {
  uint64_t count;
  double part;        /* fraction of a count */
  double rate;        /* counts per nanosecond */
  long long time;     /* ns, true time */
  long long offset;   /* the clock's, if it can be set */
  long long step;     /* the clock's resolution */
  long long lag;      /* greatest lag of the coarse clock */
  long long cost;     /* time of an access */
  double stall;       /* counts */
  int stall_at;
  uint64_t seen[READS];
  int seen_count;
} machine;

static void advance(double nanoseconds)
{
  double increase = nanoseconds * machine.rate + machine.part;

  machine.time += (long long)nanoseconds;
  machine.count += (uint64_t)increase;
  machine.part = increase - (double)(uint64_t)increase;
}

static void advance_counts(double counts)
{
  advance(counts / machine.rate);
}

static void spend_access(void)
{
  if (machine.stall_at-- == 0)
    advance_counts(machine.stall);
  advance((double)machine.cost);
}

static long long read_counter(void)
{
  spend_access();
  if (machine.seen_count < READS)
    machine.seen[machine.seen_count++] = machine.count;
  /* the other half is undefined */
  return (long long)((machine.count & 0xffffffff) | machine.count << 37 | 1ULL << 63);
}

static long long read_clock(void)
{
  spend_access();
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

  machine.seen_count = 0;
  answer = (uint64_t)cpucycles_extend32(&extension);
  machine.stall_at = -1;
  FUZZ_EXPECT(machine.seen_count > 0 && machine.seen_count < READS);
  for (i = 0; i < machine.seen_count && machine.seen[i] != answer; i++)
    ;
  FUZZ_EXPECT(i < machine.seen_count);
  FUZZ_EXPECT(answer >= last);
  last = answer;
}

/* Greatest relative difference between rate and estimate. */
#define SPREAD 0.2

/* Greatest number of counts between two anchors. In extend32.c's terms: e * T + w < 2^31, with w
   from twice a step of the clock and the time of the accesses. A thread's anchor may be older
   than its last read by the time of 2^26 counts; this bound allows for 2^27. With a clock that
   can be set: less than 7/8 of a wraparound. */
static double most_counts(double estimate, int settable)
{
  double wrong = 2 * estimate * (double)(machine.step + 8 * machine.cost);

  if (settable)
    return 0x1p32 * 7 / 8 - 1000 * estimate * (double)machine.cost;
  return (0x1p31 - wrong) / 0.25 - 0x1p27;
}

static void begin(struct fuzz_input *input, double estimate, int settable)
{
  static const long long steps[] = { 1, 41, 1000, 1000000, 4000000 };
  struct cpucycles_clock clock = { read_clock, read_coarse, settable };

  memset(&machine, 0, sizeof machine);
  last = 0;
  machine.rate = estimate;
  machine.count = fuzz_consume(input, 4) % (0xffffffff - 65536); /* below the first wraparound */
  machine.time = 10000000 + (long long)fuzz_consume(input, 6); /* 0 means a refused clock */
  machine.step = steps[fuzz_consume(input, 1) % 5];
  machine.lag = settable ? 0 : (long long)(fuzz_consume(input, 1) % 10) * 1000000;
  machine.cost = 1 + (long long)(fuzz_consume(input, 1) % 64);
  machine.stall_at = -1;
  cpucycles_extend32_begin(&extension, read_counter, clock, (long long)(estimate * 1e9), 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct fuzz_input input = { data, size };
  double estimate = (double)(fuzz_consume(&input, 2) % 4990 + 10) / 1000; /* 10 MHz to 5 GHz */
  int settable = fuzz_consume(&input, 1) % 4 == 0;
  double most;

  begin(&input, estimate, settable);
  most = most_counts(estimate, settable);
  while (input.size > 0) {
    unsigned int order = (unsigned int)fuzz_consume(&input, 1);
    double part = (double)fuzz_consume(&input, 2) / 65536, counts;

    if (order & 0x80)
      part /= 4096;
    /* the last call's stall may have come after its anchor */
    counts = (most - machine.stall) * part;
    machine.stall = 0;
    switch (order % 4) {
    case 0:
      advance_counts(counts);
      break;
    case 1:
      machine.stall = counts;
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
