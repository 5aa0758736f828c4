/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for 64-bit SPARC. */

#if !defined __sparc__ || !defined __arch64__
#error the target is not 64-bit SPARC
#endif

int main(void)
{
  unsigned long long count;

  __asm__ volatile("rd %%tick, %0" : "=r"(count));
  return count == 0;
}
