/* SPDX-License-Identifier: 0BSD OR MIT */
/* Installs a fork handler and keys for the ends of threads when the library is loaded. Other files
   decide what they do, because until then they have nothing to do. */

#include "config.h"

#include "lib/early.h"
#include "sys/early.h"
#include "sys/os-thread.h"

#include <errno.h>
#include <stdlib.h>

#ifdef CPUCYCLES_POSIX
#include <pthread.h>

static void (*at_exit)(void);
static pthread_key_t exit_key, memory_key;
static int has_exit_key, has_memory_key;

static void leave_thread(void *unused)
{
  (void)unused;
  __atomic_load_n(&at_exit, __ATOMIC_ACQUIRE)();
}

int cpuc_early_on_exit(void (*leave)(void))
{
  if (!has_exit_key)
    return EAGAIN;
  __atomic_store_n(&at_exit, leave, __ATOMIC_RELEASE);
  return pthread_setspecific(exit_key, &exit_key);
}

static void free_memory(void *first)
{
  void *next;

  for (; first; first = next) {
    next = *(void **)first;
    free(first);
  }
}

void *cpuc_early_memory(void)
{
  return has_memory_key ? pthread_getspecific(memory_key) : NULL;
}

void cpuc_early_store_memory(void *first)
{
  if (has_memory_key)
    (void)pthread_setspecific(memory_key, first);
}

static void create_keys(void)
{
  has_exit_key = pthread_key_create(&exit_key, leave_thread) == 0;
  has_memory_key = pthread_key_create(&memory_key, free_memory) == 0;
}

/* Deletes the keys, so that threads that exit later do not call an unloaded library. What other
   threads have open stays open until the process ends. */
static CPUC_EARLY_UNLOAD void unload(void)
{
  if (has_exit_key && pthread_getspecific(exit_key))
    leave_thread(NULL);
  free_memory(cpuc_early_memory());
  if (has_exit_key)
    pthread_key_delete(exit_key);
  if (has_memory_key)
    pthread_key_delete(memory_key);
  has_exit_key = has_memory_key = 0;
}

#else /* Windows: without exceptions of C++, a thread that ends keeps its memory */

void *cpuc_early_memory(void)
{
  return NULL;
}

void cpuc_early_store_memory(void *first)
{
  (void)first;
}

static void create_keys(void)
{
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
  create_keys();
}
