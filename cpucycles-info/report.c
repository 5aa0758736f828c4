/* SPDX-License-Identifier: 0BSD OR MIT */
/* Values that are computed from a report, and names of signals. */

#include "config.h"

#include "cpucycles-info/report.h"

#include <signal.h>

const char *signal_name(int signal)
{
#define NAME(signal) { signal, #signal }
  static const struct {
    int number;
    const char *name;
  } names[] = { NAME(SIGABRT), NAME(SIGILL), NAME(SIGFPE), NAME(SIGSEGV),
#ifdef SIGBUS
    NAME(SIGBUS), NAME(SIGKILL),
#endif
#ifdef SIGSYS
    NAME(SIGSYS),
#endif
  };
  size_t i;

  for (i = 0; i < sizeof names / sizeof names[0]; i++)
    if (names[i].number == signal)
      return names[i].name;
  return "signal";
}

const struct counter_results *results_of(const struct report *report, const char *counter)
{
  int i;

  for (i = 0; i < report->result_count; i++)
    if (strcmp(report->results[i].name, counter) == 0)
      return &report->results[i];
  return NULL;
}

static int are_equal(const char *one, const char *other)
{
  return one && other ? strcmp(one, other) == 0 : one == other;
}

const struct cpucycles_counter_info *first_alike(const struct library_info *library,
  const struct cpucycles_counter_info *counter)
{
  const struct cpucycles_counter_info *first;
  int i;

  for (i = 0; i < library->counter_count; i++) {
    first = library->counters[i];
    if (first != counter && are_equal(first->reason, counter->reason)
      && are_equal(first->explanation, counter->explanation)
      && are_equal(first->remedy, counter->remedy))
      return first;
    if (first == counter)
      break;
  }
  return counter;
}

int is_core_ratio_off(const struct counter_results *results)
{
  return results->has_core_ratio
    && (results->counts_per_core_cycle < 0.95 || results->counts_per_core_cycle > 1.05);
}

/* Returns the results of the counter in use if its ratio was measured, or NULL. */
static const struct counter_results *core_ratio_in_use(const struct report *report)
{
  const struct cpucycles_counter_info *counter = report->library.selected;
  const struct counter_results *results = counter ? results_of(report, counter->name) : NULL;

  return results && results->has_core_ratio ? results : NULL;
}

int counts_core_cycles(const struct report *report)
{
  const struct counter_results *results = core_ratio_in_use(report);

  if (!report->library.selected || !is_of_core_cycles(report->library.selected))
    return 0;
  return results ? !is_core_ratio_off(results) : -1;
}

long long core_persecond(const struct core_info *core)
{
  return core->persecond_after > 0 ? core->persecond_after : core->persecond_before;
}

double cycles_per_counted_cycle(const struct report *report)
{
  const struct counter_results *results = core_ratio_in_use(report);
  long long counted = report->core.counted_persecond;

  if (results)
    return results->counts_per_core_cycle > 0 ? 1 / results->counts_per_core_cycle : 0;
  return counted > 0 ? (double)core_persecond(&report->core) / (double)counted : 0;
}

double rate_off_ppm(const struct counter_results *results)
{
  if (results->reported <= 0 || results->measured <= 0)
    return 0;
  return (results->measured - (double)results->reported) / (double)results->reported * 1e6;
}

int is_contradicted(const struct counter_results *results)
{
  double off = rate_off_ppm(results), size = off < 0 ? -off : off;

  return size > 10000 && size > results->uncertainty;
}
