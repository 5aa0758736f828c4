#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests libperfex as it was built. perfex-events(7) has the numbers of all events, and libperfex(3)
# an example that runs. A program that gfortran compiles calls the functions: names, arguments by
# reference, 64-bit counts, strings. symbols.sh tests the shared library, and settings.sh
# set-user-ID programs.

set -eu
. "${srcdir:=.}/tests/scripts/begin.sh"

# run PROGRAM: runs it with the shared libraries of this build. $status is its exit status.
run() {
  status=0
  LD_LIBRARY_PATH="$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" $LOG_COMPILER "$1" \
    >$work/out 2>$work/err || status=$?
}

library=$builddir/.libs/libperfex.a
[ -f "$library" ] || library=$builddir/libperfex.a
if [ -f "$library" ]; then
  # A program links both libraries in either order, and calls libperfex in its constructors and
  # destructors, also without memory.
  other=$(dirname "$library")/libcpucycles.a
  for compiler in "$CC -x c" "$CC -x c++"; do
    if ! echo 'int main(void) { return 0; }' >$work/none.c ||
      ! $compiler $work/none.c -o $work/none$EXEEXT 2>$work/err; then
      skipped "early calls: $compiler does not work"
      continue
    fi
    # shellcheck disable=SC2086
    $compiler $CPPFLAGS $CFLAGS -fno-exceptions -I"$srcdir/include" \
      ${CPUCYCLES_TEST_UNDER:+-DOTHER_MALLOC} -c "$srcdir/tests/programs/early.c" -o $work/early.o || wrong "$compiler: early.c is not clean"
    for order in "$library $other" "$other $library"; do
      # shellcheck disable=SC2086
      $CC $CFLAGS $work/early.o $order -pthread -o $work/early$EXEEXT &&
        $LOG_COMPILER $work/early$EXEEXT || wrong "$compiler, $order: early or late calls fail"
    done
  done
else
  skipped "no static library was built"
fi

numbers=$(sed -n 's/^\.It \([0-9]*\)$/\1/p' "$builddir/perfex/perfex-events.7" | sort -n |
  tr '\n' ' ')
[ "$numbers" = "$(seq 0 31 | tr '\n' ' ')" ] || wrong "perfex-events(7) has the numbers $numbers"
# The example is the installed one.
sed -n '/^#include/,$p' "$srcdir/examples/count-events.c" | cmp - "$builddir/perfex/example.c" ||
  wrong "the manual's example is not that of examples/"

# The example, which header.sh compiles in examples/, runs: it counts, or prints the reason why it
# cannot.
example=$builddir/perfex/.libs/example
[ -f "$example" ] || example=$builddir/perfex/example$EXEEXT
run "$example"
sed 's/^/perfex: example: /' $work/out $work/err
case $status in
  0) grep -q '^[1-9][0-9]* cycles, [0-9.]* instructions' $work/out || wrong "the example counts nothing" ;;
  1) grep -q '^perfex: .' $work/err || wrong "the example fails without a reason" ;;
  *) wrong "the example's exit status is $status" ;;
esac

# So does the example that counts a call.
if [ -f "$library" ]; then
  # shellcheck disable=SC2086
  $CC $CPPFLAGS $CFLAGS -std=c99 -pedantic -Wall -Wextra ${CPUCYCLES_TEST_WERROR-} -I"$srcdir/include" \
    "$srcdir/examples/count-per-call.c" "$library" "$other" -pthread -o $work/call$EXEEXT ||
    wrong "count-per-call.c does not compile"
  run $work/call$EXEEXT
  sed 's/^/perfex: count-per-call: /' $work/out $work/err
  grep -q -e '^cycles [1-9][0-9.]*  instructions [1-9]' $work/out ||
    { [ $status = 1 ] && grep -q '^count-per-call: cycles: .' $work/err; } ||
    wrong "count-per-call neither counts nor tells what is missing"
fi

# Uses the gfortran of a cross compiler's toolchain, or the system's gfortran with other compilers.
case ${CC%% *} in
  *-linux-*gcc) fortran=${CC%%-gcc*}-gfortran ;;
  *) fortran=gfortran ;;
esac
command -v "$fortran" >/dev/null || { skipped "Fortran: $fortran is not installed"; exit $failed; }

sanitizers=$(echo " $CFLAGS" | tr ' ' '\n' | grep '^-fsanitize=' || :)
$fortran -O2 -Wall ${CPUCYCLES_TEST_WERROR-} -c "$srcdir/tests/programs/perfex-fortran.f90" \
  -o $work/program.o ||
  { wrong "Fortran: the program does not compile"; exit 1; }
# These variables are unquoted, because they hold several words.
# shellcheck disable=SC2086
"$builddir/libtool" --quiet --tag=CC --mode=link $fortran $sanitizers $work/program.o \
  -o $work/program $LDFLAGS "$builddir/libperfex.la" ||
  { wrong "Fortran: the program does not link"; exit 1; }
program=$work/.libs/program
[ -f $program ] || program=$work/program
echo '0 1 1.5 2' >$work/costs
run ./$program
sed 's/^/perfex: Fortran: /' $work/err
[ $status = 0 ] ||
  wrong "Fortran: exit status $status: see the stop with that number in perfex-fortran.f90"
grep -q '^start_counters \(refused\|counts\)$' $work/out ||
  wrong "start_counters: neither refused nor counts is printed"
grep -q '^ *0 cycles  *5000000000000$' $work/err || wrong "a count of 64 bits is not printed"
grep -q '^ *15 instructions  *7$' $work/err || wrong "the second count is not printed"
grep -q '^ *0 cycles  *5000000000000  *5000\.000000000  *7500\.0*  *10000\.0*$' $work/err ||
  wrong "the loaded costs are not used"
grep -q '^0 1\.000 1\.500 2\.000 # cycles: loaded$' $work/out || wrong "the table is not printed"
exit $failed
