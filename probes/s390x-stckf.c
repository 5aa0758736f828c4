/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for z/Architecture. */

#ifndef __s390x__
#error the target is not z/Architecture
#endif

int main(void)
{
  unsigned long long count;

  __asm__ volatile(".insn s,0xb27c0000,%0" : "=Q"(count) : : "cc");
  return count == 0;
}
