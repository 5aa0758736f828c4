#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Runs a Windows program under the conditions of the tests: wine.sh WINE PROGRAM [ARGUMENT...]. The
# program finds the library of this tree, its lines end without a carriage return, and its totals
# and skips go to descriptor 9, like those of a suite.

set -u
# Wine's drive Z: is this system's root.
WINEPATH="${WINEPATH:+$WINEPATH;}Z:$(cd "${builddir:-.}" && pwd)/.libs"
WINEDEBUG=${WINEDEBUG--all}
# Without WINEDLLOVERRIDES, Wine would offer to install .NET and Gecko, which no test needs.
WINEDLLOVERRIDES=${WINEDLLOVERRIDES-mscoree,mshtml=}
export WINEPATH WINEDEBUG WINEDLLOVERRIDES
{ true >&9; } 2>/dev/null || exec 9>/dev/null
exec 3>&1
status=$({ { "$@" 4>&- 9>&-; echo $? >&4; } | tr -d '\r' |
  awk '{ print } /^(skipped: |Running suite|[0-9]+%: Checks: )/ { print | "cat >&9" }' >&3; } 4>&1)
exit "$status"
