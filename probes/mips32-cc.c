/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for 32-bit MIPS, release 2 included. */

#if !defined __mips__ || defined __mips64
#error the target is not 32-bit MIPS
#endif

int main(void)
{
  unsigned int count;

#if __mips_isa_rev >= 2
  __asm__ volatile("rdhwr %0, $2" : "=r"(count));
#else
  __asm__ volatile(".set push\n\t.set mips32r2\n\trdhwr %0, $2\n\t.set pop" : "=r"(count));
#endif
  return count == 0;
}
