#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# "make installcheck": pkg-config finds the installed libraries, a program builds and runs with the
# usual and with the static libraries, the tool runs, the schema is installed. The usual libraries
# are the shared ones if they are installed. A program for the ABI of MSVC calls the DLL.

set -eu
: "${DESTDIR:=}" "${CC:=cc}" "${CFLAGS:=}" "${LDFLAGS:=}" "${LOG_COMPILER:=}" "${EXEEXT:=}"
: "${PKG_CONFIG:=pkg-config}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
client=$work/client$EXEEXT try=$work/try$EXEEXT
LD_LIBRARY_PATH=$DESTDIR$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
PKG_CONFIG_PATH=$DESTDIR$pkgconfigdir
WINEPATH="Z:$DESTDIR$bindir"
export LD_LIBRARY_PATH PKG_CONFIG_PATH WINEPATH
[ -z "$DESTDIR" ] || export PKG_CONFIG_SYSROOT_DIR="$DESTDIR"

wrong() { echo "installcheck: $*"; exit 1; }

# installed FILE...: expects that the files are installed
installed() {
  for file; do
    [ -s "$DESTDIR$file" ] || wrong "$file is not installed"
  done
}

cat >"$work/cpucycles.c" <<'END'
#include <cpucycles/inline.h>
#include <stdio.h>

int main(void)
{
  long long begin = cpucycles();
  long tries = 0;

  while (cpucycles() == begin && ++tries < 100000000)
    ;
  printf("%s %s %lld\n", cpucycles_version(), cpucycles_implementation(), cpucycles_persecond());
  return cpucycles() <= begin || cpucycles_inline() <= begin;
}
END

# client NAME PACKAGE PATTERN "PKG-CONFIG OPTIONS" "LINK OPTIONS": builds the client of this package
# and expects its exit status and output to match this pattern
client() {
  [ "$($PKG_CONFIG --modversion "$2")" = "$VERSION" ] ||
    wrong "pkg-config does not find $2 $VERSION"
  # words are meant to split
  # shellcheck disable=SC2046,SC2086
  $CC $CFLAGS $($PKG_CONFIG $4 --cflags $2) "$work/$2.c" -o "$client" $LDFLAGS $5 \
    $($PKG_CONFIG $4 --libs $2)
  status=0
  $LOG_COMPILER "$client" >"$work/said" 2>&1 || status=$?
  sed "s/^/installcheck: $2 $1: /" "$work/said"
  echo "$status:$(tr '\n' ' ' <"$work/said")" | grep -qE "$3" ||
    wrong "$2 $1 does not run with the installed library"
}

expected="^0:$VERSION "
client usual cpucycles "$expected" '' ''
if [ ! -f "$DESTDIR$libdir/libcpucycles.a" ]; then
  echo "installcheck: skipped: no static library was installed"
elif echo 'int main(void) { return 0; }' |
  $CC $CFLAGS -x c - -static -o "$try" $LDFLAGS 2>/dev/null; then
  client static cpucycles "$expected" --static -static
else
  echo "installcheck: skipped: static: this system links no static programs"
fi

# MinGW builds the DLL, whose clients may be compiled for the ABI of MSVC. This client needs no C
# library of MSVC. Without GNU C, it calls the DLL's copies of the functions of inline.h. Its exit
# status has a bit for each of its checks that fails.
cat >"$work/msvc.c" <<'END'
#include <cpucycles/inline.h>

static int counts(long long (*read)(void))
{
  long long begin = cpucycles();
  long tries;

  for (tries = 0; tries < 100000000; tries++)
    if (read() > begin)
      return 1;
  return 0;
}

int start(void);
int start(void)
{
  int failed = !counts(cpucycles) | !counts(cpucycles_inline) << 1
    | !counts(cpucycles_inline_section_begin) << 2 | !counts(cpucycles_inline_section_end) << 3;

  cpucycles_inline_fence();
  if (cpucycles_inline_section_overhead() < 0)
    failed |= 16;
  if ((cpucycles_inline_state.method & 0xffff) > CPUCYCLES_INLINE_STABLE_COUNTER)
    failed |= 32;
  return failed;
}
END
msvc_client() {
  target=$($CC -dumpmachine)
  target=${target%%-*}-pc-windows-msvc
  if [ -z "$(command -v lld-link)" ] ||
    ! echo 'int x;' | clang --target="$target" -x c -fsyntax-only - 2>/dev/null; then
    echo "installcheck: skipped: ABI of MSVC: clang or lld-link is not installed"
    return
  fi
  clang --target="$target" -O2 -I"$DESTDIR$includedir" -c "$work/msvc.c" -o "$work/msvc.obj"
  lld-link /nodefaultlib /subsystem:console /entry:start "/out:$client" "$work/msvc.obj" \
    "$DESTDIR$libdir/libcpucycles.dll.a"
  status=0
  $LOG_COMPILER "$client" || status=$?
  echo "installcheck: ABI of MSVC: exit status $status"
  return "$status"
}
[ ! -f "$DESTDIR$libdir/libcpucycles.dll.a" ] || msvc_client

# The client of libperfex is the example of its manual, unchanged. clients.sh uses the files for
# CMake. Packages of a distribution must contain them, too.
sed -n -e '/^\.\\" example.c$/,/^\.Ed$/{' -e '/^\./d' -e 's/\\e/\\/g' -e p -e '}' \
  "$(dirname "$0")/../../perfex/libperfex.3" >"$work/perfex.c"
cmake=$libdir/cmake/cpucycles
installed "$cmake/cpucycles-config.cmake" "$cmake/cpucycles-config-version.cmake"
if [ -f "$DESTDIR$pkgconfigdir/perfex.pc" ]; then
  installed "$cmake/cpucycles-perfex.cmake"
  expected='^0:.*instructions|^1:perfex:'
  # below DESTDIR, the linker does not find libcpucycles, which libperfex needs, by itself
  client usual perfex "$expected" '' "${DESTDIR:+-Wl,-rpath-link,$DESTDIR$libdir}"
  [ ! -f "$DESTDIR$libdir/libperfex.a" ] || [ ! -f "$try" ] ||
    client static perfex "$expected" --static -static
else
  echo "installcheck: skipped: libperfex was not built"
fi
version=$($LOG_COMPILER "$DESTDIR$bindir/cpucycles-info$EXEEXT" --version | head -n 1)
echo "installcheck: tool: $version"
[ "$version" = "cpucycles-info (libcpucycles) $VERSION" ] || wrong "the tool has another version"
installed "$pkgdatadir/cpucycles-info.schema.json" "$pkgdatadir/cpucycles-bench.schema.json"
if [ -n "$(command -v bash)" ]; then
  completed=$(bash -c '. "$0" && _cpucycles_info cpucycles-info --pl "" && echo "${COMPREPLY[*]}"' \
    "$DESTDIR$bashcompletiondir/cpucycles-info")
  [ "$completed" = --plot ] || wrong "bash does not complete --pl"
else
  echo "installcheck: skipped: completion: bash is not installed"
fi
