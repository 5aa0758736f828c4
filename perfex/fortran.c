/* SPDX-License-Identifier: 0BSD OR MIT */
/* The public functions for Fortran, in the calling convention of gfortran 8 and later: lower-case
   names with an underscore appended, arguments by reference, lengths of strings after all
   arguments. */

#include "config.h"

#include "include/perfex.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* Copies a string without the trailing blanks with which Fortran pads. Returns -1 with ENAMETOOLONG
   if it does not fit. */
static int copy_text(char *copy, size_t size, const char *text, size_t length)
{
  while (length > 0 && text[length - 1] == ' ')
    length--;
  if (length >= size) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(copy, text, length);
  copy[length] = 0;
  return 0;
}

#pragma GCC visibility push(default)

int start_counters_(const int *e0, const int *e1)
{
  return start_counters(*e0, *e1);
}

int read_counters_(const int *e0, long long *c0, const int *e1, long long *c1)
{
  return read_counters(*e0, c0, *e1, c1);
}

int print_counters_(const int *e0, const long long *c0, const int *e1, const long long *c1)
{
  return print_counters(*e0, *c0, *e1, *c1);
}

int print_costs_(const int *e0, const long long *c0, const int *e1, const long long *c1)
{
  return print_costs(*e0, *c0, *e1, *c1);
}

int load_costs_(const char *name, size_t length)
{
  char path[4096];

  return copy_text(path, sizeof path, name, length) == 0 ? load_costs(path) : -1;
}

int perfex_event_(const char *name, size_t length)
{
  char text[64];

  return perfex_event(copy_text(text, sizeof text, name, length) == 0 ? text : NULL);
}

int perfex_print_table_(void)
{
  return perfex_print_table();
}

#pragma GCC visibility pop
