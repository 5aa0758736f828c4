/* SPDX-License-Identifier: 0BSD OR MIT */
/* The library as a module that check_process loads and unloads, with perf events of threads, which
   stay after a call. The event is a software event, which needs no PMU. */

#include "config.h"

#include "backends/perf/thread.h"
#include "lib/process.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct cpuc_perf_counter counter = { .instruction = NULL };

/* In place of syscall() of the C library: requests a software event instead of core cycles. */
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): that name is reserved */
__attribute__((visibility("hidden"))) long syscall(long number, ...)
{
  long (*next)(long, ...);
  long arguments[5];
  va_list list;
  int i;

  va_start(list, number);
  for (i = 0; i < 5; i++)
    arguments[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_perf_event_open) {
    struct perf_event_attr *wanted = (void *)arguments[0];

    wanted->type = PERF_TYPE_SOFTWARE;
    wanted->config = PERF_COUNT_SW_TASK_CLOCK;
  }
  *(void **)&next = dlsym(RTLD_NEXT, "syscall");
  return next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4]);
}

__attribute__((visibility("default"))) int module_open(void);
__attribute__((visibility("default"))) long long module_read(void);

int module_open(void)
{
  struct cpuc_machine machine = { .is_found = 0 };
  struct cpuc_diagnosis why = { .machine = &machine };

  return cpuc_perf_open(&counter, &cpuc_select_services, &why);
}

long long module_read(void)
{
  return cpuc_perf_read_slowly(&counter);
}
