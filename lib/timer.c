/* SPDX-License-Identifier: 0BSD OR MIT */
/* Properties of the selected counter as a timer, and its rate, both found on demand. */

#include "config.h"

#include "lib/timer.h"
#include "lib/rate.h"
#include "lib/scale.h"
#include "sys/os-thread.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TRIES = 4 }; /* of a measurement, which can be interrupted */

/* Invariance as far as the kind decides it: core cycles follow the core's frequency, and scaled
   counters are used only if their rate is constant. */
static const struct {
  int invariant;
  const char *source;
} kinds[] = {
  [CPUCYCLES_KIND_CORE] = { 0, "its kind: it counts the core's own cycles" },
  [CPUCYCLES_KIND_PERF_READ] = { 0, "its kind: it counts the core's own cycles" },
  [CPUCYCLES_KIND_REFERENCE] = { -1, NULL },
  [CPUCYCLES_KIND_SCALED] = { 1, "its architecture" },
  [CPUCYCLES_KIND_CLOCK] = { 1, "the operating system" },
  [CPUCYCLES_KIND_NONE] = { -1, NULL },
};

/* Writes each value unless it is written already. Several threads may find them at once, and
   programs read them as soon as one of them has returned. Where 64 bits cannot be exchanged
   atomically, a plain store suffices, since all threads write the same rate. */
static void publish(struct cpucycles_timer_info *timer, const struct cpucycles_timer_info *found)
{
  int unknown = -1;
  long long no_rate = 0;
  const char *no_source = NULL, *no_rate_source = NULL;

  if (found->invariant_source)
    __atomic_compare_exchange_n(&timer->invariant_source, &no_source, found->invariant_source, 0,
      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  if (found->invariant != unknown)
    __atomic_compare_exchange_n(&timer->invariant, &unknown, found->invariant, 0,
      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  if (found->stated_rate_source)
    __atomic_compare_exchange_n(&timer->stated_rate_source, &no_rate_source,
      found->stated_rate_source, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  if (found->stated_rate == no_rate)
    return;
  if (__atomic_always_lock_free(sizeof no_rate, 0))
    __atomic_compare_exchange_n(&timer->stated_rate, &no_rate, found->stated_rate, 0,
      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  else
    timer->stated_rate = found->stated_rate;
}

static struct cpucycles_timer_info ask(const struct cpucycles_backend *backend)
{
  struct cpucycles_timer_info found;

  memset(&found, 0, sizeof found);
  found.invariant = kinds[backend->kind].invariant;
  found.invariant_source = kinds[backend->kind].source;
  if (backend->invariant)
    found.invariant = backend->invariant(&found.invariant_source);
  if (found.invariant < 0)
    found.invariant_source = NULL;
  if (backend->rate)
    found.stated_rate = backend->rate();
  if (found.stated_rate <= 0)
    found.stated_rate = 0;
  else if (backend->rate_source)
    found.stated_rate_source = backend->rate_source();
  return found;
}

const struct cpucycles_timer_info *cpucycles_find_timer_info(struct cpucycles_selection *selection)
{
  static int asked;
  struct cpucycles_timer_info found;
  int state, saved_errno = errno;

  if (__atomic_load_n(&asked, __ATOMIC_ACQUIRE) || !selection->backend)
    return &selection->timer;
  state = cpucycles_disable_cancellation();
  found = ask(selection->backend);
  publish(&selection->timer, &found);
  cpucycles_restore_cancellation(state);
  __atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
  errno = saved_errno;
  return &selection->timer;
}

/* Measures the selected counter at the first call, several times if the measurement is interrupted.
   If several threads measure, the first result holds for all. It is stored as a float, which every
   CPU can exchange atomically: 24 bits resolve 0.06 ppm, and the measurement is good for some
   ppm. */
static long long measured_once(void)
{
  static uint32_t published;
  uint32_t known = __atomic_load_n(&published, __ATOMIC_RELAXED), found;
  float rate;
  int i;

  if (known == 0) {
    rate = 0;
    for (i = 0; i < TRIES && rate == 0; i++)
      rate = (float)cpucycles_measured_rate(cpucycles);
    memcpy(&found, &rate, sizeof found);
    if (__atomic_compare_exchange_n(&published, &known, found, 0, __ATOMIC_RELAXED,
          __ATOMIC_RELAXED))
      known = found;
  }
  memcpy(&rate, &known, sizeof rate);
  return (long long)rate;
}

/* The rate of a scaled counter is the frequency that it is scaled to. */
long long cpucycles_selected_rate(const struct cpucycles_selection *selection)
{
  long long stated = selection->timer.stated_rate, measured;

  if (selection->reader.scale.multiplier)
    return selection->frequency.persecond;
  measured = measured_once();
  if (measured == 0)
    return stated;
  if (stated <= 0 || !cpucycles_rates_agree(measured, stated)
    || cpucycles_rate_is_rounded(selection->backend))
    return measured;
  return stated;
}
