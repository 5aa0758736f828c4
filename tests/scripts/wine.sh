#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Runs a Windows program as tests expect of programs: wine.sh WINE PROGRAM [ARGUMENT...]. It finds
# the library of this tree, its lines end as lines do here, and what it skips and its totals are
# seen past the log, as those of a suite that has descriptor 9 for that.

set -u
# A path of this system is one of Wine's drive Z:.
WINEPATH="${WINEPATH:+$WINEPATH;}Z:$(cd "${builddir:-.}" && pwd)/.libs"
WINEDEBUG=${WINEDEBUG--all}
# Not needed, and Wine would offer to install them.
WINEDLLOVERRIDES=${WINEDLLOVERRIDES-mscoree,mshtml=}
export WINEPATH WINEDEBUG WINEDLLOVERRIDES
{ true >&9; } 2>/dev/null || exec 9>/dev/null
exec 3>&1
status=$({ { "$@" 4>&- 9>&-; echo $? >&4; } | tr -d '\r' |
  awk '{ print } /^(skipped: |Running suite|[0-9]+%: Checks: )/ { print | "cat >&9" }' >&3; } 4>&1)
exit "$status"
