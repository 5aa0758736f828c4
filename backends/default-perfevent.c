/* SPDX-License-Identifier: 0BSD OR MIT */
/* default-perfevent: user-mode core cycles of the calling thread, by read(2) of a perf event.
   Needs a PMU with a driver, and the kernel's leave: perf_event_paranoid at most 2, or CAP_PERFMON. Each
   thread has an event of its own, opened at its first read and closed when it exits; a forked child opens
   another. Where that fails, or the event shares its hardware counter with others (time_running behind
   time_enabled), the thread goes on with the OS clock in cycles. A count never runs backward in a thread.
   Width: 64 bits, extended by the kernel. Rate: the core's, as it runs.
   Source: perf_event_open(2), sections "read_format" and "ERRORS". */

#include "config.h"

#include "backends/backend.h"
#include "backends/kernel-file.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* Tests put a software event here, which needs no PMU. */
#ifndef CPUCYCLES_PERF_TYPE
#define CPUCYCLES_PERF_TYPE PERF_TYPE_HARDWARE
#define CPUCYCLES_PERF_CONFIG PERF_COUNT_HW_CPU_CYCLES
#endif

enum state { UNOPENED, EVENT, CLOCK };

/* What a thread owns. */
static _Thread_local struct {
  enum state state;
  int event;       /* its descriptor */
  pid_t process;   /* that opened it: a descriptor inherited over fork stands still */
  long long base;  /* to be added to what the event or the clock says */
  long long last;  /* what was returned last */
} own;

/* Its destructor closes the event of a thread that exits. */
static pthread_key_t at_exit;
static int at_exit_made;

/* What read_format asks for, in the kernel's order. */
struct reading {
  uint64_t value, enabled, running;
};

static int open_once(int exclude)
{
  struct perf_event_attr event;
  int result;

  memset(&event, 0, sizeof event);
  event.size = sizeof event;
  event.type = CPUCYCLES_PERF_TYPE;
  event.config = CPUCYCLES_PERF_CONFIG;
  event.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  event.exclude_kernel = exclude;
  event.exclude_hv = exclude;
  do
    result = (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  while (result < 0 && errno == EINTR);
  return result;
}

static int read_event(struct reading *reading)
{
  ssize_t length;

  do
    length = read(own.event, reading, sizeof *reading);
  while (length < 0 && errno == EINTR);
  return length == (ssize_t)sizeof *reading && reading->enabled == reading->running ? 0 : -1;
}

static void close_event(void)
{
  enum state state = own.state;

  own.state = UNOPENED; /* first: a signal handler that reads meanwhile must not close it again */
  if (state == EVENT)
    close(own.event);
}

static void thread_exits(void *unused)
{
  (void)unused;
  close_event();
}

/* Opens this thread's event, to go on from own.last. Returns 0 or an errno. */
static int open_event(void)
{
  struct reading reading;

  own.process = getpid();
  own.event = open_once(1);
  if (own.event < 0 && (errno == EOPNOTSUPP || errno == EINVAL))
    own.event = open_once(0); /* some PMUs cannot leave the kernel out */
  if (own.event < 0)
    return errno;
  own.state = EVENT;
  if (pthread_setspecific(at_exit, &own) != 0 || read_event(&reading) != 0) {
    close_event();
    return EIO;
  }
  own.base = own.last - (long long)reading.value;
  return 0;
}

/* The next best, for this thread, from here on. */
static void go_on_with_clock(void)
{
  close_event();
  own.state = CLOCK;
  own.base = own.last - cpucycles_clock_cycles();
}

static long long read_cycles(void)
{
  int saved_errno = errno;
  struct reading reading;
  long long count = own.last;

  if (own.state == UNOPENED || own.process != getpid()) {
    close_event();
    if (open_event() != 0)
      go_on_with_clock();
  }
  if (own.state == EVENT) {
    if (read_event(&reading) == 0)
      count = own.base + (long long)reading.value;
    else
      go_on_with_clock();
  }
  if (own.state == CLOCK)
    count = own.base + cpucycles_clock_cycles();
  if (count > own.last)
    own.last = count;
  errno = saved_errno;
  return own.last;
}

/* True where the kernel's setting is what stands in the way: above 2, which is one digit, or more. */
static int is_paranoid(void)
{
  char text[16];
  int length = read_kernel_file("/proc/sys/kernel/perf_event_paranoid", text, sizeof text);

  return length >= 2 && text[0] != '-' && (text[0] > '2' || text[1] != '\n');
}

static int open_counter(struct cpucycles_why *why)
{
  int error = 0;

  if (!at_exit_made) {
    error = pthread_key_create(&at_exit, thread_exits);
    at_exit_made = error == 0;
  }
  if (error == 0)
    error = open_event();
  if (error == EACCES && is_paranoid())
    why->remedy = "sysctl kernel.perf_event_paranoid=2";
  return error;
}

static void close_counter(void)
{
  close_event();
  own.base = own.last = 0;
  if (at_exit_made)
    pthread_key_delete(at_exit);
  at_exit_made = 0;
}

/* A thread that exits later must not be led into an unloaded library; its event stays open until the process
   ends. */
__attribute__((destructor)) static void unload(void)
{
  close_event();
  if (at_exit_made)
    pthread_key_delete(at_exit);
  at_exit_made = 0;
}

const struct cpucycles_backend cpucycles_backend_default_perfevent = {
  .kind = CPUCYCLES_KIND_PERF_READ,
  .scope = CPUCYCLES_SCOPE_THREAD,
  .width = 64,
  .source = "perf cycles",
  .unit = "core cycles in user mode",
  .open = open_counter,
  .read = read_cycles,
  .close = close_counter,
};
