#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests the settings of the library in whole programs. A number in /etc/cpucyclespersecond
# overrides the sources of this machine; check_frequency tests the order of all sources, and
# malformed text. Set-user-ID and set-group-ID programs ignore the environment. /etc is a tmpfs in a
# mount namespace, so the system's own /etc is not changed.

set -eu
. "${srcdir:=.}/tests/scripts/begin.sh"
. "$srcdir/tests/hosts/mounts.sh"
persecond=$builddir/tests/programs/persecond$EXEEXT
out=./$work/program
etc=/etc/cpucyclespersecond
[ -z "$LOG_COMPILER" ] || skip 'this machine cannot run the programs without LOG_COMPILER'
unset CPUCYCLES_IMPLEMENTATION cpucyclespersecond

namespace='unshare -m'
[ "$(id -u)" = 0 ] || namespace='unshare -rm'
in_etc="$in_other_mounts && mount -t tmpfs none /etc"
mkdir $work/etc
cp /etc/ld.so.* $work/etc 2>/dev/null || :
if $namespace sh -c "$in_etc" 2>/dev/null; then
  found=$($namespace sh -c "$in_etc && { cp $work/etc/* /etc 2>/dev/null || :; } &&
    echo 2400000001 >$etc && '$persecond'") || wrong "a number: exit status $?"
  case $found in
    "2400000001 $etc"*) ;;
    *) wrong "a number is not used: $found" ;;
  esac
else
  skipped "$etc: a mount namespace cannot be created here"
fi

# The first text is malformed, so that an ordinary program reports why it was ignored.
export cpucyclespersecond=junk CPUCYCLES_IMPLEMENTATION=nonesuch T5_EVENT0=24
print=$builddir/tests/programs/perfex-print$EXEEXT # only with libperfex
said() { $out.print 2>&1 | head -n 1; }

# with_rights KIND MODE: runs the copies, which this mode makes set-user-ID or set-group-ID
with_rights() {
  chmod "$2" $out.*
  case $($out.copy) in
    set-id*'ignored: cpucyclespersecond '* | set-id*nonesuch*)
      wrong "a $1 program reads the environment" ;;
    set-id*)
      [ ! -f $out.print ] || said | grep -q ' 0 cycles ' ||
        wrong "a $1 program reads the environment of libperfex: $(said)" ;;
    *) skipped "$1 programs: the bit has no effect here" ;;
  esac
}

cp "$persecond" $out.copy
case $($out.copy) in
  *'; names: nonesuch is not a counter of this library; ignored: cpucyclespersecond is not a decimal number') ;;
  *) wrong 'an ordinary program does not read the environment' ;;
esac
if [ -f "$print" ]; then
  cp "$print" $out.print
  said | grep -q '24 mispredicted branches ' ||
    wrong "an ordinary program does not read the environment of libperfex: $(said)"
fi
if [ "$(id -u)" != 0 ]; then
  skipped 'set-user-ID programs: only root can create one for another user'
elif ! chown 65534 $out.*; then
  skipped 'set-user-ID programs: no other user can own a file here'
else
  with_rights set-user-ID 4755
  chown 0 $out.*
fi
group=65534
[ "$(id -u)" = 0 ] || group=$(id -G | tr ' ' '\n' | grep -vx "$(id -g)" | head -n 1)
if [ -n "$group" ] && chgrp "$group" $out.*; then
  with_rights set-group-ID 2755
else
  skipped 'set-group-ID programs: no other group can own a file here'
fi
exit $failed
