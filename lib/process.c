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
  struct cpucycles_counter_info counters[CPUC_TABLE_LENGTH];
  struct cpuc_selection selection; /* last, as most of its candidates are never touched */
} process;

/* The thread's state while it holds the lock, or cannot have it. */
struct locking {
  struct cpuc_os_thread_signals signals;
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
  cpuc_os_thread_block_signals(&locking->signals);
  while ((result = cpuc_lock_try(&process.lock, cpuc_os_thread_id())) == CPUC_LOCK_BUSY)
    cpuc_os_thread_sleep_briefly(); /* most work takes 0.1 ms to some ms */
  locking->is_acquired = result == CPUC_LOCK_ACQUIRED;
}

static void release(const struct locking *locking)
{
  if (locking->is_acquired)
    cpuc_lock_release(&process.lock);
  cpuc_os_thread_restore_signals(&locking->signals);
  errno = locking->saved_errno;
}

static void note_reason(const char *code)
{
  int i;

  for (i = 0; i < CPUC_TABLE_LENGTH; i++)
    if (process.counters[i].state == CPUCYCLES_SELECTED)
      cpuc_reasons_note_selected(&process.counters[i], code);
}

/* The members of cpuc_process_services. */

static long long read_fallback(void)
{
  return cpuc_process_has_selected() ? cpuc_reader_read(&process.selection.fallback) : 0;
}

static void note_fallback(const char *code)
{
  if (cpuc_process_has_selected())
    note_reason(code);
}

const struct cpuc_services cpuc_process_services = { read_fallback, note_fallback };

/* Falls back to a worse OS clock while the clock faults. */
static void try_clocks(void)
{
  int i;

  for (i = 0; i < 2 && cpuc_guard_run(cpuc_os_clock_read_all, NULL) != 0; i++)
    cpuc_os_clock_fall_back();
}

static void select_guarded(void)
{
  const struct cpuc_backend *backend;

  cpuc_guard_enter();
  try_clocks();
  cpuc_select(&cpuc_frequency_platform, &cpuc_process_services, cpuc_table, CPUC_TABLE_LENGTH,
    process.counters, &process.selection);
  backend = process.selection.backend;
  if (backend && backend->fix_up)
    cpuc_guard_keep(backend->fix_up, backend->fix_up_signal);
  if (!cpuc_guard_leave())
    note_reason("unguarded");
  __atomic_store_n(&process.selected, 1, __ATOMIC_RELEASE);
}

/* The thread that forked may hold the lock itself, if an allocator forks. */
static void after_fork_in_child(void)
{
  if (cpuc_process_has_selected() && process.selection.backend && process.selection.backend->forked)
    process.selection.backend->forked();
  if (cpuc_lock_release_in_child(&process.lock, cpuc_os_thread_id()))
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
  cpuc_os_thread_on_fork(after_fork_in_child);
}

int cpuc_process_has_selected(void)
{
  return __atomic_load_n(&process.selected, __ATOMIC_ACQUIRE);
}

struct cpuc_selection *cpuc_process_selection(void)
{
  struct locking locking;

  if (cpuc_process_has_selected())
    return &process.selection;
  acquire(&locking);
  if (locking.is_acquired && !cpuc_process_has_selected())
    select_guarded();
  release(&locking);
  return locking.is_acquired ? &process.selection : NULL;
}

/* A fault of find() is not caught, but must not be blocked either: the selected counter's own
   faults are repaired, and others belong to the program's handlers. A program that blocks these
   signals takes them by sigwait(3) or the like. */
int cpuc_process_find_once(int *is_found, void (*find)(struct cpuc_selection *selection))
{
  struct locking locking;

  if (__atomic_load_n(is_found, __ATOMIC_ACQUIRE))
    return 1;
  acquire(&locking);
  if (locking.is_acquired && !*is_found) {
    cpuc_os_thread_unblock_faults_of_program(&locking.signals);
    find(&process.selection);
    cpuc_os_thread_block_faults();
    __atomic_store_n(is_found, 1, __ATOMIC_RELEASE);
  }
  release(&locking);
  return locking.is_acquired;
}
