/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler has the rdtsc intrinsic for i386. */

#ifndef __i386__
#error the target is not i386
#endif

#include <x86intrin.h>

int main(void)
{
  return __rdtsc() == 0;
}
