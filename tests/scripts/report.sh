#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Runs report.py, which tests the tool's reports, if Python 3 is installed. options.sh reads this
# script, which then runs options.py.

set -eu
: "${srcdir:=.}" "${builddir:=.}" "${EXEEXT:=}"
: "${TOOL:=$builddir/cpucycles-info/cpucycles-info}"
# Runs the tool without libtool's script, which takes longer than most runs of the tool.
direct=cpucycles-info/.libs/cpucycles-info
paths=.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if [ "${TOOL#./}" = cpucycles-info/cpucycles-info ] &&
  LD_LIBRARY_PATH=$paths $direct --version >/dev/null 2>&1; then
  TOOL=$direct
  export LD_LIBRARY_PATH="$paths"
fi
export srcdir builddir TOOL EXEEXT

script=$(basename "$0" .sh)
python3 -c 'import json' 2>/dev/null || { echo "$script: skipped: Python 3 is not installed"; exit 77; }
if [ -n "${LOG_COMPILER:-}" ] && [ -z "$EXEEXT" ]; then
  echo "$script: skipped: the tool is for a CPU other than this one"
  exit 77
fi
exec python3 -B "$srcdir/tests/scripts/$script.py" # -B: Python writes nothing beside the source
