#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests that a program written for the public-domain libcpucycles runs with this one. The program is
# compiled as GNU C89 and C++98, and linked position-independent, with a copy relocation of the
# pointer, and statically. Each dynamic variant is linked with this library, and again with a
# stand-in for the public-domain library. All programs run with this library.

set -eu
. "${srcdir:=.}/tests/scripts/linked.sh"
mkdir $work/other

# words are meant to split
# shellcheck disable=SC2086
compile() {
  kind=$1
  shift
  $CC $CFLAGS -f$kind $language "$programs/dropin.c" -x none -o "$client" $LDFLAGS "$@"
}

# shellcheck disable=SC2086
[ ! -f "$built/libcpucycles.so.1" ] || $CC $CFLAGS -DSTAND_IN -fPIC -shared \
  -Wl,-soname,libcpucycles.so.1 "$programs/dropin.c" -o $work/other/libcpucycles.so $LDFLAGS
for language in '-std=gnu89 -x c' '-std=gnu++98 -fno-exceptions -x c++'; do
  # shellcheck disable=SC2086
  if echo 'int x;' | $CC $language -fsyntax-only - 2>/dev/null; then
    echo "dropin: $language"
    clients cpucycles "$built" $work/other
  else
    skipped "$language: this compiler does not compile it"
  fi
done
exit $failed
