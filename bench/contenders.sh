#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Builds the contenders of the benchmark as modules bench/contend-NAME.so. Usage, from the build
# directory: contenders.sh SOURCE. Reports each contender that cannot be built here, with its
# requirements.

set -eu
exec >&2
source=$1
: "${CC:=cc}" "${CXX:=c++}" "${CLANG:=clang}" "${CPPFLAGS:=}" "${CFLAGS:=-O2}" "${LDFLAGS:=}"
: "${BENCH_CPPFLAGS:=}" "${PTHREAD_LIBS:=}"
mkdir -p bench
rm -f bench/contend-*.so
libs=$(pwd)/.libs
include="-I. -I$source -I$source/include"

# contender NAME FILE "COMPILER" "REQUIREMENTS" LIBRARIES...
contender() {
  name=$1 file=$source/bench/$2 compiler=$3 needs=$4
  shift 4
  # Unquoted, because these variables hold several words.
  # shellcheck disable=SC2086
  if ! command -v ${compiler%% *} >/dev/null; then
    echo "bench: skipped: $name: needs $needs"
  elif ! $compiler $CPPFLAGS $BENCH_CPPFLAGS $include $CFLAGS -fPIC -shared "$file" \
    -o "bench/contend-$name.so" $LDFLAGS "$@" 2>bench/contend.err; then
    reason=$(grep -m 1 -e error -e cannot bench/contend.err || :)
    echo "bench: skipped: $name: needs $needs ($reason)"
    rm -f "bench/contend-$name.so"
  fi
  rm -f bench/contend.err
}

cxx="$CXX -std=c++11"
contender plain contend-plain.c "$CC" 'a compiler that makes shared objects'
contender cpucycles contend-cpucycles.c "$CC" 'the shared library' \
  -L"$libs" -Wl,-rpath,"$libs" -lcpucycles
contender scaled contend-scaled.c "$CC" 'the static library lib/libcpucycles-core' -Wl,-Bsymbolic \
  lib/.libs/libcpucycles-core.a $PTHREAD_LIBS
case $($CC -dM -E -x c /dev/null) in
  *__clang__*) contender clang contend-clang.c "$CC" clang ;;
  *) contender clang contend-clang.c "$CLANG" clang ;;
esac
contender chrono contend-chrono.cc "$cxx" 'a C++ compiler'
contender benchmark contend-benchmark.cc "$cxx" \
  'libbenchmark-dev, and cycleclock.h from its sources: BENCH_CPPFLAGS=-I.../src' \
  -lbenchmark
contender fftw contend-fftw.c "$CC" \
  'cycle.h, from the sources of FFTW: BENCH_CPPFLAGS=-I.../kernel'
contender time-benchmark time-benchmark.cc "$cxx" libbenchmark-dev -lbenchmark
contender time-nanobench time-nanobench.cc "$cxx" \
  'nanobench.h, from the sources of nanobench: BENCH_CPPFLAGS=-I.../src/include'
contender papi contend-papi.c "$CC" libpapi-dev -lpapi
contender likwid contend-likwid.c "$CC" likwid -llikwid
if [ -n "${BENCH_OTHER:-}" ]; then
  contender other contend-other.c "$CC" dlopen -ldl
else
  echo 'bench: skipped: another libcpucycles: set BENCH_OTHER=.../libcpucycles.so.1 to compare it'
fi
