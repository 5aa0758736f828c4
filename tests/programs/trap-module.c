/* SPDX-License-Identifier: 0BSD OR MIT */
/* To preload: enables traps of floating-point exceptions before main(). */

#define _GNU_SOURCE
#include "tests/suites/float-traps.h"

__attribute__((constructor)) static void enable(void)
{
  (void)enable_traps();
}
