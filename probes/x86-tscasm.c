/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for i386. */

#ifndef __i386__
#error the target is not i386
#endif

int main(void)
{
  unsigned int low, high;

  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (low | high) == 0;
}
