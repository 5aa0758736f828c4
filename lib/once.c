/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the process makes once: by the first thread that needs it, with its faults caught, while
   others wait; also where the process forks meanwhile. What is made is the callers' matter. */

#include "config.h"

#include "lib/library.h"

#include <errno.h>

/* Who is making something; there is one guard for faults, and so one maker at a time. */
static struct {
  int owner; /* 0; the process that makes something; or what taking() says */
  uintptr_t thread;
} maker;

/* The owner while it is not known yet which of a process's threads it is. */
static int taking(int pid)
{
  return -1 - pid;
}

/* Waits until nobody makes anything, and takes over. Returns 0 if this very thread is making
   something, else 1. */
static int take(int pid)
{
  int owner;

  for (;;) {
    owner = __atomic_load_n(&maker.owner, __ATOMIC_ACQUIRE);
    if (owner == pid && __atomic_load_n(&maker.thread, __ATOMIC_ACQUIRE) == cpucycles_thread_self())
      return 0;
    if (owner == pid || owner == taking(pid)) {
      cpucycles_wait_a_little(); /* another thread makes something: that takes 0.1 ms to some ms */
      continue;
    }
    /* Nobody does, or this is the child of a process in which another thread did. */
    if (!__atomic_compare_exchange_n(&maker.owner, &owner, taking(pid), 0, __ATOMIC_ACQ_REL,
          __ATOMIC_ACQUIRE))
      continue;
    __atomic_store_n(&maker.thread, cpucycles_thread_self(), __ATOMIC_RELEASE);
    __atomic_store_n(&maker.owner, pid, __ATOMIC_RELEASE);
    return 1;
  }
}

/* Returns 0 if this very thread is making something, 1 if it was made meanwhile, 2 if this call
   made it. */
static int settle(struct cpucycles_once *once, void (*make)(void),
  const struct cpucycles_calm *calm)
{
  int settled = 1;

  if (!take(cpucycles_process_self()))
    return 0;
  if (!cpucycles_once_is_done(once)) {
    cpucycles_trial_begin(calm);
    make();
    cpucycles_trial_end();
    __atomic_store_n(&once->done, 1, __ATOMIC_RELEASE);
    settled = 2;
  }
  __atomic_store_n(&maker.owner, 0, __ATOMIC_RELEASE);
  return settled;
}

int cpucycles_once(struct cpucycles_once *once, void (*make)(void))
{
  struct cpucycles_calm calm;
  int saved_errno = errno, settled;

  cpucycles_calm_begin(&calm);
  settled = settle(once, make, &calm);
  cpucycles_calm_end(&calm);
  if (settled == 2)
    cpucycles_trial_replay();
  errno = saved_errno;
  return settled != 0;
}
