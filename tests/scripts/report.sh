#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Runs report.py, which tests the tool's reports and options, if Python 3 is installed.

set -eu
. "${srcdir:=.}/tests/scripts/begin.sh"
# Runs the tool without libtool's script, which takes longer than most runs of the tool.
direct=cpucycles-info/.libs/cpucycles-info
paths=.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if [ "${TOOL#./}" = cpucycles-info/cpucycles-info ] &&
  LD_LIBRARY_PATH=$paths $direct --version >/dev/null 2>&1; then
  TOOL=$direct
  export LD_LIBRARY_PATH="$paths"
fi
export srcdir builddir TOOL EXEEXT

python3 -c 'import json' 2>/dev/null || skip 'python3 is not installed'
[ -z "$LOG_COMPILER" ] || [ "$EXEEXT" ] || skip 'the tool is for a CPU other than this one'
python3 -B "$srcdir/tests/scripts/report.py" # -B: Python writes nothing beside the source
