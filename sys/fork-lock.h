/* SPDX-License-Identifier: 0BSD OR MIT */
/* A lock that survives fork: a child can acquire it although a thread of the parent holds it, as
   that thread does not exist in the child. Callers name the process and the thread, and wait. */

#ifndef CPUCYCLES_FORK_LOCK_H
#define CPUCYCLES_FORK_LOCK_H

#include <stdint.h>

/* All zero: free. */
struct fork_lock {
  int owner;        /* 0: free; process: held by a thread of it; -1 - process: being acquired */
  uintptr_t thread; /* the holding thread, while the owner is a process */
};

enum fork_lock_result {
  FORK_LOCK_ACQUIRED,
  FORK_LOCK_BUSY, /* another thread holds it: try again later */
  FORK_LOCK_HELD  /* the calling thread holds it, and has been interrupted, as by a signal */
};

/* Tries to acquire the lock. process: a positive number. */
static inline enum fork_lock_result fork_lock_try(struct fork_lock *lock, int process,
  uintptr_t thread)
{
  int owner;

  do {
    owner = __atomic_load_n(&lock->owner, __ATOMIC_ACQUIRE);
    if (owner == process && __atomic_load_n(&lock->thread, __ATOMIC_ACQUIRE) == thread)
      return FORK_LOCK_HELD;
    if (owner == process || owner == -1 - process)
      return FORK_LOCK_BUSY;
  } while (!__atomic_compare_exchange_n(&lock->owner, &owner, -1 - process, 0, __ATOMIC_ACQ_REL,
    __ATOMIC_ACQUIRE));
  __atomic_store_n(&lock->thread, thread, __ATOMIC_RELEASE);
  __atomic_store_n(&lock->owner, process, __ATOMIC_RELEASE);
  return FORK_LOCK_ACQUIRED;
}

static inline void fork_lock_release(struct fork_lock *lock)
{
  __atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
}

#endif
