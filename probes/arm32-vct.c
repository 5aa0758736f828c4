/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for 32-bit Arm with MRRC, which old Thumb lacks. */

#ifndef __arm__
#error the target is not 32-bit Arm
#endif

int main(void)
{
  unsigned int low, high;

  __asm__ volatile("mrrc p15, 1, %0, %1, c14" : "=r"(low), "=r"(high));
  return (low | high) == 0;
}
