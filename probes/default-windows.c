/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the system has the performance counter of Windows. */

#ifndef _WIN32
#error the target is not Windows
#endif

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

int main(void)
{
  LARGE_INTEGER count, hz;

  return !QueryPerformanceFrequency(&hz) || !QueryPerformanceCounter(&count);
}
