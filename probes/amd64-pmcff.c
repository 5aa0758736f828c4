/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the compiler accepts GNU assembly for x86-64 Linux, which has rdpmc files in sysfs. */

#ifndef __x86_64__
#error the target is not x86-64
#endif

#ifndef __linux__
#error the target is not Linux
#endif

int main(void)
{
  unsigned int low, high;

  __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(0x40000001));
  return (low | high) == 0;
}
