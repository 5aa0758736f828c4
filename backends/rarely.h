/* SPDX-License-Identifier: 0BSD OR MIT */
/* What stands below this in a file runs once in a process, or when somebody asks, or waits for the
   kernel, or reads what must be put together: several events, a wall clock extended. It is compiled
   for size, unless nothing is to be optimized. Clang has no such pragma; and GCC for PowerPC, after
   it, inlines nothing any more that stands above it and must be inlined. What counts cycles
   otherwise is compiled as CFLAGS say. */

#if defined(__OPTIMIZE__) && defined(__GNUC__) && !defined(__clang__) && !defined(__powerpc__)
#pragma GCC optimize("Os")
#endif
