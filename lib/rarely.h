/* SPDX-License-Identifier: 0BSD OR MIT */
/* What stands below this in a file runs once in a process, or when somebody asks, or waits for the
   kernel, or reads what must be put together: several events, a wall clock extended. It is compiled
   for size, unless nothing is to be optimized. Clang has no such pragma. What counts cycles
   otherwise is compiled as CFLAGS say. With the pragma, GCC for PowerPC inlines nothing any more
   that stands above it and must be inlined. */

#if defined(__OPTIMIZE__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("Os")
#endif
