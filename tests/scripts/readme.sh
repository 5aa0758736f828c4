#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Builds time.c in README with the library of this build, as each standard of C and C++, with each
# level of optimization, and statically, using $CC and, if they are installed, GCC and Clang. Prints
# what each program prints. Judges only that it runs and finds core cycles, or counts where they are
# not known: "make bench" judges the numbers. With --all, combines all standards and levels.

set -eu
: "${srcdir:=.}" "${builddir:=.}" "${CC:=cc}" "${CPPFLAGS:=}" "${CFLAGS:=}" "${LDFLAGS:=}"
: "${LOG_COMPILER:=}" "${EXEEXT:=}" "${PTHREAD_LIBS:=}"
work=readme.tmp
failed=0 found=0
trap 'rm -rf $work' EXIT
rm -rf $work
mkdir $work

sed -n '/^This is time.c:/,/^Install/s/^    //p' "$srcdir/README" >$work/time.c
library=$builddir/.libs/libcpucycles.a
[ -f "$library" ] || library=$builddir/libcpucycles.a
[ -f "$library" ] || { echo "readme: skipped: no static library was built"; exit 77; }
# Counts have another unit where the library cannot find core cycles: cpucycles-bench(3)
echo 'int main(void) { return 0; }' >$work/try.c
echo '#include <cpucycles.h>
int main(void) { return !(cpucycles_core_ratio() > 0); }' >$work/ratio.c

# links SOURCE OPTION...: whether $compiler makes a program with these options, and it ends with 0
runs() {
  source=$1
  shift
  # words are meant to split
  # shellcheck disable=SC2086
  $compiler $CPPFLAGS $CFLAGS "$@" -I"$srcdir/include" $work/$source.c $LDFLAGS -x none \
    "$library" $PTHREAD_LIBS -o $work/program$EXEEXT 2>$work/said &&
    $LOG_COMPILER $work/program$EXEEXT >>$work/said 2>&1
}

# program OPTION...: builds and runs time.c with these options, if an empty program runs with them
program() {
  runs try "$@" || return 0
  : >$work/said
  if runs time "$@" && awk "$check" $work/said; then
    found=$((found + 1))
    printf 'readme: %-28s %s\n' "$compiler $*" "$(sed 's/^hash *//' $work/said)"
  else
    echo "readme: $compiler $*:"
    cat $work/said
    failed=1
  fi
}

# programs COMPILER: builds and runs time.c in all ways
programs() {
  compiler=$1
  for standard in c89 c99 c11 c17 c2x c++98 c++11 c++14 c++17 c++20 c++2b; do
    case $standard in *++*) language=c++ ;; *) language=c ;; esac
    for level in ${all:+-O0 -O1} -O2 ${all:+-O3}; do
      program "-std=$standard" "$level" -x $language
      [ -z "$all" ] || program "-std=$standard" "$level" -static -x $language
    done
    [ -z "$all" ] || program "-std=$standard" -O3 -flto -x $language
    [ -z "$all" ] || program "-std=$standard" -O3 -flto -static -x $language
  done
  [ -z "$all" ] || return 0
  for language in c c++; do
    for level in -O0 -O1 -O3; do
      program $level -x $language
    done
    program -O3 -flto -static -x $language
  done
}

all=${1-}
check='{ exit !(NR == 1 && $1 == "hash" && $2 > 0 && / core cycles /) }'
compiler=$CC
runs ratio -x c || runs ratio -x c ||
  check='{ exit !(NR == 1 && $1 == "hash" && $2 > 0) }'
programs "$CC"
for other in gcc clang; do
  [ $other = "$CC" ] || [ -n "$LOG_COMPILER" ] || ! command -v $other >/dev/null || programs $other
done
[ $found -gt 0 ] || { echo "readme: no program was built"; failed=1; }
exit $failed
