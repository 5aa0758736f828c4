/* SPDX-License-Identifier: 0BSD OR MIT */
/* The public calls, and the pointer that they are about. */

#include "config.h"

#include "backends/common/dependent-add.h"

#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "lib/frequency.h"
#include "lib/process.h"
#include "lib/reasons.h"
#include "lib/timer.h"
#include "sys/os-clock.h"

#include <stddef.h>
#include <stdio.h>

static long long first_call(void);

/* Default visibility and reached through the GOT: a non-PIE program has the only copy of it (copy
   relocation). */
long long (*cpucycles)(void) = first_call;

/* Reached likewise. */
struct cpucycles_inline_state cpucycles_inline_state;

/* Of the selection. */
static const struct cpucycles_reader *finished;

/* What a counter that must be extended or scaled is read through. The acquire orders this after the
   selection, for threads that see the new pointer to this before anything else. */
static long long read_finished(void)
{
  const struct cpucycles_reader *reader = __atomic_load_n(&finished, __ATOMIC_ACQUIRE);

  return cpucycles_reader_read(reader ? reader : &cpucycles_selected()->reader);
}

/* The same for what is not extended, which costs least. */
static long long read_scaled(void)
{
  const struct cpucycles_reader *reader = __atomic_load_n(&finished, __ATOMIC_ACQUIRE);

  if (!reader)
    return read_finished();
  return cpucycles_scale_apply(reader->scale, reader->read());
}

static long long (*published_form(const struct cpucycles_reader *reader))(void)
{
  if (cpucycles_reader_is_direct(reader))
    return reader->read;
  return reader->extension ? read_finished : read_scaled;
}

/* While the library selects, a signal handler of the application may run in the selecting thread
   (only for the signals that faults raise, and only if somebody sends one). It gets a clock's
   answer. */
static long long provisional(void)
{
  return (long long)((unsigned long long)cpucycles_osclock_wall()
    * (CPUCYCLES_FREQUENCY_DEFAULT / 1000000));
}

/* The pointer is plain memory to the program, so that nothing can make its write and the
   program's read agree formally; an aligned pointer is written whole on every CPU there is.
   Every thread that gets here writes the same. */
#ifdef __has_attribute
#if __has_attribute(no_sanitize)
__attribute__((no_sanitize("thread")))
#endif
#endif
static void
publish(long long (*read)(void))
{
  long long (*volatile *where)(void) = &cpucycles;

  if (*where == first_call)
    *where = read;
}

/* By one thread only, so that none reads what another still writes. (A process forked just then,
   off the library's hands, calls for all counts.) */
static void publish_inline(const struct cpucycles_selection *selected)
{
  static int written;
  unsigned int scaled = selected->reader.scale.multiplier ? CPUCYCLES_INLINE_SCALED : 0;

  if (selected->inline_method == CPUCYCLES_INLINE_CALL
    || __atomic_load_n(&written, __ATOMIC_RELAXED)
    || __atomic_exchange_n(&written, 1, __ATOMIC_RELAXED))
    return;
  cpucycles_inline_state.shift = selected->reader.scale.shift;
  cpucycles_inline_state.multiplier = selected->reader.scale.multiplier;
  __atomic_store_n(&cpucycles_inline_state.method, selected->inline_method | scaled,
    __ATOMIC_RELEASE);
}

/* Were the tracesetup lines asked for, and not printed yet? */
static int trace;

static void print_trace(const struct cpucycles_counter_info *infos, int count)
{
  int i;

  for (i = 0; i < count; i++) {
    /* In millionths, since %f follows the locale's decimal point. */
    long long millionths = (long long)(infos[i].scaling * 1e6 + 0.5);

    printf("cpucycles tracesetup %d %s precision %lld scaling %lld.%06lld only32 %d\n", i,
      infos[i].name,
      infos[i].precision, millionths / 1000000, millionths % 1000000, infos[i].width == 32);
  }
}

static struct cpucycles_selection *selection(void)
{
  struct cpucycles_selection *selected = cpucycles_selected();

  if (!selected)
    return NULL;
  __atomic_store_n(&finished, &selected->reader, __ATOMIC_RELEASE);
  publish(published_form(&selected->reader));
  publish_inline(selected);
  if (__atomic_load_n(&trace, __ATOMIC_RELAXED) && __atomic_exchange_n(&trace, 0, __ATOMIC_ACQ_REL))
    print_trace(selected->counters, selected->count);
  return selected;
}

static long long first_call(void)
{
  const struct cpucycles_selection *selected = selection();

  return selected ? published_form(&selected->reader)() : provisional();
}

const char *cpucycles_implementation(void)
{
  const struct cpucycles_selection *selected = selection();

  return selected ? selected->implementation : "default-gettimeofday";
}

const char *cpucycles_implementation_skipped(void)
{
  const struct cpucycles_selection *selected = selection();

  return selected && *selected->skipped ? selected->skipped : NULL;
}

const char *cpucycles_version(void)
{
  return PACKAGE_VERSION;
}

long long cpucycles_persecond(void)
{
  const struct cpucycles_selection *selected = selection();

  return selected ? selected->frequency.persecond : CPUCYCLES_FREQUENCY_DEFAULT;
}

const char *cpucycles_frequency_source(void)
{
  const struct cpucycles_selection *selected = selection();

  return selected ? selected->frequency.source : "default";
}

const char *cpucycles_frequency_skipped(void)
{
  const struct cpucycles_selection *selected = selection();

  return selected && *selected->frequency.skipped ? selected->frequency.skipped : NULL;
}

long long cpucycles_core_persecond(void)
{
  return selection() && dependent_add_takes_one_cycle() ? cpucycles_measured_frequency() : 0;
}

/* Where a file raised a signal in the selection, one would end the process now. */
static int may_ask(const struct cpucycles_selection *selected)
{
  return !selected->frequency.no_files;
}

const struct cpucycles_timer_info *cpucycles_timer(void)
{
  struct cpucycles_selection *selected = selection();

  if (!selected)
    return NULL;
  return may_ask(selected) ? cpucycles_find_timer_info(selected) : &selected->timer;
}

long long cpucycles_rate(void)
{
  return cpucycles_timer() ? cpucycles_selected_rate(selection()) : 0;
}

const struct cpucycles_counter_info *cpucycles_counter(int i)
{
  struct cpucycles_selection *selected = selection();

  if (!selected || i < 0 || i >= selected->count)
    return NULL;
  if (may_ask(selected))
    cpucycles_counters_explain(selected->counters, cpucycles_table, selected->count);
  return &selected->counters[i];
}

void cpucycles_tracesetup(void)
{
  __atomic_store_n(&trace, 1, __ATOMIC_RELEASE);
  if (cpucycles_is_selected())
    selection();
}
