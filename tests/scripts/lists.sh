#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests that each counter is complete: its row, its file and its probe, both in local.mk, and its
# entry in the manual; and that each file of a counter has a row. Tests that all lists of reasons are
# equal, and that doc/promises.md has a row for each section of the manuals, and names each suite and
# script, and only those. The build without configure (embed.sh) needs the #if of each file.

set -eu
. "${srcdir:=.}/tests/scripts/begin.sh"

rows=$(sed -n 's/^CPUCYCLES_BACKEND(\([a-z0-9_]*\), "\([^"]*\)", "[^",]*")$/\1:\2/p' "$srcdir/backends/backends.def")
count=$(grep -c '^CPUCYCLES_BACKEND' "$srcdir/backends/backends.def")
[ "$(echo "$rows" | wc -l)" -eq "$count" ] ||
  wrong "a row of backends.def is not of the form CPUCYCLES_BACKEND(id, \"name\", \"summary without commas\")"
[ -n "$rows" ] || wrong "backends.def has no rows"

for row in $rows; do
  id=${row%%:*} name=${row#*:}
  [ "$(echo "$name" | tr - _)" = "$id" ] || wrong "$name: its identifier is $id"
  for file in backends/$name.c probes/$name.c; do
    [ -f "$srcdir/$file" ] || wrong "$file is missing"
    grep -q " += $file$" "$srcdir/backends/local.mk" || wrong "backends/local.mk does not name $file"
  done
  grep -q "^\.It Li $name$" "$builddir/lib/cpucycles-internals.7" ||
    wrong "$name: not in cpucycles-internals(7)"
done

for file in "$srcdir"/probes/*.c "$srcdir"/backends/*.c; do
  echo "$rows" | grep -q ":$(basename "$file" .c)$" || wrong "$file is in no list"
done

table=$srcdir/doc/promises.md
equal "the manuals" "$(cd "$srcdir" && cat lib/cpucycles.3.in lib/cpucycles-bench.3 \
  lib/cpucycles-internals.7.in cpucycles-info/cpucycles-info.1 perfex/libperfex.3 \
  perfex/perfex-events.7.in | sed -n 's/^\.S[hs] //p' |
  grep -vxE 'NAME|LIBRARY|SYNOPSIS|NOTES|SEE ALSO|HISTORY')" \
  doc/promises.md "$(sed -n -e '/^## Beside/q' -e 's/^| \(.*\) | .*[a-z].* |$/\1/p' "$table" | grep -vx section)"
equal tests/local.mk "$(sed -n 's,^[a-z_]* += tests/\(suites\|scripts\)/,,p' "$srcdir/tests/local.mk" | sort)" \
  doc/promises.md "$(grep -oE 'check_[a-z0-9_]+|[a-z-]+\.sh' "$table" | sort -u)"

# The library contains exactly the counters that were built, in order.
built=$(for row in $rows; do
  grep -q "^#define HAVE_BACKEND_${row%%:*} 1$" "$builddir/config.h" && echo "${row#*:}"
done || :)
if [ -n "$LOG_COMPILER" ] && [ -z "$EXEEXT" ]; then
  skipped "counters that the tool traces: it is for a CPU other than this one"
else
  traced=$($TOOL | sed -n 's/^cpucycles tracesetup [0-9]* \([^ ]*\) .*/\1/p')
  equal "config.h" "$built" "the trace" "$traced"
fi

# The library, the manual, the schema and the test of each reason have the same reasons. A table in a
# C file has rows of the form { "reason", NEXT...
in_table() { tr '\n' ' ' <"$1" | grep -o "{ *\"[a-z-]*\", *$2" | cut -d '"' -f 2; }
given=$(sed -n 's/^CPUC_REASON([A-Z_]*, "\([^"]*\)".*/\1/p' "$srcdir/sys/reasons.def" | sort)
explained=$(sed -n '/^\.Sh REASONS/,/^\.Sh FREQ/s/^\.It Li //p' \
  "$srcdir/lib/cpucycles-internals.7.in" | sort)
made=$(in_table "$srcdir/tests/suites/check_select.c" '{' | sort -u)
[ -n "$given" ] || wrong "no reasons in sys/reasons.def"
equal sys/reasons.def "$given" "cpucycles-internals(7)" "$explained"
schema=$(tr -d '\n' <"$srcdir/cpucycles-info/cpucycles-info.schema.json" |
  sed 's/.*"reason": {[[:space:]]*"enum": \[\([^]]*\)\].*/\1/' | tr ',' '\n' |
  sed -n 's/.*"\(.*\)".*/\1/p' | sort)
equal sys/reasons.def "$given" "the schema" "$schema"
equal sys/reasons.def "$given" tests/suites/check_select.c "$made"

exit $failed
