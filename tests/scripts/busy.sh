#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# "make check-busy": busy.sh RUNS SUITE..., from a build directory. Runs each suite RUNS times while
# four busy loops run, two suites at a time. A test that depends on a quiet machine fails here.

set -eu
runs=$1
shift
passed=0
failed=0
loops=
suites=

finish() {
  # words are meant to split
  # shellcheck disable=SC2086
  kill $loops $suites 2>/dev/null || :
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
  suites=$!
  if wait $suites; then
    passed=$((passed + 1))
    suites=
  else
    suites=
    failed=$((failed + 1))
    echo "check-busy: run $run:"
    sed -n 's/^FAIL: //p' busy.out
    for suite; do
      ! grep -q '^FAIL ' "$suite.log" 2>/dev/null || grep '^[^ ]*:[0-9]*:[FE]:' "$suite.log" || tail -n 5 "$suite.log"
    done
  fi
done
rm -f busy.out
echo "check-busy: $# suites, $passed runs passed, $failed failed"
[ "$failed" = 0 ]
