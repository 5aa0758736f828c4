#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Runs a script of "make check" and prints on the console the time that it took, as the suites do.

{ true >&9; } 2>/dev/null || exec 9>/dev/null

# Milliseconds; a date command without nanoseconds prints the letter N instead.
now() { date +%s%N | sed -e 's/N$/000000000/' -e 's/......$//'; }

began=$(now)
status=0
sh "$@" || status=$?
taken=$(($(now) - began))
printf '%d.%d s: %s\n' $((taken / 1000)) $((taken / 100 % 10)) "$1" >&9
exit $status
