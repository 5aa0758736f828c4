/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for 32-bit Arm with MRRC, which Thumb-1 lacks, and
   CPUs before ARMv5TE. */

#ifndef __arm__
#error the target is not 32-bit Arm
#endif

#if defined __thumb__ && !defined __thumb2__
#error Thumb-1 has no MRRC: add -marm to CFLAGS
#endif

#ifndef __ARM_FEATURE_DSP
#error MRRC needs ARMv5TE or later
#endif

int main(void)
{
  unsigned int low, high;

  __asm__ volatile("mrrc p15, 1, %0, %1, c14" : "=r"(low), "=r"(high));
  return (low | high) == 0;
}
