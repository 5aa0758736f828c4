/* SPDX-License-Identifier: 0BSD OR MIT */
/* A module to preload. It enables traps of floating-point exceptions before main(). */

#define _GNU_SOURCE
#include "tests/suites/float-traps.h"

__attribute__((constructor)) static void enable(void)
{
  (void)enable_traps();
}
