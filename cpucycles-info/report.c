/* SPDX-License-Identifier: 0BSD OR MIT */
/* Values that are computed from a report, and names of signals. */

#include "config.h"

#include "cpucycles-info/report.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

const char *signal_name(int signal)
{
  switch (signal) {
  case SIGABRT:
    return "SIGABRT";
  case SIGILL:
    return "SIGILL";
  case SIGFPE:
    return "SIGFPE";
#ifdef SIGBUS
  case SIGBUS:
    return "SIGBUS";
#endif
  case SIGSEGV:
    return "SIGSEGV";
#ifdef SIGKILL
  case SIGKILL:
    return "SIGKILL";
#endif
#ifdef SIGSYS
  case SIGSYS:
    return "SIGSYS";
#endif
  default:
    return "signal";
  }
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
  const struct cpucycles_counter_info *first = counter;
  int i;

  for (i = 0; i < library->counter_count; i++) {
    first = library->counters[i];
    if (first == counter
      || (are_equal(first->reason, counter->reason)
        && are_equal(first->explanation, counter->explanation)
        && are_equal(first->remedy, counter->remedy)
        && first->signal_number == counter->signal_number
        && first->error_number == counter->error_number))
      break;
  }
  return first;
}

int counts_core_cycles(const struct cpucycles_counter_info *counter)
{
  return strcmp(counter->kind, "core") == 0 || strcmp(counter->kind, "system call") == 0;
}

long long core_persecond(const struct core_info *core)
{
  return core->persecond_after > 0 ? core->persecond_after : core->persecond_before;
}

double cycles_per_counted_cycle(const struct core_info *core, long long persecond)
{
  if (core->counted_persecond <= 0 || persecond <= 0)
    return 0;
  return (double)persecond / (double)core->counted_persecond;
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
