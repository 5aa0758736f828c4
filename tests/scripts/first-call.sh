#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests that the first call makes at most 15 rt_sigaction and 4 rt_sigprocmask calls, and starts no
# process. Prints the number of all its system calls, which include those for files and perf events.

set -eu
: "${builddir:=.}"
out=first-call.tmp
trap 'rm -f $out' EXIT

if ! strace -o $out true 2>/dev/null; then
  echo "first-call: skipped: strace is not installed or may not trace"
  exit 77
fi
program=$builddir/tests/programs/first-call
if ${NM:-nm} "$program" 2>/dev/null | grep -q '__[a-z]*san_'; then
  echo "first-call: skipped: the sanitizer's run-time installs signal handlers of its own"
  exit 77
fi
[ -z "${LOG_COMPILER:-}" ] ||
  { echo "first-call: skipped: the program is for a CPU other than this one"; exit 77; }
strace -f -o $out "$program" >/dev/null 2>&1 ||
  { echo "first-call: exit status $? under strace"; exit 1; }
actions=$(grep -c 'rt_sigaction(' $out) || :
masks=$(grep -c 'rt_sigprocmask(' $out) || :
processes=$(grep -E '(clone|clone3|fork|vfork|execve|execveat)\(' $out | grep -vc "execve(\"$program\"") || :
# The first call begins by blocking signals, and ends by unblocking them.
all=$(awk '/rt_sigprocmask\(/ { first = first ? first : NR; last = NR } END { print last - first + 1 }' $out)
echo "first-call: $all system calls, $actions rt_sigaction, $masks rt_sigprocmask, $processes processes started"
[ "$actions" -gt 0 ] && [ "$actions" -le 15 ] && [ "$masks" -le 4 ] && [ "$processes" = 0 ]
