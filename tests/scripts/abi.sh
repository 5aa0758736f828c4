#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Compares the exported interface with the record of this release, tests/abi/NAME-x86_64.abi:
# functions, their types, the layout of public structures, sizes and versions of symbols. Uses
# abidiff, only on x86-64, because all other CPUs have the same header and the same map. Does not
# find the type of cpucycles_section_end(): its body equals that of cpucycles_section_begin(), so
# GCC merges both, and the debug information has no address for cpucycles_section_end(). header.sh
# compares this type.
# "abi.sh --record" replaces the record, for a release whose interface has grown.

set -eu
. "${srcdir:=.}/tests/scripts/begin.sh"
compared=0

command -v abidiff >/dev/null || skip "abidiff is not installed (Debian: abigail-tools)"

# A record contains no build path and no time, and no members of types that the headers only name.
if [ "${1-}" = --record ]; then
  for record in "$srcdir"/tests/abi/*.abi; do
    name=$(basename "$record" -x86_64.abi)
    abidw --exported-interfaces-only --no-corpus-path --no-comp-dir-path --no-elf-needed \
      --no-show-locs --type-id-style hash --headers-dir "$srcdir/include" --drop-private-types \
      "$builddir/.libs/$name.so" >$work/abi
    sed -e "s|\( path='\)[^']*/\([a-z-]*/[^/']*'\)|\1\2|" \
      -e '1a<!-- SPDX-License-Identifier: 0BSD OR MIT -->' $work/abi >"$record"
    echo "abi: recorded: $record"
  done
  exit 0
fi

for record in "$srcdir"/tests/abi/*.abi; do
  name=$(basename "$record" -x86_64.abi)
  library=$builddir/.libs/$name.so
  if [ "$name" = libperfex ] && ! grep -q '^#define HAVE_PERFEX 1' "$builddir/config.h"; then
    echo "abi: libperfex is not built"
    continue
  fi
  [ -f "$library" ] || skip "no ELF shared library was built"
  readelf -hW "$library" | tr '\n' ' ' | grep -q 'ELF64 .*X86-64' ||
    skip "the target is not x86-64 with 64-bit pointers"
  readelf -SW "$library" | grep -q '\.debug_info' || skip "$name was built without -g: configure CFLAGS=-g"
  status=0
  abidiff --harmless --headers-dir2 "$srcdir/include" --drop-private-types "$record" "$library" \
    >$work/out 2>&1 || status=$?
  if [ $status = 0 ] && [ ! -s $work/out ]; then
    compared=$((compared + 1))
  else
    cat $work/out
    echo "abi: $name differs from $record (abidiff: $status)"
    failed=1
  fi
done
echo "abi: $compared compared, and equal to their records"
[ $failed = 0 ] && [ $compared -gt 0 ]
