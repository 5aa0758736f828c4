/* SPDX-License-Identifier: 0BSD OR MIT */
/* One-time initialisation of the process: the first thread that needs the selection makes it, and
   the others wait. Safe across fork. The selection runs with faults caught (sys/trial.h). */

#include "config.h"

#include "lib/process.h"
#include "lib/reasons.h"
#include "sys/fork-lock.h"
#include "sys/os-thread.h"
#include "sys/trial.h"

#include <errno.h>
#include <stddef.h>

static struct {
  struct fork_lock lock;
  int selected;
  struct cpucycles_selection selection;
  struct cpucycles_counter_info counters[CPUCYCLES_TABLE_LENGTH];
} process;

/* Acquires the lock of the selection, waiting for other threads. Returns 0 if the calling thread
   holds it: the caller is then a signal handler or allocator that runs inside the selection. */
static int acquire(void)
{
  enum fork_lock_result result;

  while ((result = fork_lock_try(&process.lock, cpucycles_process_self(), cpucycles_thread_self()))
    == FORK_LOCK_BUSY)
    cpucycles_sleep_briefly(); /* a selection takes 0.1 ms to some ms */
  return result == FORK_LOCK_ACQUIRED;
}

static void select_guarded(const struct cpucycles_signal_state *saved)
{
  cpucycles_trial_begin(saved);
  cpucycles_select(&cpucycles_host, cpucycles_table, CPUCYCLES_TABLE_LENGTH, process.counters,
    &process.selection);
  cpucycles_trial_end();
  __atomic_store_n(&process.selected, 1, __ATOMIC_RELEASE);
}

struct cpucycles_tried cpucycles_tried;

int cpucycles_is_selected(void)
{
  return __atomic_load_n(&process.selected, __ATOMIC_ACQUIRE);
}

struct cpucycles_selection *cpucycles_selected(void)
{
  struct cpucycles_signal_state saved;
  int saved_errno = errno, acquired, selecting;

  if (cpucycles_is_selected())
    return &process.selection;
  cpucycles_block_signals(&saved);
  acquired = acquire();
  selecting = acquired && !cpucycles_is_selected();
  if (selecting)
    select_guarded(&saved);
  if (acquired)
    fork_lock_release(&process.lock);
  cpucycles_restore_signals(&saved);
  if (selecting)
    cpucycles_trial_replay();
  errno = saved_errno;
  return acquired ? &process.selection : NULL;
}

long long cpucycles_next_best(void)
{
  return cpucycles_is_selected() ? cpucycles_reader_read(&process.selection.next_best) : 0;
}

void cpucycles_note_fallback(const char *code)
{
  int i;

  for (i = 0; cpucycles_is_selected() && i < CPUCYCLES_TABLE_LENGTH; i++)
    if (process.counters[i].state == CPUCYCLES_SELECTED)
      cpucycles_counter_note(&process.counters[i], code);
}
