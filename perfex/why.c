/* SPDX-License-Identifier: 0BSD OR MIT */
/* Messages on standard error, and the sentence on the last failure in a thread. The sentence is in
   memory from malloc(3), because the library's thread-local variables must be few
   (sys/thread-local.h). */

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
#include <string.h>

enum { WHY_SIZE = 512 };

/* The sentence of a thread that has no memory for its sentences. */
static CPUC_THREAD_LOCAL const char *constant;

/* The key of the memory of each thread. */
static pthread_key_t key;
static int has_key;

static CPUC_EARLY_LOAD void load(void)
{
  has_key = pthread_key_create(&key, free) == 0;
}

static char *last_sentence(void)
{
  return has_key ? pthread_getspecific(key) : NULL;
}

/* A module that contains a static copy of the library can be unloaded, and loaded again. */
static CPUC_EARLY_UNLOAD void unload(void)
{
  free(last_sentence());
  if (has_key)
    pthread_key_delete(key);
  has_key = 0;
}

static char *get_memory(void)
{
  char *text = last_sentence();

  if (has_key && !text && (text = malloc(WHY_SIZE)) != NULL
    && pthread_setspecific(key, text) != 0) {
    free(text);
    text = NULL;
  }
  return text;
}

int pfx_why(int error, const char *format, ...)
{
  char *text = get_memory();
  va_list arguments;

  constant = strchr(format, '%') ? "there is no memory for the sentence on this failure" : format;
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
  const char *text = last_sentence();

  return text ? text : constant ? constant : "no failure is known in this thread";
}

/* Prints with fputs(), because fprintf() needs 8 KiB of stack for an unbuffered stream in glibc
   before 2.37. */
void pfx_why_print(const char *format, ...)
{
  char text[512] = "libperfex: ";
  const size_t length = strlen(text);
  va_list arguments;

  va_start(arguments, format);
  vsnprintf(text + length, sizeof text - length - 1, format, arguments);
  va_end(arguments);
  strcat(text, "\n");
  fputs(text, stderr);
}
