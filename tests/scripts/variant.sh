#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Runs the tests whose result can differ in a build with other tools or flags: variant.sh KIND
# SOURCE, from a build directory.
# SOURCE is an unpacked tarball (make distdir), so that a variant also proves that the tarball is
# complete.

set -eu
kind=$1
source=$(cd "$2" && pwd)
cflags='-O1 -g'
compiler=${CC:-cc}
suites=all # or "threads": the suites whose own source creates threads
scripts=   # scripts that execute code which the variant compiles differently
launcher=
options=
ms=
under=
ldflags=
# The hardening flags of distributions, all at once.
hardened='-O2 -g -flto=auto -fno-plt -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3'
hardened="$hardened -fstack-protector-strong"
case $(uname -m) in x86_64 | i?86) hardened="$hardened -fcf-protection" ;; esac

case $kind in
  asan)
    cflags="$cflags -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
    scripts='tests/scripts/report.sh' under=asan options=--disable-static
    ;;
  tsan)
    # ThreadSanitizer finds races and is slow, so it runs only the suites with threads.
    cflags="$cflags -fsanitize=thread" options=--disable-static
    ms=2000 under=tsan suites=threads
    # A forked child does not have its parent's threads and cannot join them.
    export TSAN_OPTIONS=report_thread_leaks=0
    ;;
  clang) compiler=clang cflags='-O2 -g' scripts='$(script_tests) $(perfex_script_tests)' ;;
  hardened)
    cflags=$hardened ldflags='-Wl,-z,relro -Wl,-z,now'
    scripts='tests/scripts/report.sh tests/scripts/symbols.sh'
    ;;
  hardened-clang)
    compiler=clang cflags=$(echo "$hardened" | sed s/FORTIFY_SOURCE=3/FORTIFY_SOURCE=2/)
    ldflags='-Wl,-z,relro -Wl,-z,now -fuse-ld=lld'
    options='AR=llvm-ar RANLIB=llvm-ranlib NM=llvm-nm'
    scripts='tests/scripts/report.sh tests/scripts/symbols.sh'
    ;;
  valgrind)
    options=--disable-static
    # Memory that is still reachable at the end of a process does not count as a leak.
    launcher='valgrind -q --fair-sched=try --error-exitcode=99 --leak-check=full'
    launcher="$launcher --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect"
    launcher="$launcher --suppressions=$source/tests/scripts/valgrind.supp" under=valgrind
    ;;
  *) echo "variant: unknown kind $kind" >&2; exit 2 ;;
esac

for tool in ${compiler%% *} ${launcher%% *}; do
  command -v "$tool" >/dev/null || { echo "check-$kind: $tool is not installed" >&2; exit 1; }
done

rm -rf "check-$kind"
mkdir "check-$kind"
cd "check-$kind"
set --
[ -z "$ldflags" ] || set -- "$@" LDFLAGS="$ldflags"
echo "check-$kind: configuring with CC=$compiler CFLAGS='$cflags'"
jobs=-j$(nproc 2>/dev/null || echo 1)
unset MAKEFLAGS # the job server of the calling make is not available here
"$source/configure" -q CC="$compiler" CFLAGS="$cflags" $options "$@" >configure.out 2>&1 ||
  { cat configure.out; exit 1; }
make -s "$jobs" >make.out 2>&1 || { cat make.out; exit 1; }
if grep -n 'warning:' make.out; then
  echo "check-$kind: the build is not free of warnings" >&2
  exit 1
fi
tests=$(make -s -f - print <<END
include Makefile
print:
	@echo \$(suite_tests) $scripts
END
)
# Slow suites that allocate nothing and simulate all that they use.
[ "$kind" != valgrind ] ||
  tests=$(echo "$tests" | tr ' ' '\n' | grep -v -e /check_simulated_clock -e /check_grain)
if [ "$suites" = threads ]; then
  tests=$(for suite in $tests; do ! grep -q pthread_create "$source/$suite.c" || echo "$suite"; done)
fi
[ -z "$ms" ] || export CPUCYCLES_TEST_MS="$ms"
[ -z "$under" ] || export CPUCYCLES_TEST_UNDER="$under"
status=0
# in one line, as recipes of the Makefile expect
make -s "$jobs" check TESTS="$(echo $tests)" ${launcher:+LOG_COMPILER="$launcher"} VERBOSE=1 \
  >check.out 2>&1 || status=$?
cat check.out
[ $status = 0 ]
if grep -n ': warning: ' check.out; then
  echo "check-$kind: the build of the tests is not free of warnings" >&2
  exit 1
fi
case $kind-$(uname -m) in
  hardened*-x86_64) # -fcf-protection begins most functions with endbr64
    [ "$(objdump -d .libs/libcpucycles.so | grep -c endbr64)" -gt 20 ] ||
      { echo "check-$kind: -fcf-protection had no effect" >&2; exit 1; } ;;
esac
cd ..
rm -rf "check-$kind"
echo "check-$kind: passed"
