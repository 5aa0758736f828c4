/* SPDX-License-Identifier: 0BSD OR MIT */
/* What libperfex prepares when it is loaded. A signal handler that has interrupted malloc() can
   make the first call of start_counters() in a thread, which must not allocate. */

#include "config.h"

#include "perfex/early.h"

#include "sys/early.h"
#include "sys/os-thread.h"
#include "sys/trapped-call.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct cpuc_lock pfx_early_cost_lock;
unsigned long pfx_early_forks;
CPUC_THREAD_LOCAL unsigned long pfx_early_thread;

static pthread_key_t exit_key, memory_key;
static int has_exit_key, has_memory_key;
static void (*run_at_exit)(void);

static void after_fork_in_child(void)
{
  pfx_early_thread = 0;
  pfx_early_forks++;
  cpuc_trapped_call_forked();
  cpuc_lock_release_in_child(&pfx_early_cost_lock, cpuc_os_thread_id());
}

static void on_thread_exit(void *unused)
{
  (void)unused;
  __atomic_load_n(&run_at_exit, __ATOMIC_ACQUIRE)();
}

static CPUC_EARLY_LOAD void load(void)
{
  cpuc_os_thread_on_fork(after_fork_in_child);
  has_exit_key = pthread_key_create(&exit_key, on_thread_exit) == 0;
  has_memory_key = pthread_key_create(&memory_key, free) == 0;
}

/* Deletes the keys, because their destructors are unloaded with a module that contains a static
   copy of the library. */
static CPUC_EARLY_UNLOAD void unload(void)
{
  if (run_at_exit)
    run_at_exit(); /* no other thread may use the library now */
  if (has_exit_key)
    pthread_key_delete(exit_key);
  free(pfx_early_memory());
  if (has_memory_key)
    pthread_key_delete(memory_key);
  has_exit_key = has_memory_key = 0;
}

void *pfx_early_memory(void)
{
  return has_memory_key ? pthread_getspecific(memory_key) : NULL;
}

int pfx_early_store_memory(void *memory)
{
  return has_memory_key ? pthread_setspecific(memory_key, memory) : EAGAIN;
}

/* EAGAIN: too many keys, as in pthread_key_create(3). */
int pfx_early_run_at_exit(void (*at_exit)(void))
{
  __atomic_store_n(&run_at_exit, at_exit, __ATOMIC_RELEASE);
  return has_exit_key ? pthread_setspecific(exit_key, &exit_key) : EAGAIN;
}
