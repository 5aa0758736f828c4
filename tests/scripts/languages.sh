#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests the examples for Rust and Python, where rustc and python3 are installed: they run, and their
# structures have the offsets of those in cpucycles.h.

set -eu
. "${srcdir:=.}/tests/scripts/begin.sh"
ran=0

[ -z "$LOG_COMPILER$CPUCYCLES_TEST_UNDER" ] ||
  skip "the library is for another CPU, or for a tool that other programs do not load"
[ -f "$builddir/.libs/libcpucycles.so.1" ] || skip "no ELF shared library was built"
! $NM -D "$builddir/.libs/libcpucycles.so.1" | grep -q ' U __[a-z]*san_' ||
  skip "the library needs a sanitizer, which other programs do not load"

# The members, in the order of the header: "NAME OFFSET" in each line.
members=$(sed -n '/^struct cpucycles_counter_info {/,/^};/p' "$srcdir/include/cpucycles.h" |
  sed -n 's/^  [a-z][a-z ]*[ *]\([a-z_]*\);.*/\1/p')
{
  printf '#include <cpucycles.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void)\n{\n'
  for member in $members; do
    printf '  printf("%s %%u\\n", (unsigned)offsetof(struct cpucycles_counter_info, %s));\n' \
      "$member" "$member"
  done
  printf '  return 0;\n}\n'
} >$work/offsets.c
$CC $CPPFLAGS $CFLAGS -I"$srcdir/include" $work/offsets.c -o $work/offsets && $work/offsets >$work/right
[ "$(wc -l <$work/right)" -ge 16 ] || wrong "cpucycles.h has the members $members"
LD_LIBRARY_PATH="$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export LD_LIBRARY_PATH

# compare LANGUAGE: compares the program's output and offsets, or reports $work/err
compare() {
  ran=1
  sed "s/^/languages: $1: /" $work/out $work/err
  grep -q '^sum.*: [1-9][0-9]* [a-z ]*cycles' $work/out || wrong "$1: the example counts nothing"
  diff $work/right $work/offsets.out || wrong "$1: the offsets above (>) differ from cpucycles.h"
}

if python3 -c 'import ctypes' 2>/dev/null; then
  python3 -B "$srcdir/examples/cpucycles.py" >$work/out 2>$work/err || wrong "cpucycles.py ends with $?"
  python3 -B -c 'import runpy, sys
counter = runpy.run_path(sys.argv[1])["Counter"]
for name, kind in counter._fields_:
    print(name, getattr(counter, name).offset)' "$srcdir/examples/cpucycles.py" >$work/offsets.out || :
  compare Python
else
  skipped "cpucycles.py: Python 3 with ctypes is not installed"
fi

{
  echo '#[path = "example.rs"] mod example;'
  echo 'fn main() {'
  for member in $members; do
    echo "    println!(\"$member {}\", std::mem::offset_of!(example::Counter, $member));"
  done
  echo '}'
} >$work/offsets.rs
cp "$srcdir/examples/cpucycles.rs" $work/example.rs
if rustc -O -D warnings $work/example.rs -L "$builddir/.libs" -o $work/example 2>$work/err; then
  $work/example >$work/out || wrong "cpucycles.rs ends with $?"
  if rustc -A dead_code $work/offsets.rs -L "$builddir/.libs" -o $work/offsets-rs 2>$work/err; then
    $work/offsets-rs >$work/offsets.out
    compare Rust
  else
    cat $work/err
    skipped "offsets in Rust: they need rustc 1.77 or later"
  fi
elif command -v rustc >/dev/null && rustc --version >/dev/null 2>&1; then
  cat $work/err
  wrong "cpucycles.rs does not compile"
else
  skipped "cpucycles.rs: rustc is not installed"
fi
[ $ran = 1 ] || exit 77
exit $failed
