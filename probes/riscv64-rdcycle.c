/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for 64-bit RISC-V. */

#if !defined __riscv || __riscv_xlen != 64
#error the target is not 64-bit RISC-V
#endif

int main(void)
{
  unsigned long long count;

  __asm__ volatile("rdcycle %0" : "=r"(count));
  return count == 0;
}
