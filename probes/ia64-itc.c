/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for Itanium. */

#ifndef __ia64__
#error the target is not Itanium
#endif

int main(void)
{
  unsigned long long count;

  __asm__ volatile("mov %0=ar.itc" : "=r"(count));
  return count == 0;
}
