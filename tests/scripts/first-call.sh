#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests that the first call replaces each signal handler once, restores it once, and starts no
# process. Prints the number of all its system calls, which include those for files and perf events.
# It is at most 26 in a virtual machine with x86-64, no PMU, no cpufreq, and clocks that need no
# system call, if the flags of the first CPU end in the second read of /proc/cpuinfo.

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
# Each signal's disposition is set twice: it is replaced, and then restored.
repeated=$(sed -n 's/.*rt_sigaction(\([^,]*\), {.*/\1/p' $out | sort | uniq -c | awk '$1 > 2 { print $2 }')
processes=$(grep -E '(clone|clone3|fork|vfork|execve|execveat)\(' $out | grep -vc "execve(\"$program\"") || :
# The first call begins by blocking signals, and ends by unblocking them.
all=$(awk '/rt_sigprocmask\(/ { first = first ? first : NR; last = NR } END { print last - first + 1 }' $out)
echo "first-call: $all system calls, $actions rt_sigaction, $processes processes started"
[ -z "$repeated" ] || { echo "first-call: handlers replaced more than once:" $repeated; exit 1; }
[ "$actions" -gt 0 ] && [ "$processes" = 0 ] || exit 1
# The number is known on a virtual machine without a PMU, if the flags of the first CPU end in
# the second read of /proc/cpuinfo.
if [ "$(uname -m)" = x86_64 ] && grep -q '^flags.* hypervisor' /proc/cpuinfo 2>/dev/null &&
  head -c 1280 /proc/cpuinfo | grep -q '^bugs' &&
  [ ! -e /sys/devices/system/cpu/cpu0/cpufreq ] &&
  grep -q 'perf_event_open(.*ENOENT' $out && ! grep -q 'clock_gettime(' $out; then
  [ "$all" -le 26 ] || { echo 'first-call: more than 26 system calls'; exit 1; }
fi
