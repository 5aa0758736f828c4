/* SPDX-License-Identifier: 0BSD OR MIT */
/* Messages on standard error. */

#include "config.h"

#include "perfex/message.h"

#include <stdarg.h>
#include <stdio.h>

void pfx_message(const char *format, ...)
{
  char text[512];
  va_list arguments;

  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stderr, "libperfex: %s\n", text);
}
