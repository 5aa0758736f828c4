/* SPDX-License-Identifier: 0BSD OR MIT */
/* start_counters() and read_counters(): two events of the calling thread, in one perf group that
   counts in user mode only.

   The group is pinned, so if other events take its hardware, the kernel puts the group into an
   error state instead of multiplexing, and the read detects the error state. The generation number
   of a thread grows by one at each start and each stop. read_counters() returns the number of the
   start only if the events have counted all the time since. If read_counters() returns another
   number, the kernel stopped the events, the program stopped them or started them again, or a fork
   or a closed descriptor ended them. read_counters() cannot detect that the events were disabled
   for a time, with prctl() or through a copy of a descriptor, because neither the enabled nor the
   running time of disabled events advances.

   Source: perf_event_open(2), sections "read_format", "pinned" and "ERRORS"; IRIX,
   libperfex(3C). */

#include "config.h"

#include "include/perfex.h"
#include "perfex/count.h"
#include "perfex/events.h"
#include "perfex/group.h"
#include "perfex/message.h"
#include "sys/os-thread.h"
#include "sys/perf-event.h"
#include "sys/thread-local.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* The counters of the calling thread. Signal handlers that call libperfex access them, too. */
static CPUC_THREAD_LOCAL struct {
  int generation; /* 0 until a public function needs it */
  int is_running;
  int error;        /* errno of the last start if it failed, else 0 */
  int requested[2]; /* arguments of the caller */
  int event[2];     /* counted events: the arguments, unless the environment overrides them */
  int descriptor[2];
  uint64_t id[2]; /* IDs of the events in the kernel, which are never reused */
  int leader;     /* descriptor of the group leader, for open_in_group(), or -1 */
  int is_copy;    /* 1 after a fork: descriptors are copies, and events belong to the parent */
} counters;

/* The destructor of this key closes the events of a thread that exits. */
static pthread_key_t exit_key;
static int exit_key_is_created;

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

/* Returns 1 if the descriptor still belongs to our event. The program may have closed the
   descriptor, and another file may have its number. */
static int is_our_event(int i)
{
  uint64_t id = 0;

  return cpuc_perf_event_identify(counters.descriptor[i], &id) && id == counters.id[i];
}

/* Closes those of the first `count` descriptors that still belong to our events. If they are
   copies, the events of the parent continue. */
static void close_events(int count)
{
  int i;

  for (i = 0; i < count; i++)
    if (is_our_event(i))
      cpuc_perf_event_close(counters.descriptor[i]);
}

static void stop_events(void)
{
  if (!counters.is_running)
    return;
  counters.is_running = 0;
  /* Copies of the descriptors, for example in a forked child, keep the events open. So disable the
     events, to release the hardware. */
  if (!counters.is_copy && is_our_event(0))
    ioctl(counters.descriptor[0], PERF_EVENT_IOC_DISABLE, 0);
  close_events(2);
  next_generation();
}

static void close_at_exit(void *unused)
{
  struct cpuc_os_thread_saved saved;

  (void)unused;
  cpuc_os_thread_block_signals_and_cancellation(&saved);
  stop_events();
  cpuc_os_thread_restore_signals_and_cancellation(&saved);
}

static void after_fork_in_child(void)
{
  counters.is_copy = 1;
}

/* Runs when the library is loaded, because fork handlers cannot be added while a fork runs them,
   and because the C library has room in each thread for the values of the first keys only. The
   value of a later key needs an allocation in the first start_counters() of a thread, which a
   signal handler that has interrupted malloc() can call. Without priority 101, the constructors of
   a statically linked program would run before this function. */
__attribute__((constructor(101))) static void load(void)
{
  cpuc_os_thread_on_fork(after_fork_in_child);
  exit_key_is_created = pthread_key_create(&exit_key, close_at_exit) == 0;
}

/* Deletes the key, because its destructor is unloaded with a module that contains a static copy of
   the library. */
__attribute__((destructor)) static void unload(void)
{
  close_at_exit(NULL);
  if (exit_key_is_created)
    pthread_key_delete(exit_key);
  exit_key_is_created = 0;
}

static int open_in_group(struct perf_event_attr *attributes)
{
  return pfx_group_open(attributes, counters.leader);
}

/* If the program has closed a standard stream, an event can get the number of the stream, and the
   program would read counts as its input. So moves such a descriptor to a number above 2. Returns
   the descriptor's number, or -1 with errno. */
static int move_from_standard_streams(int descriptor)
{
  int moved, error;

  if (descriptor < 0 || descriptor > STDERR_FILENO)
    return descriptor;
  moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  error = errno == EINVAL ? EMFILE : errno; /* EINVAL: the limit of descriptors is 3 or less */
  cpuc_perf_event_close(descriptor);
  errno = error;
  return moved;
}

/* Opens an event in the group of counters.leader. If that is -1, opens the disabled leader of a new
   group. Returns a descriptor above 2, or -1 with errno. */
static int open_event(uint32_t type, uint64_t config)
{
  struct perf_event_attr attributes;

  memset(&attributes, 0, sizeof attributes);
  attributes.size = sizeof attributes;
  attributes.type = type;
  attributes.config = config;
  attributes.read_format = PFX_GROUP_READ_FORMAT;
  attributes.pinned = attributes.disabled = counters.leader < 0;
  return move_from_standard_streams(
    cpuc_perf_event_open_first_supported(&attributes, CPUC_PERF_EVENT_USER_MODE_ONLY,
      open_in_group));
}

/* Returns 1 if the kernel can count this event alone. */
static int can_open(uint32_t type, uint64_t config)
{
  int descriptor;

  counters.leader = -1;
  descriptor = open_event(type, config);
  if (descriptor >= 0)
    cpuc_perf_event_close(descriptor);
  return descriptor >= 0;
}

/* Returns the errno to report for an event that the kernel refused. For ENOENT, EINVAL and
   EOPNOTSUPP: if the kernel counts this event alone, prints a message and returns EINVAL; if the
   kernel counts cycles but not this event, prints a message and returns ENOTSUP. In all other cases
   returns `error`, or EINVAL in place of EOPNOTSUPP. */
static int explain_refusal(int error, int event)
{
  const struct pfx_events_entry *row = pfx_events_row(event), *cycles = pfx_events_row(0);

  if (error != ENOENT && error != EINVAL && error != EOPNOTSUPP)
    return error;
  if (can_open(row->type, row->config)) {
    pfx_message("event %d (%s) cannot be counted together with event %d here", event, row->text,
      counters.event[0]);
    return EINVAL;
  }
  /* PMUs that cannot exclude the kernel may refuse with EOPNOTSUPP, which equals ENOTSUP, so EINVAL
     is returned instead. */
  if (!can_open(cycles->type, cycles->config))
    return error == EOPNOTSUPP ? EINVAL : error;
  pfx_message("event %d (%s) cannot be counted: this CPU does not have it", event, row->text);
  return ENOTSUP;
}

/* Opens counters.event[]. Returns 0 or an errno. */
static int open_events(void)
{
  int i, error = 0;

  counters.leader = -1;
  for (i = 0; i < 2 && error == 0; i++) {
    const struct pfx_events_entry *row = pfx_events_row(counters.event[i]);

    counters.descriptor[i] = open_event(row->type, row->config);
    if (counters.descriptor[i] < 0)
      error = errno;
    else if (!cpuc_perf_event_identify(counters.descriptor[i], &counters.id[i])) {
      error = errno;
      cpuc_perf_event_close(counters.descriptor[i]);
    }
    if (error == 0)
      counters.leader = counters.descriptor[0];
  }
  if (error == 0)
    return 0;
  error = explain_refusal(error, counters.event[i - 1]);
  close_events(i - 1);
  return error;
}

/* Opens and starts counters.event[]. Returns 0 or an errno. */
static int start_events(void)
{
  int error = open_events();

  if (error != 0)
    return error;
  counters.is_copy = 0;
  counters.is_running = 1;
  next_generation();
  error = pthread_setspecific(exit_key, &counters);
  if (error != 0) {
    stop_events();
    return error;
  }
  /* Enable last, so that as little as possible is counted before the code of the caller. */
  if (ioctl(counters.descriptor[0], PERF_EVENT_IOC_ENABLE, 0) == 0)
    return 0;
  error = errno;
  stop_events();
  return error;
}

/* Returns 1 if there is a kernel event for this number. Prints a message if not. */
static int check_kernel_event(int event)
{
  const struct pfx_events_entry *row = pfx_events_row(event);

  if (row && row->name)
    return 1;
  pfx_message("event %d (%s) cannot be counted: the kernel has no generic event for it", event,
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
  else if (!exit_key_is_created)
    error = EAGAIN; /* too many keys: pthread_key_create(3) */
  else if (!(check_kernel_event(events[0]) & check_kernel_event(events[1])))
    error = ENOTSUP; /* with "&", each of the two events can get its message */
  stop_events();
  if (error == 0) {
    counters.requested[0] = e0;
    counters.requested[1] = e1;
    memcpy(counters.event, events, sizeof events);
    error = start_events();
  }
  counters.error = error;
  generation = error ? -1 : counters.generation; /* before pending signals are delivered */
  cpuc_os_thread_restore_signals_and_cancellation(&saved);
  errno = error ? error : saved_errno;
  return generation;
}

/* Reads the group. Returns 1 if its events belong to this thread and process, and have counted all
   the time since their start. */
static int read_group(struct pfx_group_reading *reading)
{
  memset(reading, 0, sizeof *reading);
  if (counters.is_copy || !is_our_event(0) || !is_our_event(1))
    return 0;
  if (pfx_group_read(counters.descriptor[0], reading) != (ssize_t)sizeof *reading)
    return 0;
  return reading->event_count == 2 && reading->enabled == reading->running
    && reading->event[0].id == counters.id[0] && reading->event[1].id == counters.id[1];
}

/* Stores the count of event[first] in *c0 and the count of the other event in *c1, and stops both
   events. Returns the generation number of their start, or a later number if the counts are
   incomplete. */
static int read_and_stop(int first, long long *c0, long long *c1)
{
  struct pfx_group_reading reading = { 0, 0, 0, { { 0, 0 }, { 0, 0 } } };
  int generation;

  if (!counters.is_running || !read_group(&reading)) {
    stop_events();
    if (counters.generation == 0)
      next_generation();
    generation = counters.generation;
  } else {
    generation = counters.generation;
    stop_events();
  }
  *c0 = (long long)reading.event[first].value;
  *c1 = (long long)reading.event[!first].value;
  return generation;
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
