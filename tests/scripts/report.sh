#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Runs report.py, the test of the tool's JSON and plots, if Python 3 is installed.

set -eu
: "${srcdir:=.}" "${builddir:=.}" "${EXEEXT:=}"
: "${TOOL:=$builddir/cpucycles-info/cpucycles-info}"
export srcdir builddir TOOL EXEEXT

python3 -c 'import json, pty' 2>/dev/null || { echo "report: skipped: Python 3 is not installed"; exit 77; }
$TOOL --version >/dev/null 2>&1 || { echo "report: skipped: the tool does not run here"; exit 77; }
exec python3 "$srcdir/tests/scripts/report.py"
