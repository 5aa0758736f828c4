/* SPDX-License-Identifier: 0BSD OR MIT */
/* What hardware and system say of the selected counter, and its counts per second, both found at
   the first request. */

#include "config.h"

#include "lib/timer.h"
#include "lib/rate.h"
#include "lib/scale.h"
#include "sys/os-thread.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What a kind says by itself: a core's cycles follow the core, and what is scaled to cycles is
   only kept if its rate is constant. */
static const struct {
  int invariant;
  const char *who;
} kinds[] = {
  [CPUCYCLES_KIND_CORE] = { 0, "its kind: it counts the core's own cycles" },
  [CPUCYCLES_KIND_PERF_READ] = { 0, "its kind: it counts the core's own cycles" },
  [CPUCYCLES_KIND_REFERENCE] = { -1, NULL },
  [CPUCYCLES_KIND_SCALED] = { 1, "its architecture" },
  [CPUCYCLES_KIND_CLOCK] = { 1, "the operating system" },
  [CPUCYCLES_KIND_NONE] = { -1, NULL },
};

/* Writes what several threads may find at once, if it is not there yet: users read it once one of
   them has returned. CPUs that cannot do that in one piece all write the same. */
static void publish(struct cpucycles_timer_info *timer, const struct cpucycles_timer_info *found)
{
  int not_known = -1;
  long long none = 0;
  const char *nobody = NULL, *nobody_either = NULL;

  if (found->invariant_source)
    __atomic_compare_exchange_n(&timer->invariant_source, &nobody, found->invariant_source, 0,
      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  if (found->invariant != not_known)
    __atomic_compare_exchange_n(&timer->invariant, &not_known, found->invariant, 0,
      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  if (found->stated_rate_source)
    __atomic_compare_exchange_n(&timer->stated_rate_source, &nobody_either,
      found->stated_rate_source, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  if (found->stated_rate == none)
    return;
  if (__atomic_always_lock_free(sizeof none, 0))
    __atomic_compare_exchange_n(&timer->stated_rate, &none, found->stated_rate, 0,
      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  else
    timer->stated_rate = found->stated_rate;
}

static struct cpucycles_timer_info ask(const struct cpucycles_backend *backend)
{
  struct cpucycles_timer_info found;

  memset(&found, 0, sizeof found);
  found.invariant = kinds[backend->kind].invariant;
  found.invariant_source = kinds[backend->kind].who;
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

/* Measures the selected counter at the first call; the first of several threads to be ready is
   right for all. The result is kept as a float, which every CPU can exchange atomically: its 24
   bits are good for 0.06 ppm, the measurement for some ppm. */
static long long measured_once(void)
{
  static uint32_t published;
  uint32_t known = __atomic_load_n(&published, __ATOMIC_RELAXED), found;
  float rate;

  if (known == 0) {
    rate = (float)cpucycles_measured_rate(cpucycles);
    memcpy(&found, &rate, sizeof found);
    if (__atomic_compare_exchange_n(&published, &known, found, 0, __ATOMIC_RELAXED,
          __ATOMIC_RELAXED))
      known = found;
  }
  memcpy(&rate, &known, sizeof rate);
  return (long long)rate;
}

/* A counter that is scaled counts what it is scaled to. */
long long cpucycles_selected_rate(const struct cpucycles_selection *selection)
{
  long long stated = selection->timer.stated_rate, measured;

  if (selection->reader.scale.multiplier)
    return selection->frequency.persecond;
  measured = measured_once();
  if (measured == 0)
    return stated;
  if (stated <= 0 || !cpucycles_rates_agree(stated, measured)
    || cpucycles_rate_is_rounded(selection->backend))
    return measured;
  return stated;
}
