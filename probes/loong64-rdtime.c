/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for 64-bit LoongArch. */

#if !defined __loongarch__ || __loongarch_grlen != 64
#error the target is not 64-bit LoongArch
#endif

int main(void)
{
  unsigned long long count;

  __asm__ volatile("rdtime.d %0, $zero" : "=r"(count));
  return count == 0;
}
