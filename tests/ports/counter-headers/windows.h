/* SPDX-License-Identifier: 0BSD OR MIT */
/* The declarations of this header that default-windows uses, for check_ports.c on systems other
   than Windows. Source: Microsoft, Windows documentation, "Windows Data Types", LARGE_INTEGER
   (winnt.h), QueryPerformanceCounter and QueryPerformanceFrequency (profileapi.h). */

#ifndef PORTS_WINDOWS_H
#define PORTS_WINDOWS_H

#include <stdint.h>

typedef int BOOL;

typedef union {
  int64_t QuadPart;
} LARGE_INTEGER;

BOOL QueryPerformanceCounter(LARGE_INTEGER *count);
BOOL QueryPerformanceFrequency(LARGE_INTEGER *hz);

#endif
