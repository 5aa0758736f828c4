/* SPDX-License-Identifier: 0BSD OR MIT */
/* Core cycles per count at this moment: the smallest of three chains of adds, because an
   interruption makes a chain longer. */

#include "config.h"

#include "lib/bench.h"
#include "lib/process.h"
#include "sys/dependent-add.h"
#include "sys/os-thread.h"
#include "sys/quantile.h"

enum { CHAINS = 3 };

static const double longest_seconds = 1e-3; /* of the chains: longer ones are interrupted */

static struct cpuc_bench_meter meter; /* once it is found */

static void find_meter(struct cpuc_selection *unused)
{
  (void)unused;
  (void)cpuc_bench_meter_begin(&meter);
}

/* Signals wait, because a chain with a handler in it would be longer. */
static double measure(void)
{
  struct cpuc_bench_meter now = meter; /* threads share `meter` */
  struct cpuc_os_thread_saved saved;
  double chains[CHAINS], sum = 0;
  int i;

  cpuc_os_thread_block_signals_and_cancellation(&saved);
  cpuc_os_thread_unblock_fault_signals_as_saved(&saved);
  for (i = 0; i < CHAINS; i++)
    sum += chains[i] = cpuc_bench_meter_chain(&now);
  cpuc_os_thread_restore_signals_and_cancellation(&saved);
  cpuc_quantile_sort(chains, CHAINS);
  if (now.failure || !(chains[0] > 0) || chains[1] > 1.01 * chains[0]
    || sum * (double)(now.passes * CPUC_DEPENDENT_ADD_PASS) > longest_seconds * now.rate)
    return 0;
  return 1 / chains[0];
}

double cpucycles_core_ratio(void)
{
  static struct cpuc_process_result finding = { find_meter, 0, 0 };

  /* the meter asks for both, and one lock protects all results, so they must be found before */
  (void)cpucycles_rate();
  if (!cpucycles_selected() || !cpuc_process_once(&finding))
    return 0;
  if (meter.counts_core_cycles)
    return 1;
  return meter.passes > 0 && meter.add_takes_one_cycle ? measure() : 0;
}
