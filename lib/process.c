/* SPDX-License-Identifier: 0BSD OR MIT */
/* One-time initialisation of the process: the first thread to need the selection makes it, others
   wait. Safe across fork. Faults are caught during the selection only. */

#include "config.h"

#include "lib/process.h"
#include "sys/os-thread.h"
#include "sys/trial.h"
#include "lib/reasons.h"

#include <errno.h>
#include <stddef.h>

static struct {
  int owner;        /* 0: free; pid: held by a thread of that process; -1 - pid: being acquired */
  uintptr_t thread; /* the selecting thread, while the owner is a pid */
  int selected;
  struct cpucycles_selection selection;
  struct cpucycles_counter_info counters[CPUCYCLES_TABLE_LENGTH];
} process;

/* Acquires the lock of the selection, waiting for other threads. Returns 0 if the calling thread
   holds it: the caller is then a signal handler or allocator that the selection has called. */
static int acquire(int pid)
{
  int owner;

  for (;;) {
    owner = __atomic_load_n(&process.owner, __ATOMIC_ACQUIRE);
    if (owner == pid
      && __atomic_load_n(&process.thread, __ATOMIC_ACQUIRE) == cpucycles_thread_self())
      return 0;
    if (owner == pid || owner == -1 - pid) {
      cpucycles_sleep_briefly(); /* 0.1 ms to some ms */
      continue;
    }
    /* Free, or held by a thread of the parent, which does not exist in this process. */
    if (!__atomic_compare_exchange_n(&process.owner, &owner, -1 - pid, 0, __ATOMIC_ACQ_REL,
          __ATOMIC_ACQUIRE))
      continue;
    __atomic_store_n(&process.thread, cpucycles_thread_self(), __ATOMIC_RELEASE);
    __atomic_store_n(&process.owner, pid, __ATOMIC_RELEASE);
    return 1;
  }
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
  acquired = acquire(cpucycles_process_self());
  selecting = acquired && !cpucycles_is_selected();
  if (selecting)
    select_guarded(&saved);
  if (acquired)
    __atomic_store_n(&process.owner, 0, __ATOMIC_RELEASE);
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
