#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests programs that are linked in each way that this build permits: position-independent, with a
# copy relocation, and statically.
# A program written for the public-domain libcpucycles runs with this one. It is compiled as GNU C89
# and C++98. Each dynamic variant is linked with this library, and again with a stand-in for the
# public-domain library. All programs run with this library.
# Programs read the counter inline. Their files are compiled as GNU C89 to C++17, with and without
# optimization and -finstrument-functions, for other models of the CPU and for other architectures.

set -eu
. "${srcdir:=.}/tests/scripts/begin.sh"
version=$(sed -n 's/^#define PACKAGE_VERSION "\(.*\)"/\1/p' "$builddir/config.h")
programs=$srcdir/tests/programs built=$builddir/.libs client=$work/client$EXEEXT

# client WAY KIND OPTION...: compiles and links $client as KIND, pie or no-pie, with the linker
# options and compile_$program. Expects it to count and to print the version of this library.
client() {
  way=$1
  shift
  "compile_$program" "$@" || { wrong "$way: does not build"; return; }
  said=$(LD_LIBRARY_PATH="$built${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" $LOG_COMPILER "$client") ||
    { wrong "$way: exit status $?: $said"; return; }
  case $said in
    "$version "*) echo "$program: $way: $said" ;;
    *) wrong "$way: does not run with this library: $said" ;;
  esac
}

# clients SYMBOL DIRECTORY...: links the client in each way; with the shared libraries of these
# directories position-independent, and with a copy relocation of SYMBOL
clients() {
  symbol=$1
  shift
  [ -f "$built/libcpucycles.so.1" ] || set --
  for directory; do
    client "position-independent with $directory" pie -pie -L"$directory" -lcpucycles
    client "at a fixed address with $directory" no-pie -no-pie -L"$directory" -lcpucycles
    ! readelf -hW "$client" 2>/dev/null | grep -q 'Machine:.*X86-64' ||
      readelf -rW "$client" | grep -q "R_X86_64_COPY.*$symbol" || wrong "no copy relocation was made"
  done
  [ ! -f "$built/libcpucycles.dll.a" ] || client DLL no-pie "$built/libcpucycles.dll.a"
  [ -f "$built/libcpucycles.a" ] || { skipped "no static library was built"; return; }
  # words are meant to split
  # shellcheck disable=SC2086
  client 'static library' pie "$built/libcpucycles.a" $PTHREAD_LIBS
  # shellcheck disable=SC2086
  if echo 'int main(void) { return 0; }' |
    $CC $CFLAGS -x c - -static -o $work/try $LDFLAGS 2>/dev/null && $LOG_COMPILER $work/try; then
    client 'static program' no-pie -static "$built/libcpucycles.a" $PTHREAD_LIBS
  else
    skipped "static programs: this system or emulator runs none"
  fi
}

program=dropin
mkdir $work/other

# words are meant to split
# shellcheck disable=SC2086
compile_dropin() {
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

# Sets the frequency for an emulated CPU, because it would differ from process to process, so that a
# counter could be scaled in one process and not in the next.
[ "$CPUCYCLES_TEST_UNDER" != qemu ] || export cpucyclespersecond=3700000000

# part NAME "OPTIONS": compiles a part of the client if the compiler knows the options
part() {
  # words are meant to split
  # shellcheck disable=SC2086
  if $CC $CPPFLAGS $CFLAGS -pedantic -Wall -Wextra -Wundef $CPUCYCLES_TEST_WERROR -fPIE \
    -I"$srcdir/include" -DPART="$1" $2 -c "$srcdir/tests/programs/inline-client.c" \
    -o $work/$1.o 2>$work/said; then
    echo "PART($1)" >>$work/parts.h
  elif echo 'int x;' | $CC $2 -fsyntax-only - 2>/dev/null; then
    wrong "$1: does not compile:"
    cat $work/said
  else
    skipped "$1: $(head -n 1 $work/said)"
  fi
}
part gnu89_o2 '-O2 -std=gnu89 -Wno-long-long -x c'
for level in 0 s 2; do
  part c99_o$level "-O$level -std=c99 -x c"
done
part c17_og '-Og -std=c17 -x c'
part cpp11_o0 '-O0 -std=c++11 -fno-exceptions -x c++'
part cpp17_o2 '-O2 -std=c++17 -fno-exceptions -x c++'
for level in 0 2; do
  part instrumented_o$level "-O$level -std=c99 -finstrument-functions -DINSTRUMENTED -x c"
done

# The overhead fits the reads only if a function inlines all three functions, or calls all three in
# the library. Clang inlines only short functions, so it could inline one or two of the three.
cat >$work/section.c <<'EOF'
#include <cpucycles/inline.h>
long long section(void);
long long section(void)
{
  long long overhead = cpucycles_inline_section_overhead();
  long long begin = cpucycles_inline_section_begin();
  return cpucycles_inline_section_end() - begin - overhead;
}
EOF
# section COMPILER OPTION...: compiles the section, for the CPU of the compiler, and checks which
# functions the section calls. A compiler that compiles nothing is absent.
absent=
echo 'int x;' >$work/try.c
section() {
  if ! "$@" -w -g0 -I"$srcdir/include" -S $work/section.c -o $work/section.s 2>$work/said; then
    case $1 in *-gnu*-gcc) absent="$absent $1" ;; esac
    ! "$@" -S $work/try.c -o $work/try.s 2>/dev/null ||
      { cat $work/said; wrong "$*: a section does not compile"; }
    return
  fi
  case $(sed -n 's/.*cpucycles_inline_section_\(begin\|end\|overhead\).*/\1/p' $work/section.s |
    sort -u | tr '\n' ' ') in
    '' | 'begin end overhead ') ;;
    *) wrong "$*: some of begin, end and overhead are called, others are inlined" ;;
  esac
  ! grep '__atomic_\|__sync_' $work/section.s || wrong "$*: a section needs libatomic"
}
for level in -O0 -Og -O1 -Os -O2 -O3; do
  # shellcheck disable=SC2086
  section $CC $CPPFLAGS $CFLAGS $level
done
# Skipped under an emulator, where the compilers for other CPUs would only repeat the results of a
# native run.
if [ -z "$CPUCYCLES_TEST_UNDER" ]; then
  for triplet in sparc-linux-gnu \
    $(awk '$2 ~ /-linux-/ { print $2 }' "$srcdir/tests/cross/expected"); do
    for compiler in "$triplet-gcc" "clang --target=$triplet"; do
      # shellcheck disable=SC2086
      section $compiler -O2
    done
  done
  [ -z "$absent" ] || skipped "sections for other CPUs: not installed:$absent"
fi
for kind in pie no-pie; do
  # shellcheck disable=SC2086
  $CC $CPPFLAGS $CFLAGS -Wall -Wextra $CPUCYCLES_TEST_WERROR -f$kind -I"$srcdir/include" \
    -I"$srcdir" -I$work -c "$srcdir/tests/programs/inline-main.c" -o $work/main.$kind ||
    wrong "main -f$kind: does not compile"
done

# Links the parts with the main program of this kind.
compile_inline() {
  kind=$1
  shift
  # words are meant to split
  # shellcheck disable=SC2086
  $CC $CFLAGS $work/main.$kind $work/*.o -o "$client" $LDFLAGS "$@"
}
program=inline
clients cpucycles_inline_state "$built" >$work/clients
cat $work/clients
[ "$(sed -n "s/^inline: [^:]*: \($version .*\)/\1/p" $work/clients | sort -u | wc -l)" -le 1 ] ||
  wrong "the programs do not use the same counter in the same way"

# Each begin and each end has two fences, and cpucycles_inline_fence() has one. They are counted in
# the compiled files, because an emulated CPU does not need them.
case $($CC -dumpmachine) in
  x86_64-*) fence=lfence ;;
  aarch64-*) fence=isb ;;
  s390x-*) fence='bcr[[:space:]]*15' ;;
  sparc64-*) fence='membar[[:space:]]*#Sync' ;;
  *) fence= ;;
esac
for file in inline:5 section:4; do
  [ "$fence" ] || { skipped "fences: not known for this CPU"; break; }
  # shellcheck disable=SC2086
  found=$($CC $CPPFLAGS -DHAVE_CONFIG_H -I"$builddir" -I"$srcdir" -I"$srcdir/include" -O0 -S -o - \
    "$srcdir/lib/${file%:*}.c" | grep -c "^[[:space:]]*$fence") || :
  [ "$found" -ge "${file#*:}" ] ||
    wrong "${file%:*}.c: $found fences, expected ${file#*:} or more"
done

exit $failed
