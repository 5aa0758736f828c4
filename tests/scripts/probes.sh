#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests that each probe fails on the wrong target, by its own #error and not by a later error, which
# could come from a mistake: a compiler without predefined macros (-undef) is the wrong target for
# all probes except the portable probes. Native and cross builds run this test.
# tests/cross/expected has the right counters for each target of the cross builds.

set -eu
. "${srcdir:=.}/tests/scripts/begin.sh"
out=$work/out
$CC -undef -E "$srcdir/probes/default-zero.c" >/dev/null 2>&1 || skip "this compiler has no -undef"

refused=
for probe in "$srcdir"/probes/*.c; do
  name=$(basename "$probe" .c)
  case $name in
    default-zero | default-gettimeofday | default-monotonic) ;; # portable: no #error
    *)
      ! $CC $CPPFLAGS $CFLAGS -undef -E "$probe" >$out 2>$out.err ||
        wrong "$name: accepted without predefined macros"
      grep -q -e '#error.* the target is not ' -e '#error.* the system has no ' $out.err ||
        wrong "$name: refused, but not by its #error: $(cat $out.err)"
      ;;
  esac
  # A native compiler may lack a header or an intrinsic, but the cross compilers have all of them.
  if ! $CC $CPPFLAGS $CFLAGS -E "$probe" >$out 2>$out.err; then
    grep -q "^#define HAVE_BACKEND_$(echo "$name" | tr - _) 0$" "$builddir/config.h" ||
      wrong "$name: built for the wrong target"
    refused="$refused $name"
  elif [ "$CPUCYCLES_TEST_UNDER" = qemu ]; then
    $CC $CPPFLAGS $CFLAGS "$probe" -o $out $LDFLAGS 2>$out.err ||
      wrong "$name: it accepts this target, but it does not link: $(cat $out.err)"
  fi
done
echo "probes: refused by this target:$refused"
[ -n "$refused" ] || wrong "no probe is refused, but no target has all counters"
exit $failed
