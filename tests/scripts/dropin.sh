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
programs=$srcdir/tests/programs built=$builddir/.libs client=$work/client$EXEEXT

wrong() { echo "dropin: $*"; failed=1; }

# client NAME OPTION...: builds the client in $language, and expects it, run with this library, to
# count and to print the version of this library
client() {
  name="$language $1"
  shift
  # words are meant to split
  # shellcheck disable=SC2086
  $CC $CFLAGS -I"$programs" $language "$programs/dropin-client.c" -x none -o "$client" $LDFLAGS \
    "$@" || { wrong "$name: does not build"; return; }
  said=$(LD_LIBRARY_PATH="$built${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" $LOG_COMPILER "$client") ||
    { wrong "$name: exit status $?: $said"; return; }
  case $said in
    "$version "*) echo "dropin: $name: $said" ;;
    *) wrong "$name: does not run with this library: $said" ;;
  esac
}

with_shared=
if [ -f "$built/libcpucycles.so.1" ]; then
  with_shared="$built $work/other"
  # shellcheck disable=SC2086
  $CC $CFLAGS -I"$programs" -fPIC -shared -Wl,-soname,libcpucycles.so.1 \
    "$programs/dropin-library.c" -o $work/other/libcpucycles.so $LDFLAGS
else
  echo "dropin: skipped: shared: no ELF shared library was built"
fi

for language in '-std=gnu89 -x c' '-std=gnu++98 -fno-exceptions -x c++'; do
  # shellcheck disable=SC2086
  echo 'int x;' | $CC $language -fsyntax-only - 2>/dev/null ||
    { echo "dropin: skipped: $language: this compiler does not compile it"; continue; }
  for with in $with_shared; do
    client "-pie with $with" -fPIE -pie -L"$with" -lcpucycles
    client "-no-pie with $with" -fno-pie -no-pie -L"$with" -lcpucycles
    if readelf -hW "$client" 2>/dev/null | grep -q 'Machine:.*X86-64'; then
      readelf -rW "$client" | grep -q 'R_X86_64_COPY.*cpucycles' ||
        wrong "$language: no copy relocation was made"
    fi
  done
  [ ! -f "$built/libcpucycles.dll.a" ] || client DLL "$built/libcpucycles.dll.a"
  [ -f "$built/libcpucycles.a" ] || continue
  # shellcheck disable=SC2086
  client 'static library' "$built/libcpucycles.a" $PTHREAD_LIBS
  # shellcheck disable=SC2086
  if echo 'int main(void) { return 0; }' |
    $CC $CFLAGS -x c - -static -o $work/try $LDFLAGS 2>/dev/null && $LOG_COMPILER $work/try; then
    client 'static program' -static "$built/libcpucycles.a" $PTHREAD_LIBS
  else
    echo "dropin: skipped: static programs: this system or emulator runs none"
  fi
done
exit $failed
