/* SPDX-License-Identifier: 0BSD OR MIT */
/* Two events of the calling thread, in one group: opened and started, read and closed. They count
   in user mode alone, and are pinned: where other events take the hardware, the kernel gives them
   up instead of counting part of the time, and that is seen. A thread's generation number says how
   often its counters were started and stopped. A count is whole if nobody but the reader stops what
   was started; else the number is found to be another one: the kernel has given it up, or a fork or
   a closed descriptor has ended it before. Who disables it for a time, by prctl() or by a copy of a
   descriptor, is not seen: no time runs for events that are disabled. Source: perf_event_open(2),
   sections "read_format", "pinned" and "ERRORS"; IRIX, libperfex(3C). */

#include "config.h"

#include "sys/perf-event.h"
#include "perfex/library.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

/* Tests have rows of their own, of events that need no PMU. */
#ifndef PERFEX_ROW
#define PERFEX_ROW perfex_row
#endif

/* What read_format asks for, in the kernel's order. */
struct reading {
  uint64_t count, enabled, running;
  struct {
    uint64_t value, id;
  } event[2];
};

/* What a thread owns, and a forked child has a copy of. */
static _Thread_local struct {
  int generation; /* 0: none yet */
  int is_running;
  int error; /* of the last start, or 0 */
  int asked[2]; /* the events, as the caller has them */
  int event[2], descriptor[2];
  uint64_t id[2];
  int leader;    /* what open_one() opens for; or -1 */
  pid_t process; /* that opened them */
} own;

/* Its destructor closes the events of a thread that exits. */
static pthread_key_t at_exit;
static int at_exit_made;
static pthread_once_t at_exit_once = PTHREAD_ONCE_INIT;

/* Threads do not share their numbers, so that one cannot take another's count for its own: each
   begins far from all others, by the golden ratio. */
static void next_generation(void)
{
  static unsigned threads;

  if (own.generation == 0)
    own.generation
      = (int)(__atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED) * 0x9e3779b9u & INT_MAX);
  own.generation = own.generation == INT_MAX ? 1 : own.generation + 1;
}

int perfex_generation(void)
{
  sigset_t mask;
  int generation;

  perf_event_wait_begin(&mask); /* a handler may start counters */
  if (own.generation == 0)
    next_generation();
  generation = own.generation;
  perf_event_wait_end(&mask);
  return generation;
}

/* The descriptor may have been closed behind our back, and be something else by now. */
static int is_still_ours(int i)
{
  uint64_t id = 0;

  return perf_event_identify(own.descriptor[i], &id) == 0 && id == own.id[i];
}

/* Closes what is still ours; in a forked child, its copies, and the events go on. */
static void close_events(int count)
{
  int i;

  for (i = 0; i < count; i++)
    if (is_still_ours(i))
      perf_event_close(own.descriptor[i]);
}

static void stop(void)
{
  if (!own.is_running)
    return;
  own.is_running = 0;
  /* Copies of the descriptors, such as a forked child's, keep the events, but not the hardware. */
  if (own.process == getpid() && is_still_ours(0))
    ioctl(own.descriptor[0], PERF_EVENT_IOC_DISABLE, 0);
  close_events(2);
  next_generation();
}

static void thread_exits(void *unused)
{
  sigset_t mask;

  (void)unused;
  perf_event_wait_begin(&mask);
  stop();
  perf_event_wait_end(&mask);
}

static void make_at_exit(void)
{
  at_exit_made = pthread_key_create(&at_exit, thread_exits) == 0;
}

/* A thread that exits later must not be led into an unloaded library. What others have open stays
   so: the manual asks them to stop before. */
__attribute__((destructor)) static void unload(void)
{
  thread_exits(NULL);
  if (at_exit_made)
    pthread_key_delete(at_exit);
  at_exit_made = 0;
}

static int open_one(struct perf_event_attr *wanted)
{
  return perf_event_open_in(wanted, own.leader);
}

/* Opens an event for a group whose leader is own.leader; -1: it leads, and does not count yet.
   Returns a descriptor, or -1 with errno. */
static int open_event(uint32_t type, uint64_t config)
{
  struct perf_event_attr wanted;

  memset(&wanted, 0, sizeof wanted);
  wanted.size = sizeof wanted;
  wanted.type = type;
  wanted.config = config;
  wanted.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED
    | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
  wanted.pinned = wanted.disabled = own.leader < 0;
  return perf_event_open_excluding(&wanted, PERF_EVENT_USER_ALONE, open_one);
}

/* Can the kernel count this, alone? */
static int can_open(uint32_t type, uint64_t config)
{
  int descriptor;

  own.leader = -1;
  descriptor = open_event(type, config);
  if (descriptor >= 0)
    perf_event_close(descriptor);
  return descriptor >= 0;
}

/* The kernel has refused an event. Returns the errno to be reported: the kernel's, unless it is
   about this event and no other, which is said. */
static int refusal(int error, int event)
{
  const struct perfex_event_row *row = PERFEX_ROW(event), *cycles = PERFEX_ROW(0);

  if (error != ENOENT && error != EINVAL && error != EOPNOTSUPP)
    return error;
  if (can_open(row->type, row->config)) {
    perfex_say("event %d (%s) cannot be counted together with event %d here", event, row->text,
      own.event[0]);
    return EINVAL;
  }
  /* A PMU that cannot leave the kernel out may refuse by EOPNOTSUPP, which is ENOTSUP's number. */
  if (!can_open(cycles->type, cycles->config))
    return error == EOPNOTSUPP ? EINVAL : error;
  perfex_say("event %d (%s) is not counted by this CPU", event, row->text);
  return ENOTSUP;
}

/* Opens both events. Returns 0 or an errno. */
static int open_events(void)
{
  int i, error = 0;

  own.leader = -1;
  for (i = 0; i < 2 && error == 0; i++) {
    const struct perfex_event_row *row = PERFEX_ROW(own.event[i]);

    own.descriptor[i] = open_event(row->type, row->config);
    if (own.descriptor[i] < 0)
      error = errno;
    else if (perf_event_identify(own.descriptor[i], &own.id[i]) != 0) {
      error = errno;
      perf_event_close(own.descriptor[i]);
    }
    if (error == 0)
      own.leader = own.descriptor[0];
  }
  if (error == 0)
    return 0;
  error = refusal(error, own.event[i - 1]);
  close_events(i - 1);
  return error;
}

/* Starts the two events that own.event[] says. Returns 0 or an errno. */
static int start(void)
{
  int error = open_events();

  if (error != 0)
    return error;
  own.process = getpid();
  own.is_running = 1;
  next_generation();
  pthread_setspecific(at_exit, &own);
  /* the last thing before the section */
  if (ioctl(own.descriptor[0], PERF_EVENT_IOC_ENABLE, 0) == 0)
    return 0;
  error = errno;
  stop();
  return error;
}

/* Returns 0 if an event has no counterpart, which is said. */
static int has_counterpart(int event)
{
  const struct perfex_event_row *row = PERFEX_ROW(event);

  if (row && row->name)
    return 1;
  perfex_say("event %d (%s) has no counterpart among the kernel's generic events", event,
    row ? row->text : "no event of the R10000");
  return 0;
}

int start_counters(int e0, int e1)
{
  int events[2] = { e0, e1 }, saved_errno = errno, error = 0, generation, cancel_state;
  sigset_t mask;

  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state); /* while something is said */
  perf_event_wait_begin(&mask); /* and a handler does not wait for ever for what it interrupts */
  pthread_once(&at_exit_once, make_at_exit);
  if (perfex_override(events, 1) != 0)
    error = errno;
  else if (!at_exit_made)
    error = EAGAIN; /* as pthread_key_create(3) */
  else if (!(has_counterpart(events[0]) & has_counterpart(events[1])))
    error = ENOTSUP;
  stop();
  if (error == 0) {
    own.asked[0] = e0;
    own.asked[1] = e1;
    memcpy(own.event, events, sizeof events);
    error = start();
  }
  own.error = error;
  generation = error ? -1 : own.generation; /* before a handler starts others */
  perf_event_wait_end(&mask);
  pthread_setcancelstate(cancel_state, NULL);
  errno = error ? error : saved_errno;
  return generation;
}

/* Has what was started counted all of the time until now, for this thread and process? */
static int is_whole(struct reading *reading)
{
  memset(reading, 0, sizeof *reading);
  if (own.process != getpid() || !is_still_ours(0) || !is_still_ours(1))
    return 0;
  /* A pinned event that has lost its hardware reads as the end of a file. */
  if (perf_event_read(own.descriptor[0], reading, sizeof *reading) != (ssize_t)sizeof *reading)
    return 0;
  return reading->count == 2 && reading->enabled == reading->running
    && reading->event[0].id == own.id[0] && reading->event[1].id == own.id[1];
}

/* Reads into c0 and c1 what was started as own.asked[first] and the other one. Returns the
   generation of that. */
static int read_and_stop(int first, long long *c0, long long *c1)
{
  struct reading reading = { 0, 0, 0, { { 0, 0 }, { 0, 0 } } };
  int generation;

  if (!own.is_running || !is_whole(&reading)) {
    stop();
    if (own.generation == 0)
      next_generation();
    generation = own.generation;
  } else {
    generation = own.generation;
    stop();
  }
  *c0 = (long long)reading.event[first].value;
  *c1 = (long long)reading.event[!first].value;
  return generation;
}

int read_counters(int e0, long long *c0, int e1, long long *c1)
{
  int saved_errno = errno, error = 0, generation = -1;
  sigset_t mask;

  perf_event_wait_begin(&mask);
  if (!own.is_running && own.error != 0)
    error = own.error;
  else if (!own.is_running || (e0 == own.asked[0] && e1 == own.asked[1]))
    generation = read_and_stop(0, c0, c1);
  else if (e0 == own.asked[1] && e1 == own.asked[0])
    generation = read_and_stop(1, c0, c1);
  else
    error = EINVAL;
  perf_event_wait_end(&mask);
  errno = error ? error : saved_errno;
  return generation;
}
