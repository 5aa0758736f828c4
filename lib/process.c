/* SPDX-License-Identifier: 0BSD OR MIT */
/* One-time initialisation of the process: its selection, and details of it if somebody asks. The
   first thread to need one makes it while others wait; also where the process forks meanwhile. */

#include "config.h"

#include "lib/library.h"

#include <errno.h>
#include <stddef.h>

static struct {
  int owner;        /* 0: free; pid: a thread of it is here; -1 - pid: it is being acquired */
  uintptr_t thread; /* that one */
  int selected, detailed;
  struct cpucycles_selection selection;
  struct cpucycles_counter_info counters[CPUCYCLES_TABLE_LENGTH];
} process;

/* Waits until no thread makes anything, and acquires the right to. Returns 0 if the calling thread
   has it already: this is a signal handler, or an allocator, that was called meanwhile. */
static int acquire(int pid)
{
  int owner;

  for (;;) {
    owner = __atomic_load_n(&process.owner, __ATOMIC_ACQUIRE);
    if (owner == pid
      && __atomic_load_n(&process.thread, __ATOMIC_ACQUIRE) == cpucycles_thread_self())
      return 0;
    if (owner == pid || owner == -1 - pid) {
      cpucycles_wait_a_little(); /* 0.1 ms to some ms */
      continue;
    }
    /* It is free, or this is the child of a process in which another thread had it. */
    if (!__atomic_compare_exchange_n(&process.owner, &owner, -1 - pid, 0, __ATOMIC_ACQ_REL,
          __ATOMIC_ACQUIRE))
      continue;
    __atomic_store_n(&process.thread, cpucycles_thread_self(), __ATOMIC_RELEASE);
    __atomic_store_n(&process.owner, pid, __ATOMIC_RELEASE);
    return 1;
  }
}

/* The selection is guarded. */
static void select_counter(const struct cpucycles_calm *calm)
{
  cpucycles_trial_begin(calm);
  cpucycles_select(&cpucycles_host, cpucycles_table, CPUCYCLES_TABLE_LENGTH, process.counters,
    &process.selection);
  cpucycles_trial_end();
}

/* Details are not. Where a file raised a signal in the selection, one would end the process now. */
static void find_details(const struct cpucycles_calm *calm)
{
  (void)calm;
  if (!process.selection.frequency.no_files)
    cpucycles_counters_explain(process.counters, cpucycles_table, CPUCYCLES_TABLE_LENGTH);
  cpucycles_find_rate(&process.selection, cpucycles_table);
}

/* Makes a part of the process's state unless it is made. Returns 1 if this call made it, 0 if
   another did, -1 if called by the thread that is making some. Leaves errno alone. */
static int make(int *made, void (*what)(const struct cpucycles_calm *calm))
{
  struct cpucycles_calm calm;
  int saved_errno = errno, result = -1;

  cpucycles_calm_begin(&calm);
  if (acquire(cpucycles_process_self())) {
    result = !*made;
    if (result)
      what(&calm);
    __atomic_store_n(made, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&process.owner, 0, __ATOMIC_RELEASE);
  }
  cpucycles_calm_end(&calm);
  errno = saved_errno;
  return result;
}

struct cpucycles_tried cpucycles_tried;

int cpucycles_is_guarded(void)
{
  return !cpucycles_is_selected();
}

int cpucycles_is_selected(void)
{
  return __atomic_load_n(&process.selected, __ATOMIC_ACQUIRE);
}

const struct cpucycles_selection *cpucycles_selected(void)
{
  if (!cpucycles_is_selected()) {
    int result = make(&process.selected, select_counter);

    if (result < 0)
      return NULL;
    if (result > 0)
      cpucycles_trial_replay();
  }
  return &process.selection;
}

const struct cpucycles_selection *cpucycles_selected_in_detail(void)
{
  const struct cpucycles_selection *selected = cpucycles_selected();

  if (selected && !__atomic_load_n(&process.detailed, __ATOMIC_ACQUIRE)
    && make(&process.detailed, find_details) < 0)
    return NULL;
  return selected;
}

long long cpucycles_next_best(void)
{
  return cpucycles_is_selected() ? cpucycles_reader_read(&process.selection.next_best) : 0;
}

void cpucycles_note(const char *code)
{
  int i;

  for (i = 0; cpucycles_is_selected() && i < CPUCYCLES_TABLE_LENGTH; i++)
    if (process.counters[i].state == CPUCYCLES_SELECTED)
      cpucycles_counter_note(&process.counters[i], code);
}
