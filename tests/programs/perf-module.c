/* SPDX-License-Identifier: 0BSD OR MIT */
/* A module that a program can load and unload. It contains the parts of the library that outlive
   a call: perf events of threads, and handlers that stay installed. Its event is a software
   event, which needs no PMU. */

#include "config.h"

#define CPUCYCLES_PERF_TYPE PERF_TYPE_SOFTWARE
#define CPUCYCLES_PERF_CONFIG PERF_COUNT_SW_TASK_CLOCK

#include "backends/default-perfevent.c"
#undef method
#include "backends/common/perf-cycles.c"
#include "backends/common/perf-open.c"
#include "backends/backend.h"
#include "sys/os-thread.h"
#include "sys/trial.h"

long long cpucycles_next_best(void)
{
  return 0;
}

struct cpucycles_tried cpucycles_tried;

void cpucycles_note_fallback(const char *code)
{
  (void)code;
}

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
  return cpucycles_backend_default_perfevent.open(&why);
}

long long module_read(void)
{
  return cpucycles_backend_default_perfevent.read();
}
