#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Builds time.c in README with the library of this build, as C and C++ of several standards, with
# each level of optimization, and statically with link-time optimization; using $CC and, if they are
# installed, GCC and Clang. Prints what each program prints. Judges only that it runs and finds core
# cycles, or counts where they are not known: "make bench" judges the numbers.

set -eu
. "${srcdir:=.}/tests/scripts/begin.sh"
found=0

sed -n '/^This is time.c:/,/^Install/s/^    //p' "$srcdir/README" >$work/time.c
library=$builddir/.libs/libcpucycles.a
[ -f "$library" ] || library=$builddir/libcpucycles.a
[ -f "$library" ] || skip "no static library was built"
# Counts have another unit where the library cannot find core cycles: cpucycles-bench(3)
echo 'int main(void) { return 0; }' >$work/try.c
echo '#include <cpucycles.h>
int main(void) { return !(cpucycles_core_ratio() > 0); }' >$work/ratio.c

# runs SOURCE OPTION...: whether $compiler makes a program with these options, and it ends with 0
runs() {
  source=$1
  shift
  # words are meant to split
  # shellcheck disable=SC2086
  $compiler $CPPFLAGS $CFLAGS "$@" -I"$srcdir/include" $work/$source.c $LDFLAGS -x none \
    "$library" $PTHREAD_LIBS -o $work/program$EXEEXT 2>$work/said &&
    $LOG_COMPILER $work/program$EXEEXT >$work/said 2>&1
}

compiler=$CC
check='{ exit !(NR == 1 && $1 == "hash" && $2 > 0 && / core cycles /) }'
runs ratio -x c || runs ratio -x c || check='{ exit !(NR == 1 && $1 == "hash" && $2 > 0) }'
for compiler in "$CC" gcc clang; do
  [ "$compiler" != "$CC" ] || [ $found = 0 ] || continue
  [ "$compiler" = "$CC" ] || [ -z "$LOG_COMPILER" ] && command -v "${compiler%% *}" >/dev/null || continue
  for options in '-std=c89 -O2 -x c' '-std=c2x -O2 -x c' '-std=c++98 -O2 -x c++' \
    '-std=c++2b -O2 -x c++' '-O0 -x c' '-O1 -x c' '-O3 -x c' '-O0 -x c++' '-O1 -x c++' \
    '-O3 -x c++' '-O3 -flto -static -x c' '-O3 -flto -static -x c++'; do
    # words are meant to split
    # shellcheck disable=SC2086
    runs try $options || continue
    # shellcheck disable=SC2086
    if runs time $options && awk "$check" $work/said; then
      found=$((found + 1))
      printf 'readme: %-28s %s\n' "$compiler $options" "$(sed 's/^hash *//' $work/said)"
    else
      wrong "$compiler $options: $(cat $work/said)"
    fi
  done
done
[ $found -gt 0 ] || wrong "no program was built"
exit $failed
