/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for 64-bit PowerPC. */

#ifndef __powerpc64__
#error the target is not 64-bit PowerPC
#endif

int main(void)
{
  unsigned long long count;

  __asm__ volatile("mfspr %0, 268" : "=r"(count));
  return count == 0;
}
