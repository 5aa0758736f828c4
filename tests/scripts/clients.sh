#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# "make installcheck", second part: builds time.c in README with the installed library and README's
# command for pkg-config, the installed examples with the commands in their comments, and time.c
# with README's files for CMake and Meson. Runs each program, and checks its output.
# With CMake, also builds an installed library that uses cpucycles, and a program that uses this
# library, with a copy of the installation in another directory. At last, CMake and Meson build the
# sources as a part of another project, whose counters must be those of the installed library.

set -eu
: "${srcdir:=.}" "${DESTDIR:=}" "${CC:=cc}" "${CFLAGS:=}" "${LDFLAGS:=}" "${LOG_COMPILER:=}"
: "${PKG_CONFIG:=pkg-config}" "${EXEEXT:=}"
source=$(cd "$srcdir" && pwd)
build=$(pwd)
readme=$source/README
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

# compile FILE: runs the line of this file that compiles $program
compile() {
  eval "$(sed -n -e 's| \*/$||' -e 's| && ./[a-z]*$||' -e 's/pkg-config/$PKG_CONFIG/' \
    -e "s/^  *cc \(.*-o $program .*\)\$/\$CC \$CFLAGS \$LDFLAGS \1/p" "$1")"
}

with_pkg_config() {
  compile "$readme"
}

with_example() {
  cp "$DESTDIR$docdir/examples/$program.c" . && compile "$program.c"
}

# build SOURCE PREFIX: builds SOURCE/cmake with the packages below PREFIX
build() {
  cmake -S "$1" -B "$1/cmake" -DCMAKE_PREFIX_PATH="$2;$2${libdir#"$prefix"}/cmake/cpucycles" \
    ${EXEEXT:+-DCMAKE_SYSTEM_NAME=Windows} && cmake --build "$1/cmake"
}

with_cmake() {
  build . "$DESTDIR$prefix" && mv "cmake/$program$EXEEXT" .
}

# The library "twice" is installed into the copy of the installation, and exports its own target.
with_cmake_twice() {
  moved=$work/moved
  for directory in "$libdir" "$includedir" "$bindir"; do
    mkdir -p "$moved$directory" &&
      cp -RP "$DESTDIR$directory"/*cpucycles* "$moved$directory" || return
  done
  if [ -f "$DESTDIR$includedir/perfex.h" ]; then
    cp "$DESTDIR$includedir/perfex.h" "$moved$includedir" &&
      cp -P "$DESTDIR$libdir"/libperfex* "$moved$libdir" || return
  fi
  mkdir "$moved$libdir/cmake" twice uses
  cp -R "$DESTDIR$libdir/cmake/cpucycles" "$moved$libdir/cmake" || return

  printf '#include <cpucycles.h>\nlong long twice(void);\n' >twice/twice.h
  printf '#include "twice.h"\nlong long twice(void) { return 2 * cpucycles(); }\n' >twice/twice.c
  cat >twice/twice-config.cmake <<'end'
include(CMakeFindDependencyMacro)
find_dependency(cpucycles 20240114)
include("${CMAKE_CURRENT_LIST_DIR}/twice-targets.cmake")
end
  cat >twice/CMakeLists.txt <<'end'
cmake_minimum_required(VERSION 3.10)
project(twice C)
find_package(cpucycles 20991231 QUIET)
if(cpucycles_FOUND OR NOT cpucycles_CONSIDERED_VERSIONS)
  message(FATAL_ERROR "a version of the future is accepted, or no version is considered")
endif()
find_package(cpucycles 20240114 QUIET COMPONENTS cpucycles nonsense)
if(cpucycles_FOUND)
  message(FATAL_ERROR "an unknown component is accepted")
endif()
find_package(cpucycles 20240114 REQUIRED COMPONENTS cpucycles OPTIONAL_COMPONENTS nonsense perfex)
if(cpucycles_nonsense_FOUND OR NOT cpucycles_cpucycles_FOUND)
  message(FATAL_ERROR "the variables of the components are wrong")
endif()
if(TARGET cpucycles::perfex AND NOT cpucycles_perfex_FOUND)
  message(FATAL_ERROR "the component perfex is not found")
endif()
add_library(twice STATIC twice.c)
target_include_directories(twice PUBLIC $<INSTALL_INTERFACE:include>)
target_link_libraries(twice PUBLIC cpucycles::cpucycles)
install(TARGETS twice EXPORT twice-targets ARCHIVE DESTINATION lib)
install(EXPORT twice-targets NAMESPACE twice:: DESTINATION lib/cmake/twice)
install(FILES twice.h DESTINATION include)
install(FILES twice-config.cmake DESTINATION lib/cmake/twice)
end
  build twice "$moved$prefix" &&
    DESTDIR= cmake --install twice/cmake --prefix "$moved$prefix" || return

  cat >uses/uses.c <<'end'
#include "twice.h"
#include <stdio.h>
int main(void) { return printf("twice: %lld\n", twice() - cpucycles()) < 0; }
end
  echo '#include <perfex.h>' >uses/event.c
  echo 'int main(void) { return perfex_event("cycles") < 0; }' >>uses/event.c
  cat >uses/CMakeLists.txt <<'end'
cmake_minimum_required(VERSION 3.10)
project(uses C)
find_package(twice REQUIRED)
get_target_property(location cpucycles::cpucycles IMPORTED_LOCATION)
if(NOT EXISTS "${location}" OR NOT location MATCHES "/moved/")
  message(FATAL_ERROR "not the copy of the installation: ${location}")
endif()
find_package(cpucycles REQUIRED)
add_executable(client uses.c)
target_link_libraries(client PRIVATE twice::twice)
if(TARGET cpucycles::cpucycles_static)
  add_executable(static ../time.c)
  target_link_libraries(static PRIVATE cpucycles::cpucycles_static)
endif()
if(TARGET cpucycles::perfex)
  add_executable(event event.c)
  target_link_libraries(event PRIVATE cpucycles::perfex)
endif()
if(TARGET cpucycles::perfex_static)
  add_executable(event_static event.c)
  target_link_libraries(event_static PRIVATE cpucycles::perfex_static)
endif()
end
  build uses "$moved$prefix" && mv "uses/cmake/$program$EXEEXT" .
}

with_meson() {
  meson setup meson && ninja -C meson && mv "meson/$program$EXEEXT" .
}

# The project has a config.h, unity builds and no optimization. $1: the suffix of the program.
make_part() {
  rm -rf part
  mkdir -p part/subprojects && ln -s "$source" part/subprojects/cpucycles &&
    cp "$source/tests/programs/counters.c" "part/counters.$1" && echo '#error' >part/config.h
}

# For Windows, there is only the C compiler.
with_part_of_cmake() {
  if [ -n "$EXEEXT" ]; then language=C suffix=c; else language=CXX suffix=cc; fi
  make_part $suffix || return
  cat >part/CMakeLists.txt <<end
cmake_minimum_required(VERSION 3.16)
project(part $language)
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_BUILD_TYPE Debug)
include_directories(BEFORE .)
add_compile_options(-Wall -Wextra -pedantic ${CPUCYCLES_TEST_WERROR-})
add_subdirectory(subprojects/cpucycles)
add_executable(counters counters.$suffix)
target_link_libraries(counters PRIVATE cpucycles::\$<IF:\$<TARGET_EXISTS:cpucycles::perfex>,perfex,cpucycles>)
end
  build part none && mv "part/cmake/counters$EXEEXT" . && equals_installed
}

with_part_of_meson() {
  make_part c || return
  cat >part/meson.build <<'end'
project('part', 'c', default_options: ['buildtype=debug', 'warning_level=3', 'unity=on'])
executable('counters', 'counters.c', dependencies: dependency('cpucycles'))
end
  meson setup part/meson part --force-fallback-for=cpucycles ${CPUCYCLES_TEST_WERROR:+--werror} &&
    ninja -C part/meson && mv "part/meson/counters$EXEEXT" . && equals_installed
}

# Runs a program where a path in $LOG_COMPILER may begin.
run_in_build() { (cd "$build" && $LOG_COMPILER "$work/$1$EXEEXT"); }

# On a busy machine, the state of a counter can vary.
equals_installed() {
  $CC $CFLAGS $LDFLAGS "$source/tests/programs/counters.c" -o "installed$EXEEXT" \
    $($PKG_CONFIG --cflags --libs cpucycles) || return
  for try in 1 2 3 4 5 6 7 8; do
    run_in_build installed >installed.out && run_in_build counters >part.out
    ! diff installed.out part.out || return 0
  done
  return 1
}

# client NAME PROGRAM CHECK TOOL...: builds PROGRAM with NAME, which needs these tools, and runs it.
# The awk program CHECK reads the output, and ends with an error if it is wrong.
client() {
  name=$1 program=$2 check=$3
  shift 3
  for tool; do
    command -v "$tool" >/dev/null ||
      { echo "clients: skipped: $name: $tool is not installed"; return; }
  done
  rm -f "$work/$program$EXEEXT" "$work/said"
  if (cd "$work" && "with_$name") >"$work/out" 2>&1 &&
    $LOG_COMPILER "$work/$program$EXEEXT" >"$work/said" 2>>"$work/out" &&
    awk "$check" "$work/said"; then
    sed "s/^/clients: $name: /" "$work/said"
  else
    cat "$work/out" "$work/said" || :
    echo "clients: $name: $program does not build or run with the installed library"
    failed=1
  fi
}

extract time.c
extract CMakeLists.txt
extract meson.build
# Where core cycles are not known, for example on PowerPC, counts with their unit take their place.
time='{ exit !(NR == 1 && $1 == "hash" && $2 > 0 && / ns /) }'
pkg_config=${PKG_CONFIG%% *}
client pkg_config time "$time" "$pkg_config"
# a step of the hash takes more than one cycle of the core, however the compiler translates it
client example time-function '
  NR == 1 { cycles = $1 == "hash" ? $2 : 0; is_core = / core cycles / }
  NR == 1 && match($0, /[0-9.]+ per byte/) { each = substr($0, RSTART) * 1000 }
  END { exit !(cycles > 0 && each > 0.99 * cycles && each < 1.01 * cycles \
    && (!is_core || cycles > 1000)) }' "$pkg_config"
client example compare '
  /^one by one/ { slow = $4 }
  /^in parallel  / { fast = $3 }
  /^in parallel takes / { ratio = $4 }
  END { exit !(NR == 3 && fast > 0 && slow > fast && ratio > 0 && ratio < 1) }' "$pkg_config"
client example fresh-input '
  /^fresh input/ { fresh = $3 }
  /^equal input/ { equal = $3 }
  /^sorted already/ { sorted = $3 }
  END { exit !(NR == 3 && fresh > 0 && equal > 0 && sorted > 0 && fresh > sorted) }' "$pkg_config"
if grep -q ' core cycles ' "$work/said"; then
  # 10000 steps of a hash
  client example section '{ exit !(/ core cycles in a section$/ && $1 > 10000) }' "$pkg_config"
else
  echo "clients: skipped: example section: core cycles are not known here"
fi
if [ -n "$EXEEXT" ]; then
  echo "clients: skipped: example threads: Windows has no POSIX threads"
else
  client example threads '
    /^thread / { threads += $5 > $3 / 10; sum += $5 }
    /^all: / { all = $2 }
    END { exit !(threads == 4 && all == sum) }' "$pkg_config"
fi
if [ -n "$LOG_COMPILER" ] && [ -z "$EXEEXT" ]; then
  echo "clients: skipped: cmake: it needs more than CC for a cross build"
else
  client cmake time "$time" cmake
  client part_of_cmake counters 'END { exit NR < 3 }' cmake c++ "$pkg_config"
  client cmake_twice client '/^twice: [1-9]/ { right = 1 }  END { exit !right }' cmake
fi
if [ -n "$LOG_COMPILER" ]; then
  echo "clients: skipped: meson: it needs more than CC for a cross build"
else
  client meson time "$time" meson ninja "$pkg_config"
  client part_of_meson counters 'END { exit NR < 3 }' meson ninja "$pkg_config"
fi
exit $failed
