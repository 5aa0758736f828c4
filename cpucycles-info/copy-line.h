/* SPDX-License-Identifier: 0BSD OR MIT */
/* Copies strings of the system into the report, as one printable line each. */

#ifndef CPUCYCLES_COPY_LINE_H
#define CPUCYCLES_COPY_LINE_H

#include "sys/file.h"

#include <stddef.h>

/* Copies the first line of `from` without surrounding spaces, cut to size. Control characters
   become '?'. */
static inline void copy_line(char *to, size_t size, const char *from)
{
  size_t length = 0;

  while (*from == ' ' || *from == '\t')
    from++;
  for (; *from && *from != '\n' && length < size - 1; from++)
    to[length++] = (unsigned char)*from < ' ' || *from == 127 ? '?' : *from;
  while (length > 0 && to[length - 1] == ' ')
    length--;
  to[length] = 0;
}

/* Copies the first line of a file like copy_line(). Does not change `to` if the file is empty or
   unreadable. */
static inline void copy_line_of_file(char *to, size_t size, const char *path)
{
  char text[256];

  if (cpuc_file_read_start(path, text, sizeof text) > 0)
    copy_line(to, size, text);
}

#endif
