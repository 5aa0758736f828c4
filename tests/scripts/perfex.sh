#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests libperfex as it was built. perfex-events(7) has the numbers of all events, and libperfex(3)
# an example that compiles and runs. symbols.sh tests the shared library, and settings.sh
# set-user-ID programs.

set -eu
: "${srcdir:=.}" "${builddir:=.}" "${CC:=cc}" "${CPPFLAGS:=}" "${CFLAGS:=}"
: "${EXEEXT:=}" "${LOG_COMPILER:=}"
work=perfex.tmp
failed=0
trap 'rm -rf $work' EXIT
rm -rf $work
mkdir $work

wrong() { echo "perfex: $*"; failed=1; }
skipped() { echo "perfex: skipped: $*"; }

library=$builddir/.libs/libperfex.a
[ -f "$library" ] || library=$builddir/libperfex.a
if [ -f "$library" ]; then
  # A program that calls both libraries links them in either order.
  cat >$work/both.c <<'EOF'
#include <cpucycles.h>
#include <perfex.h>
int main(void)
{
  return cpucycles() < 0 || load_costs("/dev/null") + start_counters(0, 15) == 1;
}
EOF
  other=$(dirname "$library")/libcpucycles.a
  for order in "$library $other" "$other $library"; do
    $CC $CPPFLAGS $CFLAGS -I"$srcdir/include" $work/both.c $order -pthread -o $work/both$EXEEXT ||
      wrong "a program does not link $order"
  done
  # Constructors and destructors of a program that is linked statically call libperfex.
  for compiler in "$CC -x c" "$CC -x c++"; do
    if ! echo 'int main(void) { return 0; }' >$work/none.c ||
      ! $compiler $work/none.c -o $work/none$EXEEXT 2>$work/err; then
      skipped "early calls: $compiler does not work"
    else
      # shellcheck disable=SC2086
      $compiler $CPPFLAGS $CFLAGS -fno-exceptions -I"$srcdir/include" -c "$srcdir/tests/programs/early.c" \
        -o $work/early.o &&
        $CC $CFLAGS $work/early.o "$library" "$other" -pthread -o $work/early$EXEEXT &&
        $LOG_COMPILER $work/early$EXEEXT || wrong "$compiler: early or late calls fail"
    fi
  done

  # Constructors of a program that is linked statically run after those of the library. A failure
  # for want of memory has a sentence.
  cat >$work/early.c <<'EOF'
#include <perfex.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
static _Alignas(16) char pool[1 << 20];
static size_t used;
static int is_empty, failed;
void *malloc(size_t size)
{
  if (is_empty || used + size > sizeof pool - 64)
    return errno = ENOMEM, (void *)0;
  used += (size + 63) / 64 * 64;
  return pool + used - (size + 63) / 64 * 64;
}
void *calloc(size_t count, size_t size)
{
  return malloc(count * size); /* never used before, so it contains 0 */
}
void *realloc(void *old, size_t size)
{
  void *grown = malloc(size);
  return grown && old ? memcpy(grown, old, size) : grown;
}
void free(void *unused)
{
  (void)unused;
}
static void fail(const char *part)
{
  failed |= perfex_open("nonesuch", 0) || !strstr(perfex_why(), part);
}
__attribute__((constructor)) static void early(void)
{
  is_empty = 1;
  fail("no memory");
  is_empty = 0;
  fail("nonesuch");
}
__attribute__((destructor)) static void late(void)
{
  fail("nonesuch");
  if (failed)
    __builtin_trap();
}
int main(void)
{
  return failed;
}
EOF
  if [ "${CPUCYCLES_TEST_UNDER-}" ]; then
    skipped "early calls: the tool replaces malloc() itself"
  else
    $CC $CPPFLAGS $CFLAGS -I"$srcdir/include" $work/early.c "$library" $other -pthread \
      -o $work/early$EXEEXT && $LOG_COMPILER $work/early$EXEEXT ||
      wrong "perfex_why() lacks a sentence in constructors, destructors or without memory"
  fi
else
  skipped "no static library was built"
fi

numbers=$(sed -n 's/^\.It \([0-9]*\)$/\1/p' "$builddir/perfex/perfex-events.7" | sort -n |
  tr '\n' ' ')
[ "$numbers" = "$(seq 0 31 | tr '\n' ' ')" ] || wrong "perfex-events(7) has the numbers $numbers"
rows=$(sed -n 's/^PFX_[A-Z]*(\([0-9]*\), .*/\1/p' "$srcdir/perfex/events.def" | tr '\n' ' ')
[ "$rows" = "$numbers" ] || wrong "events.def has the rows $rows"

# Each entry of perfex-events(7) has the events of Arm, Intel and AMD.
counted=$(grep -c '^PFX_EVENT(' "$srcdir/perfex/events.def")
for maker in Arm Intel AMD; do
  named=$(grep -c "^$maker: [A-Za-z]" "$builddir/perfex/perfex-events.7")
  [ "$named" = "$counted" ] || wrong "perfex-events(7) has $named events for $maker, not $counted"
done

# The example is the installed one.
sed -n '/^#include/,$p' "$srcdir/examples/count-events.c" | cmp - "$builddir/perfex/example.c" ||
  wrong "the manual's example is not that of examples/"

# The example compiles (with CPUCYCLES_TEST_WERROR, without a warning) and runs: it counts, or
# prints the reason why it cannot.
# shellcheck disable=SC2086
$CC $CPPFLAGS -std=c99 -pedantic -Wall -Wextra -Wundef ${CPUCYCLES_TEST_WERROR-} \
  -I"$srcdir/include" -fsyntax-only "$builddir/perfex/example.c" ||
  wrong "the manual's example is not clean"
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
