#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# "make check-busy": busy.sh RUNS TEST..., from a build directory. Runs each test RUNS times while
# four busy loops run, two tests at a time. A test that depends on a quiet machine fails here. The
# repetitions within a test end after the same time as in "make check".

set -eu
runs=$1
shift
passed=0 failed=0 loops=
# words are meant to split
# shellcheck disable=SC2086
trap 'kill $loops' EXIT
trap 'exit 1' INT TERM
for _ in 1 2 3 4; do
  sh -c 'while :; do :; done' &
  loops="$loops $!"
done

while [ $((passed + failed)) -lt "$runs" ]; do
  if make -s -j2 check TESTS="$*" VERBOSE=1 >busy.out 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "check-busy: run $((passed + failed)):"
    grep -e '^FAIL: ' -e '^[^ ]*:[0-9]*:[FE]:' busy.out || tail -n 20 busy.out
  fi
done
rm -f busy.out
echo "check-busy: $# tests, $passed runs passed, $failed failed"
[ "$failed" = 0 ]
