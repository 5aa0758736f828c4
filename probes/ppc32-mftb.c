/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for 32-bit PowerPC. */

#if !defined __powerpc__ || defined __powerpc64__
#error the target is not 32-bit PowerPC
#endif

int main(void)
{
  unsigned int before, low, high;

  __asm__ volatile("mftbu %0\n\tmftb %1\n\tmftbu %2" : "=&r"(before), "=&r"(low), "=&r"(high));
  return (before | low | high) == 0;
}
