/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for PA-RISC. */

#ifndef __hppa__
#error the target is not PA-RISC
#endif

int main(void)
{
  unsigned long count;

  __asm__ volatile("mfctl %%cr16, %0" : "=r"(count));
  return count == 0;
}
