/* SPDX-License-Identifier: 0BSD OR MIT */
/* The library as a module that check_unload loads and unloads, with all that stays after a call:
   perf events of threads, and signal handlers. The event is a software one, which needs no PMU. */

#include "config.h"

#include "backends/common/perf-cycles.h"
#include "sys/os-thread.h"
#include "sys/trial.h"

#include <signal.h>

static struct cpucycles_perf_refusal refused;
static const struct cpucycles_perf_method method = {
  .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK, .refusal = &refused
};

static const int rescued[] = { SIGILL, SIGBUS, SIGSEGV, 0 };

static int rescue_nothing(int signal, const void *info, void *context)
{
  (void)signal, (void)info, (void)context;
  return 0;
}

__attribute__((visibility("default"))) int module_open(void);
__attribute__((visibility("default"))) long long module_read(void);

int module_open(void)
{
  struct cpucycles_why why = { 0 };
  struct cpucycles_signal_state saved;

  cpucycles_block_signals(&saved);
  cpucycles_trial_begin(&saved);
  cpucycles_trial_keep_handlers(rescue_nothing, rescued);
  cpucycles_trial_end();
  cpucycles_restore_signals(&saved);
  return cpucycles_perf_open(&method, &why);
}

long long module_read(void)
{
  return cpucycles_perf_slow(&method);
}
