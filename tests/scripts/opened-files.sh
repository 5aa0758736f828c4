#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests that the library opens or looks for only files that SECURITY lists, and opens them read-only
# and close-on-exec, in the first call and in all later calls. Tests that the library starts no
# process and opens no connection, and that the first call replaces each signal handler at most once
# and restores it at most once. If a mount namespace can be created, repeats these tests with an
# empty /proc/cpuinfo.

set -eu
export LC_ALL=C
. "${srcdir:=.}/tests/scripts/begin.sh"
out=$work/out
program=$builddir/tests/programs/persecond

strace -o $out true 2>/dev/null || skip "strace is not installed, or may not trace"
! $NM "$program" 2>/dev/null | grep -q '__gcov_\|__[a-z]*san_' ||
  skip "the run-time of gcov or a sanitizer opens files of its own"
[ -z "$LOG_COMPILER" ] || skip "this machine cannot run the program without LOG_COMPILER"
traced='strace -f -e trace=%file,%network,%process,rt_sigaction'
$traced -o $out "$program" >/dev/null 2>&1 || wrong "exit status $? under strace"
grep -q '"/etc/cpucyclespersecond"' $out ||
  wrong "the library does not open /etc/cpucyclespersecond"
. "$srcdir/tests/hosts/mounts.sh"
empty="$in_other_mounts && mount --bind /dev/null /proc/cpuinfo"
if unshare -m sh -c "$empty" 2>/dev/null; then
  unshare -m sh -c "$empty && $traced -o $out.2 '$program'" >/dev/null 2>&1 ||
    wrong "exit status $? with an empty /proc/cpuinfo"
  grep -q '"/etc/cpucyclespersecond"' $out.2 ||
    wrong "the library does not open /etc/cpucyclespersecond with an empty /proc/cpuinfo"
else
  : >$out.2
  skipped "with an empty /proc/cpuinfo: a mount namespace cannot be created here"
fi

# SECURITY's list as regular expressions: N is a number, * a file name.
sed -n 's|^    \(/[^ ]*\)$|\1|p' "$srcdir/SECURITY" |
  sed -e 's|cpuN|cpu[0-9]\\+|' -e 's|\*|[^/]*|g' -e 's|.*|^&$|' >$out.list
[ "$(wc -l <$out.list)" -gt 5 ] || wrong "SECURITY lists no files"

# The loader's calls come before the library's first call, which opens /etc/cpucyclespersecond.
for run in $out $out.2; do
  sed -n '/"\/etc\/cpucyclespersecond"/,$p' $run | sed 's/^[0-9]* *//'
done >$out.calls
opened=$(sed -n 's/^[a-z0-9]*([^"]*"\([^"]*\)".*/\1/p' $out.calls | grep -v '^$' | sort -u)
foreign=$(echo "$opened" | grep -v -f $out.list || :)
[ -z "$foreign" ] || wrong "SECURITY does not list $(echo $foreign)"
for how in $(sed -n 's/^open[a-z]*([^"]*"[^"]*", \([A-Z_|]*\).*/\1/p' $out.calls | sort -u); do
  case $how in
    *O_WRONLY* | *O_RDWR* | *O_CREAT*) wrong "opens a file for writing: $how" ;;
    *O_CLOEXEC*) ;;
    *) wrong "opens a file without O_CLOEXEC: $how" ;;
  esac
done
# Each run sets the disposition of each signal at most twice: to replace it, and to restore it.
for run in $out $out.2; do
  repeated=$(sed -n 's/.*rt_sigaction(\([^,]*\), {.*/\1/p' $run | sort | uniq -c |
    awk '$1 > 2 { print $2 }')
  [ -z "$repeated" ] || wrong "dispositions set more than twice:" $repeated
  repeated=$(sed -n 's/.*rt_sigaction(\([^,]*\), {sa_handler=0x.*/\1/p' $run | sort | uniq -d)
  [ -z "$repeated" ] || wrong "handlers replaced more than once:" $repeated
done
grep -q 'rt_sigaction([^,]*, {' $out || wrong "no handler is replaced"
others=$(sed 's/(.*//' $out.calls | grep -v -x -e 'open' -e 'openat' -e 'rt_sigaction' \
  -e '\(f\|\)access[a-z0-9]*' -e 'newfstatat' -e 'fstat[a-z0-9]*' -e 'stat[a-z0-9]*' -e 'exit[a-z_]*' \
  -e '+++ exited.*' -e '--- SIG.*' || :)
[ -z "$others" ] || wrong "other system calls: $(echo "$others" | sort -u | tr '\n' ' ')"
[ $failed != 0 ] || echo "opened-files: $(echo "$opened" | wc -l) paths tried, all in SECURITY"
exit $failed
