/* SPDX-License-Identifier: 0BSD OR MIT */
/* A module to preload. It enables traps of floating-point exceptions before main(). */

#define _GNU_SOURCE
#include <fenv.h>

__attribute__((constructor)) static void enable(void)
{
#ifdef __GLIBC__
  (void)feenableexcept(FE_ALL_EXCEPT);
#endif
}
