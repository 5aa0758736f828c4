#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests that each probe fails on the wrong target, by its own #error and not by a later error, which
# could come from a mistake. Two targets are tried: the target of this build, which is wrong for
# most probes, and a compiler without predefined macros (-undef), which is wrong for all probes
# except the portable probes. Native and cross builds run this test. tests/cross/expected has the
# right counters for each target of the cross builds.

set -eu
: "${srcdir:=.}" "${builddir:=.}" "${CC:=cc}" "${CPPFLAGS:=}" "${CFLAGS:=}" "${LDFLAGS:=}"
out=probes.tmp
failed=0
refused=
refused_undef=
trap 'rm -f $out $out.err' EXIT

wrong() { echo "probes: $*"; failed=1; }

# preprocesses PROBE [FLAG]
preprocesses() {
  $CC $CPPFLAGS $CFLAGS ${2-} -E "$1" >$out 2>$out.err
}

# refused_by_error NAME TARGET: expects the probe's #error in the compiler's last output
refused_by_error() {
  grep -q -e '#error.* the target is not ' -e '#error.* the system has no ' $out.err ||
    wrong "$1: refused by $2, but not by its #error: $(cat $out.err)"
}

has_undef=
if preprocesses "$srcdir/probes/default-zero.c" -undef; then
  has_undef=yes
else
  echo "probes: skipped: no predefined macros: this compiler has no -undef"
fi

for probe in "$srcdir"/probes/*.c; do
  name=$(basename "$probe" .c)
  id=$(echo "$name" | tr - _)
  case $name in
    default-zero | default-gettimeofday | default-monotonic) ;; # portable: no #error
    *)
      if [ "$has_undef" ]; then
        ! preprocesses "$probe" -undef || wrong "$name: accepted without predefined macros"
        refused_by_error "$name" "a compiler without predefined macros"
        refused_undef="$refused_undef $name"
      fi
      ;;
  esac
  if preprocesses "$probe"; then # the probe is for this target, or portable
    # A native compiler may lack a header or an intrinsic, but the cross compilers have all of them.
    if [ "${CPUCYCLES_TEST_UNDER-}" = qemu ]; then
      $CC $CPPFLAGS $CFLAGS "$probe" -o $out $LDFLAGS 2>$out.err ||
        wrong "$name: it accepts this target, but it does not link: $(cat $out.err)"
    fi
    continue
  fi
  refused_by_error "$name" "this target"
  grep -q "^#define HAVE_BACKEND_$id 0$" "$builddir/config.h" ||
    wrong "$name: built for the wrong target"
  refused="$refused $name"
done
[ -n "$refused" ] || wrong "no probe is refused, but no target has all counters"
echo "probes: refused without predefined macros:$refused_undef"
echo "probes: refused by this target:$refused"

# A check of this test: no target is both s390x and sparc64.
case " $refused " in
  *" s390x-stckf "* | *" sparc64-rdtick "*) ;;
  *) wrong "s390x-stckf and sparc64-rdtick are both for this target" ;;
esac
exit $failed
