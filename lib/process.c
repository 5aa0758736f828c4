/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the process finds once: the first thread that needs the selection makes it under the fault
   guard, and other results are found on demand. Other threads wait. The child of a fork finds for
   itself what its parent has not finished. */

#include "config.h"

#include "lib/process.h"
#include "lib/reasons.h"
#include "sys/guard.h"
#include "sys/lock.h"
#include "sys/os-clock.h"
#include "sys/os-thread.h"

#include <errno.h>
#include <stddef.h>

static struct {
  struct cpuc_lock lock;
  int selected;
  struct cpucycles_counter_info counters[CPUCYCLES_TABLE_LENGTH];
  struct cpucycles_selection selection; /* last, as most of its candidates are never touched */
} process;

/* The thread's state while it holds the lock, or cannot have it. */
struct locking {
  struct cpucycles_signal_state signals;
  int saved_errno;
  int is_acquired;
};

/* Acquires the lock, waiting for other threads. Signals are blocked before, so that no handler of
   the program runs in the thread that holds it, except handlers of faults. A thread that holds the
   lock already does not acquire it: the caller is such a handler, or an allocator. */
static void acquire(struct locking *locking)
{
  enum cpuc_lock_result result;

  locking->saved_errno = errno;
  cpucycles_block_signals(&locking->signals);
  while ((result = cpuc_lock_try(&process.lock, cpucycles_thread_self())) == CPUC_LOCK_BUSY)
    cpucycles_sleep_briefly(); /* most work takes 0.1 ms to some ms */
  locking->is_acquired = result == CPUC_LOCK_ACQUIRED;
}

static void release(const struct locking *locking)
{
  if (locking->is_acquired)
    cpuc_lock_release(&process.lock);
  cpucycles_restore_signals(&locking->signals);
  errno = locking->saved_errno;
}

static void note(const char *code)
{
  int i;

  for (i = 0; i < CPUCYCLES_TABLE_LENGTH; i++)
    if (process.counters[i].state == CPUCYCLES_SELECTED)
      cpucycles_counter_note(&process.counters[i], code);
}

/* The members of cpuc_services. */

static long long next_best(void)
{
  return cpucycles_is_selected() ? cpucycles_reader_read(&process.selection.next_best) : 0;
}

static void note_fallback(const char *code)
{
  if (cpucycles_is_selected())
    note(code);
}

const struct cpuc_services cpuc_services = { next_best, note_fallback };

/* Falls back to a worse OS clock while the clock faults. */
static void try_clock(void)
{
  int i;

  for (i = 0; i < 2 && cpuc_guard_run(cpucycles_osclock_try, NULL) != 0; i++)
    cpucycles_osclock_fall_back();
}

static void select_guarded(void)
{
  const struct cpucycles_backend *backend;

  cpuc_guard_enter();
  try_clock();
  cpucycles_select(&cpucycles_host, &cpuc_services, cpucycles_table, CPUCYCLES_TABLE_LENGTH,
    process.counters, &process.selection);
  backend = process.selection.backend;
  if (backend && backend->rescue)
    cpuc_guard_keep(backend->rescue, backend->rescued);
  if (!cpuc_guard_leave())
    note("unguarded");
  __atomic_store_n(&process.selected, 1, __ATOMIC_RELEASE);
}

/* The thread that forked may hold the lock itself, if an allocator forks. */
static void after_fork_in_child(void)
{
  if (cpucycles_is_selected() && process.selection.backend && process.selection.backend->forked)
    process.selection.backend->forked();
  if (cpuc_lock_release_in_child(&process.lock, cpucycles_thread_self()))
    cpuc_guard_forked();
}

/* Runs when the library is loaded, since fork handlers cannot be added while a fork runs them. The
   number, where there are numbers: before the constructors of the program, which come first in a
   program that is linked statically, and may fork or install fork handlers that read. */
#ifdef __APPLE__
__attribute__((constructor)) static void load(void)
#else
__attribute__((constructor(101))) static void load(void)
#endif
{
  cpuc_on_fork(after_fork_in_child);
}

int cpucycles_is_selected(void)
{
  return __atomic_load_n(&process.selected, __ATOMIC_ACQUIRE);
}

struct cpucycles_selection *cpucycles_selected(void)
{
  struct locking locking;

  if (cpucycles_is_selected())
    return &process.selection;
  acquire(&locking);
  if (locking.is_acquired && !cpucycles_is_selected())
    select_guarded();
  release(&locking);
  return locking.is_acquired ? &process.selection : NULL;
}

/* A fault of find() is not caught, but must not be blocked either: the selected counter's own
   faults are repaired, and others belong to the program's handlers. A program that blocks these
   signals takes them by sigwait(3) or the like. */
int cpuc_find_once(int *is_found, void (*find)(struct cpucycles_selection *selection))
{
  struct locking locking;

  if (__atomic_load_n(is_found, __ATOMIC_ACQUIRE))
    return 1;
  acquire(&locking);
  if (locking.is_acquired && !*is_found) {
    cpuc_unblock_faults_of_program(&locking.signals);
    find(&process.selection);
    cpuc_block_faults();
    __atomic_store_n(is_found, 1, __ATOMIC_RELEASE);
  }
  release(&locking);
  return locking.is_acquired;
}
