/* SPDX-License-Identifier: 0BSD OR MIT */
/* A chain of adds that proves nothing, as in code without optimization, for suites whose counters
   count no cycles. Replaces sys/dependent-add.c. */

#ifndef CPUCYCLES_NO_ADDS_H
#define CPUCYCLES_NO_ADDS_H

#include "sys/dependent-add.h"

int cpuc_dependent_add_run(long passes)
{
  (void)passes;
  return -1;
}

#endif
