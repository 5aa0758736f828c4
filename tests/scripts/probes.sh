#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Each probe is refused by a target that it is not for, and by its own guard: not by some error
# further on, which could as well be a mistake. Two targets are tried: this one, which is a wrong
# one for most, and that of a compiler which says nothing of its target and system, which is a wrong
# one for all but the counters that are for all. Cross builds run this, too; what is right for each
# of their targets, tests/cross/expected says.

set -eu
export LC_ALL=C
: "${srcdir:=.}" "${builddir:=.}" "${CC:=cc}" "${CPPFLAGS:=}" "${CFLAGS:=}" "${LDFLAGS:=}"
out=probes.tmp
failed=0
refused=
unnamed=
trap 'rm -f $out $out.err' EXIT

wrong() { echo "probes: $*"; failed=1; }

# preprocesses PROBE [FLAG]
preprocesses() {
  $CC $CPPFLAGS $CFLAGS ${2-} -E "$1" >$out 2>$out.err
}

# refused_by_guard NAME TARGET: what the compiler has just said of it
refused_by_guard() {
  grep -q "#error.* \(the target is not\|the system has no\) " $out.err ||
    wrong "$1: refused by $2, but not by its guard: $(cat $out.err)"
}

nameless=
if preprocesses "$srcdir/probes/default-zero.c" -undef; then
  nameless=yes
else
  echo "probes: skipped: a target that has no name: this compiler does not know -undef"
fi

for probe in "$srcdir"/probes/*.c; do
  name=$(basename "$probe" .c)
  id=$(echo "$name" | tr - _)
  case $name in
    default-zero | default-gettimeofday | default-monotonic) ;; # for whatever has C, POSIX, or the clock
    *)
      if [ "$nameless" ]; then
        ! preprocesses "$probe" -undef || wrong "$name: a target that has no name takes it"
        refused_by_guard "$name" "a target that has no name"
        unnamed="$unnamed $name"
      fi
      ;;
  esac
  if preprocesses "$probe"; then # for this target, or for all
    # Elsewhere a header or an intrinsic may be missing; these compilers have all of them.
    if [ "${CPUCYCLES_TEST_UNDER-}" = qemu ]; then
      $CC $CPPFLAGS $CFLAGS "$probe" -o $out $LDFLAGS 2>$out.err ||
        wrong "$name: its guard lets this target in, and it does not link: $(cat $out.err)"
    fi
    continue
  fi
  refused_by_guard "$name" "this target"
  if $CC $CPPFLAGS $CFLAGS "$probe" -o $out $LDFLAGS 2>/dev/null; then
    wrong "$name: its guard refuses this target, and it links all the same"
  fi
  grep -q "^#define HAVE_BACKEND_$id 0$" "$builddir/config.h" ||
    wrong "$name: built for a target that it is not for"
  refused="$refused $name"
done
[ -n "$refused" ] || wrong "no probe is refused: which target is this?"
echo "probes: refused by a target that has no name:$unnamed"
echo "probes: refused by this target:$refused"

# Counters of two families: no target is both.
case " $refused " in
  *" s390x-stckf "* | *" sparc64-rdtick "*) ;;
  *) wrong "s390x-stckf and sparc64-rdtick are both for this target" ;;
esac
exit $failed
