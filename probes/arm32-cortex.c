/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for 32-bit Arm with MRC, which Thumb-1 lacks. */

#ifndef __arm__
#error the target is not 32-bit Arm
#endif

#if defined __thumb__ && !defined __thumb2__
#error Thumb-1 has no MRC: add -marm to CFLAGS
#endif

int main(void)
{
  unsigned int count;

  __asm__ volatile("mrc p15, 0, %0, c9, c13, 0" : "=r"(count));
  return count == 0;
}
