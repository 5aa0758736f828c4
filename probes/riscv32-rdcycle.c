/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for 32-bit RISC-V. */

#if !defined __riscv || __riscv_xlen != 32
#error the target is not 32-bit RISC-V
#endif

int main(void)
{
  unsigned int before, low, high;

  __asm__ volatile("rdcycleh %0\n\trdcycle %1\n\trdcycleh %2"
    : "=&r"(before), "=&r"(low), "=&r"(high));
  return (before | low | high) == 0;
}
