/* SPDX-License-Identifier: 0BSD OR MIT */
/* The sentence on the last failure in a thread. It is in memory from malloc(3), because the
   library's thread-local variables must be few (sys/thread-local.h). */

#include "config.h"

#include "include/perfex.h"
#include "perfex/why.h"
#include "sys/early.h"
#include "sys/thread-local.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { WHY_SIZE = 512 };

static pthread_key_t key;
static int has_key;
static CPUC_THREAD_LOCAL int is_lost; /* 1 if there was no memory for the last sentence */

static CPUC_EARLY_LOAD void load(void)
{
  has_key = pthread_key_create(&key, free) == 0;
}

/* The destructor of the key is not in a module that was unloaded. */
static CPUC_EARLY_UNLOAD void unload(void)
{
  if (!has_key)
    return;
  free(pthread_getspecific(key));
  pthread_key_delete(key);
  has_key = 0;
}

static char *get_text(void)
{
  return has_key ? pthread_getspecific(key) : NULL;
}

int pfx_why(int error, const char *format, ...)
{
  char *text = get_text();
  va_list arguments;

  if (!text && has_key && (text = malloc(WHY_SIZE)) != NULL && pthread_setspecific(key, text)) {
    free(text);
    text = NULL;
  }
  is_lost = !text;
  if (text) {
    va_start(arguments, format);
    vsnprintf(text, WHY_SIZE, format, arguments);
    va_end(arguments);
  }
  errno = error;
  return -1;
}

const char *perfex_why(void)
{
  const char *text = get_text();

  if (is_lost)
    return "there was no memory for the reason; errno had its number";
  return text ? text : "no failure is known in this thread";
}
