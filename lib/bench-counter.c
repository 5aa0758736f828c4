/* SPDX-License-Identifier: 0BSD OR MIT */
/* What a benchmark needs to know of the selected counter. A file of its own, so that a suite can
   simulate a machine. */

#include "config.h"

#include "lib/bench.h"
#include "sys/dependent-add.h"
#include "sys/emulator.h"
#include "sys/kind.h"

#include <string.h>

int cpuc_bench_counter_describe(struct cpuc_bench_meter *meter)
{
  const struct cpucycles_counter_info *counter = cpucycles_selected();
  long long rate = cpucycles_rate();

  if (!counter)
    return -1;
  meter->unit = counter->count_unit;
  meter->rate_is_known = rate > 0;
  meter->rate = (double)(rate > 0 ? rate : cpucycles_persecond());
  meter->counts_core_cycles = cpuc_kind_facts[cpuc_kind_named(counter->kind)].counts_core_cycles
    && strcmp(counter->count_unit, cpuc_kind_facts[CPUC_KIND_UNPROVEN].count_unit) != 0;
  meter->counts_sleep = strcmp(counter->scope, "thread") != 0;
  /* the counts of an emulator are its own */
  meter->add_takes_one_cycle = cpuc_dependent_add_takes_one_cycle() && !cpuc_emulator_find();
  return 0;
}

void cpuc_bench_counter_nothing(void *unused)
{
  (void)unused;
}
