/* SPDX-License-Identifier: 0BSD OR MIT */
/* Messages on standard error, and the sentence on the last failure in a thread. The sentence is in
   memory from malloc(3), because the library's thread-local variables must be few
   (sys/thread-local.h). */

#include "config.h"

#include "include/perfex.h"
#include "perfex/early.h"
#include "perfex/why.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHY_SIZE = 512 };

/* The sentence of a thread that has no memory for its sentences. */
static CPUC_THREAD_LOCAL const char *constant;

static char *get_memory(void)
{
  char *text = pfx_early_memory();

  if (!text && (text = malloc(WHY_SIZE)) != NULL && pfx_early_store_memory(text) != 0) {
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
  const char *text = pfx_early_memory();

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
