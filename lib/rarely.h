/* SPDX-License-Identifier: 0BSD OR MIT */
/* The code of a file that includes this runs once in a process, or when somebody asks, or waits for
   the kernel: it is compiled for size, unless nothing is to be optimized. Clang has no such pragma.
   What counts cycles is compiled as CFLAGS say. */

#if defined(__OPTIMIZE__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("Os")
#endif
