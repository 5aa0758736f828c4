#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests the tool's plain report without Python, in a locale with a decimal comma: the form and order
# of the lines, the reasons, the summary, and the settings that the library ignores. report.py tests
# the JSON document, forced counters and the arguments.

set -eu
export LC_ALL=C
: "${srcdir:=.}" "${builddir:=.}"
: "${TOOL:=$builddir/cpucycles-info/cpucycles-info}"
out=info.tmp
failed=0
trap 'rm -f $out $out.folded $out.forms $out.pairs' EXIT

wrong() { echo "info: $*"; failed=1; }
# Runs the tool, and joins the lines that it folds.
report() { $TOOL >$out.folded && sed -e ':a' -e '$!N' -e 's/\n    / /' -e ta -e P -e D $out.folded >$out; }

if [ -n "${LOG_COMPILER:-}" ] && [ -z "${EXEEXT:-}" ]; then
  echo "info: skipped: the tool is for a CPU other than this one"
  exit 77
fi
$TOOL --version >$out
version=$(sed -n 's/^#define PACKAGE_VERSION "\(.*\)"/\1/p' "$builddir/config.h")
[ "$(head -n 1 $out)" = "cpucycles-info (libcpucycles) $version" ] || wrong "--version: $(cat $out)"

# The form of each line, after a number that never decreases from line to line of a report.
cat >$out.forms <<'END'
1:cpucycles version [0-9]{8}
2:cpucycles tracesetup [0-9]+ [a-z0-9-]+ precision [0-9]+ scaling [0-9]+\.[0-9]{6} only32 [01]
3:cpucycles persecond [0-9]+
4:cpucycles implementation [a-z0-9-]+
5:cpucycles iqm -?[0-9]+ ([+-][0-9]+){64}
6:cpucycles observed persecond [0-9]+\.\.\.[0-9]+ with [0-9]+ loops [0-9]+ microseconds
7:cpucycles (system|cpu|frequency|ignored|core|timer|dropped|last resort|note|clock|governor|turbo|warning) .+
8:cpucycles summary (counter|core|read|better|enable|warning) .+
END

comma=
for name in $(locale -a 2>/dev/null); do
  [ "$(LC_ALL=$name locale decimal_point 2>/dev/null)" != , ] || comma=$name
done
[ -n "$comma" ] || echo "info: skipped: decimal comma: no locale with one is installed"
(export LC_ALL="${comma:-C}" cpucyclespersecond=junk CPUCYCLES_IMPLEMENTATION=nonesuch,default-zero
  report) || wrong "exit status $?"
# pairs: number of a line, number of its form
while IFS=: read -r number expression; do
  grep -nEx -e "$expression" $out | sed "s/:.*/ $number/" || :
done <$out.forms | sort -n >$out.pairs
for number in $(awk 'NR == FNR { known[$1] = 1; next } !(FNR in known) { print FNR }' $out.pairs $out); do
  wrong "not a line of the report: $(sed -n "${number}p" $out)"
done
for number in $(awk '$2 < at { print $1 } { at = $2 }' $out.pairs); do
  wrong "out of order: $(sed -n "${number}p" $out)"
done
[ -z "$(awk '/^cpucycles system/ { ours = 1 } ours && length > 80' $out.folded)" ] ||
  wrong "a line of ours is longer than 80 columns"
# a summary of at most ten lines ends the report
summary=$(sed '1,/^cpucycles observed.*1048576 loops/d' $out | sed -n '/^cpucycles summary /,$p')
case $(echo "$summary" | grep -c '^cpucycles summary ')$(echo "$summary" | grep -vc '^cpucycles summary ') in
  [4-9]0 | 100) ;;
  *) wrong "summary: $summary" ;;
esac
# the last rows of a terminal show it
for line in counter core read better; do
  tail -n 12 $out.folded | grep -q "^cpucycles summary $line " || wrong "no summary $line in the last 12 rows"
done
[ "$(sed -n 's/.* with \([0-9]*\) loops .*/\1/p' $out | tr '\n' ' ')" = \
  "1024 2048 4096 8192 16384 32768 65536 131072 262144 524288 1048576 " ] || wrong "loops"
for line in version persecond implementation iqm frequency 'cpu model' 'core persecond'; do
  [ "$(grep -c "^cpucycles $line " $out)" = 1 ] || wrong "not one $line line"
done
# each counter of precision 0, and no other, has a line with its reason: dropped, or last resort
for name in $(sed -n 's/^cpucycles tracesetup [0-9]* \([^ ]*\) precision 0 .*/\1/p' $out); do
  grep -Eq "^cpucycles (dropped|last resort) $name " $out || wrong "no reason for $name"
done
[ "$(grep -Ec '^cpucycles (dropped|last resort) ' $out)" = \
  "$(grep -c '^cpucycles tracesetup .* precision 0 ' $out)" ] || wrong "the number of reasons is not that of counters with precision 0"
implementation=$(sed -n 's/^cpucycles implementation //p' $out)
grep -q "^cpucycles tracesetup [0-9]* $implementation " $out || wrong "$implementation was not tried"
# a setting that the library does not follow is in the report, and the selection is then automatic
grep -q '^cpucycles frequency estimate .*; ignored: cpucyclespersecond is not a decimal number$' $out ||
  wrong "malformed cpucyclespersecond: $(grep '^cpucycles frequency' $out)"
ignored='nonesuch is not a counter of this library; default-zero does not work here: not-increasing'
grep -qx -e "cpucycles ignored in CPUCYCLES_IMPLEMENTATION: $ignored" \
  -e 'cpucycles implementation default-zero' $out ||
  wrong "counters that cannot be used: $(grep '^cpucycles ignored' $out)"
! grep -q not-asked $out || wrong "counters that cannot be used: others are left out"
exit $failed
