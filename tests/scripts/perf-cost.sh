#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests that the library's read through a perf event's mmap page executes at most 1.15 times the
# instructions of the bare sequence, although it must also find the thread's page.

set -eu
: "${builddir:=.}"
program=$builddir/tests/programs/perf-cost
out=$(mktemp)
stripped=$(mktemp)
trap 'rm -f "$out" "$stripped"' EXIT

skipped() { echo "perf-cost: skipped: $*"; exit 77; }

[ -x "$program" ] || skipped 'no counter that is read through an mmap page is built here'
valgrind --tool=callgrind --callgrind-out-file=/dev/null true >"$out" 2>&1 ||
  skipped "valgrind is not installed or does not run here: $(tail -n 1 "$out")"
[ -z "${LOG_COMPILER:-}" ] || skipped 'the programs are for a CPU other than this one'
case "${CFLAGS:-}" in
  *-O0* | *sanitize* | *--coverage*)
    skipped "the bound is for optimized code without instrumentation, and CFLAGS are $CFLAGS"
    ;;
  *-O*) ;;
  *) skipped "the bound is for optimized code without instrumentation, and CFLAGS are $CFLAGS" ;;
esac

# Some versions of valgrind do not understand some compilers' debug information.
if ! "${STRIP:-strip}" -o "$stripped" "$program" 2>/dev/null; then
  cp "$program" "$stripped"
fi
chmod +x "$stripped"

# Prints the number of instructions that the whole program executes.
instructions() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$stripped" "$@" >"$out" 2>&1 &&
    sed -n 's/.*Collected : *\([0-9][0-9]*\).*/\1/p' "$out" | grep . || { cat "$out" >&2; exit 1; }
}

# Prints the instructions of 1000 reads: the difference of two runs.
per_1000() {
  more=$(instructions "$1" 2000)
  less=$(instructions "$1" 1000)
  echo $((more - less))
}

nothing=$(per_1000 nothing)
with_bare=$(per_1000 bare)
with_ours=$(per_1000 ours)
bare=$((with_bare - nothing))
ours=$((with_ours - nothing))
echo "perf-cost: 1000 reads: $bare instructions bare, $ours with the library"
[ "$bare" -gt 5000 ] || { echo 'perf-cost: too few instructions for 1000 reads'; exit 1; }
[ $((ours * 100)) -gt $((bare * 115)) ] || exit 0
reason=$("$stripped" why-not)
[ -z "$reason" ] || skipped "$reason"
exit 1
