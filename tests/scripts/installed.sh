#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# "make installcheck": pkg-config finds the installed libraries, a program builds and runs with the
# usual and with the static libraries, the tool runs, the schema is installed. The usual libraries
# are the shared ones if they are installed. A program for the ABI of MSVC calls the DLL.

set -eu
: "${DESTDIR:=}" "${CC:=cc}" "${CFLAGS:=}" "${LDFLAGS:=}" "${LOG_COMPILER:=}" "${PKG_CONFIG:=pkg-config}"
: "${EXEEXT:=}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
client=$work/client$EXEEXT try=$work/try$EXEEXT
cat >"$work/client.c" <<'END'
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

PKG_CONFIG_PATH=$DESTDIR$pkgconfigdir
WINEPATH="Z:$DESTDIR$bindir"
export PKG_CONFIG_PATH WINEPATH
[ -z "$DESTDIR" ] || export PKG_CONFIG_SYSROOT_DIR="$DESTDIR"
[ "$($PKG_CONFIG --modversion cpucycles)" = "$VERSION" ] ||
  { echo "installcheck: pkg-config does not find version $VERSION"; exit 1; }

# client NAME "PKG-CONFIG OPTIONS" "LINK OPTIONS"
client() {
  # words are meant to split
  # shellcheck disable=SC2046,SC2086
  $CC $CFLAGS $($PKG_CONFIG $2 --cflags cpucycles) "$work/client.c" -o "$client" $LDFLAGS $3 \
    $($PKG_CONFIG $2 --libs cpucycles)
  said=$(LD_LIBRARY_PATH="$DESTDIR$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
    $LOG_COMPILER "$client")
  echo "installcheck: $1: $said"
  case $said in
    "$VERSION "*) ;;
    *) echo "installcheck: $1 does not run with the installed library"; exit 1 ;;
  esac
}

client usual '' ''
if [ -f "$DESTDIR$libdir/libcpucycles.a" ]; then
  if echo 'int main(void) { return 0; }' |
    $CC $CFLAGS -x c - -static -o "$try" $LDFLAGS 2>/dev/null; then
    client static --static -static
  else
    echo "installcheck: skipped: static: this system links no static programs"
  fi
else
  echo "installcheck: skipped: no static library was installed"
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

# The client of libperfex is the example of its manual, unchanged.
sed -n -e '/^\.\\" example.c$/,/^\.Ed$/{' -e '/^\./d' -e 's/\\e/\\/g' -e p -e '}' \
  "$(dirname "$0")/../../perfex/libperfex.3" >"$work/example.c"
perfex_client() {
  # words are meant to split
  # shellcheck disable=SC2046,SC2086
  $CC $CFLAGS $($PKG_CONFIG $2 --cflags perfex) "$work/example.c" -o "$client" $LDFLAGS $3 \
    $($PKG_CONFIG $2 --libs perfex)
  status=0
  LD_LIBRARY_PATH="$DESTDIR$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
    $LOG_COMPILER "$client" >"$work/said" 2>&1 || status=$?
  sed "s/^/installcheck: perfex $1: /" "$work/said"
  case $status:$(cat "$work/said") in
    0:*instructions* | 1:start_counters:*) ;;
    *) echo "installcheck: perfex $1 does not run with the installed library"; exit 1 ;;
  esac
}

# clients.sh uses these files. Packages of a distribution must contain them, too.
[ -s "$DESTDIR$libdir/cmake/cpucycles/cpucycles-config.cmake" ] &&
  [ -s "$DESTDIR$libdir/cmake/cpucycles/cpucycles-config-version.cmake" ] ||
  { echo "installcheck: the files for CMake are not installed"; exit 1; }
if [ -f "$DESTDIR$pkgconfigdir/perfex.pc" ]; then
  [ -s "$DESTDIR$libdir/cmake/cpucycles/cpucycles-perfex.cmake" ] ||
    { echo "installcheck: libperfex's file for CMake is not installed"; exit 1; }
  [ "$($PKG_CONFIG --modversion perfex)" = "$VERSION" ] ||
    { echo "installcheck: pkg-config does not find perfex $VERSION"; exit 1; }
  # below DESTDIR, the linker does not find libcpucycles, which libperfex needs, by itself
  perfex_client usual '' "${DESTDIR:+-Wl,-rpath-link,$DESTDIR$libdir}"
  [ ! -f "$DESTDIR$libdir/libperfex.a" ] || [ ! -f "$try" ] || perfex_client static --static -static
else
  echo "installcheck: skipped: libperfex was not built"
fi
version=$(LD_LIBRARY_PATH="$DESTDIR$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
  $LOG_COMPILER "$DESTDIR$bindir/cpucycles-info$EXEEXT" --version | head -n 1)
echo "installcheck: tool: $version"
[ "$version" = "cpucycles-info (libcpucycles) $VERSION" ]
[ -s "$DESTDIR$pkgdatadir/cpucycles-info.schema.json" ] ||
  { echo "installcheck: the schema of the tool's JSON is not installed"; exit 1; }
if [ -n "$(command -v bash)" ]; then
  completed=$(bash -c '. "$0" && _cpucycles_info cpucycles-info --pl "" && echo "${COMPREPLY[*]}"' \
    "$DESTDIR$bashcompletiondir/cpucycles-info")
  [ "$completed" = --plot ] || { echo "installcheck: bash does not complete --pl"; exit 1; }
else
  echo "installcheck: skipped: completion: bash is not installed"
fi
