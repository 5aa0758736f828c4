#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Builds distribution packages from contrib/: packages.sh TARBALL VERSION, from a build directory,
# as root. lintian (for RPMs: rpmlint) finds no error and no warning; the packages are installed in
# a scratch root over an older libcpucycles1, whose client still runs; clients build with the new
# packages. PACKAGES limits the script to "deb" or "rpm". The script skips a kind of package if a
# program that builds such packages is not installed.
# With "archive" after "deb", the script also installs the packages on this system, over the
# packages of Debian's archive, and then returns to the packages of the archive. Do this only on a
# system that is used for nothing else.

set -eu
export LC_ALL=C
. "$(dirname "$0")/begin.sh"
: "${PACKAGES:=deb rpm}"
tarball=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") version=$2
work=$(pwd)/$work
passed=0
maintainer='Nobody in Particular <nobody@debian.org>'
unset MAKEFLAGS MFLAGS MAKELEVEL CFLAGS CPPFLAGS LDFLAGS DESTDIR

right() { echo "packages: $*"; passed=$((passed + 1)); }
quietly() { "$@" >"$work/out" 2>&1 || { cat "$work/out"; echo "packages: failed: $*"; exit 1; }; }

# without_finding NAME COMMAND...: expects that the command, a checker of packages, succeeds
without_finding() {
  name=$1
  shift
  if "$@" >"$work/out" 2>&1; then
    right "$name has no error and no warning"
  else
    wrong "$name complains: $(cat "$work/out")"
  fi
}

# here NAME COMMAND...: succeeds if all commands are installed; else reports NAME as skipped
here() {
  kind=$1
  shift
  for command; do
    command -v "$command" >/dev/null || { skipped "$kind: $command is not installed"; return 1; }
  done
}

# serves KIND ROOT LIBDIR: expects clients to build and run with the packages installed in ROOT, the
# tool to run, and the manuals to be there
serves() {
  if DESTDIR=$2 libdir=$3 bindir=/usr/bin pkgconfigdir=$3/pkgconfig \
    pkgdatadir=/usr/share/libcpucycles VERSION=$version PKG_CONFIG_LIBDIR=$2$3/pkgconfig \
    bashcompletiondir=/usr/share/bash-completion/completions \
    sh "$source/tests/scripts/installed.sh" >"$work/out" 2>&1 && ! grep skipped "$work/out"; then
    sed -n "s/^installcheck: /packages: $1: /p" "$work/out"
    passed=$((passed + 1))
  else
    cat "$work/out"
    wrong "$1: a client does not build or run with the packages"
  fi
  for page in man1/cpucycles-info.1.gz man3/cpucycles.3.gz man3/cpucycles-bench.3.gz \
    man7/cpucycles-internals.7.gz man3/libperfex.3.gz man7/perfex-events.7.gz; do
    [ -s "$2/usr/share/man/$page" ] || wrong "$1: $page is not installed"
  done
}

tar -x -C "$work" -f "$tarball"
source=$work/source
mv "$work/libcpucycles-$version" "$source"
tree=$work/tree/libcpucycles-$version # the Debian packages are built here

# commands KIND: prints the commands of doc/build.md for this kind of package
commands() {
  awk -v kind="$1 packages:" '
    $0 == kind { found = 1; next }
    found && sub(/^    /, "") { inside = 1; print; next }
    inside { exit }' "$source/doc/build.md" >"$work/commands"
  [ -s "$work/commands" ] || { echo "packages: doc/build.md has no commands for $1"; exit 1; }
  cat "$work/commands"
}

# debs DIRECTORY PREFIX: makes the packages with this prefix of their versions. The second call
# packages the build of the first call again.
debs() {
  arch=$(dpkg --print-architecture)
  libdir=/usr/lib/$(dpkg-architecture -q DEB_HOST_MULTIARCH)
  deb=$work/$1 root=$work/$1/root revision=$2$version-1
  mkdir -p "$deb" "$work/tree"
  if [ -d "$tree" ]; then
    echo "cd libcpucycles-$version && sed -i '1s/(.*)/($revision)/' debian/changelog &&
      rm debian/files && dpkg-buildpackage -us -uc -nc -b" >"$work/debian.sh"
  else
    cp "$tarball" "$work/tree"
    # The changelog of the archive follows the new one.
    commands Debian | sed '/^dpkg-buildpackage/i\
cat ../archive >>debian/changelog' >"$work/debian.sh"
  fi
  cat >"$work/tree/archive" <<END

libcpucycles (0~20260901-2) unstable; urgency=medium

  * Stands in for what Debian has already.

 -- $maintainer  Tue, 01 Sep 2026 00:00:00 +0000
END
  # With nocheck, the package build does not run "make check".
  (cd "$work/tree" && quietly env DEB_BUILD_OPTIONS="nocheck parallel=2" version="$version" \
    revision="$revision" maintainer="$maintainer" sh -eu "$work/debian.sh") || exit 1
  mv "$work/tree"/*_"${revision%-*}"[-.]* "$deb"
  # Ignores libtool's warnings about a directory that is not in its final place yet, and dpkg's
  # warnings about sid's own C library.
  ! grep -v -e '^libtool: warning: ' -e '^dpkg-shlibdeps: warning: diversions involved' "$work/out" |
    grep 'warning:' || wrong "deb: the build is not free of warnings"
  right "deb: built: $(cd "$deb" && echo *.deb)"
  # An older lintian does not know the newest version of Debian's policy.
  without_finding 'deb: lintian' lintian --fail-on error,warning \
    --suppress-tags newer-standards-version "$deb"/*.changes

  # Makes a root with an older libcpucycles1, which contains the manual like Debian's package.
  # Outside of this root, makes a client of the older library.
  dpkg=$root/var/lib/dpkg
  mkdir -p "$dpkg/info" "$dpkg/updates" "$dpkg/triggers"
  touch "$dpkg/status" "$dpkg/available"
  mkdir -p "$deb/old/DEBIAN" "$deb/old$libdir" "$deb/old/usr/share/man/man3" "$deb/bin"
  gzip -n </dev/null >"$deb/old/usr/share/man/man3/cpucycles.3.gz"
  cc -DSTAND_IN -fPIC -shared -Wl,-soname,libcpucycles.so.1 "$source/tests/programs/dropin.c" \
    -o "$deb/old$libdir/libcpucycles.so.1.0"
  ln -s libcpucycles.so.1.0 "$deb/old$libdir/libcpucycles.so.1"
  cc "$source/tests/programs/dropin.c" "$deb/old$libdir/libcpucycles.so.1" -o "$deb/bin/client"
  cat >"$deb/old/DEBIAN/control" <<END
Package: libcpucycles1
Version: 0~20260901-2
Architecture: $arch
Multi-Arch: same
Maintainer: $maintainer
Description: stand-in for the public-domain libcpucycles
END
  quietly dpkg-deb --root-owner-group -b "$deb/old" "$work/old.deb"
  quietly dpkg --root="$root" -i "$work/old.deb"
  before=$(LD_LIBRARY_PATH="$root$libdir" "$deb/bin/client")
  quietly dpkg --root="$root" --force-depends -i "$deb"/libcpucycles1_*.deb \
    "$deb"/libcpucycles-dev_*.deb "$deb"/cpucycles_*.deb \
    "$deb"/libperfex1_*.deb "$deb"/libperfex-dev_*.deb
  after=$(LD_LIBRARY_PATH="$root$libdir" "$deb/bin/client")
  case $before:$after in
    "0 stand-in:$version "*) verdict=right ;;
    *) verdict=wrong ;;
  esac
  $verdict "deb: a client before the upgrade: $before; after: $after"
  [ ! -e "$root$libdir/libcpucycles.so.1.0" ] ||
    wrong "deb: the upgrade leaves the older library behind"
  for package in libcpucycles1 libcpucycles-dev cpucycles libperfex1 libperfex-dev; do
    state=$(dpkg-query --root="$root" -W -f '${Status} ${Version}' $package)
    [ "$state" = "install ok installed $revision" ] || wrong "deb: $package: $state"
    changed=$(dpkg --root="$root" --verify $package)
    [ -z "$changed" ] || wrong "deb: $package: differs from the package: $changed"
  done
  for file in "$root$libdir/libcpucycles.so.1" "$root$libdir/libperfex.so.1" \
    "$root/usr/bin/cpucycles-info"; do
    # the dependencies are made from symbols, and cannot name an ABI of the C library
    ! readelf -VW "$file" | grep -q GLIBC_ABI ||
      wrong "deb: ${file##*/} needs an ABI of the C library that no dependency names"
  done
  serves deb "$root" "$libdir"
  quietly dpkg --root="$root" -P libperfex-dev libperfex1 cpucycles libcpucycles-dev \
    libcpucycles1
  left=$(find "$root" -path "$root/var" -prune -o ! -type d -print)
  [ -z "$left" ] || wrong "deb: files left after all packages are removed: $left"
}

# measure WHICH COMPARISON: expects that no file of the packages $replaced and $clients has changed,
# and that the archive's clients measure with default-gettimeofday (=) or with another counter (!=).
# The clients request default-gettimeofday. Our library uses this counter, but the archive's library
# knows no requests.
measure() {
  # words are meant to split
  # shellcheck disable=SC2086
  changed=$(dpkg --verify $replaced $clients 2>&1) && [ -z "$changed" ] ||
    wrong "archive: $1 packages: one is missing or changed: $changed"
  for program in ntruprime-speed djbsort-speed lib1305-speed; do
    CPUCYCLES_IMPLEMENTATION=default-gettimeofday "$program" >"$work/out" 2>&1 ||
      wrong "archive: $1 packages: $program fails: $(tail -n 1 "$work/out")"
    counter=$(sed -n 's/^cpucycles selected implementation //p' "$work/out") verdict=wrong
    [ -z "$counter" ] || [ ! "$counter" "$2" default-gettimeofday ] || verdict=right
    $verdict "archive: $1 packages: $program measures with $counter"
  done
}

# Replaces the packages of Debian's archive with ours, and ours with the packages of the archive.
# The archive's clients stay installed, and run with both libraries.
archive() {
  get='apt-get install -y --no-install-recommends'
  replaced='libcpucycles1 libcpucycles-dev cpucycles'
  clients='ntruprime djbsort poly1305'
  # words are meant to split
  # shellcheck disable=SC2086
  {
    quietly $get $replaced $clients
    versions=$(dpkg-query -W -f '${Package}=${Version}\n' $replaced)
    measure "the archive's" !=
    for scheme in deb0 deb; do
      quietly $get "$work/$scheme"/*.deb
      measure our =
      (cd "$tree" && quietly sh debian/tests/installed) &&
        ! grep skipped "$work/out" || wrong "archive: the autopkgtest fails"
      quietly $get --allow-downgrades $versions
      [ "$(dpkg-query -W -f '${Package}=${Version}\n' $replaced)" = "$versions" ] ||
        wrong "archive: the downgrade does not lead back to" $versions
      measure "the archive's" !=
    done
  }
}

rpms() {
  top=$work/rpm root=$work/rpm/root
  mkdir -p "$top/SPECS" "$root"
  cp "$tarball" "$top"
  commands RPM >"$work/rpm.sh"
  # --nodeps: the build dependencies are Debian packages, which rpm's database does not have.
  # brp-compress needs bash, although it begins with #!/bin/sh.
  compress="--define '__brp_compress bash /usr/lib/rpm/brp-compress /usr'"
  sed -i "s,^rpmbuild,& --nodeps --nocheck --define '_topdir $top' $compress," "$work/rpm.sh"
  (cd "$top" && quietly env version="$version" maintainer="$maintainer" sh -eu "$work/rpm.sh") || exit 1
  packages=$(find "$top/RPMS" "$top/SRPMS" -name '*.rpm')
  right "rpm: built: $(for package in $packages; do basename "$package"; done | sort | tr '\n' ' ')"
  # words are meant to split
  # shellcheck disable=SC2086
  ! here 'rpm: rpmlint' rpmlint || without_finding 'rpm: rpmlint' rpmlint --strict \
    -c "$source/contrib/rpm/rpmlint.toml" $packages "$top/libcpucycles.spec"
  # Fedora's libcpucycles, which contains the tool, is upgraded.
  cat >"$top/SPECS/old.spec" <<'END'
Name: libcpucycles
Version: 20260105
Release: 1
Summary: Stand-in for Fedora's package
License: MIT
%description
Contains the tool, as Fedora's package does.
%install
mkdir -p %{buildroot}%{_bindir}
echo older >%{buildroot}%{_bindir}/cpucycles-info
%files
%{_bindir}/cpucycles-info
END
  quietly rpmbuild -bb --define "_topdir $top/old" "$top/SPECS/old.spec"
  # words are meant to split
  # shellcheck disable=SC2046
  {
    quietly rpm --root "$root" --nodeps -i $(find "$top/old/RPMS" -name '*.rpm')
    quietly rpm --root "$root" --nodeps --noscripts -U $(find "$top/RPMS" -name '*.rpm')
  }
  owner=$(rpm --root "$root" -q --qf '%{NAME}' -f /usr/bin/cpucycles-info)
  obsolete=$(rpm --root "$root" -q --obsoletes cpucycles)
  case $owner:$obsolete in
    cpucycles:'libcpucycles < '*) right "rpm: the upgrade of $obsolete leads to package cpucycles" ;;
    *) wrong "rpm: cpucycles-info belongs to $owner, and package cpucycles obsoletes '$obsolete'" ;;
  esac
  changed=$(rpm --root "$root" --nodeps -V -a) ||
    wrong "rpm: differs from the package: $changed"
  serves rpm "$root" "$(rpm --eval '%_libdir')"
}

for kind in $PACKAGES; do
  case $kind in
    deb)
      if here deb dpkg-buildpackage dh lintian fakeroot; then
        # Debian's archive has the prefix, which lintian recommends, and other builders do without it.
        debs deb0 0~
        debs deb ''
      fi
      ;;
    rpm) if here rpm rpmbuild; then rpms; fi ;;
    archive) archive ;;
    *) echo "packages: unknown kind $kind" >&2; exit 2 ;;
  esac
done
[ $passed -gt 0 ] || wrong "no package was built"
exit $failed
