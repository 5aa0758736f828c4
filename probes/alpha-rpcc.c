/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for Alpha. */

#ifndef __alpha__
#error the target is not Alpha
#endif

int main(void)
{
  unsigned long long count;

  __asm__ volatile("rpcc %0" : "=r"(count));
  return count == 0;
}
