#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests programs that read the counter inline: C99 and C++11, with every warning an error; with and
# without optimization; position-independent, with a copy relocation of the state, and static.

set -eu
: "${srcdir:=.}" "${builddir:=.}" "${CC:=cc}" "${EXEEXT:=}"
work=inline.tmp
failed=0
trap 'rm -rf $work' EXIT
rm -rf $work
mkdir $work
version=$(sed -n 's/^#define PACKAGE_VERSION "\(.*\)"/\1/p' "$builddir/config.h")
client=$work/client$EXEEXT

wrong() { echo "inline: $*"; failed=1; }

# An emulated CPU's frequency differs from process to process, so that a counter can be scaled in
# one and not in the next: state it.
[ "${CPUCYCLES_TEST_UNDER-}" != qemu ] || export cpucyclespersecond=3700000000

run_client() {
  LD_LIBRARY_PATH="$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" $LOG_COMPILER "$client"
}

# The output of the first program, which all others must repeat.
said_first=

# client NAME "COMPILER OPTIONS" "LINKER OPTIONS": builds the client and expects it to count
client() {
  # words are meant to split
  # shellcheck disable=SC2086
  $CC $CPPFLAGS $CFLAGS -pedantic -Wall -Wextra -Wundef -Werror -I"$srcdir/include" $2 \
    "$srcdir/tests/programs/inline-client.c" -o "$client" $LDFLAGS $3 ||
    { wrong "$1: does not build"; return; }
  said=$(run_client) ||
    { wrong "$1: exit status $?: $said"; return; }
  : "${said_first:=$said}"
  case $said in
    "$version "*) echo "inline: $1: $said" ;;
    *) wrong "$1: does not run with this library: $said" ;;
  esac
  [ "$said" = "$said_first" ] || wrong "$1: $said; the first program: $said_first"
}

languages='c99:-std=c99 -x c
c17:-std=c17 -x c'
if echo 'int x;' | $CC -x c++ -fsyntax-only - 2>/dev/null; then
  languages="$languages
c++11:-std=c++11 -fno-exceptions -x c++
c++17:-std=c++17 -fno-exceptions -x c++"
else
  echo "inline: skipped: C++: this compiler does not compile it"
fi
static=
if echo 'int main(void) { return 0; }' | $CC $CFLAGS -x c - -static -o $work/try $LDFLAGS 2>/dev/null &&
  $LOG_COMPILER $work/try; then
  static=yes
else
  echo "inline: skipped: static programs: this system or emulator runs none"
fi
archive=$builddir/.libs/libcpucycles.a
[ -f "$archive" ] || echo "inline: skipped: no static library was built"

# A here-document, since a loop behind a pipe is a subshell and would lose $failed.
while IFS=: read -r name flags; do
  for optimize in -O0 -Og -Os -O2; do
    if [ -f "$builddir/.libs/libcpucycles.so.1" ]; then
      client "$name $optimize pie" "$optimize -fPIE $flags" "-pie -L$builddir/.libs -lcpucycles"
      client "$name $optimize no-pie" "$optimize -fno-pie $flags" "-no-pie -L$builddir/.libs -lcpucycles"
      if readelf -hW "$client" 2>/dev/null | grep -q 'Machine:.*X86-64'; then
        readelf -rW "$client" | grep -q 'R_X86_64_COPY.*cpucycles_inline_state' ||
          wrong "$name $optimize: no copy relocation was made"
      fi
    fi
    [ ! -f "$builddir/.libs/libcpucycles.dll.a" ] ||
      client "$name $optimize DLL" "$optimize $flags" "-x none $builddir/.libs/libcpucycles.dll.a"
    if [ -f "$archive" ]; then
      client "$name $optimize static library" "$optimize $flags" "-x none $archive $PTHREAD_LIBS"
      [ -z "$static" ] || client "$name $optimize static" "$optimize $flags" "-static -x none $archive $PTHREAD_LIBS"
    fi
  done
done <<END
$languages
END

# Number of fences. An inline read has three: one ahead of both ways to read, one after the
# instruction, and one after the call. The library's cpucycles_begin() and cpucycles_end() have two
# each, and share a function that makes the call and has the fifth.
case $($CC -dumpmachine) in
  x86_64-*) fence=lfence ;;
  aarch64-*) fence=isb ;;
  s390x-*) fence='bcr[[:space:]]*15' ;;
  sparc64-*) fence='membar[[:space:]]*#Sync' ;;
  *) fence= ;;
esac
# fences NUMBER WHERE FILE: expects this number of fences in the compiled file
fences() {
  # shellcheck disable=SC2086
  found=$($CC $CPPFLAGS -DHAVE_CONFIG_H -I"$builddir" -I"$srcdir" -I"$srcdir/include" -O0 -S -o - "$3" |
    grep -c "^[[:space:]]*$fence") || :
  [ "$found" = "$1" ] || wrong "$2: $found fences, expected $1"
}
if [ "$fence" ]; then
  for name in cpucycles_inline_begin cpucycles_inline_end; do
    cat >$work/fences.c <<END
#include <cpucycles/inline.h>
long long bound(void);
long long bound(void) { return $name(); }
END
    fences 3 $name $work/fences.c
  done
  fences 5 "cpucycles_begin and cpucycles_end" "$srcdir/lib/section.c"
else
  echo "inline: skipped: number of fences: the instruction is not known for this CPU"
fi

# Each counter that was built, forced in turn: read inline as it is, scaled, or by a call. One that
# does not work here is skipped.
built=$(sed -n 's/^CPUCYCLES_BACKEND(\([a-z0-9_]*\), "\([^"]*\)".*/\1 \2/p' "$srcdir/backends/backends.def" |
  while read -r id name; do
    ! grep -q "^#define HAVE_BACKEND_$id 1$" "$builddir/config.h" || echo "$name"
  done)
for name in $built; do
  said=$(CPUCYCLES_IMPLEMENTATION=$name && export CPUCYCLES_IMPLEMENTATION && run_client) ||
    { wrong "$name: exit status $?: $said"; continue; }
  case $said in
    *" $name "*) echo "inline: asked for $name: $said" ;;
    *) echo "inline: skipped: $name: does not work here" ;;
  esac
done
exit $failed
