/* SPDX-License-Identifier: 0BSD OR MIT */
/* start_counters() and read_counters(): two events of the calling thread, in one group. The
   generation number of a thread grows by one at each start and each stop. read_counters() returns
   the number of the start only if the events have counted all the time since. If read_counters()
   returns another number, the kernel stopped the events, the program stopped them or started them
   again, or a fork or a closed descriptor ended them. Source: IRIX, libperfex(3C). */

#include "config.h"

#include "include/perfex.h"
#include "perfex/count.h"
#include "perfex/early.h"
#include "perfex/events.h"
#include "perfex/why.h"
#include "sys/os-thread.h"
#include "sys/perf/group.h"
#include "sys/thread-local.h"

#include <errno.h>
#include <limits.h>

/* The counters of the calling thread. Signal handlers that call libperfex access them, too. */
static CPUC_THREAD_LOCAL struct {
  int generation; /* 0 until a public function needs it */
  int is_running;
  int error;        /* errno of the last start if it failed, else 0 */
  int requested[2]; /* arguments of the caller */
  struct cpuc_perf_group group;
  struct cpuc_perf_event opened[2];
  unsigned long forks; /* before the process to which the events belong */
} counters;

/* The numbers of each thread begin far from those of all other threads (at multiples of 2^32 /
   golden ratio), so that a number of one thread does not match a number of another thread. */
static void next_generation(void)
{
  static unsigned threads;

  if (counters.generation == 0)
    counters.generation
      = (int)(__atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED) * 0x9e3779b9u & INT_MAX);
  counters.generation = pfx_count_generation_after(counters.generation);
}

int pfx_count_generation(void)
{
  struct cpuc_os_thread_saved saved;
  int generation;

  cpuc_os_thread_block_signals_and_cancellation(&saved); /* a signal handler may start counters */
  if (counters.generation == 0)
    next_generation();
  generation = counters.generation;
  cpuc_os_thread_restore_signals_and_cancellation(&saved);
  return generation;
}

/* Returns 1 after a fork: descriptors are copies, and events belong to the parent. */
static int are_copies(void)
{
  return counters.forks != pfx_early_forks;
}

static void stop_events(void)
{
  if (!counters.is_running)
    return;
  counters.is_running = 0;
  cpuc_perf_group_close(&counters.group, are_copies());
  next_generation();
}

static void close_at_exit(void)
{
  struct cpuc_os_thread_saved saved;

  cpuc_os_thread_block_signals_and_cancellation(&saved);
  stop_events();
  cpuc_os_thread_restore_signals_and_cancellation(&saved);
}

static struct perf_event_attr wanted_event(int event)
{
  const struct pfx_events_entry *row = pfx_events_row(event);

  return cpuc_perf_event_attributes(row->type, row->config, CPUC_PERF_USER);
}

/* Returns the errno to report for an event that the kernel refused, and prints a message if the
   kernel counts this event alone, or counts cycles but not this event. PMUs that cannot exclude the
   kernel may refuse with EOPNOTSUPP, which equals ENOTSUP, so EINVAL is returned instead. */
static int explain_refusal(int error, int event, int first)
{
  const struct pfx_events_entry *row = pfx_events_row(event);
  struct perf_event_attr wanted = wanted_event(event);

  switch (cpuc_perf_group_find_refusal(&counters.group, error, &wanted)) {
  case CPUC_PERF_GROUP_FULL:
    pfx_why_print("event %d (%s) cannot be counted together with event %d here", event, row->text,
      first);
    return EINVAL;
  case CPUC_PERF_GROUP_NO_EVENT:
    pfx_why_print("event %d (%s) cannot be counted: this CPU does not have it", event, row->text);
    return ENOTSUP;
  default:
    return error == EOPNOTSUPP ? EINVAL : error;
  }
}

/* Opens and starts events. Starts last, so that as little as possible is counted before the code of
   the caller. Returns 0 or an errno. */
static int start_events(const int events[2])
{
  int i, error = 0;

  counters.forks = pfx_early_forks;
  counters.group = (struct cpuc_perf_group){ counters.opened, 2, 0, 0 };
  for (i = 0; i < 2 && error == 0; i++) {
    struct perf_event_attr wanted = wanted_event(events[i]);

    error = cpuc_perf_group_add(&counters.group, &wanted);
  }
  if (error != 0)
    error = explain_refusal(error, events[i - 1], events[0]);
  else
    error = pfx_early_run_at_exit(close_at_exit);
  if (error != 0) {
    cpuc_perf_group_close(&counters.group, 0);
    return error;
  }
  counters.is_running = 1;
  next_generation();
  error = cpuc_perf_group_start(&counters.group);
  if (error != 0)
    stop_events();
  return error;
}

/* Returns 1 if there is a kernel event for this number. Prints a message if not. */
static int check_kernel_event(int event)
{
  const struct pfx_events_entry *row = pfx_events_row(event);

  if (row && row->name)
    return 1;
  pfx_why_print("event %d (%s) cannot be counted: the kernel has no generic event for it", event,
    row ? row->text : "unknown event");
  return 0;
}

int start_counters(int e0, int e1)
{
  int events[2] = { e0, e1 }, saved_errno = errno, error = 0, generation;
  struct cpuc_os_thread_saved saved;

  cpuc_os_thread_block_signals_and_cancellation(&saved); /* a signal handler may start counters */
  if (pfx_events_override(events, 1) != 0)
    error = errno;
  else if (!(check_kernel_event(events[0]) & check_kernel_event(events[1])))
    error = ENOTSUP; /* with "&", each of the two events can get its message */
  stop_events();
  if (error == 0) {
    counters.requested[0] = e0;
    counters.requested[1] = e1;
    error = start_events(events);
  }
  counters.error = error;
  generation = error ? -1 : counters.generation; /* before pending signals are delivered */
  cpuc_os_thread_restore_signals_and_cancellation(&saved);
  errno = error ? error : saved_errno;
  return generation;
}

/* Reads the group, which lacks the second event if the descriptor of this event is closed. Returns
   1 if its events belong to this thread and process, and have counted all the time since their
   start. Otherwise both counts are 0. */
static int read_group(long long counts[2])
{
  counts[0] = counts[1] = 0;
  return counters.is_running && !are_copies()
    && cpuc_perf_event_owns_descriptor(&counters.opened[0])
    && cpuc_perf_group_read(&counters.group, counts) == 0;
}

/* Stores the count of event[first] in *c0 and the count of the other event in *c1, and stops both
   events. Returns the generation number of their start, or a later number if the counts are
   incomplete. */
static int read_and_stop(int first, long long *c0, long long *c1)
{
  long long counts[2];
  int is_whole = read_group(counts), generation = counters.generation;

  stop_events();
  if (counters.generation == 0)
    next_generation();
  *c0 = counts[first];
  *c1 = counts[!first];
  return is_whole ? generation : counters.generation;
}

int read_counters(int e0, long long *c0, int e1, long long *c1)
{
  int saved_errno = errno, error = 0, generation = -1;
  struct cpuc_os_thread_saved saved;

  cpuc_os_thread_block_signals_and_cancellation(&saved); /* read(2) is a cancellation point */
  if (!counters.is_running && counters.error != 0)
    error = counters.error;
  else if (!counters.is_running || (e0 == counters.requested[0] && e1 == counters.requested[1]))
    generation = read_and_stop(0, c0, c1);
  else if (e0 == counters.requested[1] && e1 == counters.requested[0])
    generation = read_and_stop(1, c0, c1);
  else
    error = EINVAL;
  cpuc_os_thread_restore_signals_and_cancellation(&saved);
  errno = error ? error : saved_errno;
  return generation;
}
