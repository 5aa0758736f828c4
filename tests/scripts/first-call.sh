#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests the system calls of the first call: at most 10 rt_sigaction calls, and no new process.

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
strace -f -o $out -e trace=process,rt_sigaction "$program" >/dev/null 2>&1 ||
  { echo "first-call: skipped: the program does not run here"; exit 77; }
actions=$(grep -c rt_sigaction $out) || :
processes=$(grep -E '(clone|clone3|fork|vfork|execve|execveat)\(' $out | grep -vc "execve(\"$program\"") || :
echo "first-call: $actions rt_sigaction calls, $processes processes started"
[ "$actions" -gt 0 ] && [ "$actions" -le 10 ] && [ "$processes" = 0 ]
