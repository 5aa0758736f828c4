#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# "make check-busy": busy.sh RUNS TEST..., from a build directory. Runs each test RUNS times while
# four busy loops run, two tests at a time. A test that depends on a quiet machine fails here. The
# repetitions within a test end after the same time as in "make check".

set -eu
runs=$1
shift
passed=0
failed=0
loops=
tests=

finish() {
  # words are meant to split
  # shellcheck disable=SC2086
  kill $loops $tests 2>/dev/null || :
}
trap finish EXIT
trap 'exit 1' INT TERM
for _ in 1 2 3 4; do
  sh -c 'while :; do :; done' &
  loops="$loops $!"
done

run=0
while [ "$run" -lt "$runs" ]; do
  run=$((run + 1))
  make -s -j2 check TESTS="$*" >busy.out 2>&1 &
  tests=$!
  if wait $tests; then
    passed=$((passed + 1))
    tests=
  else
    tests=
    failed=$((failed + 1))
    echo "check-busy: run $run:"
    sed -n 's/^FAIL: //p' busy.out
    for test; do
      log=${test%.sh}.log
      ! grep -q '^FAIL ' "$log" 2>/dev/null || grep '^[^ ]*:[0-9]*:[FE]:' "$log" || tail -n 5 "$log"
    done
  fi
done
rm -f busy.out
echo "check-busy: $# tests, $passed runs passed, $failed failed"
[ "$failed" = 0 ]
