/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for x86-64. */

#ifndef __x86_64__
#error the target is not x86-64
#endif

int main(void)
{
  unsigned int low, high;

  __asm__ volatile(".byte 0x0f,0x01,0xfd" : "=a"(low), "=d"(high) : "c"(1));
  return (low | high) == 0;
}
