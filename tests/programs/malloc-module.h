/* SPDX-License-Identifier: 0BSD OR MIT */
/* How survive.c speaks with the allocator of malloc-module.c, which it finds by name. */

#ifndef CPUCYCLES_MALLOC_MODULE_H
#define CPUCYCLES_MALLOC_MODULE_H

struct malloc_orders {
  int active;              /* from now on, count, and: */
  long first, last;        /* refuse allocations from this to that; the first of all is 1 */
  long long (*call)(void); /* in each, call this; or 0 */
  long asked;              /* so many were asked for */
};

#endif
