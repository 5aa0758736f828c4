/* SPDX-License-Identifier: 0BSD OR MIT */
/* The library as a module that check_unload loads and unloads, with all that stays after a call:
   perf events of threads, and signal handlers. The event is a software one, which needs no PMU. */

#include "config.h"

#include "backends/perf/read.h"
#include "lib/process.h"
#include "sys/os-thread.h"
#include "sys/guard.h"

#include <signal.h>

static struct cpuc_perf_findings findings;
static const struct cpuc_perf_counter method = {
  .event = { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK }, .findings = &findings
};

static int fix_up_nothing(void *context)
{
  (void)context;
  return 0;
}

__attribute__((visibility("default"))) int module_open(void);
__attribute__((visibility("default"))) long long module_read(void);

int module_open(void)
{
  struct cpuc_diagnosis why = { 0 };
  struct cpuc_os_thread_signals saved;

  cpuc_os_thread_block_signals(&saved);
  cpuc_guard_enter();
  cpuc_guard_keep(fix_up_nothing, SIGSEGV);
  cpuc_guard_leave();
  cpuc_os_thread_restore_signals(&saved);
  return cpuc_perf_open(&method, &cpuc_process_services, &why);
}

long long module_read(void)
{
  return cpuc_perf_read_slowly(&method);
}
