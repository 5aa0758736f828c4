/* SPDX-License-Identifier: 0BSD OR MIT */
/* Installs a fork handler and a key for the ends of threads when the library is loaded. Other files
   decide what they do, because until then they have nothing to do. */

#include "config.h"

#include "lib/early.h"
#include "sys/early.h"
#include "sys/os-thread.h"

#include <errno.h>
#include <stddef.h>

#ifdef HAVE_PERF_EVENTS /* only their counters need a key */
#include <pthread.h>

static void (*at_exit)(void);
static pthread_key_t key;
static int has_key;

static void leave_thread(void *unused)
{
  (void)unused;
  __atomic_load_n(&at_exit, __ATOMIC_ACQUIRE)();
}

int cpuc_early_on_exit(void (*leave)(void))
{
  if (!has_key)
    return EAGAIN;
  __atomic_store_n(&at_exit, leave, __ATOMIC_RELEASE);
  return pthread_setspecific(key, &key);
}

/* Deletes the key, so that threads that exit later do not call an unloaded library. What other
   threads have open stays open until the process ends. */
static CPUC_EARLY_UNLOAD void unload(void)
{
  if (!has_key)
    return;
  if (pthread_getspecific(key))
    leave_thread(NULL);
  pthread_key_delete(key);
  has_key = 0;
}

#endif

static void (*in_child)(void);

void cpuc_early_on_fork(void (*child)(void))
{
  __atomic_store_n(&in_child, child, __ATOMIC_RELEASE);
}

static void after_fork_in_child(void)
{
  void (*child)(void) = __atomic_load_n(&in_child, __ATOMIC_ACQUIRE);

  if (child)
    child();
}

static CPUC_EARLY_LOAD void load(void)
{
  cpuc_os_thread_on_fork(after_fork_in_child);
#ifdef HAVE_PERF_EVENTS
  has_key = pthread_key_create(&key, leave_thread) == 0;
#endif
}
