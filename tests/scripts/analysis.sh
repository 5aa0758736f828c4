#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Analyzes files with three programs, two files at a time: analysis.sh FILE..., from a build
# directory. Each finding is an error. A false positive is suppressed at its line, in .clang-tidy
# or here, with the reason. Files for other systems do not compile here and are not analyzed.

set -eu
: "${srcdir:=.}"
flags="-DHAVE_CONFIG_H -D_GNU_SOURCE -I. -I$srcdir -I$srcdir/include"
failed=0

for tool in gcc clang-tidy cppcheck; do
  command -v $tool >/dev/null || { echo "analysis: $tool is not installed" >&2; exit 1; }
done

# tool NAME COMMAND...: runs a command that reads file names from standard input
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
# one file per process, because version 14 keeps state from file to file within a process
tool clang-tidy xargs -n 1 -P 2 sh -c \
  'clang-tidy --quiet --config-file="$srcdir/.clang-tidy" "$@" -- $flags -std=gnu11 2>/dev/null' sh
# readdirCalled: each stream belongs to one thread, which POSIX (2024) declares safe
tool cppcheck xargs cppcheck -q -j 2 --enable=warning,performance,portability --inline-suppr \
  --suppress=readdirCalled --error-exitcode=1 --std=c11 --library=posix --library=gnu $flags \
  -D__linux__ -D__x86_64__ -D__GNUC__ -D__SIZEOF_INT128__=16 -D__GLIBC__ -D__GLIBC_MINOR__=36
exit $failed
