/* SPDX-License-Identifier: 0BSD OR MIT */
/* Results that the process finds once: the selection, and results that are found on demand. The
   first thread that needs a result finds it, and other threads wait. A forked child finds a result
   again if its parent had not finished it. */

#include "config.h"

#include "lib/process.h"
#include "lib/early.h"
#include "sys/guard.h"
#include "sys/lock.h"
#include "sys/os-thread.h"

#include <errno.h>
#include <stddef.h>

static struct cpuc_lock lock;
static struct cpuc_selection selection;

static void select_from_table(struct cpuc_selection *found)
{
  static struct cpuc_candidate candidates[CPUC_TABLE_LENGTH];

  cpuc_select(cpuc_table, CPUC_TABLE_LENGTH, candidates, found);
}

static struct cpuc_process_result selecting = { select_from_table, 1, 0 };

/* The state of a thread that has called acquire(), to be restored by release(). */
struct locking {
  struct cpuc_os_thread_saved saved;
  int saved_errno;
  int is_acquired;
};

/* Lets the selected counter prepare the child. Releases the lock unless the thread that forked
   holds it itself, which happens if an allocator forks. */
static void after_fork_in_child(void)
{
  if (cpuc_process_has_selected() && selection.selected->backend->forked)
    selection.selected->backend->forked();
  if (cpuc_lock_release_in_child(&lock, cpuc_os_thread_id()))
    cpuc_guard_forked();
}

/* Acquires the lock, and waits for other threads. First blocks all signals and cancellation.
   cpuc_process_once() unblocks the signals of faults again, so only fault handlers of the program
   can run in the thread that holds the lock. If this thread holds the lock already, the caller is
   such a handler or an allocator, and does not acquire it. */
static void acquire(struct locking *locking)
{
  enum cpuc_lock_result result;

  locking->saved_errno = errno;
  cpuc_early_on_fork(after_fork_in_child);
  cpuc_os_thread_block_signals_and_cancellation(&locking->saved);
  while ((result = cpuc_lock_try(&lock, cpuc_os_thread_id())) == CPUC_LOCK_BUSY)
    cpuc_os_thread_sleep_briefly(); /* most holders take 0.1 ms to a few ms */
  locking->is_acquired = result == CPUC_LOCK_ACQUIRED;
}

static void release(const struct locking *locking)
{
  if (locking->is_acquired)
    cpuc_lock_release(&lock);
  cpuc_os_thread_restore_signals_and_cancellation(&locking->saved);
  errno = locking->saved_errno;
}

/* The signals of faults are unblocked while find() runs: by the guard, or so that handlers of the
   program take the faults of find(). Those that the program itself blocks stay blocked in the
   second case, because it takes them with sigwait(3) or similar calls. */
int cpuc_process_once(struct cpuc_process_result *result)
{
  struct locking locking;

  if (__atomic_load_n(&result->is_found, __ATOMIC_SEQ_CST))
    return 1;
  acquire(&locking);
  if (locking.is_acquired && !result->is_found) {
    if (result->is_guarded)
      cpuc_guard_enter();
    else
      cpuc_os_thread_unblock_fault_signals_as_saved(&locking.saved);
    result->find(&selection);
    if (result->is_guarded)
      cpuc_guard_leave();
    __atomic_store_n(&result->is_found, 1, __ATOMIC_SEQ_CST);
  }
  release(&locking);
  return locking.is_acquired;
}

struct cpuc_selection *cpuc_process_select_once(void)
{
  return cpuc_process_once(&selecting) ? &selection : NULL;
}

int cpuc_process_has_selected(void)
{
  return __atomic_load_n(&selecting.is_found, __ATOMIC_SEQ_CST);
}
