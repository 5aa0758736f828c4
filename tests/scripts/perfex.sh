#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests libperfex as it was built. perfex-events(7) has the numbers of all events, and libperfex(3)
# an example that runs. symbols.sh tests the shared library, and settings.sh
# set-user-ID programs.

set -eu
. "${srcdir:=.}/tests/scripts/begin.sh"

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
status=0
LD_LIBRARY_PATH="$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" $LOG_COMPILER "$example" \
  >$work/out 2>$work/err || status=$?
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
  status=0
  $LOG_COMPILER $work/call$EXEEXT >$work/out 2>$work/err || status=$?
  sed 's/^/perfex: count-per-call: /' $work/out $work/err
  grep -q -e '^cycles [1-9][0-9.]*  instructions [1-9]' $work/out ||
    { [ $status = 1 ] && grep -q '^count-per-call: cycles: .' $work/err; } ||
    wrong "count-per-call neither counts nor tells what is missing"
fi

exit $failed
