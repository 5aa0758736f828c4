#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# "make installcheck", second part: builds the program in README with the installed library, with
# README's command for pkg-config, and README's files for CMake and Meson. Runs each result.

set -eu
: "${srcdir:=.}" "${DESTDIR:=}" "${CC:=cc}" "${CFLAGS:=}" "${LDFLAGS:=}" "${LOG_COMPILER:=}"
: "${PKG_CONFIG:=pkg-config}" "${EXEEXT:=}"
readme=$(cd "$srcdir" && pwd)/README
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
PKG_CONFIG_PATH=$DESTDIR$pkgconfigdir
LD_LIBRARY_PATH=$DESTDIR$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
WINEPATH="Z:$DESTDIR$bindir"
export CC CFLAGS LDFLAGS PKG_CONFIG PKG_CONFIG_PATH LD_LIBRARY_PATH WINEPATH
[ -z "$DESTDIR" ] || export PKG_CONFIG_SYSROOT_DIR="$DESTDIR"
unset MAKEFLAGS MFLAGS MAKELEVEL

# extract FILE: writes the indented block of README below the line that ends in "FILE:" to this file
extract() {
  awk -v name="$1:" '
    !found { found = substr($0, length($0) - length(name) + 1) == name; next }
    sub(/^    /, "") { inside = 1; print; next }
    !NF { if (inside) print; next }
    inside { exit }' "$readme" >"$work/$1"
  [ -s "$work/$1" ] || { echo "clients: README has no $1"; exit 1; }
}

with_pkg_config() {
  eval "$(sed -n 's/^    cc \(-o hello .*\)$/$CC $CFLAGS $LDFLAGS \1/p' "$readme" |
    sed 's/pkg-config/$PKG_CONFIG/')"
}

with_cmake() {
  cmake -S . -B cmake && cmake --build cmake && mv "cmake/hello$EXEEXT" .
}

with_meson() {
  meson setup meson && ninja -C meson && mv "meson/hello$EXEEXT" .
}

# client NAME PROGRAM...: builds and runs hello with NAME, which needs these programs
client() {
  name=$1
  shift
  for program; do
    command -v "$program" >/dev/null ||
      { echo "clients: skipped: $name: $program is not installed"; return; }
  done
  rm -f "$work/hello$EXEEXT"
  if (cd "$work" && "with_$name") >"$work/out" 2>&1 &&
    $LOG_COMPILER "$work/hello$EXEEXT" >"$work/said" 2>>"$work/out" &&
    grep -q '^hello' "$work/said" && grep -q '^[1-9][0-9]* cycles' "$work/said"; then
    echo "clients: $name: $(sed -n '/cycles/p' "$work/said")"
  else
    cat "$work/out"
    echo "clients: $name: the program in README does not build or run with the installed library"
    failed=1
  fi
}

set -- "$DESTDIR$libdir"/libcpucycles.[sd]*
[ -e "$1" ] || { echo "clients: skipped: no shared library was installed"; exit; }
extract hello.c
extract CMakeLists.txt
extract meson.build
client pkg_config "${PKG_CONFIG%% *}"
if [ -n "$LOG_COMPILER" ]; then
  echo "clients: skipped: cmake, meson: they need more than CC for a cross build"
else
  client cmake cmake "${PKG_CONFIG%% *}"
  client meson meson ninja "${PKG_CONFIG%% *}"
fi
exit $failed
