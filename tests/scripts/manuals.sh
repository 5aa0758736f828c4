#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Checks that no manual page causes a warning in groff, run by man as lintian runs it, or in
# mandoc; that cpucycles(3) has at most 540 lines of 80 columns, cpucycles-bench(3) 380, and README
# 175; and that no text after a macro begins with "In", which is a macro itself.

set -eu
. "${srcdir:=.}/tests/scripts/begin.sh"
page=$work/page

warnings_of() {
  case $1 in
    man) LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 \
      man --warnings -E UTF-8 -l -Tutf8 -Z "$2" 2>&1 >/dev/null ;;
    mandoc) mandoc -T lint -W warning "$2" 2>&1 ;;
  esac || :
}

lines_of() {
  case $1 in
    man) LC_ALL=C.UTF-8 MANWIDTH=80 man -l "$2" ;;
    mandoc) mandoc -O width=80 "$2" ;;
  esac | wc -l
}

# A formatter is used if it prints no warning for a correct page, and one for an unknown macro.
formatters=
for formatter in man mandoc; do
  printf '.Dd November 21, 2026\n.Dt PAGE 7\n.Os\n.Sh NAME\n.Nm page\n.Nd a page\n' >$page
  good=$(warnings_of $formatter ./$page)
  printf '.Xx\n' >>$page
  [ -n "$good" ] || [ -z "$(warnings_of $formatter ./$page)" ] || formatters="$formatters $formatter"
done
[ -n "$formatters" ] || { echo 'manuals: neither man-db with groff nor mandoc works' >&2; exit 1; }

pages=0
for manual in "$srcdir"/cpucycles-info/*.1 "$builddir"/lib/cpucycles.3 \
  "$builddir"/lib/cpucycles-internals.7 \
  "$srcdir"/lib/cpucycles-bench.3 "$srcdir"/perfex/*.3 "$builddir"/perfex/*.7; do
  [ -f "$manual" ] || continue # built without libperfex
  pages=$((pages + 1))
  for formatter in $formatters; do
    warnings=$(warnings_of $formatter "$manual")
    [ -z "$warnings" ] || wrong "$formatter: $manual: $warnings"
  done
done
# shorter FILE LINES: the manual has at most so many lines, and at least a fifth of them
shorter() {
  for formatter in $formatters; do
    lines=$(lines_of $formatter "$1")
    [ "$lines" -gt $(($2 / 5)) ] && [ "$lines" -le "$2" ] ||
      wrong "$formatter: $1 has $lines lines, not $2 at most"
  done
}
shorter "$builddir/lib/cpucycles.3" 540
shorter "$srcdir/lib/cpucycles-bench.3" 380
lines=$(wc -l <"$srcdir/README")
[ "$lines" -le 175 ] || wrong "README has $lines lines, not 175 at most"
macros=$(grep -n '^\.[A-Z][a-z] In ' "$srcdir"/cpucycles-info/*.1 "$srcdir"/lib/*.in \
  "$srcdir"/lib/cpucycles-bench.3 "$srcdir"/perfex/*.3 "$srcdir"/perfex/*.7.in || :)
[ -z "$macros" ] || wrong "the word In is a macro here: $macros"
echo "manuals: $pages pages checked by:$formatters"
exit $failed
