/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler has the rdtsc intrinsic for x86-64. */

#ifndef __x86_64__
#error the target is not x86-64
#endif

#include <x86intrin.h>

int main(void)
{
  return __rdtsc() == 0;
}
