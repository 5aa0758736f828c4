/* SPDX-License-Identifier: 0BSD OR MIT */
/* A lock that stores its owner. A signal handler thus finds out that its own thread holds the lock,
   and a forked child can release the lock of a thread that exists only in the parent. Callers pass
   a nonzero thread ID, and wait themselves. */

#ifndef CPUCYCLES_LOCK_H
#define CPUCYCLES_LOCK_H

#include <stdint.h>

/* A lock that is all zero is free. */
struct cpuc_lock {
  uintptr_t owner; /* ID of the thread that holds the lock; 0: free */
};

enum cpuc_lock_result {
  CPUC_LOCK_ACQUIRED,
  CPUC_LOCK_BUSY, /* another thread holds the lock, so try again later */
  CPUC_LOCK_HELD  /* this thread holds it, so the caller is a signal handler, or an allocator of the
                     program that the holder has called */
};

static inline enum cpuc_lock_result cpuc_lock_try(struct cpuc_lock *lock, uintptr_t thread)
{
  uintptr_t owner = 0;

  if (__atomic_compare_exchange_n(&lock->owner, &owner, thread, 0, __ATOMIC_ACQUIRE,
        __ATOMIC_RELAXED))
    return CPUC_LOCK_ACQUIRED;
  return owner == thread ? CPUC_LOCK_HELD : CPUC_LOCK_BUSY;
}

static inline void cpuc_lock_release(struct cpuc_lock *lock)
{
  __atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
}

/* Call in a forked child, whose only thread is `thread`. If a thread that exists only in the parent
   holds the lock, releases the lock and returns 1. Otherwise returns 0. */
static inline int cpuc_lock_release_in_child(struct cpuc_lock *lock, uintptr_t thread)
{
  uintptr_t owner = __atomic_load_n(&lock->owner, __ATOMIC_ACQUIRE);

  if (owner == 0 || owner == thread)
    return 0;
  cpuc_lock_release(lock);
  return 1;
}

#endif
