#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Times configure, and make with two jobs, of an unpacked tarball: build-time.sh SOURCE, from a
# build directory.

set -eu
bound=30
source=$(cd "$1" && pwd)
rm -rf build-time
mkdir build-time
cd build-time
begin=$(date +%s)
"$source/configure" -q CC="${CC:-cc}" >out 2>&1 || { cat out; exit 1; }
make -s -j2 >out 2>&1 || { cat out; exit 1; }
took=$(($(date +%s) - begin))
cd ..
rm -rf build-time
if [ $took -lt $bound ]; then word=met; else word='not met'; fi
echo "configure and make from a clean directory: $took s; bound $bound s: $word"
