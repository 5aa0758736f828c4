/* SPDX-License-Identifier: 0BSD OR MIT */
/* The pointer `cpucycles`, and the public functions except those of section.c and inline.c. */

#include "config.h"

#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "lib/frequency.h"
#include "lib/process.h"
#include "lib/timer.h"
#include "sys/dependent-add.h"
#include "sys/os-thread.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>

static long long first_call(void);

/* The library accesses the pointer, which has default visibility, through the GOT, because a
   non-PIE program holds the only valid copy of the pointer (copy relocation). */
long long (*cpucycles)(void) = first_call;

/* A non-PIE program holds the only valid copy of this state, too (copy relocation). */
struct cpucycles_inline_state cpucycles_inline_state;

/* How to read the selected counter. NULL until the selection is published. */
static const struct cpuc_reader *published_reader;

/* Reads the selected counter, extended and scaled as necessary. A thread may see the new value of
   `cpucycles` before the other writes of the selection. If the thread sees published_reader, the
   acquire makes these other writes visible; if not, the thread asks for the selection. */
static long long read_any(void)
{
  const struct cpuc_reader *reader = __atomic_load_n(&published_reader, __ATOMIC_ACQUIRE);

  return cpuc_reader_read(reader ? reader : &cpuc_process_select_once()->selected->reader);
}

/* Reads a counter that is scaled and not extended, faster than read_any() does. */
static long long read_scaled(void)
{
  const struct cpuc_reader *reader = __atomic_load_n(&published_reader, __ATOMIC_ACQUIRE);

  if (!reader)
    return read_any();
  return cpuc_scale_apply(reader->scale, reader->read());
}

static long long (*read_function_of(const struct cpuc_reader *reader))(void)
{
  if (reader->is_extended)
    return read_any;
  return reader->scale.multiplier ? read_scaled : reader->read;
}

/* Writes the pointer, which programs read without atomics, after what open() of the counter has
   written. The store is volatile and not atomic: doc/decisions.md. */
#ifdef __has_attribute
#if __has_attribute(no_sanitize)
__attribute__((no_sanitize("thread")))
#endif
#endif
static void
publish_pointer(long long (*read)(void))
{
  __atomic_thread_fence(__ATOMIC_RELEASE);
  *(long long (*volatile *)(void))&cpucycles = read;
}

static void publish_inline(const struct cpuc_candidate *selected)
{
  unsigned int method = selected->backend->inline_method,
               scaled = selected->reader.scale.multiplier ? CPUCYCLES_INLINE_SCALED : 0;

  if (method == CPUCYCLES_INLINE_CALL)
    return;
  cpucycles_inline_state.shift = selected->reader.scale.shift;
  cpucycles_inline_state.multiplier = selected->reader.scale.multiplier;
  __atomic_store_n(&cpucycles_inline_state.method, method | scaled, __ATOMIC_RELEASE);
}

/* Publishes the selection unless a thread has begun to. Until that thread has ended, and forever in
   a child that is forked in between, callers read by first_call(). */
static void publish_once(const struct cpuc_selection *selection)
{
  static int has_begun;

  if (__atomic_load_n(&has_begun, __ATOMIC_RELAXED)
    || __atomic_exchange_n(&has_begun, 1, __ATOMIC_RELAXED))
    return;
  __atomic_store_n(&published_reader, &selection->selected->reader, __ATOMIC_RELEASE);
  publish_pointer(read_function_of(&selection->selected->reader));
  publish_inline(selection->selected);
}

/* 1 while tracesetup lines are requested and not yet printed. Accesses to this variable and to
   is_found of the selection have one order, so the selecting thread sees the request, or the
   requesting thread sees the selection. */
static int trace_wanted;

/* Returns the scale factor in millionths; 0 for a dropped counter. */
static long long millionths_of(const struct cpuc_candidate *candidate)
{
  struct cpuc_scale scale = candidate->reader.scale;

  if (candidate->info.state == CPUCYCLES_DROPPED)
    return 0;
  /* scales 2000000 and halves the result, to round */
  return scale.multiplier ? (cpuc_scale_apply(scale, 2000000) + 1) / 2 : 1000000;
}

static void print_trace(const struct cpuc_selection *selection)
{
  int saved_errno = errno, i;

  for (i = 0; i < selection->count; i++) {
    const struct cpuc_candidate *candidate = &selection->candidates[i];
    const struct cpucycles_counter_info *info = &candidate->info;
    /* %f would print the decimal point of the locale */
    long long scaling = millionths_of(candidate);

    printf("cpucycles tracesetup %d %s precision %lld scaling %lld.%06lld only32 %d\n", i,
      info->name, info->score, scaling / 1000000, scaling % 1000000, info->width == 32);
  }
  errno = saved_errno;
}

/* Selects a counter if none is selected yet, publishes it, and prints requested tracesetup lines.
   Returns NULL in a signal handler or allocator that runs inside the selection. The selection
   blocks or defers all signals except faults, so a handler runs inside the selection only after a
   fault outside of the functions that cpuc_guard_run() calls, or if another thread has installed
   the handler during the selection. */
static struct cpuc_selection *select_and_publish(void)
{
  struct cpuc_selection *selection = cpuc_process_select_once();

  if (!selection)
    return NULL;
  publish_once(selection);
  if (__atomic_exchange_n(&trace_wanted, 0, __ATOMIC_SEQ_CST))
    print_trace(selection);
  return selection;
}

static long long first_call(void)
{
  const struct cpuc_selection *selection = select_and_publish();

  return selection ? read_function_of(&selection->selected->reader)() : 0;
}

const char *cpucycles_implementation(void)
{
  const struct cpuc_selection *selection = select_and_publish();

  return selection ? selection->selected->info.name : "default-zero";
}

const char *cpucycles_implementation_ignored(void)
{
  const struct cpuc_selection *selection = select_and_publish();

  return selection && *selection->unusable_text ? selection->unusable_text : NULL;
}

const char *cpucycles_version(void)
{
  return PACKAGE_VERSION;
}

long long cpucycles_persecond(void)
{
  const struct cpuc_selection *selection = select_and_publish();

  return selection ? selection->frequency.persecond : CPUC_FREQUENCY_DEFAULT;
}

const char *cpucycles_frequency_source(void)
{
  const struct cpuc_selection *selection = select_and_publish();

  return selection ? selection->frequency.source : CPUC_FREQUENCY_DEFAULT_SOURCE;
}

const char *cpucycles_frequency_ignored(void)
{
  const struct cpuc_selection *selection = select_and_publish();

  return selection && *selection->frequency.ignored ? selection->frequency.ignored : NULL;
}

/* Blocks signals, except faults that the thread does not block. If handlers ran in most of the
   windows that frequency-measure.c times, the windows would be too long but agree with each other,
   so the result would be wrong. */
long long cpucycles_core_persecond(void)
{
  struct cpuc_os_thread_saved saved;
  long long hz;

  if (!select_and_publish() || !cpuc_dependent_add_takes_one_cycle())
    return 0;
  cpuc_os_thread_block_signals_and_cancellation(&saved);
  cpuc_os_thread_unblock_fault_signals_as_saved(&saved);
  hz = cpuc_frequency_measure_core();
  cpuc_os_thread_restore_signals_and_cancellation(&saved);
  return hz;
}

const struct cpucycles_timer_info *cpucycles_timer(void)
{
  static struct cpuc_process_result timer = { cpuc_timer_find_info, 0, 0 };
  struct cpuc_selection *selection = select_and_publish();

  if (!selection || !cpuc_process_once(&timer))
    return NULL;
  return &selection->timer;
}

long long cpucycles_rate(void)
{
  static struct cpuc_process_result rate = { cpuc_timer_find_rate, 0, 0 };

  return cpucycles_timer() && cpuc_process_once(&rate) ? cpuc_process_select_once()->rate : 0;
}

double cpucycles_nanoseconds(long long count)
{
  long long rate = cpucycles_rate();

  return rate > 0 ? (double)count * 1e9 / (double)rate : 0;
}

static void explain_all(struct cpuc_selection *selection)
{
  int i;

  for (i = 0; i < selection->count; i++)
    cpuc_candidate_explain(&selection->candidates[i]);
}

/* Returns NULL in a signal handler or allocator that runs inside the selection or explain_all(). */
static const struct cpuc_selection *select_and_explain(void)
{
  static struct cpuc_process_result explanation = { explain_all, 0, 0 };
  const struct cpuc_selection *selection = select_and_publish();

  return selection && cpuc_process_once(&explanation) ? selection : NULL;
}

const struct cpucycles_counter_info *cpucycles_counter(int i)
{
  const struct cpuc_selection *selection = select_and_explain();

  return selection && i >= 0 && i < selection->count ? &selection->candidates[i].info : NULL;
}

const struct cpucycles_counter_info *cpucycles_selected(void)
{
  const struct cpuc_selection *selection = select_and_explain();

  return selection ? &selection->selected->info : NULL;
}

void cpucycles_tracesetup(void)
{
  __atomic_store_n(&trace_wanted, 1, __ATOMIC_SEQ_CST);
  if (cpuc_process_has_selected())
    select_and_publish();
}
