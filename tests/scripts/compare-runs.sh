#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Runs examples/compare-runs.sh on files made here: what it prints, and its exit status, for each
# verdict and for each reason not to judge.

set -eu
. "${srcdir:=.}/tests/scripts/begin.sh"
: "${SHELL:=/bin/sh}"
compare=$srcdir/examples/compare-runs.sh
cases=0

[ -n "$(command -v jq)" ] || skip "jq is not installed"

# result NAME PROCESS CYCLES [MARK [MEDIAN [COUNTER [UNIT [SAMPLES]]]]]: a line of a file
result() {
  printf '{"name":"%s","counter":"%s","unit":"%s","version":"20261121","process":"%s",' \
    "$1" "${6:-amd64-tsc}" "${7:-reference cycles}" "$2"
  printf '"cycles":%s,"median":%s,"samples":%s,"mark":"%s","note":null}\n' \
    "$3" "${5:-1000}" "${8:-100}" "${4:-}"
}

# runs NAME CYCLES...: results of one process each
runs() {
  name=$1
  shift
  for cycles; do result "$name" "$name-$cycles-$#" "$cycles"; shift; done
}

# counts COUNTER UNIT MEDIAN...: results without core cycles
counts() {
  counter=$1 unit=$2
  shift 2
  for median; do result hash "$median" 0 '' "$median" "$counter" "$unit"; done
}

# expect STATUS PATTERN [PERCENT]: compares $work/old and $work/new. Status 2 of a whole file has
# one line, on standard error.
expect() {
  status=0
  cases=$((cases + 1))
  "$SHELL" "$compare" $work/old $work/new ${3+"$3"} >$work/said 2>$work/error || status=$?
  cat $work/error >>$work/said
  [ "$status" = "$1" ] && grep -q -e "$2" $work/said ||
    wrong "exit status $status instead of $1, or no line with '$2' in: $(cat $work/said)"
}
expect_only() {
  expect "$@"
  [ "$(wc -l <$work/said)" -eq 1 ] && grep -q '^compare-runs: ' $work/error ||
    wrong "more than one sentence: $2"
}

runs hash 1000 1001 1002 >$work/old
cp $work/old $work/new
expect 0 '^hash  *1001.0  *1001.0 core cycles  ratio 1.0000  spread 0.2 %  same$'
runs hash 1030 1031 1032 >$work/new
expect 1 '^hash .* ratio 1.0300  spread 0.2 %  slower$'
expect 0 'same$' 3.5
runs hash 970 971 972 >$work/new
expect 0 'faster$'
runs hash 1020 1021.02 1022.04 >$work/new # the limit, also in floating-point arithmetic
expect 0 'same$'
expect 1 'slower$' 0.5

# The spread: between PERCENT and the change; above both
runs hash 1050 1075 1100 >$work/new
expect 1 'ratio 1.0739  spread 4.7 %  slower$'
runs hash 1000 1025 1050 >$work/new
expect 2 'spread 4.9 %  not judged: the processes differ by more than 2 %$'
runs hash 900 925 950 >$work/new
expect 2 'not judged: the processes differ'

# A median of processes: one outside does not move it, and results of one process count once
{ runs hash 1000 1001 1002 1003; result hash p 1004; result hash p 1005; result hash p 1006; } \
  >$work/new
expect 0 'ratio 1.0010  spread 0.5 %  same$'
{ runs hash 1000 1001; result hash p 1002; result hash p 1003; result hash p 1004; } >$work/new
expect 0 'same$'
{ result hash p 1002; result hash p 1003; result hash p 1004; } >$work/new
expect 2 "not judged: $work/new has unmarked results of fewer than 3 processes$"

# Missing names, in either file; 1 precedes 2
{ runs hash 1000 1001 1002; runs sort 5 5 5; } >$work/new
expect 2 "^sort .*not judged: $work/old does not have it$"
expect 2 '^hash .*same$'
runs sort 5 5 5 >$work/new
expect 2 "^hash .*not judged: $work/new does not have it$"
{ runs hash 1100 1101 1102; runs sort 5 5 5; } >$work/new
expect 1 '^sort .*not judged'
expect 1 '^hash .*slower$'

# Marked results, and those without samples
{ runs hash 1000 1001 1002; result hash p 5000 crowded; result hash q 5000 crowded;
  result hash r 0 '' 0 '' '' 0; } >$work/new
expect 0 "same; left out of $work/new: crowded (2), no samples (1)$"
{ runs hash 1000 1001; result hash p 5000 crowded; } >$work/new
expect 2 "not judged: $work/new has unmarked .*; left out of $work/new: crowded (1)$"
mv $work/new $work/old
runs hash 1000 1001 1002 >$work/new
expect 2 "not judged: $work/old has unmarked .*; left out of $work/old: crowded (1)$"

# Counts, where core cycles are not known in both files
counts default-monotonic nanoseconds 100 100 100.5 | awk '{ sub(/"p*100"/, "\"" NR "\"") } 1' \
  >$work/old
sed 's/"median":100/"median":110/' $work/old >$work/new
expect 1 '^hash  *100.0  *110.0 nanoseconds  ratio 1.1000 .* slower$'
sed 's/default-monotonic/default-mach/' $work/old >$work/new
expect 2 'not judged: core cycles are not known, and the counters differ$'
sed 's/nanoseconds/microseconds/' $work/old >$work/new
expect 2 'not judged: core cycles are not known, and the counters differ$'
runs hash 1000 1001 1002 >$work/new
expect 2 'not judged: core cycles are not known, and the counters differ$'
sed 's/amd64-tsc/amd64-rdpru/; s/,"median":1000/,"median":3/' $work/new >$work/old
expect 0 'core cycles  ratio 1.0000  spread 0.2 %  same$'
runs hash 0 0 0 | sed 's/"median":1000/"median":0/; s/hash-0/&x/' >$work/old
cp $work/old $work/new
expect 2 'not judged: a result is 0$'

# Files that are not results
runs hash 1000 1001 1002 >$work/old
for bad in 'not JSON' '' '[]' '3' '{"name":"hash"}' \
  "$(result hash p '"1000"')" "$(result hash p -1)" "$(result hash p 1e400)" \
  "$(result hash p 1000)$(result hash q 1000)" "$(result hash p 1000 | cut -c 1-60)"; do
  { cat $work/old; echo "$bad"; cat $work/old; } >$work/new
  expect_only 2 "^compare-runs: $work/new is malformed: line 4 is not a result"
done
printf '%s' "$(result hash p 1000 | cut -c 1-60)" >$work/new
expect_only 2 "^compare-runs: $work/new is malformed: line 1 "
: >$work/new
expect_only 2 "^compare-runs: $work/new is empty$"
rm $work/new
expect_only 2 "^compare-runs: $work/new cannot be read$"
mkdir $work/new
expect_only 2 "^compare-runs: $work/new cannot be read$"
rmdir $work/new
sed 's/$/\r/' $work/old >$work/new # as Windows ends lines
expect 0 'same$'
sed 's/"hash"/"a\\u001b[1m\\n\\"b\\\\c"/' $work/old >$work/new
cp $work/new $work/old
expect 0 '^a?\[1m?"b\\c  *1001.0.*same$'
for percent in '' 0 0.0 two -2 1e3 . 2.2.2 2%; do
  expect_only 2 '^compare-runs: .*percent' "$percent"
done
expect 0 'same$' .5

if "$SHELL" "$compare" $work/old >$work/said 2>&1 || ! grep -q '^compare-runs: usage: ' $work/said; then
  wrong "one file gives no usage"
fi
echo "compare-runs: $cases comparisons"
exit $failed
