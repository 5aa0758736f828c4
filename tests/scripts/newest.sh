#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# "make check-newest": newest.sh SOURCE, from a build directory, as root. SOURCE is an unpacked
# tarball. Installs the newest Debian (or RELEASE) with debootstrap in a separate directory. Runs
# there the first command of README as root, and the second as an ordinary user with /proc only: no
# /sys, no devpts, no network, a path with "+" and "~". Then runs check-clang as root, and
# check-packages.
# The mounts are in a separate mount namespace, and end with it.

set -eu
export LC_ALL=C
source=$(cd "$1" && pwd)
: "${RELEASE:=sid}"
work=$(pwd)/check-newest
root=$work/root

skip() { echo "check-newest: skipped: $*"; exit 0; }
step() { echo "check-newest: $RELEASE: $*"; }
fail() { cat "$work/out"; echo "check-newest: $RELEASE: FAILED: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || skip "only root can install a system in a directory"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
. "$source/tests/hosts/mounts.sh"
unshare --mount --pid --fork sh -c "$in_other_mounts" 2>/dev/null ||
  skip "a mount namespace cannot be created here"
rm -rf --one-file-system "$work"
mkdir -p "$work"

# The mirror of this machine's own packages, or debootstrap's default if this mirror is not known.
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' \
  'Origin: Debian' 'Component: main' 2>/dev/null |
  sed -n '/-\(security\|updates\|backports\)$/!{s/ .*//p;q;}')
step "debootstrap"
# words are meant to split
# shellcheck disable=SC2086
debootstrap --variant=minbase "$RELEASE" "$root" $mirror >"$work/out" 2>&1 || fail debootstrap
# The system is deleted after this run, so dpkg need not wait for the disk.
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
# A mirror's index may have expired.
echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/mirror"
cp /etc/resolv.conf "$root/etc/resolv.conf"

# as_root COMMAND: runs it in the new root, with /proc, /sys and /dev
as_root() {
  unshare --mount --pid --fork --kill-child sh -c '
    mount -t proc proc "$1/proc" && mount --rbind /sys "$1/sys" && mount --rbind /dev "$1/dev" &&
      exec chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
        DEBIAN_FRONTEND=noninteractive VERBOSE=1 CPUCYCLES_TEST_WERROR=-Werror \
        sh -c "cd ~/libcpucycles && $2"' sh "$root" "$1"
}

# as_user COMMAND: runs it in the new root as an ordinary user, with /proc only
as_user() {
  unshare --mount --pid --net --fork --kill-child sh -c '
    mount -t proc proc "$1/proc" &&
      exec chroot "$1" setpriv --reuid 1000 --regid 1000 --clear-groups /usr/bin/env -i VERBOSE=1 \
        CPUCYCLES_TEST_WERROR=-Werror PATH=/usr/bin:/bin HOME=/home/user LC_ALL=C \
        sh -c "cd ~/c++~cycles && $2"' sh "$root" "$1"
}

# passes NAME RUN COMMAND: expects success and no compiler warning
passes() {
  step "$1: $3"
  "$2" "$3" >"$work/out" 2>&1 || fail "$1"
  grep -E '^(# (TOTAL|PASS|SKIP|FAIL)|skipped: |SKIP: |packages: )' "$work/out" || :
  ! grep -E '^[^ ]*\.[ch]:[0-9:]* warning: ' "$work/out" || fail "$1: warnings"
}

copy() {
  mkdir -p "$root$1"
  cp -a "$source/." "$root$1"
  chmod -R u+w "$root$1"
}

copy /root/libcpucycles
report=$(sed -n 's/^ *\(\.\/bootstrap --deps && .*cpucycles-info\)$/\1/p' "$source/README")
tests=$(sed -n 's/^ *\(\.\/bootstrap --deps && .*make check\)$/\1/p' "$source/README")
passes 'README, the first command, as root' as_root "$report"
grep '^cpucycles implementation ' "$work/out"

copy "/home/user/c++~cycles"
chown -R 1000:1000 "$root/home/user"
passes 'README, the second command, as an ordinary user' as_user "$tests"

packages='clang build-essential debhelper lintian fakeroot rpm rpmlint xz-utils'
passes 'packages' as_root "apt-get install -y --no-install-recommends $packages"
passes 'check-clang' as_root 'make -s check-clang'
passes 'check-packages' as_root 'PACKAGES="deb rpm archive" make -s check-packages'
! grep skipped "$work/out" || fail 'check-packages: skipped'
rm -rf --one-file-system "$work"
step passed
