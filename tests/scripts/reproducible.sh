#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests that builds from the same sources have the same bytes: reproducible.sh SOURCE, from a build
# directory. Compares tarballs that are made in other directories, with another umask, language,
# time zone and time, with other options of tar and xz, and from an unpacked tarball. Compares the
# tarball's files with the files in git: two lists contain exactly the files that only one of them
# has. Compares all installed files of two builds. SOURCE is a checkout, including changes of
# tracked files, or an unpacked tarball, for which the part that needs git is skipped.

set -eu
srcdir=$1
. "$srcdir/tests/scripts/begin.sh"
work=$(pwd)/$work
source=$(cd "$srcdir" && pwd)
unset SOURCE_DATE_EPOCH XZ_OPT XZ_DEFAULTS TAR_OPTIONS MAKEFLAGS MFLAGS MAKELEVEL CDPATH DESTDIR

right() { echo "reproducible: $*"; }

# quietly COMMAND...: prints the output only if the command fails
quietly() {
  "$@" >"$work/out" 2>&1 || { cat "$work/out"; echo "reproducible: failed: $*"; exit 1; }
}

# same NAME FILE FILE: expects both files to be equal
same() {
  if cmp "$2" "$3"; then
    right "$1: $(sha256sum <"$2" | cut -d ' ' -f 1)"
  else
    wrong "$1: the files differ"
  fi
}

# dist DIRECTORY: makes a tarball from the sources there, with the current environment and umask
dist() {
  (
    cd "$1"
    [ -f configure ] || quietly ./bootstrap
    quietly ./configure -q --cache-file="$work/cache" CC="$CC"
    quietly make -s tarball
  )
}

# The files that autotools add to the tarball, and those in git that the tarball leaves out.
autotools='Makefile.in aclocal.m4 config.h.in configure
  build-aux/ar-lib build-aux/compile build-aux/config.guess build-aux/config.sub build-aux/depcomp
  build-aux/install-sh build-aux/ltmain.sh build-aux/missing build-aux/test-driver
  m4/libtool.m4 m4/ltoptions.m4 m4/ltsugar.m4 m4/ltversion.m4 m4/lt~obsolete.m4'
left_out='.ci/run .github/workflows/ci.yml .gitignore'

mkdir -p "$work/one/source" "$work/another~one" "$work/git" "$work/from-tarball"
two="$work/another~one"

if git -C "$source" rev-parse --verify -q HEAD >/dev/null && [ -e "$source/.git" ]; then
  commit=$(git -C "$source" stash create)
  git -C "$source" archive -o "$work/git.tar" "${commit:-HEAD}"
  (umask 022 && tar -x --no-same-permissions -C "$work/git" -f "$work/git.tar")
  cp -R "$work/git/." "$work/one/source"
  (umask 077 && mkdir "$two/s" && tar -x --no-same-permissions -C "$two/s" -f "$work/git.tar")
  find "$two/s" -exec touch -d '2001-02-03 04:05:06' {} +
  language=$(locale -a 2>/dev/null | grep -i -e '^de_DE.utf' -e '^tr_TR.utf' | head -n 1)
  [ -n "$language" ] ||
    skipped "another language: neither de_DE.UTF-8 nor tr_TR.UTF-8 is installed"
  (umask 022 && export LC_ALL=C TZ=UTC && dist "$work/one/source")
  (umask 077 && export LC_ALL="${language:-C.UTF-8}" TZ=Asia/Tokyo XZ_OPT=-0 TAR_OPTIONS=--owner=1 &&
    dist "$two/s")
  tarball=$(echo "$work"/one/source/*.tar.xz)
  same "tarball, in two directories" "$tarball" "$two/s/${tarball##*/}"
else
  commit=
  skipped "tarball against git: $source is not a checkout"
  (cd "$source" && tar -c --exclude='./check-*' --exclude='./*.tmp' .) | tar -x -C "$work/one/source"
  dist "$work/one/source"
  tarball=$(echo "$work"/one/source/*.tar.xz)
fi

tar -x -C "$work/from-tarball" -f "$tarball"
cp -Rp "$work/from-tarball" "$work/pristine"
unpacked=$(echo "$work"/from-tarball/*/)
unpacked=${unpacked%/}
dist "$unpacked"
same "tarball, made from a tarball" "$tarball" "$unpacked/${tarball##*/}"
pristine=$work/pristine/${unpacked##*/}

# Owner and time of every file: root, and the version's date.
stamps=$(TZ=UTC tar -t -v --numeric-owner --full-time -f "$tarball" |
  awk '{ print $2, $4, $5 }' | sort -u)
version=$(sed -n 's/^AC_INIT(\[[a-z]*\], \[\(....\)\(..\)\(..\)\].*/\1-\2-\3/p' "$pristine/configure.ac")
[ "$stamps" = "0/0 $version 00:00:00" ] ||
  wrong "owners and times in the tarball: $stamps; expected: 0/0 $version 00:00:00"

if [ -d "$work/git/lib" ]; then
  (cd "$work/git" && find . -type f -o -type l) | sed 's|^\./||' | LC_ALL=C sort >"$work/git.list"
  (cd "$pristine" && find . -type f -o -type l) | sed 's|^\./||' | LC_ALL=C sort >"$work/tarball.list"
  beyond=$(LC_ALL=C comm -13 "$work/git.list" "$work/tarball.list")
  lacking=$(LC_ALL=C comm -23 "$work/git.list" "$work/tarball.list")
  # words are meant to split
  # shellcheck disable=SC2086
  [ "$beyond" = "$(printf '%s\n' $autotools | LC_ALL=C sort)" ] ||
    wrong "in the tarball and not in git: $(echo $beyond); expected: $(echo $autotools)"
  # shellcheck disable=SC2086
  [ "$lacking" = "$(printf '%s\n' $left_out | LC_ALL=C sort)" ] ||
    wrong "in git and not in the tarball: $(echo $lacking); expected: $(echo $left_out)"
  compared=0
  for file in $(LC_ALL=C comm -12 "$work/git.list" "$work/tarball.list"); do
    cmp "$work/git/$file" "$pristine/$file" || wrong "$file: differs from the file in git"
    [ "$(test -x "$work/git/$file" && echo x)" = "$(test -x "$pristine/$file" && echo x)" ] ||
      wrong "$file: executable in git or in the tarball only"
    compared=$((compared + 1))
  done
  [ $compared -gt 100 ] || wrong "only $compared files are both in git and in the tarball"
  right "tarball: $compared files compared with git's," \
    "$(echo "$beyond" | wc -l) added by autotools, $(echo "$lacking" | wc -l) of git's left out"
fi

# Vendored macros equal those in their packages. cpucycles_*.m4 is ours.
for file in "$pristine"/m4/ax_*.m4 "$pristine"/m4/pkg.m4; do
  name=${file##*/}
  theirs=$(aclocal --print-ac-dir)/$name
  if [ -f "$theirs" ]; then
    package=$(dpkg-query -S "$theirs" 2>/dev/null | cut -d : -f 1)
    same "$name and the file in $package" "$file" "$theirs"
  else
    skipped "$name: autoconf-archive or pkg-config is not installed: no $theirs"
  fi
done

# build DIRECTORY: builds and installs, all below DIRECTORY. Only the debug information may contain
# the directory, and maps it.
build() {
  (
    mkdir -p "$1/build"
    cp -Rp "$pristine" "$1/source"
    cd "$1/build"
    quietly ../source/configure -q --cache-file="$work/cache" --prefix=/usr CC="$CC"
    quietly make -s -j2 install DESTDIR="$1/dest" \
      CFLAGS="-O2 -g -fdebug-prefix-map=$1=. -Werror=date-time"
  )
}

near=$work/b far=$work/b2/elsewhere
(umask 022 && export LC_ALL=C TZ=UTC && build "$near")
(umask 077 && export LC_ALL=C.UTF-8 TZ=Asia/Tokyo && build "$far")
built=$near/dest/usr/lib/libcpucycles
if [ ! -f "$built.so.1" ] || [ ! -f "$built.a" ]; then
  wrong "build: the shared or the static library is missing"
elif diff -r "$near/dest" "$far/dest"; then
  right "build: $(find "$near/dest" -type f | wc -l) installed files are the same from two directories"
else
  wrong "build: the installed files differ"
fi
! grep -r -l -F "$work" "$near/dest" || wrong "these files contain the path of the build directory"
exit $failed
