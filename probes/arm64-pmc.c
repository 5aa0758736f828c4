/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for 64-bit Arm. */

#ifndef __aarch64__
#error the target is not 64-bit Arm
#endif

int main(void)
{
  unsigned long long count;

  __asm__ volatile("mrs %0, pmccntr_el0" : "=r"(count));
  return count == 0;
}
