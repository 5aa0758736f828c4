#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests that an exception of C++ in a function that is timed passes through the shared library, and
# that its run then gives the memory back; and that one in a function whose events are counted passes
# through libperfex. Judges the heap of glibc.

set -eu
. "${srcdir:=.}/tests/scripts/begin.sh"

[ -f "$builddir/.libs/libcpucycles.so" ] || skip "no ELF shared library was built"
[ -z "$LOG_COMPILER" ] || skip "the program would need the library inside of the emulator"
grep -q '^CPUCYCLES_EXCEPTIONS = -fexceptions$' "$builddir/Makefile" ||
  skip "the library is built without tables of exceptions, as on 32-bit Arm"

cat >$work/throw.cc <<'EOF'
#include <cpucycles/bench.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
static int calls;
static void throw_sometimes(void *)
{
  if (++calls % 1000 == 0)
    throw calls;
}
static void do_work(void *sum)
{
  for (int i = 0; i < 100; i++)
    *static_cast<volatile int *>(sum) += i;
}
static long heap()
{
  struct mallinfo2 now = mallinfo2();
  return static_cast<long>(now.uordblks + now.hblkhd);
}
int main()
{
  cpucycles_bench_result result;
  long begin = heap();
  void *block = malloc(1 << 20);
  int caught = 0, sum = 0;

  if (!block || heap() < begin + (1 << 20))
    return 77; // the heap is not glibc's
  free(block);
  for (int i = 0; i < 21; i++) { // the first exception allocates, too
    if (i == 1)
      begin = heap();
    try {
      cpucycles_bench(&result, throw_sometimes, NULL);
    } catch (int) {
      caught++;
    }
  }
  begin = heap() - begin;
  printf("exceptions: %d caught, the heap grew by %ld bytes\n", caught, begin);
  cpucycles_bench(&result, do_work, &sum); // no lock is left
  return caught != 21 || begin > 100000 || result.samples == 0;
}
EOF
# words are meant to split
# shellcheck disable=SC2086
link() {
  $CC $CPPFLAGS $CFLAGS -I"$srcdir/include" "$@" $LDFLAGS -x none -L"$builddir/.libs" -lcpucycles \
    -lstdc++ -o $work/program 2>$work/said
}
printf '#include <malloc.h>\nint main() { try { throw (int)mallinfo2().arena; } catch (int) {} }\n' \
  >$work/try.cc
link -x c++ $work/try.cc || skip "$CC links no C++ with glibc 2.33 or later"
link -std=c++11 -x c++ $work/throw.cc || { cat $work/said; exit 1; }
LD_LIBRARY_PATH="$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" $work/program

[ -f "$builddir/.libs/libperfex.so" ] || { echo "exceptions: skipped: libperfex was not built"; exit; }
cat >$work/count.cc <<'EOF'
#include <perfex.h>
#include <cstdio>
static void throw_at_once(void *)
{
  throw 1;
}
int main()
{
  double counts[1];
  perfex_group *group = perfex_open("page-faults", 0);

  if (!group) {
    printf("exceptions: skipped: libperfex: %s\n", perfex_why());
    return 0;
  }
  try {
    perfex_bench(group, counts, throw_at_once, NULL);
  } catch (int) {
    return 0;
  }
  return 1;
}
EOF
link -x c++ $work/count.cc -x none -L"$builddir/.libs" -lperfex || { cat $work/said; exit 1; }
LD_LIBRARY_PATH="$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" $work/program
