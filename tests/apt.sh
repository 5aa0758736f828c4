# shellcheck shell=sh
# SPDX-License-Identifier: 0BSD OR MIT
# Read by scripts that fetch Debian's packages from the mirror of this machine's packages, with a
# separate apt configuration: the machine's is not changed.

# main_archive TYPE: prints this release's main archive as a line of sources.list, of deb or deb-src
main_archive() {
  apt-get indextargets --format "$1 \$(REPO_URI) \$(RELEASE) \$(COMPONENT)" \
    'Created-By: Packages' 'Origin: Debian' 'Component: main' | sort -u |
    grep -v -e '-security ' -e '-updates ' -e '-backports '
}

# set_up_apt DIRECTORY: makes apt.conf in the directory, for the sources.list on standard input
set_up_apt() {
  rm -rf "$1"
  mkdir -p "$1/lists/partial" "$1/cache/archives/partial" "$1/sources"
  cat >"$1/sources.list"
  [ -s "$1/sources.list" ] ||
    { echo "${0##*/}: apt-get update has not run here, or this is not Debian" >&2; exit 1; }
  cat >"$1/apt.conf" <<END
Dir::Etc::sourcelist "$1/sources.list";
Dir::Etc::sourceparts "$1/sources";
Dir::State::lists "$1/lists";
Dir::State::status "/dev/null";
Dir::Cache "$1/cache";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "5";
END
}
