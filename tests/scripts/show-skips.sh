#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# show-skips.sh COMMAND...: runs a script of the tests. What it skips, and why, is shown on descriptor
# 9, the screen, too, because Automake writes the output of a script to a log only.

set -u
{ true >&9; } 2>/dev/null || exec 9>/dev/null
exec 3>&1
status=$({ { "$@" 2>&1 4>&- 9>&-; echo $? >&4; } |
  awk '{ print } /skipped: / { print | "cat >&9" }' >&3; } 4>&1)
exit "$status"
