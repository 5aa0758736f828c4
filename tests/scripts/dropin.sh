#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests that a program written for the public-domain libcpucycles runs with this one. The program is
# compiled as GNU C89 and C++98, and linked position-independent, with a copy relocation of the
# pointer, and statically. Each dynamic variant is linked with this library, and again with a
# stand-in for the public-domain library. All programs run with this library.

set -eu
: "${srcdir:=.}" "${builddir:=.}" "${CC:=cc}" "${EXEEXT:=}"
work=dropin.tmp
failed=0
trap 'rm -rf $work' EXIT
rm -rf $work
mkdir -p $work/other
version=$(sed -n 's/^#define PACKAGE_VERSION "\(.*\)"/\1/p' "$builddir/config.h")

wrong() { echo "dropin: $*"; failed=1; }

# runs NAME PROGRAM: expects the program, run with this library, to count and to print the
# version of this library
runs() {
  said=$(LD_LIBRARY_PATH="$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" $LOG_COMPILER "$2") ||
    { wrong "$1: exit status $?: $said"; return; }
  case $said in
    "$version "*) echo "dropin: $1: $said" ;;
    *) wrong "$1: does not run with this library: $said" ;;
  esac
}

languages='gnu89:-std=gnu89 -x c'
if echo 'int x;' | $CC -x c++ -fsyntax-only - 2>/dev/null; then
  languages="$languages
c++98:-std=gnu++98 -fno-exceptions -x c++"
else
  echo "dropin: skipped: C++: this compiler does not compile it"
fi

shared=
if [ -f "$builddir/.libs/libcpucycles.so.1" ]; then
  shared=yes
  $CC $CFLAGS -I"$srcdir/tests/programs" -fPIC -shared -Wl,-soname,libcpucycles.so.1 \
    "$srcdir/tests/programs/dropin-library.c" -o $work/other/libcpucycles.so.1 $LDFLAGS
  ln -s libcpucycles.so.1 $work/other/libcpucycles.so
else
  echo "dropin: skipped: shared: no ELF shared library was built"
fi

echo "$languages" | while IFS=: read -r name flags; do
  for position in '-fPIE -pie' '-fno-pie -no-pie'; do
    for with in "$builddir/.libs" $work/other; do
      [ -n "$shared" ] || continue
      out=$work/client
      $CC $CFLAGS -I"$srcdir/tests/programs" ${position%% *} $flags "$srcdir/tests/programs/dropin-client.c" -o $out \
        ${position#* } $LDFLAGS -L"$with" -lcpucycles || exit 1
      runs "$name ${position#* } linked with $with" $out
      if [ "${position#* }" = -no-pie ] && readelf -hW $out 2>/dev/null | grep -q 'Machine:.*X86-64'; then
        readelf -rW $out | grep -q 'R_X86_64_COPY.*cpucycles' || wrong "$name: no copy relocation was made"
      fi
    done
  done
  out=$work/client$EXEEXT
  if [ -f "$builddir/.libs/libcpucycles.dll.a" ]; then
    $CC $CFLAGS -I"$srcdir/tests/programs" $flags "$srcdir/tests/programs/dropin-client.c" -x none -o $out \
      $LDFLAGS "$builddir/.libs/libcpucycles.dll.a" || exit 1
    runs "$name with the DLL" $out
  fi
  if [ -f "$builddir/.libs/libcpucycles.a" ]; then
    $CC $CFLAGS -I"$srcdir/tests/programs" $flags "$srcdir/tests/programs/dropin-client.c" -x none -o $out \
      $LDFLAGS "$builddir/.libs/libcpucycles.a" $PTHREAD_LIBS || exit 1
    runs "$name with the static library" $out
    if echo 'int main(void) { return 0; }' |
      $CC $CFLAGS -x c - -static -o $work/try $LDFLAGS 2>/dev/null && $LOG_COMPILER $work/try; then
      $CC $CFLAGS -I"$srcdir/tests/programs" $flags "$srcdir/tests/programs/dropin-client.c" -x none -static -o $out \
        $LDFLAGS "$builddir/.libs/libcpucycles.a" $PTHREAD_LIBS || exit 1
      runs "$name static" $out
    else
      echo "dropin: skipped: $name static: this system or emulator runs no static program"
    fi
  fi
  [ $failed = 0 ] || exit 1
done
