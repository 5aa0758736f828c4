#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Reading a counter through the kernel's page costs at most 1.15 of the bare sequence, in
# instructions, with what finds the thread's page among them.

set -eu
export LC_ALL=C
: "${builddir:=.}"
program=$builddir/tests/programs/perf-cost
out=$(mktemp)
stripped=$(mktemp)
trap 'rm -f "$out" "$stripped"' EXIT

skipped() { echo "perf-cost: skipped: $*"; exit 77; }

[ -x "$program" ] || skipped 'no counter that is read through a page is built here'
command -v valgrind >/dev/null || skipped 'valgrind is not installed'
[ -z "${LOG_COMPILER:-}" ] || skipped 'the programs are for another CPU than valgrind'
case "${CFLAGS:-}" in
  *-O0* | *sanitize* | *--coverage*) skipped "the cost is that of optimised code, and CFLAGS are $CFLAGS" ;;
  *-O*) ;;
  *) skipped "the cost is that of optimised code, and CFLAGS are $CFLAGS" ;;
esac

# Some valgrinds do not understand what some compilers say for debuggers.
if ! "${STRIP:-strip}" -o "$stripped" "$program" 2>/dev/null; then
  cp "$program" "$stripped"
fi
chmod +x "$stripped"

# Instructions that the whole program executes.
instructions() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$stripped" "$@" >"$out" 2>&1 &&
    sed -n 's/.*Collected : *\([0-9][0-9]*\).*/\1/p' "$out" | grep . || { cat "$out" >&2; exit 1; }
}

# What 1000 more reads cost.
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
echo "perf-cost: 1000 reads: $bare instructions bare, $ours by the library"
[ "$bare" -gt 5000 ] || { echo 'perf-cost: that cannot be'; exit 1; }
[ $((ours * 100)) -gt $((bare * 115)) ] || exit 0
reason=$("$stripped" why-not)
[ -z "$reason" ] || skipped "$reason"
exit 1
