/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the process makes once: by the first thread that needs it, with its faults caught, while
   others wait; also where the process forks meanwhile. What is made is the callers' matter. */

#include "config.h"

#include "lib/library.h"

#include <errno.h>

enum { DONE = -1 };

int cpucycles_once_is_done(const struct cpucycles_once *once)
{
  return __atomic_load_n(&once->owner, __ATOMIC_ACQUIRE) == DONE;
}

/* The owner while it is not known yet which of a process's threads it is; never DONE. */
static int taking(int pid)
{
  return -1 - pid;
}

/* Returns 0 if this very thread is making it, 1 if it is made, 2 if this call made it. */
static int settle(struct cpucycles_once *once, void (*make)(void),
  const struct cpucycles_calm *calm)
{
  int pid = cpucycles_process_self(), owner;

  while ((owner = __atomic_load_n(&once->owner, __ATOMIC_ACQUIRE)) != DONE) {
    if (owner == pid && __atomic_load_n(&once->thread, __ATOMIC_ACQUIRE) == cpucycles_thread_self())
      return 0;
    if (owner == pid || owner == taking(pid)) {
      cpucycles_wait_a_little(); /* another thread makes it: that takes 0.1 ms to some ms */
      continue;
    }
    /* Nobody makes it, or this is the child of a process in which another thread did: take over. */
    if (!__atomic_compare_exchange_n(&once->owner, &owner, taking(pid), 0, __ATOMIC_ACQ_REL,
          __ATOMIC_ACQUIRE))
      continue;
    __atomic_store_n(&once->thread, cpucycles_thread_self(), __ATOMIC_RELEASE);
    __atomic_store_n(&once->owner, pid, __ATOMIC_RELEASE);
    cpucycles_trial_begin(calm);
    make();
    cpucycles_trial_end();
    __atomic_store_n(&once->owner, DONE, __ATOMIC_RELEASE);
    return 2;
  }
  return 1;
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
