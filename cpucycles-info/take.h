/* SPDX-License-Identifier: 0BSD OR MIT */
/* Texts that the system gives, as the report takes them over. */

#ifndef CPUCYCLES_TAKE_H
#define CPUCYCLES_TAKE_H

#include "sys/kernel-file.h"

#include <stddef.h>

/* Takes over a text of the system's: its first line, printable, and no more than there is room
   for. */
static inline void take(char *to, size_t size, const char *from)
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

static inline void take_file(char *to, size_t size, const char *root, const char *path)
{
  char text[256];

  if (read_kernel_text(root, path, text, sizeof text) > 0)
    take(to, size, text);
}

#endif
