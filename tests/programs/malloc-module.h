/* SPDX-License-Identifier: 0BSD OR MIT */
/* Settings of the allocator in malloc-module.c; survive.c finds them by name. */

#ifndef CPUCYCLES_MALLOC_MODULE_H
#define CPUCYCLES_MALLOC_MODULE_H

struct malloc_settings {
  int active;              /* count, refuse and call from now on */
  long first, last;        /* refuse these allocations, numbered from 1 */
  long long (*call)(void); /* call this in each allocation, unless NULL */
  long allocations;        /* so far */
};

#endif
