/* SPDX-License-Identifier: 0BSD OR MIT */
/* A lock that knows its owner: a thread that interrupts itself need not wait for itself, and a
   forked child can release the lock of a thread that it does not have. Callers name their thread by
   a number other than 0, and do the waiting. */

#ifndef CPUCYCLES_LOCK_H
#define CPUCYCLES_LOCK_H

#include <stdint.h>

/* All zero: free. */
struct cpuc_lock {
  uintptr_t owner; /* the thread that holds it; 0: free */
};

enum cpuc_lock_result {
  CPUC_LOCK_ACQUIRED,
  CPUC_LOCK_BUSY, /* another thread holds it: try again later */
  CPUC_LOCK_HELD  /* this thread holds it: the caller is a signal handler or an allocator */
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

/* In a forked child, whose only thread is `thread`: releases the lock if a thread of the parent
   holds it that the child does not have. Returns 1 then, and 0 otherwise. */
static inline int cpuc_lock_release_in_child(struct cpuc_lock *lock, uintptr_t thread)
{
  uintptr_t owner = __atomic_load_n(&lock->owner, __ATOMIC_ACQUIRE);

  if (owner == 0 || owner == thread)
    return 0;
  cpuc_lock_release(lock);
  return 1;
}

#endif
