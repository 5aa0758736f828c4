/* SPDX-License-Identifier: 0BSD OR MIT */
/* Creates a key for the ends of threads when the library is loaded. The backend of perf events
   decides later what happens at the end of a thread. */

#include "config.h"

#include "lib/early.h"
#include "sys/early.h"

#ifdef HAVE_PERF_EVENTS /* only their counters need a key */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

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

static CPUC_EARLY_LOAD void load(void)
{
  has_key = pthread_key_create(&key, leave_thread) == 0;
}

#endif
