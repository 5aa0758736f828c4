#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# The settings of the frequency, as an administrator and a user make them: a number in
# /etc/cpucyclespersecond overrides all; junk there, and in the environment, is skipped with a
# reason that cpucycles-info shows; programs that run with another's rights obey no environment. The
# folder /etc is one of a mount namespace, so that the system's own is left alone.

set -eu
: "${srcdir:=.}" "${builddir:=.}" "${EXEEXT:=}"
: "${TOOL:=$builddir/cpucycles-info/cpucycles-info}"
export srcdir builddir EXEEXT TOOL
persecond=$builddir/tests/programs/persecond$EXEEXT
out=./settings.tmp
failed=0

{ true >&9; } 2>/dev/null || exec 9>/dev/null

wrong() { echo "settings: $*"; failed=1; }
skipped() { echo "settings: skipped: $*" >&9; echo "settings: skipped: $*"; }

# What the tool says of the frequency, in at most a minute.
report() {
  timeout 60 $TOOL >$out || wrong "$1: exit status $?"
  source=$(sed -n 's/^cpucycles frequency source //p' $out)
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

# NAME, what it holds, the reason: written by printf, a line each.
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
  expect_skipped 'a FIFO that nobody writes to' "$usual" "$etc is no regular file"
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
  grep -qx 'cpucycles persecond 2400000001' $out || wrong 'a number is not obeyed'
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
"$persecond" >$out 2>/dev/null || { skipped 'programs do not run here as they are'; exit 77; }

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
  skipped "$etc: no mount namespace can be had here"
fi

# Runs a copy that has another's rights, with junk in the environment, which one without has to
# mention.
with_rights() {
  case $(cpucyclespersecond=junk CPUCYCLES_IMPLEMENTATION=nonesuch $out.copy) in
    set-id*cpucyclespersecond*|set-id*nonesuch*) wrong "$1 program listens to the environment" ;;
    set-id*) ;;
    *) skipped "$1 programs: there is no effect of that here" ;;
  esac
}

cp "$persecond" $out.copy
case $(cpucyclespersecond=junk CPUCYCLES_IMPLEMENTATION=nonesuch $out.copy) in
  *'; names: nonesuch is no counter of this library; skipped: cpucyclespersecond is no decimal number') ;;
  *) wrong 'a usual program does not listen to the environment' ;;
esac
if [ "$(id -u)" = 0 ]; then
  chown 65534 $out.copy
  chmod 4755 $out.copy
  with_rights set-user-ID
  chown 0 $out.copy
else
  skipped 'set-user-ID programs: only root can make one of another user'
fi
group=65534
[ "$(id -u)" = 0 ] || group=$(id -G | tr ' ' '\n' | grep -vx "$(id -g)" | head -n 1)
if [ -n "$group" ] && chgrp "$group" $out.copy; then
  chmod 2755 $out.copy
  with_rights set-group-ID
else
  skipped 'set-group-ID programs: this user is in one group only'
fi
exit $failed
