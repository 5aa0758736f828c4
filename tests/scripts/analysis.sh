#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Static analysis of what is compiled here: analysis.sh FILE..., from a build folder, by three
# programs, two files at a time. Each finding is an error. What is none is said to be none where it
# stands, or in .clang-tidy, with the reason. Files of other systems do not compile here, and are
# not looked at.

set -eu
: "${srcdir:=.}"
flags="-DHAVE_CONFIG_H -D_GNU_SOURCE -I. -I$srcdir -I$srcdir/include"
failed=0

for tool in gcc clang-tidy cppcheck; do
  command -v $tool >/dev/null || { echo "analysis: $tool is not installed" >&2; exit 1; }
done

# Runs a command that reads the names of files.
tool() {
  name=$1 begin=$(date +%s) verdict='no finding'
  shift
  printf '%s\n' $files | "$@" || { verdict=findings failed=1; }
  echo "analysis: $name: $count files, $verdict, $(($(date +%s) - begin)) s"
}

files= count=0
for file; do
  case $file in
    *.c | *.lo) files="$files $srcdir/${file%.*}.c" count=$((count + 1)) ;;
  esac
done
[ -n "$files" ] || { echo 'analysis: there are no files' >&2; exit 1; }

export flags srcdir
tool 'gcc -fanalyzer' xargs -n 1 -P 2 sh -c \
  'gcc $flags -O2 -Wall -Wextra -fanalyzer -Werror -c "$1" -o /dev/null' sh
# one file each: of several, version 14 mixes up what it knows
tool clang-tidy xargs -n 1 -P 2 sh -c \
  'clang-tidy --quiet --config-file="$srcdir/.clang-tidy" "$@" -- $flags -std=gnu11 2>/dev/null' sh
# readdirCalled: each stream is one thread's, and POSIX (2024) promises that this is enough
tool cppcheck xargs cppcheck -q -j 2 --enable=warning,performance,portability --inline-suppr \
  --suppress=readdirCalled --error-exitcode=1 --std=c11 --library=posix --library=gnu $flags \
  -D__linux__ -D__x86_64__ -D__GNUC__ -D__SIZEOF_INT128__=16 -D__GLIBC__ -D__GLIBC_MINOR__=36
exit $failed
