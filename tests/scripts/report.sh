#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# The tool's reports for programs and for the eye: report.py, where there is a Python to run
# it.

set -eu
: "${srcdir:=.}" "${builddir:=.}" "${EXEEXT:=}"
: "${TOOL:=$builddir/cpucycles-info/cpucycles-info}"
export srcdir builddir TOOL EXEEXT

python3 -c 'import json, pty' 2>/dev/null || { echo "report: skipped: Python 3 is not here"; exit 77; }
$TOOL --version >/dev/null 2>&1 || { echo "report: skipped: the tool does not run here"; exit 77; }
exec python3 "$srcdir/tests/scripts/report.py"
