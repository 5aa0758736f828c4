#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests the settings of the frequency. A number in /etc/cpucyclespersecond overrides every other
# source; junk there and in the environment is ignored, with a reason (info.sh tests that the tool
# prints it); set-user-ID and set-group-ID programs ignore the environment. /etc is a tmpfs in a
# mount namespace: the /etc of the system is not changed.

set -eu
: "${srcdir:=.}" "${builddir:=.}" "${EXEEXT:=}"
export srcdir builddir EXEEXT
persecond=$builddir/tests/programs/persecond$EXEEXT
out=./settings.tmp
failed=0

{ true >&9; } 2>/dev/null || exec 9>/dev/null

wrong() { echo "settings: $*"; failed=1; }
skipped() { echo "settings: skipped: $*" >&9; echo "settings: skipped: $*"; }

# Not every system has this command.
minute=
! command -v timeout >/dev/null || minute='timeout 60'

# report NAME: sets $estimate and $source, and ends after a minute at the latest.
report() {
  source=$($minute "$persecond") || wrong "$1: exit status $?"
  estimate=${source%% *} source=${source#* }
}

expect_skipped() {
  report "$1"
  case $source in
    "$2"*"; skipped: $3") ;;
    *) wrong "$1: frequency source $source" ;;
  esac
}

etc=/etc/cpucyclespersecond
junk_number='is no decimal number'
junk_range='is below 1000 or above 1000000000000'

# Rows of name, text for printf %b, and expected reason.
junk_texts() {
  cat <<END
text|fast\n|$junk_number
negative|-5\n|$junk_number
nan|nan\n|$junk_number
1e300|1e300\n|$junk_number
hexadecimal|0x8f0d1800\n|$junk_number
zero|0\n|$junk_range
too large|1000000000001\n|$junk_range
empty||is empty
END
}

in_etc() {
  report 'no setting'
  usual=${source%%;*}
  junk_texts >$out.list
  while IFS='|' read -r name text reason; do
    printf %b "$text" >$etc
    expect_skipped "$name in $etc" "$usual" "$etc $reason"
  done <$out.list
  rm $etc
  mkdir $etc
  expect_skipped 'a directory' "$usual" "$etc is no regular file"
  rmdir $etc
  mkfifo $etc
  expect_skipped 'a FIFO without a writer' "$usual" "$etc is no regular file"
  rm $etc
  head -c 65536 /dev/zero | tr '\0' 1 >$etc
  truncate -s 2G $etc # digits, then a hole
  expect_skipped '2 GB' "$usual" "$etc is too long for a number"
  rm $etc
  ln -s $etc $etc
  expect_skipped 'a link to itself' "$usual" "$etc cannot be opened"
  rm $etc
  echo 2400000001 >$etc
  report 'a number'
  [ "$source" = $etc ] || wrong "a number: frequency source $source"
  [ "$estimate" = 2400000001 ] || wrong "a number is not used: $estimate"
  cpucyclespersecond=2500000000 report 'a number, and the environment'
  [ "$source" = "$etc; skipped: cpucyclespersecond is not needed" ] ||
    wrong "a number, and the environment: frequency source $source"
}

if [ "${1:-}" = --inside ]; then
  mkdir $out.etc
  cp /etc/ld.so.* $out.etc 2>/dev/null || :
  mount -t tmpfs none /etc
  cp -r $out.etc/* /etc 2>/dev/null || :
  in_etc
  exit $failed
fi

trap 'rm -rf $out $out.*' EXIT
rm -rf $out.*
"$persecond" >$out 2>/dev/null || { skipped 'the programs do not run here without a launcher'; exit 77; }

junk_texts >$out.list
while IFS='|' read -r name text reason; do
  cpucyclespersecond=$(printf %b "$text")
  export cpucyclespersecond
  expect_skipped "$name in the environment" '' "cpucyclespersecond $reason"
done <$out.list
unset cpucyclespersecond

namespace='unshare -m'
[ "$(id -u)" = 0 ] || namespace='unshare -rm'
if $namespace mount -t tmpfs none /etc 2>/dev/null; then
  $namespace sh "$0" --inside || failed=1
else
  skipped "$etc: a mount namespace cannot be created here"
fi

# with_rights KIND: runs the copy, which is set-user-ID or set-group-ID, with junk in the
# environment; an ordinary program would print a reason for skipping it.
with_rights() {
  case $(cpucyclespersecond=junk CPUCYCLES_IMPLEMENTATION=nonesuch $out.copy) in
    set-id*cpucyclespersecond*|set-id*nonesuch*) wrong "a $1 program uses the environment" ;;
    set-id*) ;;
    *) skipped "$1 programs: the bit has no effect here" ;;
  esac
}

cp "$persecond" $out.copy
case $(cpucyclespersecond=junk CPUCYCLES_IMPLEMENTATION=nonesuch $out.copy) in
  *'; names: nonesuch is no counter of this library; skipped: cpucyclespersecond is no decimal number') ;;
  *) wrong 'an ordinary program ignores the environment' ;;
esac
if [ "$(id -u)" = 0 ]; then
  chown 65534 $out.copy
  chmod 4755 $out.copy
  with_rights set-user-ID
  chown 0 $out.copy
else
  skipped 'set-user-ID programs: only root can create one for another user'
fi
group=65534
[ "$(id -u)" = 0 ] || group=$(id -G | tr ' ' '\n' | grep -vx "$(id -g)" | head -n 1)
if [ -n "$group" ] && chgrp "$group" $out.copy; then
  chmod 2755 $out.copy
  with_rights set-group-ID
else
  skipped 'set-group-ID programs: this user has one group only'
fi
exit $failed
