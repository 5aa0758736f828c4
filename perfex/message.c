/* SPDX-License-Identifier: 0BSD OR MIT */
/* Messages on standard error. */

#include "config.h"

#include "perfex/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Prints with fputs(), because fprintf() needs 8 KiB of stack for an unbuffered stream in glibc
   before 2.37. */
void pfx_message(const char *format, ...)
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
